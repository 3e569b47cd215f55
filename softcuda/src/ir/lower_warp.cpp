// lower_warp.cpp -- exchanges between the lanes of a warp.
#include "ir/lower_families.h"

namespace softcuda::ir {

namespace {

/// Operand `n`, or, in the forms from before sm_70 that have none, the lanes that are active.
Value *members(FunctionLowering &f, const ptx::Instruction &i, std::size_t n) {
    if (n < i.operands.size())
        return f.read(i.operand(n), Scalar::B32);
    return f.emit(Opcode::ActiveMask, Attributes{}, {});
}

/// Lanes exchange bits, also for floats.
Value *read_bits(FunctionLowering &f, const ptx::Operand &operand, Scalar type) {
    return f.builder().bitcast(f.read(operand, type), register_class(type));
}

/// `d` or `d|p`.
void write_pair(FunctionLowering &f, const ptx::Operand &destination, const Instruction &made,
                Scalar type) {
    if (!destination.is(ptx::OperandKind::Pair))
        return f.write(destination, made.result(0), type);
    f.write(destination.elements[0], made.result(0), type);
    f.write(destination.elements[1], made.result(1), Scalar::Pred);
}

void shuffle(FunctionLowering &f, const ptx::Instruction &i) {
    Attributes a;
    a.type = Scalar::B32;
    switch (i.modifiers.shuffle) {
    case ptx::ShuffleMode::Down:
        a.shuffle = ShuffleMode::Down;
        break;
    case ptx::ShuffleMode::Bfly:
        a.shuffle = ShuffleMode::Butterfly;
        break;
    case ptx::ShuffleMode::Idx:
        a.shuffle = ShuffleMode::Index;
        break;
    default:
        a.shuffle = ShuffleMode::Up;
        break;
    }
    Instruction *made = f.builder().append(Opcode::Shuffle, a,
                                           {read_bits(f, i.operand(1), Scalar::B32),
                                            f.read(i.operand(2), Scalar::U32),
                                            f.read(i.operand(3), Scalar::U32), members(f, i, 4)});
    write_pair(f, i.operand(0), *made, Scalar::B32);
}

void vote(FunctionLowering &f, const ptx::Instruction &i) {
    Attributes a;
    switch (i.modifiers.vote) {
    case ptx::VoteMode::Any:
        a.vote = VoteMode::Any;
        break;
    case ptx::VoteMode::Uni:
        a.vote = VoteMode::Uniform;
        break;
    case ptx::VoteMode::Ballot:
        a.vote = VoteMode::Ballot;
        break;
    default:
        a.vote = VoteMode::All;
        break;
    }
    Value *value = f.emit(Opcode::Vote, a, {f.read(i.operand(1), Scalar::Pred), members(f, i, 2)});
    f.write(i.operand(0), value, a.vote == VoteMode::Ballot ? Scalar::B32 : Scalar::Pred);
}

void match(FunctionLowering &f, const ptx::Instruction &i) {
    Attributes a;
    a.type = scalar(i.modifiers.type());
    a.match = i.modifiers.vote == ptx::VoteMode::All ? MatchMode::All : MatchMode::Any;
    Instruction *made = f.builder().append(Opcode::Match, a,
                                           {read_bits(f, i.operand(1), a.type), members(f, i, 2)});
    write_pair(f, i.operand(0), *made, Scalar::B32);
}

/// redux.f32 (PTX 8.6): floats become numbers in the same order, and their extreme a float again.
///
///     negative:  all bits turned       others: the sign bit set
///
/// No float becomes 0 or the largest number: a NaN becomes the one that loses against all others,
/// or with .NaN the one that wins.
void reduce_floats(FunctionLowering &f, const ptx::Instruction &i, AtomicOp op) {
    auto word = [&](std::uint64_t bits) { return f.constant(Type::I32, bits); };
    auto of_words = [&](Opcode opcode, Value *x, Value *y) {
        return f.emit(opcode, Scalar::B32, {x, y});
    };
    const bool nan_is_least = (op == AtomicOp::Min) == i.modifiers.nan;
    Value *const nan = word(nan_is_least ? 0 : 0xffffffff);
    Value *bits = read_bits(f, i.operand(1), Scalar::F32);
    if (i.modifiers.abs)
        bits = of_words(Opcode::And, bits, word(0x7fffffff));
    Value *size = of_words(Opcode::And, bits, word(0x7fffffff));
    Value *negative = f.builder().compare(Compare::Lt, Scalar::S32, bits, word(0));
    Value *turned = f.builder().select(negative, word(0xffffffff), word(0x80000000));
    Value *is_nan = f.builder().compare(Compare::Gt, Scalar::U32, size, word(0x7f800000));
    Value *key = f.builder().select(is_nan, nan, of_words(Opcode::Xor, bits, turned));
    Attributes a;
    a.type = Scalar::U32;
    a.atomic = op;
    key = f.emit(Opcode::WarpReduce, a, {key, members(f, i, 2)});
    Value *positive = f.builder().compare(Compare::Lt, Scalar::S32, key, word(0));
    turned = f.builder().select(positive, word(0x80000000), word(0xffffffff));
    Value *none = f.builder().compare(Compare::Eq, Scalar::U32, key, nan);
    Value *result = f.builder().select(none, word(0x7fffffff), of_words(Opcode::Xor, key, turned));
    f.write(i.operand(0), f.builder().bitcast(result, Type::F32), Scalar::F32);
}

void reduce_lanes(FunctionLowering &f, const ptx::Instruction &i) {
    std::optional<AtomicOp> op = atomic_op(i.modifiers.operation);
    Attributes a;
    a.type = scalar(i.modifiers.type());
    if (!op)
        return f.unsupported(i);
    if (a.type == Scalar::F32)
        return reduce_floats(f, i, *op);
    a.atomic = *op;
    f.write(i.operand(0),
            f.emit(Opcode::WarpReduce, a, {read_bits(f, i.operand(1), a.type), members(f, i, 2)}),
            a.type);
}

} // namespace

void lower_warp(FunctionLowering &f, const ptx::Instruction &i) {
    switch (i.opcode) {
    case ptx::Opcode::Shfl:
        return shuffle(f, i);
    case ptx::Opcode::Vote:
        return vote(f, i);
    case ptx::Opcode::Match:
        return match(f, i);
    case ptx::Opcode::Redux:
        return reduce_lanes(f, i);
    case ptx::Opcode::Activemask:
        return f.write(i.operand(0), f.emit(Opcode::ActiveMask, Attributes{}, {}), Scalar::B32);
    case ptx::Opcode::Elect:
        return write_pair(f, i.operand(0),
                          *f.builder().append(Opcode::ElectOne, {}, {members(f, i, 1)}),
                          Scalar::B32);
    default:
        f.builder().append(Opcode::WarpBarrier, {}, {members(f, i, 0)});
    }
}

} // namespace softcuda::ir
