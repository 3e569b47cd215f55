// print_operand.cpp -- operands and instructions as text.
#include "ptx/print_operand.h"

#include "ptx/forms.h"
#include "ptx/special_registers.h"

#include <cstdio>

namespace softcuda::ptx {

namespace {

std::string hexadecimal(const char *prefix, std::uint64_t value, int digits) {
    char text[24];
    std::snprintf(text, sizeof text, "%s%0*llX", prefix, digits,
                  static_cast<unsigned long long>(value));
    return text;
}

std::string integer(const Operand &operand) {
    return operand.is_unsigned ? std::to_string(operand.integer) + "U"
                               : std::to_string(operand.signed_integer());
}

/// ptxas requires `+-4`.
std::string offset(std::uint64_t value) {
    return value == 0 ? "" : "+" + std::to_string(static_cast<std::int64_t>(value));
}

std::string component(const Operand &operand) {
    constexpr std::string_view names[] = {"",    ".x",  ".y",  ".z",  ".w", ".b0",
                                          ".b1", ".b2", ".b3", ".h0", ".h1"};
    if (operand.component < Component::Bytes)
        return std::string(names[static_cast<unsigned>(operand.component)]);
    std::string text = operand.component == Component::Bytes ? ".b" : ".h";
    for (unsigned digit = operand.lane_count; digit-- > 0;)
        text += static_cast<char>('0' + (operand.lanes >> (4 * digit) & 15));
    return text;
}

std::string special(const Operand &operand) {
    const SpecialRow &row = special_rows[static_cast<unsigned>(operand.special)];
    return std::string(row.name) + (row.is_numbered() ? std::to_string(operand.index) : "") +
           component(operand);
}

std::string joined(std::span<const Operand> elements, const char *separator,
                   const PrintNames &names) {
    std::string text;
    for (const Operand &element : elements)
        text += (text.empty() ? "" : separator) + print_operand(element, names);
    return text;
}

std::string address(const Operand &operand, const PrintNames &names) {
    if (operand.has_register_base())
        return names.of_register(operand.index) + offset(operand.integer);
    if (operand.symbol)
        return names.of_symbol(operand.symbol) +
               (operand.has_register_subscript() ? "[" + names.of_register(operand.index) + "]"
                                                 : "") +
               offset(operand.integer);
    return integer(operand);
}

/// `video` registers are negated with a minus, predicates with `!`.
std::string reg(const Operand &operand, const PrintNames &names, const char *negation) {
    return (operand.negated ? negation : "") + names.of_register(operand.index) +
           component(operand);
}

/// The arguments or results of a call. A vector among them is always a whole vector register, and
/// is written by its name: PTX has no braces here.
std::string call_list(const Operand &list, const PrintNames &names) {
    std::string text;
    for (const Operand &element : list.elements) {
        text += text.empty() ? "" : ", ";
        text += element.is(OperandKind::Vector) ? names.of_register(element.elements[0].index)
                                                : print_operand(element, names);
    }
    return "(" + text + ")";
}

std::string print_call(const Instruction &call, const PrintNames &names) {
    std::string text;
    if (!call.operand(0).elements.empty())
        text += call_list(call.operand(0), names) + ", ";
    text += print_operand(call.operand(1), names);
    bool indirect = !call.operand(3).is(OperandKind::None);
    if (!call.operand(2).elements.empty() || indirect)
        text += ", " + call_list(call.operand(2), names);
    if (indirect)
        text += ", " + print_operand(call.operand(3), names);
    return text;
}

std::string print_operands(const Instruction &instruction, const PrintNames &names) {
    if (instruction.opcode == Opcode::Call)
        return print_call(instruction, names);
    bool video = instruction.opcode >= Opcode::Vadd;
    std::string text;
    for (const Operand &operand : instruction.operands) {
        text += text.empty() ? "" : ", ";
        text += operand.is(OperandKind::Register) && video ? reg(operand, names, "-")
                                                           : print_operand(operand, names);
    }
    return text;
}

} // namespace

std::string print_operand(const Operand &operand, const PrintNames &names) {
    switch (operand.kind) {
    case OperandKind::None:
        return "";
    case OperandKind::Register:
        return reg(operand, names, "!") + offset(operand.integer);
    case OperandKind::Sink:
        return "_";
    case OperandKind::SpecialRegister:
        return special(operand);
    case OperandKind::Integer:
        return integer(operand);
    case OperandKind::Float32:
        return hexadecimal("0f", operand.integer, 8);
    case OperandKind::Float64:
        return hexadecimal("0d", operand.integer, 16);
    case OperandKind::Symbol:
        return names.of_symbol(operand.symbol) + offset(operand.integer);
    case OperandKind::Address:
        return "[" + address(operand, names) + "]";
    case OperandKind::Vector:
        return "{" + joined(operand.elements, ", ", names) + "}";
    case OperandKind::Pair:
        return joined(operand.elements, "|", names);
    case OperandKind::List:
        return "(" + joined(operand.elements, ", ", names) + ")";
    case OperandKind::Tuple:
        return "[" + joined(operand.elements, ", ", names) + "]";
    case OperandKind::Label:
        return names.of_label(operand.index);
    case OperandKind::BranchTargets:
    case OperandKind::CallTargets:
        return names.of_targets(operand.index);
    case OperandKind::Prototype:
        return names.of_prototype(operand.index);
    }
    return "";
}

std::string print_instruction(const Instruction &instruction, const PrintNames &names) {
    std::string text;
    if (instruction.guard)
        text += std::string("@") + (instruction.guard.negated ? "!" : "") +
                names.of_register(instruction.guard.reg) + " ";
    text += spell(forms()[instruction.form], instruction.modifiers);
    std::string operands = print_operands(instruction, names);
    return operands.empty() ? text : text + " " + operands;
}

} // namespace softcuda::ptx
