// lower_operand.cpp -- reading and writing the operands of PTX instructions.
#include "ir/lower_calls.h"
#include "ir/lower_families.h"
#include "ir/lower_function.h"

#include <bit>

namespace softcuda::ir {

namespace {

unsigned component_index(ptx::Component component) {
    switch (component) {
    case ptx::Component::Y:
        return 1;
    case ptx::Component::Z:
        return 2;
    case ptx::Component::W:
        return 3;
    default:
        return 0;
    }
}

struct SpecialRow {
    ptx::SpecialRegister from;
    Special to;
};

constexpr SpecialRow kVectors[] = {
    {ptx::SpecialRegister::Tid, Special::TidX},
    {ptx::SpecialRegister::Ntid, Special::NtidX},
    {ptx::SpecialRegister::Ctaid, Special::CtaidX},
    {ptx::SpecialRegister::Nctaid, Special::NctaidX},
    {ptx::SpecialRegister::ClusterNctaid, Special::ClusterNctaidX},
};

constexpr SpecialRow kSingle[] = {
    {ptx::SpecialRegister::Laneid, Special::LaneId},
    {ptx::SpecialRegister::Warpid, Special::WarpId},
    {ptx::SpecialRegister::Nwarpid, Special::NwarpId},
    {ptx::SpecialRegister::Smid, Special::SmId},
    {ptx::SpecialRegister::Nsmid, Special::NsmId},
    {ptx::SpecialRegister::Gridid, Special::GridId},
    {ptx::SpecialRegister::CurrentGraphExec, Special::GraphExec},
    {ptx::SpecialRegister::LanemaskEq, Special::LanemaskEq},
    {ptx::SpecialRegister::LanemaskLe, Special::LanemaskLe},
    {ptx::SpecialRegister::LanemaskLt, Special::LanemaskLt},
    {ptx::SpecialRegister::LanemaskGe, Special::LanemaskGe},
    {ptx::SpecialRegister::LanemaskGt, Special::LanemaskGt},
    {ptx::SpecialRegister::ReservedSmemOffsetBegin, Special::ReservedSharedBegin},
    {ptx::SpecialRegister::ReservedSmemOffsetEnd, Special::ReservedSharedEnd},
    {ptx::SpecialRegister::ReservedSmemOffsetCap, Special::ReservedSharedCap},
    {ptx::SpecialRegister::TotalSmemSize, Special::TotalSharedSize},
    {ptx::SpecialRegister::AggrSmemSize, Special::TotalSharedSize},
    {ptx::SpecialRegister::DynamicSmemSize, Special::DynamicSharedSize},
};

constexpr SpecialRow kClocks[] = {
    {ptx::SpecialRegister::Clock, Special::Clock},
    {ptx::SpecialRegister::ClockHi, Special::ClockHi},
    {ptx::SpecialRegister::Clock64, Special::Clock64},
    {ptx::SpecialRegister::Globaltimer, Special::GlobalTimer},
    {ptx::SpecialRegister::GlobaltimerLo, Special::GlobalTimerLo},
    {ptx::SpecialRegister::GlobaltimerHi, Special::GlobalTimerHi},
};

/// Registers that always read the same.
std::optional<std::uint64_t> constant_special(ptx::SpecialRegister special, unsigned component) {
    switch (special) {
    case ptx::SpecialRegister::Tid:
    case ptx::SpecialRegister::Ctaid:
    case ptx::SpecialRegister::Clusterid:
    case ptx::SpecialRegister::ClusterCtaid:
        return component == 3 ? std::optional<std::uint64_t>(0) : std::nullopt;
    case ptx::SpecialRegister::Ntid:
    case ptx::SpecialRegister::Nctaid:
    case ptx::SpecialRegister::Nclusterid:
    case ptx::SpecialRegister::ClusterNctaid:
        return component == 3 ? std::optional<std::uint64_t>(1) : std::nullopt;
    case ptx::SpecialRegister::Pm: // performance counters that are not started
    case ptx::SpecialRegister::Pm64:
    case ptx::SpecialRegister::ReservedSmemOffset:
        return 0;
    default:
        return std::nullopt;
    }
}

template <std::size_t N>
const SpecialRow *find(const SpecialRow (&rows)[N], ptx::SpecialRegister special) {
    for (const SpecialRow &row : rows) {
        if (row.from == special)
            return &row;
    }
    return nullptr;
}

} // namespace

std::uint32_t FunctionLowering::variable_of(const ptx::Operand &operand) const {
    return frame_->registers[operand.index] + component_index(operand.component);
}

std::optional<Type> FunctionLowering::register_class(const ptx::Operand &operand) const {
    if (!operand.is(ptx::OperandKind::Register))
        return std::nullopt;
    return ssa_.type(variable_of(operand));
}

Value *FunctionLowering::read_register(const ptx::Operand &operand) {
    Value *value = ssa_.read(variable_of(operand), builder_.block());
    return operand.negated ? builder_.logical_not(value) : value;
}

/// With the constant that a source adds.
Value *FunctionLowering::read_sum(const ptx::Operand &operand) {
    Value *value = read_register(operand);
    if (operand.integer == 0)
        return value;
    return emit(Opcode::Add, bit_type(value->type),
                {value, constant(value->type, operand.integer)});
}

Value *FunctionLowering::read(const ptx::Operand &operand, Scalar type) {
    switch (operand.kind) {
    case ptx::OperandKind::Register:
        return fit(read_sum(operand), type);
    case ptx::OperandKind::SpecialRegister:
        return fit(read_special(operand), type);
    case ptx::OperandKind::Symbol:
        if (operand.symbol.kind == ptx::SymbolKind::Function)
            return fit(function_address(operand.symbol.index), type);
        return fit(symbol_address(operand.symbol, operand.signed_integer(),
                                  bits(type) == 32 ? Type::I32 : Type::I64),
                   type);
    default:
        return immediate(operand, type);
    }
}

/// A register may be wider than the type that it is used as.
Value *FunctionLowering::fit(Value *value, Scalar type) {
    unsigned wanted = bits(type), has = bits(value->type);
    if (wanted == 0 || wanted == has)
        return value;
    if (wanted == 1)
        return builder_.compare(Compare::Ne, bit_type(value->type), value,
                                constant(value->type, 0));
    return builder_.resize(builder_.bitcast(value, integer_class(has)), integer_class(wanted),
                           is_signed(type));
}

Value *FunctionLowering::immediate(const ptx::Operand &operand, Scalar type) {
    Type target = type == Scalar::None ? Type::I32 : ir::register_class(type);
    std::uint64_t bits = operand.integer;
    bool wide_float = operand.is(ptx::OperandKind::Float64);
    if (wide_float && ir::bits(target) == 32)
        bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
    else if (operand.is(ptx::OperandKind::Float32) && ir::bits(target) == 64)
        bits = std::bit_cast<std::uint64_t>(
            static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
    else if (operand.is(ptx::OperandKind::Integer) && type == Scalar::F32)
        bits = std::bit_cast<std::uint32_t>(static_cast<float>(operand.signed_integer()));
    else if (operand.is(ptx::OperandKind::Integer) && type == Scalar::F64)
        bits = std::bit_cast<std::uint64_t>(static_cast<double>(operand.signed_integer()));
    else if (target == Type::I1)
        bits = bits != 0;
    return constant(target, bits);
}

Value *FunctionLowering::read_special(const ptx::Operand &operand) {
    unsigned component = component_index(operand.component);
    if (auto known = constant_special(operand.special, component))
        return constant(ir::register_class(scalar(type_of(operand.special))), *known);
    if (operand.special == ptx::SpecialRegister::Envreg)
        return special(Special::EnvReg, operand.index == ptx::no_index ? 0 : operand.index);
    if (Value *of_cluster = read_cluster_special(operand.special, component))
        return of_cluster;
    if (const SpecialRow *row = find(kClocks, operand.special)) {
        Attributes attributes;
        attributes.special = row->to;
        return builder_.emit(Opcode::Clock, attributes, {});
    }
    if (const SpecialRow *row = find(kVectors, operand.special))
        return special(static_cast<Special>(static_cast<unsigned>(row->to) + component));
    const SpecialRow *row = find(kSingle, operand.special);
    return special(row ? row->to : Special::None);
}

/// Registers that follow from the block's place and the size of clusters; null: another register.
Value *FunctionLowering::read_cluster_special(ptx::SpecialRegister from, unsigned component) {
    auto vector = [&](Special x, unsigned d) {
        return special(static_cast<Special>(static_cast<unsigned>(x) + d));
    };
    auto size = [&](unsigned d) { return vector(Special::ClusterNctaidX, d); };
    auto within = [&](unsigned d) {
        return emit(Opcode::Rem, Scalar::U32, {vector(Special::CtaidX, d), size(d)});
    };
    auto product = [&](Value *a, Value *b) { return emit(Opcode::Mul, Scalar::U32, {a, b}); };
    auto sum = [&](Value *a, Value *b) { return emit(Opcode::Add, Scalar::U32, {a, b}); };
    switch (from) {
    case ptx::SpecialRegister::IsExplicitCluster:
        return builder_.compare(Compare::Ne, Scalar::U32, special(Special::ExplicitCluster),
                                constant(Type::I32, 0));
    case ptx::SpecialRegister::Clusterid:
        return emit(Opcode::Div, Scalar::U32,
                    {vector(Special::CtaidX, component), size(component)});
    case ptx::SpecialRegister::Nclusterid:
        return emit(Opcode::Div, Scalar::U32,
                    {vector(Special::NctaidX, component), size(component)});
    case ptx::SpecialRegister::ClusterCtaid:
        return within(component);
    case ptx::SpecialRegister::ClusterCtarank: { // x first, then y, then z
        Value *rank = within(2);
        for (unsigned d : {1u, 0u}) {
            rank = product(rank, size(d));
            rank = sum(rank, within(d));
        }
        return rank;
    }
    case ptx::SpecialRegister::ClusterNctarank: {
        Value *blocks = size(0);
        for (unsigned d : {1u, 2u})
            blocks = product(blocks, size(d));
        return blocks;
    }
    default:
        return nullptr;
    }
}

Value *FunctionLowering::special(Special special, std::uint32_t number) {
    Attributes attributes;
    attributes.special = special;
    attributes.immediate = number;
    return in_entry(Opcode::Special, attributes);
}

/// Makes an operation without operands once, at a position where all can use it.
Value *FunctionLowering::in_entry(Opcode opcode, const Attributes &a) {
    std::uint32_t index = opcode == Opcode::Special
                              ? static_cast<std::uint32_t>(a.special) << 8 | a.immediate
                              : a.symbol;
    Value *&value = cached_[{opcode, a.space, index, a.offset, a.type}];
    if (!value) {
        Block *here = builder_.block();
        builder_.set_block(entry_);
        value = builder_.emit(opcode, a, {});
        builder_.set_block(here);
    }
    return value;
}

void FunctionLowering::write(const ptx::Operand &destination, Value *value, Scalar type) {
    if (!destination.is(ptx::OperandKind::Register))
        return; // a sink
    std::uint32_t variable = variable_of(destination);
    Type wanted = ssa_.type(variable);
    if (bits(wanted) != bits(value->type)) {
        value = builder_.bitcast(value, integer_class(bits(value->type)));
        value = builder_.resize(value, integer_class(bits(wanted)), is_signed(type));
    }
    write_variable(variable, builder_.bitcast(value, wanted));
}

void FunctionLowering::write_variable(std::uint32_t variable, Value *value) {
    if (guard_)
        value = builder_.select(guard_, value, ssa_.read(variable, builder_.block()));
    ssa_.write(variable, builder_.block(), value);
    if (function_.debug)
        written_.push_back(variable);
}

Value *FunctionLowering::carry() { return ssa_.read(carry_, builder_.block()); }
void FunctionLowering::set_carry(Value *value) { write_variable(carry_, value); }

Value *FunctionLowering::stack_top() {
    return module_.uses_stack() ? ssa_.read(stack_top_, builder_.block()) : nullptr;
}

void FunctionLowering::set_stack_top(Value *value) {
    if (value)
        write_variable(stack_top_, value);
}

} // namespace softcuda::ir
