// lower_matrix_move.cpp -- ldmatrix, stmatrix and movmatrix: 8 x 8 matrices of 16-bit elements.
//
// A lane has two neighbours of a row: lane 4 * i + j has columns 2j and 2j + 1 of row i. Lanes 8n
// to 8n + 7 have the addresses of the rows of matrix n, so a lane gets the address of its elements
// from another lane by a shuffle.
#include "ir/lower_families.h"

namespace softcuda::ir {

namespace {

class MatrixMover {
  public:
    explicit MatrixMover(FunctionLowering &f)
        : f_(f), lane_(f.special(Special::LaneId)), group_(logic(Opcode::Shr, lane_, 2)),
          member_(logic(Opcode::And, lane_, 3)) {}

    /// The starts of matrices: a shared address in each lane.
    void set_address(const ptx::Instruction &i, const ptx::Operand &operand) {
        Address address = shared_address(f_, operand, space(i.modifiers.space));
        address_ = address.base;
        offset_ = address.offset;
    }
    Value *load(unsigned matrix, bool transposed);
    void store(unsigned matrix, bool transposed, Value *pair);
    Value *transpose(Value *pair);

  private:
    Value *constant(std::uint64_t value) { return f_.constant(Type::I32, value); }
    Value *logic(Opcode opcode, Value *a, std::uint64_t b) {
        return f_.emit(opcode, Scalar::B32, {a, constant(b)});
    }
    Value *sum(Value *a, Value *b) { return f_.emit(Opcode::Add, Scalar::U32, {a, b}); }
    Value *from_lane(Value *value, Value *lane) {
        Attributes a;
        a.type = Scalar::B32;
        a.shuffle = ShuffleMode::Index;
        return f_.builder()
            .append(Opcode::Shuffle, a, {value, lane, constant(31), constant(0xffff'ffff)})
            ->result(0);
    }
    /// The address of `row` of a matrix, and of `column` in it.
    Value *element(unsigned matrix, Value *row, Value *column) {
        Value *start = from_lane(address_, sum(row, constant(8 * matrix)));
        return sum(start, logic(Opcode::Shl, column, 1));
    }
    /// Row and column of element `half` of a lane, with the matrix transposed.
    Value *across(unsigned half) { return sum(logic(Opcode::Shl, member_, 1), constant(half)); }
    [[nodiscard]] Attributes access(Scalar type) const {
        Attributes a;
        a.type = type;
        a.space = Space::Shared;
        a.offset = offset_;
        return a;
    }

    FunctionLowering &f_;
    Value *lane_, *group_, *member_;
    Value *address_ = nullptr;
    std::int64_t offset_ = 0;
};

Value *MatrixMover::load(unsigned matrix, bool transposed) {
    if (!transposed)
        return f_.emit(Opcode::Load, access(Scalar::B32), {element(matrix, group_, across(0))});
    std::vector<Value *> halves;
    for (unsigned half = 0; half < 2; ++half)
        halves.push_back(
            f_.emit(Opcode::Load, access(Scalar::B16), {element(matrix, across(half), group_)}));
    Attributes pair;
    pair.type = Scalar::B32;
    return f_.emit(Opcode::Pack, pair, {halves[0], halves[1]});
}

void MatrixMover::store(unsigned matrix, bool transposed, Value *pair) {
    if (!transposed) {
        f_.builder().append(Opcode::Store, access(Scalar::B32),
                            {element(matrix, group_, across(0)), pair});
        return;
    }
    Attributes halves;
    halves.type = Scalar::B16;
    halves.vector = 2;
    Instruction *made = f_.builder().append(Opcode::Unpack, halves, {pair});
    for (unsigned half = 0; half < 2; ++half)
        f_.builder().append(Opcode::Store, access(Scalar::B16),
                            {element(matrix, across(half), group_), made->result(half)});
}

/// Element (i, 2j + half) of the transpose is (2j + half, i): in lane 4 * (2j + half) + i / 2.
Value *MatrixMover::transpose(Value *pair) {
    Value *halves[2];
    for (unsigned half = 0; half < 2; ++half) {
        Value *lane = sum(logic(Opcode::Shl, across(half), 2), logic(Opcode::Shr, group_, 1));
        Value *amount = logic(Opcode::Shl, logic(Opcode::And, group_, 1), 4);
        Value *word = f_.emit(Opcode::Shr, Scalar::U32, {from_lane(pair, lane), amount});
        halves[half] = logic(Opcode::And, word, 0xffff);
    }
    return f_.emit(Opcode::Or, Scalar::B32, {halves[0], logic(Opcode::Shl, halves[1], 16)});
}

std::span<const ptx::Operand> registers_of(const ptx::Operand &operand) {
    if (operand.is(ptx::OperandKind::Vector))
        return {operand.elements.begin(), operand.elements.end()};
    return {&operand, 1};
}

} // namespace

void lower_matrix_move(FunctionLowering &f, const ptx::Instruction &i) {
    MatrixMover mover(f);
    if (i.opcode == ptx::Opcode::Movmatrix)
        return f.write(i.operand(0), mover.transpose(f.read(i.operand(1), Scalar::B32)),
                       Scalar::B32);
    bool loads = i.opcode == ptx::Opcode::Ldmatrix;
    const auto registers = registers_of(i.operand(loads ? 0 : 1));
    mover.set_address(i, i.operand(loads ? 1 : 0));
    std::vector<Value *> values;
    for (unsigned n = 0; n < registers.size(); ++n) {
        if (loads)
            values.push_back(mover.load(n, i.modifiers.transpose));
        else
            mover.store(n, i.modifiers.transpose, f.read(registers[n], Scalar::B32));
    }
    for (std::size_t n = 0; n < values.size(); ++n)
        f.write(registers[n], values[n], Scalar::B32);
}

} // namespace softcuda::ir
