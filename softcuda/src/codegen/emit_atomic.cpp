// emit_atomic.cpp -- atomics and reductions, lane by lane; if possible one operation for a whole
// warp.

#include "codegen/address.h"
#include "codegen/counts.h"
#include "codegen/equal_places.h"
#include "codegen/privatized_tables.h"
#include "codegen/warp_families.h"
#include "codegen/watch.h"
#include "rt/kernel_abi.h"
#include "rt/windows.h"
#include "support/mbarrier.h"
#include "vector_math/rounding.h"

#include <optional>
#include <utility>
#include <vector>

namespace softcuda::codegen {

namespace {

using ir::AtomicOp;
using Bin = llvm::AtomicRMWInst::BinOp;

bool is_floating(const ir::Instruction &i) { return ir::is_floating(i.attributes.type); }

// Shared memory belongs to a block, and a block, with all blocks of its cluster, to one thread: no
// other thread can interrupt.
bool needs_lock(const ir::Instruction &i) {
    return i.attributes.space != ir::Space::Shared && i.attributes.atomic != AtomicOp::Arrive;
}

Bin rmw_operation(const ir::Instruction &i) {
    bool with_sign = ir::is_signed(i.attributes.type);
    switch (i.attributes.atomic) {
    case AtomicOp::Add:
        return is_floating(i) ? Bin::FAdd : Bin::Add;
    case AtomicOp::Inc:
        return Bin::UIncWrap;
    case AtomicOp::Dec:
        return Bin::UDecWrap;
    case AtomicOp::Min:
        return is_floating(i) ? Bin::FMin : with_sign ? Bin::Min : Bin::UMin;
    case AtomicOp::Max:
        return is_floating(i) ? Bin::FMax : with_sign ? Bin::Max : Bin::UMax;
    case AtomicOp::And:
        return Bin::And;
    case AtomicOp::Or:
        return Bin::Or;
    case AtomicOp::Xor:
        return Bin::Xor;
    default:
        return Bin::Xchg;
    }
}

// The NaN that the hardware returns: for f16, bf16 and f32 all bits except the sign.
llvm::Value *with_its_nan(WarpEmitter &w, llvm::Value *sum, llvm::ArrayRef<llvm::Value *> of) {
    unsigned bits = sum->getType()->getScalarSizeInBits();
    if (bits == 64) {
        vector_math::Emitter emitter(w.b, w.kernel.code.target);
        return vector_math::with_hardware_nan(emitter, sum, of);
    }
    llvm::Type *words = sum->getType()->getWithNewType(w.b.getIntNTy(bits));
    llvm::Constant *nan = llvm::ConstantInt::get(words, (std::uint64_t{1} << (bits - 1)) - 1);
    return w.b.CreateSelect(w.b.CreateFCmpUNO(sum, sum),
                            llvm::ConstantExpr::getBitCast(nan, sum->getType()), sum);
}

// An mbarrier's 64 bits after the subtraction of `less`: when no arrival is pending, the next phase
// begins, which waits for the expected number of arrivals.
llvm::Value *after_arrival(WarpEmitter &w, llvm::Value *old, llvm::Value *less) {
    auto &b = w.b;
    // The number of transactions may be negative, and must not borrow from the phase.
    llvm::Value *phase = b.CreateAnd(old, mbarrier::kPhase);
    llvm::Value *left = b.CreateOr(b.CreateAnd(b.CreateSub(old, less), ~mbarrier::kPhase), phase);
    llvm::Value *last = b.CreateICmpEQ(b.CreateAnd(left, mbarrier::kPending), w.i64(0));
    llvm::Value *expected =
        b.CreateAnd(b.CreateLShr(left, mbarrier::kExpectedShift), mbarrier::kMostArrivals);
    llvm::Value *next =
        b.CreateAdd(b.CreateAdd(left, expected), w.i64(std::uint64_t{1} << mbarrier::kPhaseShift));
    return b.CreateSelect(last, next, left);
}

/// A denormal float becomes the zero of its sign.
llvm::Value *flushed(WarpEmitter &w, llvm::Value *value) {
    llvm::Type *word = w.b.getInt32Ty();
    llvm::Value *bits = w.b.CreateBitCast(value, word);
    llvm::Value *small = w.b.CreateICmpEQ(w.b.CreateAnd(bits, 0x7f80'0000), w.i32(0));
    llvm::Value *zero = w.b.CreateAnd(bits, 0x8000'0000);
    return w.b.CreateBitCast(w.b.CreateSelect(small, zero, bits), value->getType());
}

/// i1: whether a sum at this address flushes denormals. An f32 sum does in global memory, but not
/// in shared memory (PTX ISA, atom); a generic address is tested.
llvm::Value *flushes(WarpEmitter &w, const ir::Instruction &i, llvm::Value *at) {
    if (i.attributes.ftz)
        return w.b.getTrue();
    if (i.attributes.type != ir::Scalar::F32 || i.attributes.space != ir::Space::Generic)
        return w.b.getFalse();
    llvm::Type *wide = w.b.getInt64Ty();
    llvm::Value *distance = w.b.CreateSub(
        w.b.CreatePtrToInt(at, wide), w.b.CreatePtrToInt(w.kernel.frame.invariants.shared, wide));
    const bool narrow = w.kernel.code.target.has_narrow_windows();
    return w.b.CreateICmpUGE(distance, w.i64(narrow ? rt::kNarrowWindow : std::uint64_t{1} << 32));
}

llvm::Value *sum_of_floats(WarpEmitter &w, const ir::Instruction &i, llvm::Value *at,
                           llvm::Value *old, llvm::Value *value) {
    auto &b = w.b;
    llvm::Value *flush = flushes(w, i, at);
    if (auto *never = llvm::dyn_cast<llvm::Constant>(flush); never && never->isNullValue())
        return with_its_nan(w, b.CreateFAdd(old, value), {old, value});
    auto cut = [&](llvm::Value *x) { return b.CreateSelect(flush, flushed(w, x), x); };
    return with_its_nan(w, cut(b.CreateFAdd(cut(old), cut(value))), {old, value});
}

// The smaller or larger number, the old one of two equal ones: LLVM's operations leave open which
// of two zeros they return, and whether a signalling NaN counts as a number.
llvm::Value *extreme_of_floats(WarpEmitter &w, bool smallest, llvm::Value *old,
                               llvm::Value *value) {
    llvm::Value *better = smallest ? w.b.CreateFCmpOLT(value, old) : w.b.CreateFCmpOGT(value, old);
    llvm::Value *result = w.b.CreateSelect(better, value, old);
    return w.b.CreateSelect(w.b.CreateFCmpUNO(old, old), value, result);
}

// The new value that the operation computes from the old one.
llvm::Value *combine(WarpEmitter &w, const ir::Instruction &i, llvm::Value *at, llvm::Value *old,
                     llvm::Value *value) {
    auto &b = w.b;
    if (i.attributes.atomic == AtomicOp::Arrive)
        return after_arrival(w, old, value);
    switch (rmw_operation(i)) {
    case Bin::FAdd:
        return sum_of_floats(w, i, at, old, value);
    case Bin::Add:
        return b.CreateAdd(old, value);
    case Bin::UIncWrap:
        return b.CreateSelect(b.CreateICmpUGE(old, value),
                              llvm::Constant::getNullValue(old->getType()),
                              b.CreateAdd(old, llvm::ConstantInt::get(old->getType(), 1)));
    case Bin::UDecWrap: {
        llvm::Value *zero = llvm::Constant::getNullValue(old->getType());
        llvm::Value *reset = b.CreateOr(b.CreateICmpEQ(old, zero), b.CreateICmpUGT(old, value));
        return b.CreateSelect(reset, value,
                              b.CreateSub(old, llvm::ConstantInt::get(old->getType(), 1)));
    }
    case Bin::FMin:
        return extreme_of_floats(w, /*smallest=*/true, old, value);
    case Bin::FMax:
        return extreme_of_floats(w, /*smallest=*/false, old, value);
    case Bin::Min:
        return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, old, value);
    case Bin::Max:
        return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, old, value);
    case Bin::UMin:
        return b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, old, value);
    case Bin::UMax:
        return b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, old, value);
    case Bin::And:
        return b.CreateAnd(old, value);
    case Bin::Or:
        return b.CreateOr(old, value);
    case Bin::Xor:
        return b.CreateXor(old, value);
    default:
        return value;
    }
}

llvm::Type *memory_type(WarpEmitter &w, const ir::Instruction &i) {
    switch (i.attributes.type) {
    case ir::Scalar::F16:
        return w.b.getHalfTy();
    case ir::Scalar::BF16:
        return w.b.getBFloatTy();
    case ir::Scalar::F16x2:
        return with_lanes(w.b.getHalfTy(), 2);
    case ir::Scalar::BF16x2:
        return with_lanes(w.b.getBFloatTy(), 2);
    case ir::Scalar::F32:
        return w.b.getFloatTy();
    case ir::Scalar::F64:
        return w.b.getDoubleTy();
    default:
        return w.b.getIntNTy(ir::bits(i.attributes.type));
    }
}

llvm::Value *compare_swap(WarpEmitter &w, const ir::Instruction &i, llvm::Value *at,
                          llvm::Value *expected, llvm::Value *desired) {
    llvm::Align align(ir::bits(i.attributes.type) / 8);
    if (!needs_lock(i)) {
        llvm::Value *old = w.b.CreateAlignedLoad(expected->getType(), at, align);
        llvm::Value *same = w.b.CreateICmpEQ(old, expected);
        w.b.CreateAlignedStore(w.b.CreateSelect(same, desired, old), at, align);
        return old;
    }
    llvm::Value *pair = w.b.CreateAtomicCmpXchg(at, expected, desired, align,
                                                llvm::AtomicOrdering::SequentiallyConsistent,
                                                llvm::AtomicOrdering::SequentiallyConsistent);
    return w.b.CreateExtractValue(pair, 0);
}

// LLVM makes a loop for the others on most processors, but aborts on ARM with FEAT_LSE.
bool has_instruction(Bin operation) {
    return operation != Bin::FAdd && operation != Bin::FMin && operation != Bin::FMax &&
           operation != Bin::UIncWrap && operation != Bin::UDecWrap;
}

// Compares and swaps until no other thread has changed the value.
llvm::Value *swap_loop(WarpEmitter &w, const ir::Instruction &i, llvm::Value *at,
                       llvm::Value *value) {
    llvm::Type *bits_type = w.b.getIntNTy(ir::bits(i.attributes.type));
    llvm::Align align(ir::bits(i.attributes.type) / 8);
    llvm::BasicBlock *before = w.b.GetInsertBlock();
    llvm::Value *seen = w.b.CreateAlignedLoad(bits_type, at, align);
    llvm::BasicBlock *again = w.new_block("swap"), *done = w.new_block("swapped");
    w.b.CreateBr(again);
    w.b.SetInsertPoint(again);
    llvm::PHINode *old = w.b.CreatePHI(bits_type, 2);
    old->addIncoming(seen, before);
    llvm::Value *made = combine(w, i, at, w.b.CreateBitCast(old, value->getType()), value);
    llvm::Value *pair = w.b.CreateAtomicCmpXchg(at, old, w.b.CreateBitCast(made, bits_type), align,
                                                llvm::AtomicOrdering::SequentiallyConsistent,
                                                llvm::AtomicOrdering::SequentiallyConsistent);
    old->addIncoming(w.b.CreateExtractValue(pair, 0), again);
    w.b.CreateCondBr(w.b.CreateExtractValue(pair, 1), done, again);
    w.b.SetInsertPoint(done);
    return w.b.CreateBitCast(old, value->getType());
}

llvm::Value *read_modify_write(WarpEmitter &w, const ir::Instruction &i, llvm::Value *at,
                               llvm::Value *value) {
    llvm::Align align(ir::bits(i.attributes.type) / 8);
    if (!needs_lock(i)) {
        llvm::Value *old = w.b.CreateAlignedLoad(value->getType(), at, align);
        w.b.CreateAlignedStore(combine(w, i, at, old, value), at, align);
        return old;
    }
    const Bin operation = rmw_operation(i);
    if (!has_instruction(operation))
        return swap_loop(w, i, at, value);
    return w.b.CreateAtomicRMW(operation, at, value, align,
                               llvm::AtomicOrdering::SequentiallyConsistent);
}

// A neutral element, and the operation as a reduction over lanes, for those that have both.
llvm::Value *reduce_lanes(WarpEmitter &w, const ir::Instruction &i, llvm::Value *all) {
    llvm::Type *type = all->getType();
    auto masked = [&](llvm::Constant *neutral) { return w.b.CreateSelect(w.mask(), all, neutral); };
    unsigned bits = type->getScalarSizeInBits();
    auto number = [&](const llvm::APInt &n) { return llvm::ConstantInt::get(type, n); };
    bool with_sign = ir::is_signed(i.attributes.type);
    switch (i.attributes.atomic) {
    case AtomicOp::Add:
        return w.b.CreateAddReduce(masked(number(llvm::APInt(bits, 0))));
    case AtomicOp::And:
        return w.b.CreateAndReduce(masked(number(llvm::APInt::getAllOnes(bits))));
    case AtomicOp::Or:
        return w.b.CreateOrReduce(masked(number(llvm::APInt(bits, 0))));
    case AtomicOp::Xor:
        return w.b.CreateXorReduce(masked(number(llvm::APInt(bits, 0))));
    case AtomicOp::Min:
        return w.b.CreateIntMinReduce(masked(number(with_sign ? llvm::APInt::getSignedMaxValue(bits)
                                                              : llvm::APInt::getMaxValue(bits))),
                                      with_sign);
    case AtomicOp::Max:
        return w.b.CreateIntMaxReduce(masked(number(with_sign ? llvm::APInt::getSignedMinValue(bits)
                                                              : llvm::APInt::getMinValue(bits))),
                                      with_sign);
    default:
        return nullptr;
    }
}

llvm::Value *in_type(WarpEmitter &w, llvm::Value *value, llvm::Type *wanted) {
    llvm::Type *type = value->getType();
    if (type == wanted)
        return value;
    unsigned from = type->getPrimitiveSizeInBits(), to = wanted->getPrimitiveSizeInBits();
    if (from != to) {
        value = w.b.CreateBitCast(value, w.b.getIntNTy(from));
        value = w.b.CreateZExtOrTrunc(value, w.b.getIntNTy(to));
    }
    return w.b.CreateBitCast(value, wanted);
}

// A vector whose lanes are used one after another, from memory. The loads are volatile: otherwise
// LLVM would split the vector in registers, which is slower.
class LaneArray {
  public:
    LaneArray(WarpEmitter &w, llvm::Value *vector)
        : type_(vector->getType()->getScalarType()), array_(w.spill(vector)) {}

    llvm::Value *load(WarpEmitter &w, llvm::Value *lane) const {
        return w.b.CreateLoad(type_, w.b.CreateGEP(type_, array_, lane), /*isVolatile=*/true);
    }
    void store(WarpEmitter &w, llvm::Value *lane, llvm::Value *value) const {
        w.b.CreateStore(value, w.b.CreateGEP(type_, array_, lane));
    }
    llvm::Value *whole(WarpEmitter &w) const {
        return w.b.CreateLoad(with_lanes(type_, kLanes), array_);
    }
    void store_whole(WarpEmitter &w, llvm::Value *vector) const { w.b.CreateStore(vector, array_); }

  private:
    llvm::Type *type_;
    llvm::Value *array_;
};

// All lanes use one address and the old value is not used: first add up the lanes.
bool emit_combined(WarpEmitter &w, const ir::Instruction &i, const Address &address) {
    if (!i.results.empty() || !address.lanes.shape.uniform() || is_floating(i))
        return false;
    llvm::Value *sum = reduce_lanes(w, i, w.full(i.operand(1)));
    if (!sum)
        return false;
    check_address(w, address, rt::Access::Atomic);
    read_modify_write(w, i, group_pointer(w, address, 0), in_type(w, sum, memory_type(w, i)));
    return true;
}

// The operation of one lane at `at`: the old value, as the type of the instruction's result.
llvm::Value *operate(WarpEmitter &w, const ir::Instruction &i, llvm::Value *at,
                     llvm::function_ref<llvm::Value *(unsigned)> operand) {
    if (i.attributes.atomic != AtomicOp::CompareSwap)
        return read_modify_write(w, i, at, in_type(w, operand(0), memory_type(w, i)));
    llvm::Type *bits = w.b.getIntNTy(ir::bits(i.attributes.type));
    return compare_swap(w, i, at, in_type(w, operand(0), bits), in_type(w, operand(1), bits));
}

// The operation of one lane at a time.
class LaneByLane {
  public:
    LaneByLane(WarpEmitter &w, const ir::Instruction &i, const Address &address)
        : w_(w), i_(i), window_(address.window),
          numbers_(window_ ? w.b.CreateTrunc(all_lanes(w.b, address.lanes),
                                             with_lanes(w.b.getInt32Ty(), kLanes))
                           : all_addresses(w, address)),
          places_(w, numbers_) {
        for (std::size_t k = 1; k < i.operands.size(); ++k) {
            const bool same = w.shape(i.operand(k)).uniform();
            uniform_.push_back(same ? w.scalar(i.operand(k)) : nullptr);
            operands_.push_back(
                same ? std::nullopt
                     : std::optional<LaneArray>(std::in_place, w, w.full(i.operand(k))));
        }
        if (i.results.empty())
            return;
        llvm::Type *type = w.type(i.result()->type, kLanes);
        results_.emplace(w, llvm::Constant::getNullValue(type));
    }

    void emit(llvm::Value *lane) const { emit_at(lane, place(lane)); }

    /// The operation at `at`, about which more is known than about the address.
    void emit_at(llvm::Value *lane, llvm::Value *at) const {
        llvm::Value *old = operate(w_, i_, at, [&](unsigned k) { return operand(k, lane); });
        if (results_)
            results_->store(w_, lane, in_type(w_, old, w_.type(i_.result()->type)));
    }

    /// <32 x i32>: offsets in the window; else <32 x i64>.
    [[nodiscard]] llvm::Value *numbers() const { return numbers_; }

    /// The operations of the lanes `same`, an i32, at one address: each adds the same number, so
    /// the old values rise from lane to lane.
    void add_together(llvm::Value *lane, llvm::Value *same) const {
        auto &b = w_.b;
        llvm::Type *type = memory_type(w_, i_);
        llvm::Value *each = in_type(w_, uniform_[0], type);
        llvm::Value *count = b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, same);
        llvm::Value *sum = b.CreateMul(each, b.CreateZExt(count, type));
        llvm::Value *old = read_modify_write(w_, i_, place(lane), sum);
        if (!results_)
            return;
        llvm::Type *all = with_lanes(type, kLanes);
        llvm::Value *steps = b.CreateMul(b.CreateVectorSplat(kLanes, each),
                                         b.CreateZExt(lanes_before(w_, same), all));
        llvm::Value *values = b.CreateAdd(b.CreateVectorSplat(kLanes, old), steps);
        results_->store_whole(w_,
                              b.CreateSelect(w_.mask_from_bits(same), values, results_->whole(w_)));
    }

    void add_at_equal_places() const {
        for_equal_places(w_, {.numbers = numbers_,
                              .number = [&](llvm::Value *lane) { return places_.load(w_, lane); },
                              .together = [&](llvm::Value *lane,
                                              llvm::Value *same) { add_together(lane, same); },
                              .alone = [&](llvm::Value *lane) { emit(lane); }});
    }

    void define_result() const {
        if (results_)
            w_.define_full(i_.result(), results_->whole(w_));
    }

  private:
    llvm::Value *place(llvm::Value *lane) const {
        llvm::Value *number = places_.load(w_, lane);
        if (!window_)
            return w_.b.CreateIntToPtr(number, w_.b.getPtrTy());
        return w_.b.CreateGEP(w_.b.getInt8Ty(), window_,
                              w_.b.CreateSExt(number, w_.b.getInt64Ty()));
    }
    llvm::Value *operand(unsigned k, llvm::Value *lane) const {
        return uniform_[k] ? uniform_[k] : operands_[k]->load(w_, lane);
    }

    WarpEmitter &w_;
    const ir::Instruction &i_;
    llvm::Value *window_, *numbers_;
    LaneArray places_;
    std::vector<llvm::Value *> uniform_; ///< by operand; null: in operands_
    std::vector<std::optional<LaneArray>> operands_;
    std::optional<LaneArray> results_;
};

// All lanes add one number: then the lanes at one address need one locked instruction.
bool may_add_together(WarpEmitter &w, const ir::Instruction &i) {
    const unsigned bits = ir::bits(i.attributes.type);
    return needs_lock(i) && i.attributes.atomic == AtomicOp::Add && !is_floating(i) &&
           w.shape(i.operand(1)).uniform() && (bits == 32 || bits == 64) &&
           (i.results.empty() || ir::bits(i.result()->type) == bits);
}

// A function for all atomics of one operation, which are calls of it:
//
//     function(mask, shared memory, arrays)
//
// `arrays` has an array over the lanes for the addresses, for each operand, and for the result.
class CalledAtomic {
  public:
    CalledAtomic(WarpEmitter &w, const ir::Instruction &i, const Address &address)
        : w_(w), i_(i), address_(address) {
        add(all_addresses(w, address));
        for (std::size_t k = 1; k < i.operands.size(); ++k)
            add(w.full(i.operand(k)));
        if (!i.results.empty())
            add(llvm::Constant::getNullValue(w.type(i.result()->type, kLanes)));
        type_ = llvm::StructType::get(w.context, members_);
    }

    void emit() {
        llvm::AllocaInst *arrays = w_.kernel.frame.call_slot(type_);
        arrays->setAlignment(kArrayAlign);
        for (unsigned k = 0; k < vectors_.size(); ++k)
            w_.b.CreateAlignedStore(vectors_[k], array(arrays, k), kArrayAlign);
        if (address_.needs_check)
            check_by_call(w_, address_, rt::Access::Atomic, arrays);
        else
            check_address(w_, address_, rt::Access::Atomic);
        w_.b.CreateCall(function(), {w_.mask_bits(), w_.kernel.frame.invariants.shared, arrays});
        if (i_.results.empty())
            return;
        const auto last = static_cast<unsigned>(vectors_.size() - 1);
        w_.define_full(i_.result(), w_.b.CreateAlignedLoad(vectors_[last]->getType(),
                                                           array(arrays, last), kArrayAlign));
    }

  private:
    const llvm::Align kArrayAlign{32};

    void add(llvm::Value *vector) {
        vectors_.push_back(vector);
        members_.push_back(llvm::ArrayType::get(vector->getType()->getScalarType(), kLanes));
    }

    llvm::Value *array(llvm::Value *arrays, unsigned k) {
        return w_.b.CreateStructGEP(type_, arrays, k);
    }

    std::string name() const {
        std::string name = "atomic";
        for (const std::string_view part :
             {ir::text(i_.attributes.atomic), ir::text(i_.attributes.type),
              ir::text(i_.attributes.space)})
            name += "." + std::string(part);
        for (std::size_t k = 1; k < i_.operands.size(); ++k)
            name += "." + std::string(ir::text(i_.operand(k)->type));
        if (!i_.results.empty())
            name += ".to." + std::string(ir::text(i_.result()->type));
        return name + (i_.attributes.ftz ? ".ftz" : "");
    }

    llvm::Function *function() {
        const std::string wanted = name();
        llvm::Module &module = w_.kernel.code.module;
        if (llvm::Function *made = module.getFunction(wanted))
            return made;
        llvm::Type *pointer = w_.b.getPtrTy();
        auto *type =
            llvm::FunctionType::get(w_.b.getVoidTy(), {w_.b.getInt32Ty(), pointer, pointer}, false);
        auto *made = llvm::Function::Create(type, llvm::Function::InternalLinkage, wanted, module);
        w_.kernel.code.target.apply(*made);
        made->addFnAttr(llvm::Attribute::NoInline);
        made->addFnAttr(llvm::Attribute::NoUnwind);
        const FunctionFrame::Elsewhere elsewhere(w_.kernel.frame, made, made->getArg(1));
        w_.for_each_lane(made->getArg(0),
                         [&](llvm::Value *lane) { emit_lane(made->getArg(2), lane); });
        w_.b.CreateRetVoid();
        return made;
    }

    void emit_lane(llvm::Value *arrays, llvm::Value *lane) {
        auto element = [&](unsigned k) {
            return w_.b.CreateInBoundsGEP(type_, arrays, {w_.i32(0), w_.i32(k), lane});
        };
        auto read = [&](unsigned k) {
            return w_.b.CreateLoad(members_[k]->getArrayElementType(), element(k));
        };
        llvm::Value *at = w_.b.CreateIntToPtr(read(0), w_.b.getPtrTy());
        llvm::Value *old = operate(w_, i_, at, [&](unsigned k) { return read(k + 1); });
        if (i_.results.empty())
            return;
        const auto last = static_cast<unsigned>(members_.size() - 1);
        w_.b.CreateStore(in_type(w_, old, members_[last]->getArrayElementType()), element(last));
    }

    WarpEmitter &w_;
    const ir::Instruction &i_;
    const Address &address_;
    llvm::SmallVector<llvm::Value *, 4> vectors_;
    llvm::SmallVector<llvm::Type *, 4> members_;
    llvm::StructType *type_ = nullptr;
};

// A loop over the lanes is slower than its body if the body needs no lock.
bool is_worth_unrolling(const ir::Instruction &i) {
    return !needs_lock(i) && i.attributes.atomic != AtomicOp::CompareSwap &&
           i.attributes.atomic != AtomicOp::Exchange && i.attributes.atomic != AtomicOp::Arrive;
}

void emit_all_lanes(WarpEmitter &w, const LaneByLane &lanes, PrivatizedLanes *privatized) {
    for (unsigned lane = 0; lane < kLanes; ++lane)
        if (privatized)
            lanes.emit_at(w.i32(lane), privatized->place(lane));
        else
            lanes.emit(w.i32(lane));
}

} // namespace

void emit_atomic(WarpEmitter &w, const ir::Instruction &i) {
    const warp::AccessPlan &plan = w.kernel.plan.accesses.at(&i);
    const Address address = find_address(w, i, plan);
    watch_access(w, i, address);
    count_access(w, i, address);
    if (emit_combined(w, i, address))
        return;
    const Address all = address.lanes.shape.checked || address.lanes.shape.offsets
                            ? Address{.lanes = {.base = all_addresses(w, address),
                                                .shape = analysis::Shape{.groups = kLanes}},
                                      .needs_check = address.needs_check,
                                      .bytes = plan.bytes,
                                      .checked_bytes = plan.bytes,
                                      .alignment = address.alignment}
                            : address;
    if (w.kernel.plan.calls_atomics && !w.privatized_tables())
        return CalledAtomic(w, i, all).emit();
    check_address(w, all, rt::Access::Atomic);
    const LaneByLane lanes(w, i, address);
    auto one = [&](llvm::Value *lane) { lanes.emit(lane); };
    if (may_add_together(w, i)) {
        lanes.add_at_equal_places();
    } else if (!is_worth_unrolling(i)) {
        w.for_each_lane(w.mask_bits(), one);
    } else {
        llvm::BasicBlock *all = w.new_block("all"), *some = w.new_block("some");
        llvm::BasicBlock *done = w.new_block("done");
        std::optional<PrivatizedLanes> privatized;
        llvm::Value *whole = w.b.CreateICmpEQ(w.mask_bits(), w.i32(~0u));
        if (const PrivateTables *tables = w.privatized_tables()) {
            privatized.emplace(w, *tables, lanes.numbers());
            whole = w.b.CreateAnd(whole, privatized->all_inside());
        }
        if (privatized)
            w.branch_rarely(w.b.CreateNot(whole), some, all);
        else
            w.b.CreateCondBr(whole, all, some);
        w.b.SetInsertPoint(all);
        emit_all_lanes(w, lanes, privatized ? &*privatized : nullptr);
        w.b.CreateBr(done);
        w.b.SetInsertPoint(some);
        w.for_each_lane(w.mask_bits(), one);
        w.b.CreateBr(done);
        w.b.SetInsertPoint(done);
    }
    lanes.define_result();
}

} // namespace softcuda::codegen
