// modifiers.cpp -- names and sizes of opcodes and types, from their tables.
#include "ptx/modifiers.h"

namespace softcuda::ptx {

namespace {

struct TypeRow {
    std::string_view name;
    unsigned bits;
    TypeClass type_class;
};

constexpr TypeRow types[] = {
    {"", 0, TypeClass::None},
#define SCALAR_TYPE(name, text, bits, type_class) {text, bits, TypeClass::type_class},
#include "ptx/types.def"
};

constexpr std::string_view opcode_names[] = {
#define OPCODE(name, keyword) keyword,
#include "ptx/instructions.def"
};

const TypeRow &row_of(ScalarType type) { return types[static_cast<unsigned>(type)]; }

} // namespace

unsigned bits_of(ScalarType type) { return row_of(type).bits; }
unsigned bytes_of(ScalarType type) { return (row_of(type).bits + 7) / 8; }
TypeClass class_of(ScalarType type) { return row_of(type).type_class; }
std::string_view name_of(ScalarType type) { return row_of(type).name; }
std::string_view name_of(Opcode opcode) { return opcode_names[static_cast<unsigned>(opcode)]; }

Space plain_space(Space space) {
    switch (space) {
    case Space::SharedCta:
    case Space::SharedCluster:
        return Space::Shared;
    case Space::ParamEntry:
    case Space::ParamFunc:
        return Space::Param;
    default:
        return space;
    }
}

} // namespace softcuda::ptx
