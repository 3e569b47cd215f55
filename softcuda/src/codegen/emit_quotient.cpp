// emit_quotient.cpp -- divisions of indices by a number that all lanes share: k / width, k % width.
//
// The lanes of an index are close to each other, so mostly all lanes of a group have one quotient,
// and their remainders have the index's pattern. Code generation computes one scalar division, and
// tests whether the quotient changes within the group. Values computed from quotients carry this
// test along, so that an access such as in[k / width * pitch + k % width] is one row.
//
//     width 100     k = 64 65 .. 95     k / width = 0 0 .. 0       k % width = 64 65 .. 95
//                   k = 96 97 .. 127    k / width = 0 0 0 0 1 ..   k % width = 96 .. 99 0 1 .. 27
//
// The second warp computes exact lanes.

#include "codegen/answer.h"
#include "codegen/warp_families.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace softcuda::codegen {

using ir::Opcode;

namespace {

/// The distances from the first lane of a group to the least and to the greatest lane.
struct DividendSpan {
    std::int64_t least, most;
    [[nodiscard]] std::int64_t width() const { return most - least; }
};

/// Of a dividend whose lanes have a pattern. Empty for other operations.
std::optional<DividendSpan> span_of_dividend(WarpEmitter &w, const ir::Instruction &i) {
    if ((!i.is(Opcode::Div) && !i.is(Opcode::Rem)) || !w.shape(i.operand(0)).offsets)
        return std::nullopt;
    const auto [least, most] = std::ranges::minmax(*w.shape(i.operand(0)).offsets);
    return DividendSpan{least, most};
}

// If the divisor is greater than the distance of the lanes, the quotients of a group are q and q +
// 1, where q is that of its least lane: one scalar division instead of one for each lane. The
// dividends must not wrap, and not be negative. `divide` divides all lanes.
template <typename Divide>
llvm::Value *divide_index(WarpEmitter &w, const ir::Instruction &i, const DividendSpan &span,
                          Divide divide) {
    auto &b = w.b;
    const analysis::Shape &shape = w.shape(i.operand(0));
    llvm::Value *divisor = w.scalar(i.operand(1)), *bases = w.firsts(i.operand(0), shape.groups);
    const bool is_signed = ir::is_signed(i.attributes.type);
    const auto width = static_cast<std::uint32_t>(span.width());
    llvm::Value *few =
        is_signed ? b.CreateICmpSGT(divisor, w.i32(width)) : b.CreateICmpUGT(divisor, w.i32(width));
    llvm::SmallVector<llvm::Value *, 4> least;
    for (unsigned group = 0; group < shape.groups; ++group) {
        llvm::Value *base = shape.groups == 1 ? bases : b.CreateExtractElement(bases, group);
        least.push_back(b.CreateAdd(base, w.i32(static_cast<std::uint32_t>(span.least))));
        const std::uint32_t greatest = (is_signed ? 0x7fff'ffffu : 0xffff'ffffu) - width;
        few = b.CreateAnd(few, b.CreateICmpULE(least.back(), w.i32(greatest)));
    }
    const auto in_two_steps = [&] {
        llvm::SmallVector<llvm::Value *, 4> quotients, rests;
        const unsigned size = kLanes / shape.groups;
        for (llvm::Value *first : least) {
            llvm::Value *quotient = b.CreateUDiv(first, divisor);
            llvm::Value *rest = b.CreateSub(first, b.CreateMul(quotient, divisor));
            quotients.push_back(b.CreateVectorSplat(size, quotient));
            rests.push_back(b.CreateVectorSplat(size, rest));
        }
        llvm::SmallVector<llvm::Constant *, kLanes> distances;
        for (unsigned lane = 0; lane < kLanes; ++lane)
            distances.push_back(w.i32(static_cast<std::uint32_t>(shape.offset(lane) - span.least)));
        llvm::Value *rest =
            b.CreateAdd(concatenate(b, rests), llvm::ConstantVector::get(distances));
        llvm::Value *all = b.CreateVectorSplat(kLanes, divisor);
        if (i.is(Opcode::Rem)) // the difference wraps if it is negative
            return Values{
                b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, rest, b.CreateSub(rest, all))};
        llvm::Value *next = b.CreateZExt(b.CreateICmpUGE(rest, all), rest->getType());
        return Values{b.CreateAdd(concatenate(b, quotients), next)};
    };
    return either(w, few, in_two_steps, [&] { return Values{divide()}; }).front();
}

// The quotient changes within a group, a dividend wraps or is negative, or the divisor is zero or
// negative. `result`: the bases of the quotient or of the remainder.
llvm::Value *quotient_changes(WarpEmitter &w, const ir::Instruction &i, const DividendSpan &span,
                              llvm::Value *result) {
    auto &b = w.b;
    const unsigned groups = w.shape(i.operand(0)).groups;
    llvm::Value *dividend = w.firsts(i.operand(0), groups);
    llvm::Value *divisor = repeat(b, w.scalar(i.operand(1)), 1, groups);
    llvm::Value *rest =
        i.is(Opcode::Rem) ? result : b.CreateSub(dividend, b.CreateMul(result, divisor));
    const bool is_signed = ir::is_signed(i.attributes.type);
    const auto all = [&](std::int64_t n) {
        return llvm::ConstantInt::getSigned(dividend->getType()->getWithNewBitWidth(64), n);
    };
    const auto wide = [&](llvm::Value *value) {
        return is_signed ? b.CreateSExt(value, all(0)->getType())
                         : b.CreateZExt(value, all(0)->getType());
    };
    llvm::Value *changes = b.CreateICmpSGE(b.CreateAdd(wide(rest), all(span.most)), wide(divisor));
    if (span.least < 0)
        changes = b.CreateOr(changes, b.CreateICmpSLT(wide(rest), all(-span.least)));
    const std::int64_t greatest = is_signed ? INT32_MAX : UINT32_MAX;
    llvm::Value *first = b.CreateZExt(dividend, all(0)->getType());
    return w.any(b.CreateOr(changes, b.CreateICmpSGT(first, all(greatest - span.most))));
}

} // namespace

// Quotients, remainders, and values computed from them. All exact lanes are computed from the
// operands' exact lanes; code that only needs them if a quotient changes moves to where they are
// used (jit/sink_cold.h). A division has a branch instead, because it takes long.
void WarpEmitter::carry_quotient(const ir::Instruction &i, Lanes &result) {
    const std::vector<llvm::Value *> operands = exact_operands(i);
    result.wrapped = some_operand_wrapped(i);
    if (i.is(Opcode::MulWide) || i.is(Opcode::Convert))
        if (shape(i.operand(0)).offsets && !kernel.plan.ranges[i.operand(0)->id].non_negative() &&
            ir::bits(i.result()->type) > ir::bits(i.operand(0)->type))
            result.wrapped = b.CreateOr(result.wrapped, wraps_when_widened(i));
    if (!i.is(Opcode::Div) && !i.is(Opcode::Rem)) {
        result.correction = correction_to(b, result, compute(i, operands).front());
        return;
    }
    const auto span = span_of_dividend(*this, i);
    if (span)
        result.wrapped = quotient_changes(*this, i, *span, result.base);
    const auto divide = [&] { return compute(i, operands).front(); };
    if (recomputing_) {
        result.correction = correction_to(b, result, divide());
        return;
    }
    const auto exact = [&] {
        llvm::Value *all = span && !kernel.plan.wants_short_code
                               ? divide_index(*this, i, *span, divide)
                               : divide();
        return Values{correction_to(b, result, all)};
    };
    const auto none = [&] {
        return Values{llvm::Constant::getNullValue(type(i.result()->type, kLanes))};
    };
    result.correction = either(*this, result.wrapped, exact, none).front();
}

} // namespace softcuda::codegen
