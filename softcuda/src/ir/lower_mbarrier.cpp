// lower_mbarrier.cpp -- mbarrier: a barrier that is an object in shared memory.
//
// support/mbarrier.h describes its bits. An arrival is an atomic operation that counts down,
// and at zero begins the next phase; the state that it returns is the old value. Transactions,
// which are bytes of bulk copies, are counted by the same operation. A phase is over when its
// number has changed. Whoever waits does so in a loop of test_wait, whose load makes it one that
// waits for other threads.
//
// Barriers of other blocks of the cluster have generic addresses.
#include "ir/lower_families.h"

#include "support/mbarrier.h"

namespace softcuda::ir {

namespace {

using mbarrier::kExpectedShift;
using mbarrier::kMostArrivals;
using mbarrier::kPhaseShift;

Attributes access(Order order) {
    Attributes a;
    a.type = Scalar::B64;
    a.space = Space::Shared;
    a.order = order;
    a.scope = Scope::Cluster; // other blocks of the cluster may arrive, and copies of their threads
    return a;
}

Value *shift(FunctionLowering &f, Opcode opcode, Value *value, unsigned amount) {
    return f.emit(opcode, Scalar::U64, {value, f.constant(Type::I32, amount)});
}

Value *number(FunctionLowering &f, const ptx::Operand &operand) {
    Value *count = f.builder().resize(f.read(operand, Scalar::U32), Type::I64, false);
    return f.emit(Opcode::And, Scalar::B64, {count, f.constant(Type::I64, kMostArrivals)});
}

/// The count twice: for this phase and for all.
Value *both_counts(FunctionLowering &f, Value *count) {
    return f.emit(Opcode::Or, Scalar::B64, {count, shift(f, Opcode::Shl, count, kExpectedShift)});
}

void initialize(FunctionLowering &f, const ptx::Instruction &i) {
    Address address = shared_address(f, i.operand(0), space(i.modifiers.space));
    Attributes a = access(Order::Relaxed);
    a.offset = address.offset;
    f.builder().append(Opcode::Store, a, {address.base, both_counts(f, number(f, i.operand(1)))});
}

/// Subtracts from the pending arrivals and transactions. A barrier that may be another block's has
/// a generic address.
Value *subtract(FunctionLowering &f, const ptx::Instruction &i, const ptx::Operand &barrier,
                Value *less, bool may_be_remote) {
    Attributes a = access(Order::AcquireRelease);
    a.atomic = AtomicOp::Arrive;
    Address address;
    if (may_be_remote && i.modifiers.space == ptx::Space::None)
        address = f.address(barrier, a.space = Space::Generic);
    else if (i.modifiers.space == ptx::Space::SharedCluster)
        address = memory_address(f, barrier, i.modifiers.space, a.space);
    else
        address = shared_address(f, barrier, space(i.modifiers.space));
    a.offset = address.offset;
    return f.emit(Opcode::Atomic, a, {address.base, less});
}

/// Arrivals less, and transactions more.
Value *with_transactions(FunctionLowering &f, Value *arrivals, const ptx::Operand &transactions) {
    Value *more = shift(f, Opcode::Shl, number(f, transactions), mbarrier::kTransactionShift);
    return f.emit(Opcode::Sub, Scalar::U64, {arrivals, more});
}

/// mbarrier.arrive{_drop} state, [barrier]{, count}, or .expect_tx state, [barrier], transactions.
void arrive_now(FunctionLowering &f, const ptx::Instruction &i) {
    const bool expects = i.modifiers.expect_tx;
    Value *count =
        !expects && i.operands.size() > 2 ? number(f, i.operand(2)) : f.constant(Type::I64, 1);
    if (i.opcode == ptx::Opcode::MbarrierArriveDrop)
        count = both_counts(f, count);
    if (expects)
        count = with_transactions(f, count, i.operand(2));
    const bool may_be_remote = i.operand(0).is(ptx::OperandKind::Sink);
    f.write(i.operand(0), subtract(f, i, i.operand(1), count, may_be_remote), Scalar::B64);
}

/// mbarrier.expect_tx and .complete_tx [barrier], transactions.
void count_transactions(FunctionLowering &f, const ptx::Instruction &i) {
    Value *less = i.opcode == ptx::Opcode::MbarrierExpectTx
                      ? with_transactions(f, f.constant(Type::I64, 0), i.operand(1))
                      : shift(f, Opcode::Shl, number(f, i.operand(1)), mbarrier::kTransactionShift);
    (void)subtract(f, i, i.operand(0), less, true);
}

/// Copies complete immediately, so this arrives now. Without .noinc, the pending count is first
/// incremented by one, so the arrival has no effect.
void arrive_after_copies(FunctionLowering &f, const ptx::Instruction &i) {
    lower_copy_group(f, i); // the arrival is behind the copies
    if (i.modifiers.no_inc)
        (void)subtract(f, i, i.operand(0), f.constant(Type::I64, 1), false);
}

/// True if the phase of a state, or that of a parity, is over.
void test(FunctionLowering &f, const ptx::Instruction &i) {
    Address address = shared_address(f, i.operand(1), space(i.modifiers.space));
    Attributes a = access(Order::Acquire);
    a.offset = address.offset;
    Value *phase = shift(f, Opcode::Shr, f.emit(Opcode::Load, a, {address.base}), kPhaseShift);
    Value *asked = nullptr;
    if (i.modifiers.parity) {
        Value *one = f.constant(Type::I64, 1);
        phase = f.emit(Opcode::And, Scalar::B64, {phase, one});
        asked = f.emit(Opcode::And, Scalar::B64, {number(f, i.operand(2)), one});
    } else {
        asked = shift(f, Opcode::Shr, f.read(i.operand(2), Scalar::B64), kPhaseShift);
    }
    f.write(i.operand(0), f.builder().compare(Compare::Ne, Scalar::B64, phase, asked),
            Scalar::Pred);
}

void pending_count(FunctionLowering &f, const ptx::Instruction &i) {
    Value *state = f.read(i.operand(1), Scalar::B64);
    Value *count = f.emit(Opcode::And, Scalar::B64, {state, f.constant(Type::I64, kMostArrivals)});
    f.write(i.operand(0), f.builder().resize(count, Type::I32, false), Scalar::U32);
}

} // namespace

void lower_mbarrier(FunctionLowering &f, const ptx::Instruction &i) {
    switch (i.opcode) {
    case ptx::Opcode::MbarrierInit:
        return initialize(f, i);
    case ptx::Opcode::MbarrierInval:
        return; // the memory is free to be used otherwise
    case ptx::Opcode::MbarrierArrive:
    case ptx::Opcode::MbarrierArriveDrop:
        return arrive_now(f, i);
    case ptx::Opcode::CpAsyncMbarrierArrive:
        return arrive_after_copies(f, i);
    case ptx::Opcode::MbarrierTestWait:
    case ptx::Opcode::MbarrierTryWait:
        return test(f, i);
    case ptx::Opcode::MbarrierPendingCount:
        return pending_count(f, i);
    default: // .expect_tx, .complete_tx
        return count_transactions(f, i);
    }
}

} // namespace softcuda::ir
