// lower_memory.cpp -- ld, ldu, st and cp.async.
#include "ir/lower_families.h"

#include "support/bulk_copy.h"

#include <algorithm>

namespace softcuda::ir {

namespace {

/// ld.b32 into a floating-point register loads an f32: that saves a bitcast.
Scalar load_type(FunctionLowering &f, Scalar type, std::span<const ptx::Operand> registers) {
    bool untyped = type == Scalar::B32 || type == Scalar::B64;
    Type as = bits(type) == 32 ? Type::F32 : Type::F64;
    bool fits = untyped && std::all_of(registers.begin(), registers.end(), [&](const auto &r) {
                    return f.register_class(r).value_or(as) == as;
                });
    return fits ? bit_type(as) : type;
}

Attributes access(const ptx::Instruction &i) {
    Attributes a;
    a.type = scalar(i.modifiers.type());
    a.space = space(i.modifiers.space);
    a.order = order(i.modifiers.order);
    if (a.order == Order::Weak && i.modifiers.cache == ptx::CacheOperator::Cv)
        a.order = Order::Volatile; // "fetch again": must read writes of other threads
    if (a.order != Order::Weak && a.order != Order::Volatile)
        a.scope = scope(i.modifiers.scope);
    a.vector = static_cast<std::uint8_t>(i.modifiers.vector_width());
    a.invariant = i.modifiers.non_coherent;
    return a;
}

/// Reports an access outside a parameter of `bytes` bytes.
bool within(FunctionLowering &f, const ptx::Instruction &i, std::int64_t offset,
            const Attributes &a, std::uint64_t size) {
    std::uint64_t length = bits(a.type) / 8 * a.vector;
    if (offset >= 0 && length <= size && static_cast<std::uint64_t>(offset) <= size - length)
        return true;
    f.error(i, "accesses " + std::to_string(length) + " bytes at offset " + std::to_string(offset) +
                   " of a parameter of " + std::to_string(size) + " bytes");
    return false;
}

void write_all(FunctionLowering &f, std::span<const ptx::Operand> registers,
               const Instruction &load, Scalar type) {
    for (std::size_t n = 0; n < registers.size(); n++)
        f.write(registers[n], load.result(n), type);
}

void load_kernel_parameter(FunctionLowering &f, const ptx::Instruction &i, Attributes a) {
    const ptx::Operand &from = i.operand(1);
    const KernelParameter &parameter = f.function().parameters[from.symbol.index];
    auto registers = elements(i.operand(0));
    if (!within(f, i, from.signed_integer(), a, parameter.size))
        return;
    Attributes load;
    load.type = load_type(f, a.type, registers);
    load.vector = a.vector;
    load.offset = parameter.offset + from.signed_integer();
    write_all(f, registers, *f.builder().append(Opcode::LoadParam, load, {}), a.type);
}

void load_slot(FunctionLowering &f, const ptx::Instruction &i, const Attributes &a) {
    const ptx::Operand &from = i.operand(1);
    const ParamSlots &slots = f.slots(from.symbol);
    if (!within(f, i, from.signed_integer(), a, slots.bytes))
        return;
    std::uint64_t offset = from.integer;
    for (const ptx::Operand &destination : elements(i.operand(0))) {
        f.write(destination, f.load_slots(slots, offset, register_class(a.type)), a.type);
        offset += bits(a.type) / 8;
    }
}

void store_slot(FunctionLowering &f, const ptx::Instruction &i, const Attributes &a) {
    const ptx::Operand &to = i.operand(0);
    const ParamSlots &slots = f.slots(to.symbol);
    if (!within(f, i, to.signed_integer(), a, slots.bytes))
        return;
    std::uint64_t offset = to.integer;
    for (const ptx::Operand &source : elements(i.operand(1))) {
        f.store_slots(slots, offset, f.read(source, a.type));
        offset += bits(a.type) / 8;
    }
}

/// The address of a parameter in a register is a generic one of a kernel's parameter, and one in
/// local memory in a function, which has such parameters.
Space memory_space(FunctionLowering &f, const ptx::Instruction &i, Space space) {
    if (space != Space::Param)
        return space;
    bool kernels = f.in_kernel() || i.modifiers.space == ptx::Space::ParamEntry;
    return kernels ? Space::Generic : Space::Local;
}

/// A .param variable of a call, other than one whose size only the caller knows.
bool names_slot(FunctionLowering &f, const ptx::Operand &operand) {
    return operand.symbol && f.is_slot(operand.symbol) && !f.variable(operand.symbol)->is_open();
}

void load(FunctionLowering &f, const ptx::Instruction &i) {
    Attributes a = access(i);
    const ptx::Operand &from = i.operand(1);
    if (a.space == Space::Param && names_slot(f, from))
        return load_slot(f, i, a);
    if (a.space == Space::Param && f.in_kernel() && from.symbol.kind == ptx::SymbolKind::Parameter)
        return load_kernel_parameter(f, i, a);
    a.space = memory_space(f, i, a.space);
    Address address = memory_address(f, from, i.modifiers.space, a.space);
    auto registers = elements(i.operand(0));
    Scalar type = a.type;
    a.offset = address.offset;
    a.type = load_type(f, type, registers);
    write_all(f, registers, *f.builder().append(Opcode::Load, a, {address.base}), type);
}

void store(FunctionLowering &f, const ptx::Instruction &i) {
    Attributes a = access(i);
    const ptx::Operand &to = i.operand(0);
    if (a.space == Space::Param && names_slot(f, to))
        return store_slot(f, i, a);
    if (a.space == Space::Constant || (a.space == Space::Param && f.in_kernel()))
        return f.error(i, "stores into read-only memory");
    a.space = memory_space(f, i, a.space);
    Address address = memory_address(f, to, i.modifiers.space, a.space);
    a.offset = address.offset;
    std::vector<Value *> operands{address.base};
    for (const ptx::Operand &source : elements(i.operand(1)))
        operands.push_back(f.read(source, a.type));
    f.builder().append(Opcode::Store, a, operands);
}

Value *with_offset(FunctionLowering &f, const Address &address) {
    if (address.offset == 0)
        return address.base;
    Type type = address.base->type;
    return f.emit(Opcode::Add, type == Type::I64 ? Scalar::S64 : Scalar::S32,
                  {address.base, f.constant(type, static_cast<std::uint64_t>(address.offset))});
}

} // namespace

Value *whole_address(FunctionLowering &f, const ptx::Operand &operand, Space space) {
    return with_offset(f, f.address(operand, space));
}

Value *generic_address(FunctionLowering &f, const ptx::Operand &operand, ptx::Space named) {
    Attributes a;
    a.space = space(named);
    if (a.space != Space::Shared)
        return whole_address(f, operand, a.space); // an address in global memory is generic, too
    if (named == ptx::Space::SharedCluster)
        return with_offset(f, memory_address(f, operand, named, a.space));
    Value *within = with_offset(f, shared_address(f, operand, a.space));
    return f.emit(Opcode::ToGeneric, a, {f.builder().resize(within, Type::I64, false)});
}

void lower_memory(FunctionLowering &f, const ptx::Instruction &i) {
    if (scalar(i.modifiers.type()) == Scalar::None)
        return f.unsupported(i);
    i.opcode == ptx::Opcode::St ? store(f, i) : load(f, i);
}

Address shared_address(FunctionLowering &f, const ptx::Operand &operand, Space space) {
    if (space == Space::Shared) {
        Address address = f.address(operand, space);
        address.base = f.builder().resize(address.base, Type::I32, false);
        return address;
    }
    Attributes a;
    a.space = Space::Shared;
    Value *within = f.emit(Opcode::FromGeneric, a, {whole_address(f, operand, Space::Generic)});
    return {f.builder().resize(within, Type::I32, false), 0};
}

namespace {

/// cp.async, whose copy is over when the instruction is: waiting for it is only for checks.
class Copy {
  public:
    Copy(FunctionLowering &f, const ptx::Instruction &i)
        : f_(f), bytes_(static_cast<std::uint32_t>(i.operand(2).integer)),
          to_(shared_address(f, i.operand(0), Space::Shared)),
          from_(whole_address(f, i.operand(1), Space::Global)) {}

    void whole() {
        Attributes a = access(Space::Global);
        const std::vector<Value *> words = f_.builder().append(Opcode::Load, a, {from_})->results;
        store(words);
    }
    void limited(Value *limit);

  private:
    Attributes access(Space space) {
        Attributes a;
        a.type = Scalar::B32;
        a.vector = static_cast<std::uint8_t>(bytes_ / 4);
        a.space = space;
        a.offset = space == Space::Shared ? to_.offset : 0;
        return a;
    }
    void store(const std::vector<Value *> &words) {
        std::vector<Value *> operands{to_.base};
        operands.insert(operands.end(), words.begin(), words.end());
        Attributes a = access(Space::Shared);
        a.async = true;
        f_.builder().append(Opcode::Store, a, operands);
    }
    void bytes(Value *count);

    FunctionLowering &f_;
    std::uint32_t bytes_;
    Address to_;
    Value *from_;
};

/// Only `limit` bytes are read; the remaining written bytes are zero.
void Copy::limited(Value *limit) {
    auto constant = [&](std::uint64_t n) { return f_.constant(Type::I32, n); };
    Block *all = f_.new_block("copy_all"), *less = f_.new_block("copy_less");
    Block *some = f_.new_block("copy_some"), *after = f_.new_block("copied");
    f_.branch(f_.builder().compare(Compare::Ge, Scalar::U32, limit, constant(bytes_)), all, less);
    f_.start(all);
    whole();
    f_.jump(after);
    f_.start(less);
    store(std::vector<Value *>(bytes_ / 4, constant(0)));
    f_.branch(f_.builder().compare(Compare::Ne, Scalar::U32, limit, constant(0)), some, after);
    f_.start(some);
    bytes(limit);
    f_.jump(after);
    f_.start(after);
}

/// `count` bytes, at least one and fewer than all: the last one as often as it takes.
void Copy::bytes(Value *count) {
    Attributes load, store;
    load.type = store.type = Scalar::B8;
    load.space = Space::Global;
    store.space = Space::Shared;
    store.offset = to_.offset;
    store.async = true;
    Value *last = f_.emit(Opcode::Sub, Scalar::U32, {count, f_.constant(Type::I32, 1)});
    for (std::uint32_t n = 0; n + 1 < bytes_; n++) {
        Value *at = f_.emit(Opcode::Min, Scalar::U32, {f_.constant(Type::I32, n), last});
        Value *wide = f_.builder().resize(at, Type::I64, false);
        Value *byte =
            f_.emit(Opcode::Load, load, {f_.emit(Opcode::Add, Scalar::U64, {from_, wide})});
        Value *to = f_.emit(Opcode::Add, Scalar::U32, {to_.base, at});
        f_.builder().append(Opcode::Store, store, {to, byte});
    }
}

} // namespace

/// cp.async.ca.shared.global [to], [from], size{, source size or predicate to ignore the source}.
void lower_copy(FunctionLowering &f, const ptx::Instruction &i) {
    Copy copy(f, i);
    std::size_t given = i.operands.size() - (i.modifiers.cache_hint ? 1 : 0);
    if (given <= 3)
        return copy.whole();
    const ptx::Operand &limit = i.operand(3);
    if (f.register_class(limit) != Type::I1)
        return copy.limited(f.read(limit, Scalar::U32));
    Value *size = f.constant(Type::I32, i.operand(2).integer);
    copy.limited(f.builder().select(f.read(limit, Scalar::Pred), f.constant(Type::I32, 0), size));
}

void lower_copy_group(FunctionLowering &f, const ptx::Instruction &i) {
    Attributes commit, wait;
    commit.immediate = kCommitCopies;
    if (i.opcode == ptx::Opcode::CpAsyncWaitGroup)
        wait.immediate = static_cast<std::uint32_t>(i.operand(0).integer);
    if (i.opcode != ptx::Opcode::CpAsyncWaitGroup) // also what no commit has ended
        f.builder().append(Opcode::CopyGroup, commit, {});
    if (i.opcode != ptx::Opcode::CpAsyncCommitGroup)
        f.builder().append(Opcode::CopyGroup, wait, {});
}

void lower_dependent_launch(FunctionLowering &f, const ptx::Instruction &i) {
    Attributes a;
    a.immediate =
        i.opcode == ptx::Opcode::GriddepcontrolWait ? kWaitForEarlierGrid : kLaunchDependents;
    f.builder().append(Opcode::CopyGroup, a, {});
}

} // namespace softcuda::ir
