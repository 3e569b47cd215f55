// check_modifiers.cpp -- combinations of modifiers that the table's rows cannot rule out.
#include "ptx/check_modifiers.h"

namespace softcuda::ptx {

namespace {

bool is_float(ScalarType type) {
    TypeClass type_class = class_of(type);
    return type_class == TypeClass::Float || type_class == TypeClass::PackedFloat;
}

bool rounds_to_integer(Rounding rounding) {
    return rounding >= Rounding::Rni && rounding <= Rounding::Rpi;
}

/// Which comparisons a type has: unordered ones are for floats, `lo` and its like for unsigned.
std::string check_comparison(Opcode opcode, const Modifiers &modifiers) {
    if (opcode != Opcode::Set && opcode != Opcode::Setp)
        return {};
    ScalarType type = modifiers.types[opcode == Opcode::Set ? 1 : 0];
    TypeClass type_class = class_of(type);
    bool allowed = true;
    if (modifiers.compare >= Compare::Equ)
        allowed = is_float(type);
    else if (modifiers.compare >= Compare::Lo)
        allowed = type_class == TypeClass::Unsigned;
    else if (modifiers.compare >= Compare::Lt)
        allowed = type_class != TypeClass::Bits;
    if (!allowed)
        return "this comparison is not defined for ." + std::string(name_of(type));
    if (modifiers.ftz && (!is_float(type) || bits_of(type) == 64))
        return "`.ftz` is not defined for ." + std::string(name_of(type));
    return {};
}

/// True for the conversions whose rounding is in their rows: packed, narrow and tf32 ones.
bool has_own_form(const Modifiers &modifiers) {
    auto is_ordinary = [](ScalarType type) {
        TypeClass type_class = class_of(type);
        return type != ScalarType::TF32 &&
               (type_class == TypeClass::Float || type_class == TypeClass::Unsigned ||
                type_class == TypeClass::Signed);
    };
    return !is_ordinary(modifiers.types[0]) || !is_ordinary(modifiers.types[1]);
}

/// cvt has a rounding modifier if and only if the result may be inexact.
std::string check_conversion(const Modifiers &modifiers) {
    ScalarType to = modifiers.types[0], from = modifiers.types[1];
    if (!is_float(to) && !is_float(from))
        return modifiers.rounding != Rounding::None
                   ? "expected no rounding in a conversion between integers"
               : modifiers.ftz ? "`.ftz` is for .f32 only"
                               : "";
    bool has_rounding = modifiers.rounding != Rounding::None;
    bool integral = rounds_to_integer(modifiers.rounding);
    if (!is_float(to))
        return integral
                   ? ""
                   : "a conversion from float to integer needs `.rni`, `.rzi`, `.rmi` or `.rpi`";
    bool same = to == from;
    bool widens = is_float(from) && bits_of(to) > bits_of(from);
    if (same)
        return has_rounding && !integral ? "expected no rounding, or rounding to an integer" : "";
    if (widens)
        return has_rounding ? "a conversion to a wider float is exact: expected no rounding" : "";
    if (!has_rounding || integral)
        return "the result is rounded: expected `.rn`, `.rz`, `.rm` or `.rp`";
    if (modifiers.ftz && to != ScalarType::F32 && from != ScalarType::F32)
        return "`.ftz` is for .f32 only";
    return {};
}

std::string check_memory(Opcode opcode, const Modifiers &modifiers) {
    Order order = modifiers.order;
    bool is_store = opcode == Opcode::St;
    bool scoped = order == Order::Relaxed || order == Order::Acquire || order == Order::Release;
    if (scoped && modifiers.scope == Scope::None)
        return "lacks a scope: expected `.cta`, `.gpu` or `.sys`";
    if (!scoped && modifiers.scope != Scope::None)
        return "a scope needs `.relaxed`, `.acquire` or `.release`";
    if (modifiers.mmio && (order != Order::Relaxed || modifiers.scope != Scope::Sys))
        return "`.mmio` needs `.relaxed.sys`";
    if (is_store && modifiers.space == Space::Const)
        return "constant memory cannot be written";
    if (modifiers.non_coherent && modifiers.space != Space::Global)
        return "`.nc` is for .global only";
    return {};
}

} // namespace

std::string check_modifiers(Opcode opcode, const Modifiers &modifiers) {
    switch (opcode) {
    case Opcode::Set:
    case Opcode::Setp:
        return check_comparison(opcode, modifiers);
    case Opcode::Cvt:
        return has_own_form(modifiers) ? "" : check_conversion(modifiers);
    case Opcode::Ld:
    case Opcode::St:
        return check_memory(opcode, modifiers);
    case Opcode::MbarrierArrive:
    case Opcode::MbarrierArriveDrop:
    case Opcode::MbarrierExpectTx:
    case Opcode::MbarrierCompleteTx:
    case Opcode::MbarrierTestWait:
    case Opcode::MbarrierTryWait:
        return modifiers.order != Order::None && modifiers.scope == Scope::None
                   ? "lacks a scope: expected `.cta` or `.cluster`"
                   : "";
    default:
        return {};
    }
}

} // namespace softcuda::ptx
