// print.cpp -- the IR as text.
#include "ir/print.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace softcuda::ir {

namespace {

std::string hex(std::uint64_t bits) {
    char buffer[24];
    std::snprintf(buffer, sizeof buffer, "0x%llx", static_cast<unsigned long long>(bits));
    return buffer;
}

template <typename Float> std::string float_text(Float value, std::uint64_t bits) {
    if (!std::isfinite(value))
        return hex(bits);
    char buffer[64];
    auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    return {buffer, end};
}

std::string constant_text(const Value &value) {
    std::string out{text(value.type)};
    out += ' ';
    switch (value.type) {
    case Type::I1:
        return out + (value.bits ? "1" : "0");
    case Type::I8:
        return out + std::to_string(static_cast<std::int8_t>(value.bits));
    case Type::I16:
        return out + std::to_string(static_cast<std::int16_t>(value.bits));
    case Type::I32:
        return out + std::to_string(static_cast<std::int32_t>(value.bits));
    case Type::I64:
        return out + std::to_string(static_cast<std::int64_t>(value.bits));
    case Type::I128:
        return out + hex(value.bits);
    case Type::F32: {
        auto bits = static_cast<std::uint32_t>(value.bits);
        return out + float_text(std::bit_cast<float>(bits), value.bits);
    }
    case Type::F64:
        return out + float_text(std::bit_cast<double>(value.bits), value.bits);
    }
    return out;
}

void add_word(std::string &out, std::string_view word) {
    out += '.';
    out += word;
}

void add_words(std::string &out, const Instruction &instruction) {
    const Attributes &a = instruction.attributes;
    if (std::string_view mode = mode_text(instruction.opcode, a); !mode.empty())
        add_word(out, mode);
    if (a.order != Order::Weak)
        add_word(out, text(a.order));
    if (a.scope != Scope::System)
        add_word(out, text(a.scope));
    if (has_space(instruction.opcode))
        add_word(out, text(a.space));
    if (a.rounding != Rounding::None)
        add_word(out, text(a.rounding));
    if (a.precision != Precision::Exact)
        add_word(out, text(a.precision));
#define IR_FLAG(member, word)                                                                      \
    if (a.member)                                                                                  \
        add_word(out, word);
#include "ir/flags.def"
#undef IR_FLAG
    if (a.vector != 1)
        out += ".v" + std::to_string(a.vector);
    if (a.type != Scalar::None)
        add_word(out, text(a.type));
    if (a.source_type != Scalar::None)
        add_word(out, text(a.source_type));
}

void add_offset(std::string &out, std::int64_t offset) {
    if (offset > 0)
        out += " + " + std::to_string(offset);
    else if (offset < 0)
        out += " - " + std::to_string(0 - static_cast<std::uint64_t>(offset));
}

/// Collects the comma-separated list that follows the opcode.
class Arguments {
  public:
    explicit Arguments(std::string &out) : out_(out) {}
    void add(const std::string &item) {
        out_ += first_ ? " " : ", ";
        out_ += item;
        first_ = false;
    }

  private:
    std::string &out_;
    bool first_ = true;
};

bool has_memory_operand(Opcode opcode) {
    return opcode == Opcode::Load || opcode == Opcode::Store || opcode == Opcode::Atomic ||
           opcode == Opcode::Reduce;
}

bool names_symbol(Opcode opcode) {
    return opcode == Opcode::SymbolAddress || opcode == Opcode::Call ||
           opcode == Opcode::FunctionAddress || opcode == Opcode::DebugValue;
}

void add_arguments(std::string &out, const Instruction &instruction) {
    const Attributes &a = instruction.attributes;
    Arguments arguments(out);
    if (names_symbol(instruction.opcode)) {
        std::string symbol = "@" + std::to_string(a.symbol);
        add_offset(symbol, a.offset);
        arguments.add(symbol);
    }
    if (instruction.is(Opcode::LoadParam) || instruction.is(Opcode::ParamAddress))
        arguments.add("[" + std::to_string(a.offset) + "]");
    for (std::size_t i = 0; i < instruction.operands.size(); i++) {
        std::string operand = to_text(*instruction.operand(i));
        if (instruction.is(Opcode::Phi)) {
            arguments.add("[" + operand + ", " + instruction.blocks[i]->name + "]");
        } else if (i == 0 && has_memory_operand(instruction.opcode)) {
            add_offset(operand, a.offset);
            arguments.add("[" + operand + "]");
        } else {
            arguments.add(operand);
        }
    }
    if (!instruction.is(Opcode::Phi)) {
        for (const Block *block : instruction.blocks)
            arguments.add(block->name);
    }
    if (a.immediate != 0)
        out += " #" + std::to_string(a.immediate);
}

void add_results(std::string &out, const Instruction &instruction) {
    for (std::size_t i = 0; i < instruction.results.size(); i++) {
        const Value &result = *instruction.result(i);
        out += i ? ", " : "";
        out += to_text(result);
        if (result_type(instruction, i) != result.type)
            out += ":" + std::string(text(result.type));
    }
    if (!instruction.results.empty())
        out += " = ";
}

void add_kernel_header(std::string &out, const Function &function) {
    if (!function.parameters.empty() || function.parameter_bytes) {
        out += "  .parameters";
        for (const KernelParameter &p : function.parameters)
            out += " " + std::to_string(p.offset) + ":" + std::to_string(p.size) + ":" +
                   std::to_string(p.align);
        out += " bytes " + std::to_string(function.parameter_bytes) + "\n";
    }
    if (function.required_block[0]) {
        out += "  .required_block";
        for (std::uint32_t size : function.required_block)
            out += " " + std::to_string(size);
        out += "\n";
    }
    if (function.max_threads)
        out += "  .max_threads " + std::to_string(function.max_threads) + "\n";
    if (function.cluster != Function::ClusterRule{}) {
        out += "  .cluster";
        for (std::uint32_t size : function.cluster.required)
            out += " " + std::to_string(size);
        out += " most " + std::to_string(function.cluster.most);
        out += function.cluster.is_explicit ? " explicit\n" : "\n";
    }
    if (function.static_shared_bytes)
        out += "  .static_shared " + std::to_string(function.static_shared_bytes) + "\n";
    if (function.uses_dynamic_shared)
        out += "  .dynamic_shared\n";
}

void add_frame(std::string &out, const Function &function) {
    if (function.local_bytes)
        out += "  .local_bytes " + std::to_string(function.local_bytes) + "\n";
    if (function.local_granule)
        out += "  .local_granule " + std::to_string(function.local_granule) + "\n";
    if (function.registers)
        out += "  .registers " + std::to_string(function.registers) + "\n";
    for (const LocalVariable &v : function.variables) {
        out += "  .variable " + std::string(text(v.space)) + " " + v.name + " offset " +
               std::to_string(v.offset) + " size " + std::to_string(v.size) + " align " +
               std::to_string(v.align) + "\n";
    }
}

std::string signature_text(const Function &function) {
    if (function.kernel)
        return "kernel " + function.name;
    std::string out = "function " + function.name + "(";
    for (const Value *argument : function.arguments)
        out += (argument->index ? ", " : "") + to_text(*argument) + ":" +
               std::string(text(argument->type));
    out += ")";
    for (std::size_t i = 0; i < function.returns.size(); i++)
        out += (i ? ", " : " -> ") + std::string(text(function.returns[i]));
    return out;
}

void add_variable(std::string &out, const GlobalVariable &variable) {
    out += ".variable " + std::string(text(variable.space)) + " " + variable.name + " size " +
           std::to_string(variable.size) + " align " + std::to_string(variable.align);
    out += variable.managed ? " managed" : "";
    constexpr std::string_view kContents[] = {"", " texref", " surfref", " functions"};
    out += kContents[static_cast<std::size_t>(variable.content)];
    out += variable.visible ? "" : " hidden";
    out += variable.external ? " external" : "";
    if (!variable.initial.empty()) {
        out += " bytes ";
        for (std::byte byte : variable.initial) {
            constexpr char kDigits[] = "0123456789abcdef";
            out += kDigits[std::to_integer<unsigned>(byte) >> 4];
            out += kDigits[std::to_integer<unsigned>(byte) & 15];
        }
    }
    for (const GlobalVariable::Address &address : variable.addresses) {
        out += " address " + std::to_string(address.offset) + " variable " +
               std::to_string(address.variable);
        add_offset(out, address.addend);
    }
    out += "\n";
}

} // namespace

std::string_view mode_text(Opcode opcode, const Attributes &a) {
    switch (opcode) {
    case Opcode::Compare:
        return text(a.compare);
    case Opcode::Testp:
        return text(a.test);
    case Opcode::Atomic:
    case Opcode::Reduce:
    case Opcode::WarpReduce:
        return text(a.atomic);
    case Opcode::Shuffle:
        return text(a.shuffle);
    case Opcode::Vote:
        return text(a.vote);
    case Opcode::Match:
        return text(a.match);
    case Opcode::BarrierReduce:
        return text(a.reduction);
    case Opcode::Prmt:
        return text(a.prmt);
    case Opcode::Special:
    case Opcode::Clock:
        return text(a.special);
    default:
        return {};
    }
}

std::string to_text(const Value &value) {
    return value.constant ? constant_text(value) : "%" + std::to_string(value.id);
}

std::string to_text(const Instruction &instruction, Locations locations) {
    std::string out;
    add_results(out, instruction);
    out += info(instruction.opcode).name;
    add_words(out, instruction);
    add_arguments(out, instruction);
    const Location &at = instruction.location;
    if (locations == Locations::Print && at.line)
        out += " !" + std::to_string(at.file) + ":" + std::to_string(at.line) + ":" +
               std::to_string(at.column);
    return out;
}

std::string to_text(const Block &block, Locations locations) {
    std::string out = block.name + ":\n";
    for (const Instruction *instruction : block.instructions)
        out += "  " + to_text(*instruction, locations) + "\n";
    return out;
}

std::string to_text(const Function &function, Locations locations) {
    std::string out = signature_text(function) + " {\n";
    add_kernel_header(out, function);
    add_frame(out, function);
    for (const Block *block : function.blocks)
        out += to_text(*block, locations);
    return out + "}\n";
}

std::string to_text(const Module &module, Locations locations) {
    std::string out;
    for (const std::string &file : module.files)
        out += ".file \"" + file + "\"\n";
    for (const GlobalVariable &variable : module.variables)
        add_variable(out, variable);
    for (const auto &function : module.functions)
        out += (out.empty() ? "" : "\n") + to_text(*function, locations);
    return out;
}

} // namespace softcuda::ir
