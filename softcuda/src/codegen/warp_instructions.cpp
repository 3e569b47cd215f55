// warp_instructions.cpp -- calls each instruction's family; the generic per-lane operation.

#include "codegen/answer.h"
#include "codegen/counts.h"
#include "codegen/debug_frame.h"
#include "codegen/warp_emitter.h"
#include "codegen/warp_families.h"
#include "codegen/watch.h"
#include "ir/exchange.h"
#include "ir/integer_semantics.h"
#include "vector_math/elementwise.h"

#include <algorithm>
#include <optional>

namespace softcuda::codegen {

using ir::Opcode;

void WarpEmitter::begin_instruction(const ir::Instruction &i) {
    b.SetCurrentDebugLocation(kernel.code.lines.at(i.location));
    if (kernel.counts && !recomputing_)
        kernel.counts->add(*this, i);
    if (ir::is_exchange(i))
        watch_meeting(*this, i);
}

void WarpEmitter::emit_instruction(const ir::Instruction &i) {
    begin_instruction(i);
    dispatch(i);
    emit_preemption_point(*this, i);
}

void WarpEmitter::dispatch(const ir::Instruction &i) {
    if (vector_math::is_elementwise(i.opcode)) {
        emit_elementwise_lanes(i);
        return;
    }
    switch (i.opcode) {
    case Opcode::Phi: // set on the incoming edges
    case Opcode::Undef:
    case Opcode::Special:
    case Opcode::SymbolAddress:
    case Opcode::LoadParam:
    case Opcode::ParamAddress:
    case Opcode::StackBase:
    case Opcode::WarpBarrier:
        return; // all lanes that arrive are here already
    case Opcode::DebugValue:
        if (DebugFrame *debugger = kernel.debug_frame())
            debugger->set_value(*this, i);
        return;
    case Opcode::Clock:
        emit_clock(*this, i);
        return;
    case Opcode::Load:
        emit_load(*this, i);
        return;
    case Opcode::Store:
        emit_store(*this, i);
        return;
    case Opcode::Fence:
        emit_fence(*this, i);
        return;
    case Opcode::CopyGroup:
        watch_copy_group(*this, i);
        return;
    case Opcode::ToGeneric:
        emit_to_generic(*this, i);
        return;
    case Opcode::FromGeneric:
        emit_from_generic(*this, i);
        return;
    case Opcode::IsSpace:
        emit_is_space(*this, i);
        return;
    case Opcode::Atomic:
    case Opcode::Reduce:
        emit_atomic(*this, i);
        return;
    case Opcode::RuntimeCall:
        emit_runtime_call(*this, i);
        return;
    case Opcode::TextureRead:
        emit_texture_read(*this, i);
        return;
    case Opcode::SurfaceWrite:
        emit_surface_write(*this, i);
        return;
    case Opcode::Shuffle:
        emit_shuffle(*this, i);
        return;
    case Opcode::Vote:
        emit_vote(*this, i);
        return;
    case Opcode::Match:
        emit_match(*this, i);
        return;
    case Opcode::ActiveMask:
        emit_active_mask(*this, i);
        return;
    case Opcode::WarpReduce:
        emit_warp_reduce(*this, i);
        return;
    case Opcode::ElectOne:
        emit_elect(*this, i);
        return;
    case Opcode::Mma:
        emit_mma(*this, i);
        return;
    case Opcode::Barrier:
    case Opcode::BarrierArrive:
    case Opcode::BarrierReduce:
        watch_barrier(*this, i);
        kernel.tier.barrier(*this, i);
        return;
    case Opcode::Call:
        emit_call(*this, i);
        return;
    case Opcode::Alloca:
        emit_alloca(*this, i);
        return;
    case Opcode::Printf:
        emit_printf(*this, i);
        return;
    case Opcode::AssertFail:
        emit_assertfail(*this, i);
        return;
    case Opcode::Malloc:
        emit_malloc(*this, i);
        return;
    case Opcode::Free:
        emit_free(*this, i);
        return;
    case Opcode::Trap:
        emit_trap(*this, i);
        return;
    case Opcode::Nanosleep:
        kernel.tier.sleep(*this, i);
        return;
    default:
        throw Unsupported("'" + std::string(ir::info(i.opcode).name) +
                              "' is not supported by the software device yet",
                          i);
    }
}

std::vector<llvm::Value *> WarpEmitter::compute(const ir::Instruction &i,
                                                llvm::ArrayRef<llvm::Value *> operands) {
    std::vector<llvm::Value *> results = kernel.called_operations.emit(i, operands);
    for (std::size_t k = 0; k < results.size(); ++k)
        if (kernel.plan.float_bits.is_made_canonical(*i.result(k)))
            results[k] = vector_math::canonicalize_nan(b, results[k]);
    return results;
}

namespace {

/// For the order of two small signed numbers.
llvm::CmpInst::Predicate predicate_of(const ir::Instruction &compare) {
    using Predicate = llvm::CmpInst::Predicate;
    switch (compare.attributes.compare) {
    case ir::Compare::Eq:
    case ir::Compare::Equ:
        return Predicate::ICMP_EQ;
    case ir::Compare::Ne:
    case ir::Compare::Neu:
        return Predicate::ICMP_NE;
    case ir::Compare::Lt:
    case ir::Compare::Ltu:
        return Predicate::ICMP_SLT;
    case ir::Compare::Le:
    case ir::Compare::Leu:
        return Predicate::ICMP_SLE;
    case ir::Compare::Gt:
    case ir::Compare::Gtu:
        return Predicate::ICMP_SGT;
    case ir::Compare::Ge:
    case ir::Compare::Geu:
        return Predicate::ICMP_SGE;
    default:
        return Predicate::BAD_ICMP_PREDICATE;
    }
}

/// The largest distance of a lane's index from the first lane's for a comparison in bytes.
constexpr std::int64_t kMostInBytes = 126;

/// The largest offset of a value in one group whose lanes are base + offset as numbers, not only
/// modulo 2^32: no lane wraps. Empty if that is not known.
std::optional<std::int64_t> largest_offset(WarpEmitter &w, const ir::Value *value) {
    const analysis::Shape &shape = w.shape(value);
    if (shape.groups != 1 || !shape.offsets || shape.checked || value->type != ir::Type::I32)
        return std::nullopt;
    std::int64_t most = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        if (shape.offset(lane) < 0 || shape.offset(lane) > kMostInBytes)
            return std::nullopt;
        most = std::max(most, shape.offset(lane));
    }
    // A lane that wraps would be a large negative number.
    return w.kernel.plan.ranges[value->id].non_negative() ? std::optional(most) : std::nullopt;
}

// Compares an index with a bound that is equal for all lanes, `x < width`: with the distance of the
// bound from the first lane's index, which is one number, the lanes' offsets are compared as bytes.
// That takes one instruction for 32 lanes, and its result has the form in which masks are kept.
// Null if the comparison is of another kind.
llvm::Value *compare_in_bytes(WarpEmitter &w, const ir::Instruction &i) {
    if (!i.is(Opcode::Compare) || ir::is_floating(i.attributes.type) ||
        ir::bits(i.attributes.type) != 32 || !w.shape(i.result()).divergent())
        return nullptr;
    for (unsigned side = 0; side < 2; ++side) {
        const std::optional<std::int64_t> most = largest_offset(w, i.operand(side));
        if (!most || !w.shape(i.operand(1 - side)).uniform())
            continue;
        const ir::Value *index = i.operand(side), *bound = i.operand(1 - side);
        llvm::Type *wide = w.b.getInt64Ty(), *byte = w.b.getInt8Ty();
        auto widen = [&](const ir::Value *value) {
            llvm::Value *scalar = w.scalar(value);
            return ir::is_signed(i.attributes.type) ? w.b.CreateSExt(scalar, wide)
                                                    : w.b.CreateZExt(scalar, wide);
        };
        llvm::Value *distance = w.b.CreateSub(widen(bound), widen(index)); // does not wrap
        distance = w.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, distance, w.i64(-1));
        distance = w.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, distance, w.i64(*most + 1));
        llvm::Value *limits = w.b.CreateVectorSplat(kLanes, w.b.CreateTrunc(distance, byte));
        llvm::Value *offsets = offset_vector(byte, w.shape(index), kLanes);
        return side == 0 ? w.b.CreateICmp(predicate_of(i), offsets, limits)
                         : w.b.CreateICmp(predicate_of(i), limits, offsets);
    }
    return nullptr;
}

} // namespace

// The bases of the result are the operation applied to the bases of the operands (shape_rules.cpp).
void WarpEmitter::emit_elementwise_lanes(const ir::Instruction &i) {
    const auto known = kernel.plan.masks.known.find(i.result(0));
    if (known != kernel.plan.masks.known.end())
        if (llvm::Constant *lanes = known_mask(known->second)) {
            define_full(i.result(), lanes);
            return;
        }
    if (llvm::Value *mask = compare_in_bytes(*this, i)) {
        define(i.result(), mask);
        return;
    }
    unsigned groups = 1;
    for (const ir::Value *result : i.results)
        groups = std::max<unsigned>(groups, shape(result).groups);
    std::vector<llvm::Value *> operands;
    const bool checked = i.results.size() == 1 && shape(i.result()).checked;
    for (const ir::Value *operand : i.operands) // carry_check() handles corrections
        operands.push_back(checked ? refined_bases(b, lanes(operand), groups)
                                   : firsts(operand, groups));
    const std::vector<llvm::Value *> results = compute(i, operands);
    for (std::size_t k = 0; k < results.size(); ++k) {
        Lanes made{.base = results[k], .shape = shape(i.result(k))};
        if (made.shape.groups != groups) {
            define_full(i.result(k), repeat(b, results[k], groups, kLanes));
            continue;
        }
        if (made.shape.checked)
            carry_check(i, made);
        define(i.result(k), made);
    }
}

namespace {

/// The sum of two corrections; null: none.
llvm::Value *sum_of(llvm::IRBuilder<> &b, llvm::Value *one, llvm::Value *other) {
    if (!one || !other)
        return one ? one : other;
    return b.CreateAdd(one, other);
}

llvm::Value *correction_of(WarpEmitter &w, const ir::Value *value) {
    Lanes lanes = w.lanes(value);
    return lanes.correction ? lanes.correction
                            : llvm::Constant::getNullValue(w.type(value->type, kLanes));
}

} // namespace

/// All lanes of each operand, with their corrections.
std::vector<llvm::Value *> WarpEmitter::exact_operands(const ir::Instruction &i) {
    std::vector<llvm::Value *> operands;
    for (const ir::Value *operand : i.operands)
        operands.push_back(full(operand));
    return operands;
}

/// i1: the pattern of a checked operand is not valid.
llvm::Value *WarpEmitter::some_operand_wrapped(const ir::Instruction &i) {
    llvm::Value *wrapped = b.getFalse();
    for (const ir::Value *operand : i.operands)
        if (shape(operand).checked)
            wrapped = b.CreateOr(wrapped, lanes(operand).wrapped);
    return wrapped;
}

// The operations that keep a checked pattern are linear, so they apply to the correction without
// change.
void WarpEmitter::carry_check(const ir::Instruction &i, Lanes &result) {
    if (result.shape.divided) {
        carry_quotient(i, result);
        return;
    }
    const bool carried = std::ranges::any_of(
        i.operands, [&](const ir::Value *operand) { return shape(operand).checked; });
    if (!carried) {
        const std::vector<llvm::Value *> operands = exact_operands(i);
        result.wrapped = wraps_when_widened(i);
        result.correction = correction_to(b, result, compute(i, operands).front());
        return;
    }
    result.wrapped = some_operand_wrapped(i);
    auto everywhere = [&](const ir::Value *v) { return full(v); };
    switch (i.opcode) {
    case Opcode::Add:
        result.correction =
            sum_of(b, lanes(i.operand(0)).correction, lanes(i.operand(1)).correction);
        break;
    case Opcode::Sub:
        result.correction =
            b.CreateSub(correction_of(*this, i.operand(0)), correction_of(*this, i.operand(1)));
        break;
    case Opcode::Neg:
    case Opcode::Not: // -x - 1
        result.correction = b.CreateNeg(correction_of(*this, i.operand(0)));
        break;
    case Opcode::Mul: {
        unsigned side = i.operand(1)->constant ? 0 : 1;
        result.correction =
            b.CreateMul(correction_of(*this, i.operand(side)), everywhere(i.operand(1 - side)));
        break;
    }
    case Opcode::Shl: {
        llvm::Value *amount =
            b.CreateZExtOrTrunc(everywhere(i.operand(1)), type(i.result()->type, kLanes));
        result.correction = b.CreateShl(correction_of(*this, i.operand(0)), amount);
        break;
    }
    case Opcode::Select:
        result.correction =
            b.CreateSelect(everywhere(i.operand(0)), correction_of(*this, i.operand(1)),
                           correction_of(*this, i.operand(2)));
        break;
    default:
        result.correction = correction_of(*this, i.operand(0)); // bitcast
    }
}

// A pattern in a narrow type has been widened: did it wrap between the first lane and another?
llvm::Value *WarpEmitter::wraps_when_widened(const ir::Instruction &i) {
    const ir::Value *source = i.operand(0);
    const analysis::Shape &narrow = shape(source);
    bool with_sign =
        ir::is_signed(i.is(Opcode::MulWide) ? i.attributes.type : i.attributes.source_type);
    std::int64_t low = 0, high = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        low = std::min(low, narrow.offset(lane));
        high = std::max(high, narrow.offset(lane));
    }
    unsigned bits = ir::bits(source->type);
    std::int64_t floor = with_sign ? -(std::int64_t{1} << (bits - 1)) : 0;
    std::int64_t ceiling = floor + (std::int64_t{1} << bits) - 1;
    llvm::Value *base = lanes(source).base;
    auto limit = [&](std::int64_t n) { return llvm::ConstantInt::getSigned(base->getType(), n); };
    auto predicate = [&](llvm::CmpInst::Predicate s, llvm::CmpInst::Predicate u) {
        return with_sign ? s : u;
    };
    llvm::Value *wrapped = llvm::Constant::getNullValue(with_lanes(b.getInt1Ty(), narrow.groups));
    if (high > 0)
        wrapped = b.CreateICmp(predicate(llvm::CmpInst::ICMP_SGT, llvm::CmpInst::ICMP_UGT), base,
                               limit(ceiling - high));
    if (low < 0)
        wrapped = b.CreateOr(
            wrapped, b.CreateICmp(predicate(llvm::CmpInst::ICMP_SLT, llvm::CmpInst::ICMP_ULT), base,
                                  limit(floor - low)));
    return any(wrapped);
}

} // namespace softcuda::codegen
