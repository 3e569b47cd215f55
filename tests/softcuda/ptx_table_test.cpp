// ptx_table_test.cpp -- writes each row of instructions.def in PTX and reads it back.
//
// For each row there is an instruction with what must be there, one more for each modifier that may
// be there and each of the words it may be, and one with everything. All must parse as that row, or
// as an earlier one that agrees as well, and print as they were written.
#include "check.h"

#include "ptx/check_modifiers.h"
#include "ptx/forms.h"
#include "ptx/parse.h"
#include "ptx/print.h"

#include <cstring>
#include <iostream>
#include <set>

namespace {

using namespace softcuda;
using namespace softcuda::ptx;

/// Which choice each modifier of a row takes; -1: not written.
using Choices = std::vector<int>;

struct Written {
    std::string text;
    Modifiers modifiers;
};

Written write_spelling(const Form &form, const Choices &choices) {
    Written written{std::string(form.word), {}};
    for (std::size_t i = 0; i < choices.size(); ++i) {
        const ModifierRule &rule = form.modifiers[i];
        if (choices[i] < 0)
            continue;
        const ModifierRule::Choice &choice = rule.choices[choices[i]];
        if (!rule.implied)
            written.text += "." + std::string(choice.text);
        if (rule.field != ModifierRule::no_field)
            std::memcpy(reinterpret_cast<char *>(&written.modifiers) + rule.field, &choice.value,
                        1);
        written.modifiers.type_count += rule.is_type;
    }
    return written;
}

std::vector<Choices> variants(const Form &form) {
    std::size_t count = form.modifiers.size();
    Choices least(count, -1), all(count, 0);
    for (std::size_t i = 0; i < count; ++i)
        if (!form.modifiers[i].optional)
            least[i] = 0;
    std::vector<Choices> list{least, all};
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t choice = 0; choice < form.modifiers[i].choices.size(); ++choice) {
            list.push_back(least);
            list.back()[i] = static_cast<int>(choice);
        }
    return list;
}

/// A register of the type; `%b16_3` is declared as .b16, and so on.
std::string reg(ScalarType type, unsigned number) {
    std::string suffix = "_" + std::to_string(number);
    if (class_of(type) == TypeClass::Predicate)
        return "%pred" + suffix;
    bool is_float = type == ScalarType::F32 || type == ScalarType::F64;
    return (is_float ? "%f" : "%b") + std::to_string(std::max(bits_of(type), 8u)) + suffix;
}

std::string vector_of(ScalarType type, unsigned count, unsigned number) {
    std::string text = "{";
    for (unsigned i = 0; i < count; ++i)
        text += (i == 0 ? "" : ", ") + reg(type, number + i);
    return text + "}";
}

unsigned coordinates(Geometry geometry) {
    switch (geometry) {
    case Geometry::D1:
        return 1;
    case Geometry::D2:
    case Geometry::A1d:
        return 2;
    default:
        return 4;
    }
}

std::string write_vector(const OperandRule &rule, const Modifiers &modifiers, ScalarType type,
                         unsigned number) {
    switch (rule.count_rule) {
    case CountRule::Fixed:
        return vector_of(type, rule.count, number);
    case CountRule::FromVector:
        return modifiers.vector == VectorWidth::None
                   ? reg(type, number)
                   : vector_of(type, modifiers.vector_width(), number);
    case CountRule::FromMatrix:
        return vector_of(type, 1u << (static_cast<unsigned>(modifiers.matrix_count) - 1), number);
    case CountRule::Any:
        break;
    }
    return vector_of(type, coordinates(modifiers.geometry), number);
}

std::string write_operand(const OperandRule &rule, const Modifiers &modifiers, unsigned position) {
    ScalarType type = resolve(rule.type, modifiers, 64);
    unsigned number = position * 8;
    switch (rule.shape) {
    case OperandShape::DestinationPair:
        return reg(type, number) + "|%pred_1";
    case OperandShape::PredicatePair:
        return "%pred_0|%pred_1";
    case OperandShape::Address:
        return "[%b64_40+16]";
    case OperandShape::Texture:
        return modifiers.query != TextureQuery::None
                   ? "[%b64_41]"
                   : "[%b64_41, " +
                         vector_of(ScalarType::F32, coordinates(modifiers.geometry), 50) + "]";
    case OperandShape::Vector:
        return write_vector(rule, modifiers, type, number);
    case OperandShape::Packed:
        return position == 0 ? reg(type, 0)
                             : vector_of(bits_of(type) == 16   ? ScalarType::B8
                                         : bits_of(type) == 32 ? ScalarType::B16
                                         : bits_of(type) == 64 ? ScalarType::B32
                                                               : ScalarType::B64,
                                         2, 8);
    case OperandShape::Immediate:
        return std::to_string(rule.high == 16 ? 16 : rule.low);
    case OperandShape::Label:
        return "here";
    case OperandShape::Targets:
        return "targets";
    case OperandShape::Call:
        return "f";
    default:
        return reg(type, number);
    }
}

std::string write_operands(const Form &form, const Modifiers &modifiers, std::size_t count) {
    std::string text;
    unsigned position = 0;
    for (const OperandRule &rule : form.operands) {
        if (position == count)
            break;
        if (rule.with_hint && !modifiers.cache_hint)
            continue;
        text += (position == 0 ? " " : ", ") + write_operand(rule, modifiers, position);
        ++position;
    }
    return text;
}

std::string module_of(const Form &form, const std::string &instruction) {
    unsigned version = std::max(form.ptx_version, 83u);
    std::string text = ".version " + std::to_string(version / 10) + "." +
                       std::to_string(version % 10) + "\n.target sm_" +
                       std::to_string(std::max(form.sm, 75u)) +
                       "\n.address_size 64\n.func f;\n.entry k()\n{\n.reg .pred %pred_<99>;\n";
    for (const char *bits : {"8", "16", "32", "64", "128"})
        text += std::string(".reg .b") + bits + " %b" + bits + "_<99>;\n";
    text += ".reg .f32 %f32_<99>;\n.reg .f64 %f64_<99>;\ntargets: .branchtargets here;\nhere:\n";
    return text + "    " + instruction + ";\n}\n";
}

/// `printed` differs from what is written by words that mean nothing (barrier.cta.sync).
void check_instruction(const Form &form, const std::string &instruction,
                       const std::string &expected) {
    auto source = std::make_shared<SourceText>("row", module_of(form, instruction));
    Diagnostics diagnostics(*source);
    std::optional<Module> module = parse(source, diagnostics);
    CHECK(module.has_value());
    if (!module) {
        std::cout << diagnostics.render();
        return;
    }
    bool printed = print(*module).find("    " + expected + ";\n") != std::string::npos;
    CHECK(printed);
    if (!printed)
        std::cout << "wrote " << instruction << "\nread  " << print(*module);
}

std::size_t check_form(const Form &form) {
    std::set<std::string> done;
    for (const Choices &choices : variants(form)) {
        Written written = write_spelling(form, choices);
        if (!check_modifiers(form.opcode, written.modifiers).empty())
            continue; // no such combination
        Form::Count count = form.operand_count(written.modifiers);
        for (std::size_t i = count.least; i <= count.most; ++i) {
            std::string operands = write_operands(form, written.modifiers, i);
            if (done.insert(written.text + operands).second)
                check_instruction(form, written.text + operands,
                                  spell(form, written.modifiers) + operands);
        }
    }
    return done.size();
}

} // namespace

int main() {
    std::size_t instructions = 0;
    for (const Form &form : forms()) {
        std::size_t written = check_form(form);
        instructions += written;
        bool special = form.opcode == Opcode::Cvt; // some rows need a rounding that is optional
        CHECK(written > 0 || special);
        if (written == 0)
            std::cout << "nothing written for " << syntax_of(form) << "\n";
    }
    std::cout << forms().size() << " rows, " << instructions << " instructions\n";
    CHECK(instructions > 2000);
    return test::status();
}
