// check_address.cpp -- whether lanes may access their addresses.
//
// Nearly all addresses are in the arena: one comparison, in the middle of hot code. Other memory is
// compared with the range that the same instruction has used last (rt/known_ranges.h), out of the
// way; the runtime finds this range, or ends the launch.

#include "codegen/address.h"

#include "codegen/answer.h"
#include "rt/kernel_abi.h"
#include "target/code/instructions.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace softcuda::codegen {

namespace {

/// A signed 64-bit number, or several, as 32-bit ones: the nearest.
llvm::Value *limited(WarpEmitter &w, llvm::Value *number) {
    llvm::Type *type = number->getType();
    auto everywhere = [&](std::int64_t n) { return llvm::ConstantInt::getSigned(type, n); };
    number = w.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, number, everywhere(INT32_MIN));
    number = w.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, number, everywhere(INT32_MAX));
    return w.b.CreateTrunc(number, type->getWithNewBitWidth(32));
}

/// Memory with the addresses that an access usually has.
struct UsualRange {
    explicit UsualRange(WarpEmitter &w)
        : begin(w.kernel.frame.invariants.global_base),
          bytes(w.kernel.frame.invariants.global_size) {}

    /// Of a generic address, the window of shared memory if it is in there. It is a multiple of
    /// any access's size, and memory that is not open faults (rt/windows.h).
    UsualRange(WarpEmitter &w, const Address &address, llvm::Value *first) : UsualRange(w) {
        if (!address.generic || w.kernel.code.target.has_narrow_windows())
            return;
        llvm::Value *window =
            w.b.CreatePtrToInt(w.kernel.frame.invariants.shared, w.b.getInt64Ty());
        llvm::Value *size = w.i64(std::uint64_t{1} << 32);
        llvm::Value *shared = w.b.CreateICmpULT(w.b.CreateSub(first, window), size, "shared");
        begin = w.b.CreateSelect(shared, window, begin);
        bytes = w.b.CreateSelect(shared, size, bytes);
    }

    llvm::Value *begin, *bytes;
};

llvm::Value *rotated_right(WarpEmitter &w, llvm::Value *number, unsigned by) {
    llvm::Type *type = number->getType();
    return w.b.CreateIntrinsic(llvm::Intrinsic::fshr, {type},
                               {number, number, llvm::ConstantInt::get(type, by)});
}

// Whether any first lane of a group is outside the range or is not a multiple of the access's size:
// rotated right by log2(size), a misaligned offset becomes a huge one.
llvm::Value *suspects(WarpEmitter &w, llvm::Value *addresses, unsigned bytes,
                      const UsualRange &range) {
    llvm::Type *type = addresses->getType();
    unsigned lanes =
        type->isVectorTy() ? llvm::cast<llvm::FixedVectorType>(type)->getNumElements() : 1;
    auto everywhere = [&](llvm::Value *v) { return repeat(w.b, v, 1, lanes); };
    llvm::Value *distance = w.b.CreateSub(addresses, everywhere(range.begin));
    llvm::Value *limit = range.bytes;
    unsigned shift =
        std::has_single_bit(bytes) ? static_cast<unsigned>(std::countr_zero(bytes)) : 0;
    if (shift > 0) {
        distance = rotated_right(w, distance, shift);
        limit = w.b.CreateLShr(limit, shift);
    }
    return w.b.CreateICmpUGE(distance, everywhere(limit), "suspect");
}

// The same for all lanes, relevant or not, if 64-bit comparisons and rotations need several
// instructions: the arena's size is a power of two, so all distances from its start are in it and
// aligned if none of them has a bit outside the size's bits.
llvm::Value *any_suspect(WarpEmitter &w, llvm::Value *addresses, unsigned bytes) {
    auto everywhere = [&](llvm::Value *v) { return repeat(w.b, v, 1, kLanes); };
    llvm::Value *distances =
        w.b.CreateSub(addresses, everywhere(w.kernel.frame.invariants.global_base));
    llvm::Value *inside = w.b.CreateSub(w.kernel.frame.invariants.global_size, w.i64(1));
    if (std::has_single_bit(bytes))
        inside = w.b.CreateAnd(inside, w.i64(~std::uint64_t{bytes - 1}));
    llvm::Value *bits = w.b.CreateAnd(w.b.CreateOrReduce(distances), w.b.CreateNot(inside));
    return w.b.CreateICmpNE(bits, w.i64(0), "suspect");
}

// If any lane is suspect: whether it is a relevant one.
llvm::Value *suspect_lanes(WarpEmitter &w, const Address &address) {
    auto one_that_matters = [&] {
        llvm::Value *found = suspects(w, address.lanes.base, address.checked_bytes, UsualRange(w));
        return w.any(w.b.CreateAnd(found, w.mask()));
    };
    if (w.kernel.code.target.facts().masks_all())
        return one_that_matters();
    llvm::Value *any = any_suspect(w, address.lanes.base, address.checked_bytes);
    if (w.mask_is_full())
        return any;
    llvm::BasicBlock *rare = w.new_block("suspects"), *after = w.new_block("suspected");
    w.branch_rarely(any, rare, after);
    return answer_from(w, rare, after, one_that_matters);
}

/// The numbers of the elements of [begin, end), from the pointer of an address with indices: at
/// least `first`, less than `last`.
struct Elements {
    Elements(WarpEmitter &w, const Address &address, llvm::Value *begin, llvm::Value *end) {
        if (address.scale < address.bytes) // an index is a multiple of the size
            end = w.b.CreateSub(end, w.i64(address.bytes - address.scale));
        llvm::Value *pointer = w.b.CreatePtrToInt(address.window, w.b.getInt64Ty());
        const unsigned shift = static_cast<unsigned>(std::countr_zero(address.scale));
        auto border = [&](llvm::Value *at) {
            llvm::Value *index = w.b.CreateAShr(w.b.CreateSub(at, pointer), shift);
            return limited(w, index);
        };
        // Rounded to an element too narrow, never too wide.
        first = border(w.b.CreateAdd(begin, w.i64(address.scale - 1)));
        last = border(end);
    }

    /// For a range that may be shorter than an element.
    void end_behind_first(WarpEmitter &w) {
        last = w.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, first, last);
    }

    /// <32 x i1>: the lanes with other indices.
    llvm::Value *lacks(WarpEmitter &w, llvm::Value *index) const {
        auto everywhere = [&](llvm::Value *v) { return repeat(w.b, v, 1, kLanes); };
        return w.b.CreateICmpUGE(w.b.CreateSub(index, everywhere(first)),
                                 everywhere(w.b.CreateSub(last, first)), "suspect");
    }

    llvm::Value *first, *last;
};

/// <32 x i1>: the lanes that access memory outside the range.
llvm::Value *outside(WarpEmitter &w, const Address &address, const UsualRange &range) {
    return Elements(w, address, range.begin, w.b.CreateAdd(range.begin, range.bytes))
        .lacks(w, address.index);
}

/// An i1, or several.
llvm::Value *is_misaligned(WarpEmitter &w, llvm::Value *number, unsigned alignment) {
    llvm::Type *type = number->getType();
    return w.b.CreateICmpNE(w.b.CreateAnd(number, llvm::ConstantInt::get(type, alignment - 1)),
                            llvm::Constant::getNullValue(type));
}

// The same for a pointer and indices: whether an index points outside the range, or the pointer is
// misaligned.
llvm::Value *suspect_indices(WarpEmitter &w, const Address &address) {
    llvm::Value *pointer = w.b.CreatePtrToInt(address.window, w.b.getInt64Ty());
    const UsualRange range(w, address, pointer);
    return w.b.CreateOr(w.any(w.b.CreateAnd(outside(w, address, range), w.mask())),
                        is_misaligned(w, pointer, std::bit_ceil(address.checked_bytes)));
}

/// What indices with known bounds access, relative to an address.
struct Extent {
    Extent(WarpEmitter &w, const Address &address, llvm::Value *pointer, llvm::Value *begin) {
        const auto [low, high] = *address.bounds;
        auto number = [&](std::int64_t n) {
            return llvm::ConstantInt::getSigned(w.b.getInt64Ty(), n);
        };
        first = w.b.CreateSub(w.b.CreateAdd(pointer, number(low)), begin);
        bytes = number(high - low + std::int64_t{address.bytes});
    }

    llvm::Value *first, *bytes;
};

// The same if the bounds of the indices are known: whether one of the bounds is outside. Then no
// lane must be.
llvm::Value *suspect_bounds(WarpEmitter &w, const Address &address) {
    llvm::Value *pointer = w.b.CreatePtrToInt(address.window, w.b.getInt64Ty());
    const UsualRange range(w, address, pointer);
    const Extent extent(w, address, pointer, range.begin);
    llvm::Value *last = w.b.CreateSub(range.bytes, extent.bytes);
    const unsigned shift =
        static_cast<unsigned>(std::countr_zero(std::bit_ceil(address.checked_bytes)));
    return w.b.CreateICmpUGT(rotated_right(w, extent.first, shift), w.b.CreateLShr(last, shift),
                             "suspect");
}

// A check may end the launch, but does not access memory that kernels load and store: their values
// stay in registers across it.
void touches_nothing(llvm::CallInst *check) {
    check->setMemoryEffects(llvm::MemoryEffects::inaccessibleOrArgMemOnly());
    check->setDoesNotThrow();
}

/// The alignment that is checked.
unsigned checked_alignment(const Address &address) {
    return std::has_single_bit(address.checked_bytes) ? address.checked_bytes : 1;
}

rt::AccessSite site_of(const Address &address, rt::Access access, std::uint8_t number) {
    return {.access = static_cast<std::uint8_t>(access),
            .number = number,
            .alignment = static_cast<std::uint16_t>(checked_alignment(address))};
}

llvm::ConstantInt *constant(WarpEmitter &w, const rt::AccessSite &site) {
    return w.i32(std::bit_cast<std::uint32_t>(site));
}

// Checks each lane's address separately.
void check_all(WarpEmitter &w, const Address &address, const rt::AccessSite &site) {
    llvm::Value *all = all_addresses(w, address),
                *places = w.kernel.frame.call_slot(all->getType());
    w.b.CreateStore(all, places);
    touches_nothing(call_rarely(w, "scu_check_addresses",
                                {w.kernel.frame.invariants.worker, w.kernel.frame.invariants.frame,
                                 places, w.mask_bits(), w.i32(address.bytes), constant(w, site)}));
}

// An rt::LanePlaces.
llvm::Value *lane_places(WarpEmitter &w, const Address &address, const rt::AccessSite &site) {
    llvm::SmallVector<std::uint64_t, kLanes> offsets;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        offsets.push_back(static_cast<std::uint64_t>(address.lanes.shape.offset(lane)));
    llvm::Constant *places =
        llvm::ConstantStruct::getAnon({llvm::ConstantDataArray::get(w.context, offsets),
                                       w.i32(address.bytes), constant(w, site)});
    return w.kernel.code.constant(places, "places");
}

// A base and offsets that are known at compile time: only the base must be computed.
void check_places(WarpEmitter &w, const Address &address, const rt::AccessSite &site) {
    touches_nothing(
        call_rarely(w, "scu_check_places",
                    {w.kernel.frame.invariants.worker, w.kernel.frame.invariants.frame,
                     address.lanes.base, lane_places(w, address, site), w.mask_bits()}));
}

void ask_runtime(WarpEmitter &w, const Address &address, const rt::AccessSite &site) {
    if (address.lanes.shape.groups == 1 && !address.window)
        check_places(w, address, site);
    else
        check_all(w, address, site);
}

/// The range that accesses at one place of the program have used last.
struct LastRange {
    LastRange(WarpEmitter &w, std::uint8_t number) {
        const std::size_t place = offsetof(rt::WorkerState, known) +
                                  offsetof(rt::KnownRanges, of_sites) +
                                  number * sizeof(rt::KnownRange);
        auto member = [&](std::size_t offset) {
            return w.b.CreateLoad(w.b.getInt64Ty(), w.kernel.frame.worker_member(place + offset));
        };
        begin = member(offsetof(rt::KnownRange, begin));
        bytes = member(offsetof(rt::KnownRange, bytes));
    }

    llvm::Value *begin, *bytes;
};

// Of the functions below, each is an i1: some relevant lane is outside the range, or misaligned.

llvm::Value *indices_leave(WarpEmitter &w, const Address &address, const LastRange &range) {
    Elements elements(w, address, range.begin, w.b.CreateAdd(range.begin, range.bytes));
    elements.end_behind_first(w);
    llvm::Value *pointer = w.b.CreatePtrToInt(address.window, w.b.getInt64Ty());
    llvm::Value *apart = w.b.CreateAnd(elements.lacks(w, address.index),
                                       outside(w, address, UsualRange(w, address, pointer)));
    return w.b.CreateOr(w.any(w.b.CreateAnd(apart, w.mask())),
                        is_misaligned(w, pointer, checked_alignment(address)));
}

llvm::Value *lanes_leave(WarpEmitter &w, const Address &address, const LastRange &range) {
    llvm::Value *all = address.lanes.base;
    auto everywhere = [&](llvm::Value *v) { return repeat(w.b, v, 1, kLanes); };
    llvm::Value *places = w.b.CreateBinaryIntrinsic(
        llvm::Intrinsic::usub_sat, w.b.CreateAdd(range.bytes, w.i64(1)), w.i64(address.bytes));
    llvm::Value *outside =
        w.b.CreateICmpUGE(w.b.CreateSub(all, everywhere(range.begin)), everywhere(places));
    outside = w.b.CreateOr(outside, is_misaligned(w, all, checked_alignment(address)));
    outside = w.b.CreateAnd(outside, suspects(w, all, address.checked_bytes, UsualRange(w)));
    return w.any(w.b.CreateAnd(outside, w.mask()));
}

/// Whether the lanes of a group are at such offsets that 32 bits are enough to compare them, and
/// aligned if the first one is.
bool is_comparable(const Address &address) {
    const unsigned alignment = checked_alignment(address);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        const std::int64_t offset = address.lanes.shape.offset(lane);
        if (offset <= INT32_MIN || offset >= INT32_MAX || offset % alignment != 0)
            return false;
    }
    return true;
}

/// The distance from each lane to the next, if it is the same.
std::optional<std::int64_t> lane_step(const analysis::Shape &shape) {
    const std::int64_t step = shape.offset(1);
    for (unsigned lane = 0; lane < kLanes; ++lane)
        if (shape.offset(lane) != step * lane)
            return std::nullopt;
    return shape.groups == 1 ? std::optional(step) : std::nullopt;
}

/// The offsets of the first and of the last relevant lane.
struct OuterLanes {
    OuterLanes(WarpEmitter &w, std::int64_t step) {
        auto number = [&](std::int64_t n) {
            return llvm::ConstantInt::getSigned(w.b.getInt64Ty(), n);
        };
        first = number(0);
        last = number(step * (kLanes - 1));
        if (step == 0 || w.mask_is_full())
            return;
        auto zeros = [&](llvm::Intrinsic::ID count) {
            return w.b.CreateZExt(w.b.CreateBinaryIntrinsic(count, w.mask_bits(), w.b.getFalse()),
                                  w.b.getInt64Ty());
        };
        first = w.b.CreateMul(zeros(llvm::Intrinsic::cttz), number(step));
        last = w.b.CreateMul(w.b.CreateSub(number(kLanes - 1), zeros(llvm::Intrinsic::ctlz)),
                             number(step));
    }

    llvm::Value *first, *last;
};

// From the first lane of a group on, the range has the offsets `least` to `most`.
llvm::Value *groups_leave(WarpEmitter &w, const Address &address, const LastRange &range) {
    const analysis::Shape &shape = address.lanes.shape;
    if (!is_comparable(address))
        return w.b.getTrue();
    llvm::Value *base = address.lanes.base;
    llvm::Type *type = base->getType();
    auto everywhere = [&](llvm::Value *v) { return repeat(w.b, v, 1, shape.groups); };
    llvm::Value *least = w.b.CreateSub(everywhere(range.begin), base);
    llvm::Value *most =
        w.b.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat, least,
                                  everywhere(w.b.CreateSub(range.bytes, w.i64(address.bytes))));
    most = w.b.CreateSelect(is_misaligned(w, base, checked_alignment(address)),
                            llvm::ConstantInt::getSigned(type, INT64_MIN), most);
    if (const auto step = lane_step(shape)) {
        const OuterLanes outer(w, *step);
        return w.b.CreateOr(w.b.CreateICmpSGT(least, *step < 0 ? outer.last : outer.first),
                            w.b.CreateICmpSLT(most, *step < 0 ? outer.first : outer.last));
    }
    auto in_lanes = [&](llvm::Value *of_groups) {
        return repeat(w.b, limited(w, of_groups), shape.groups, kLanes);
    };
    llvm::Value *offsets = offset_vector(w.b.getInt32Ty(), shape);
    llvm::Value *outside = w.b.CreateOr(w.b.CreateICmpSGT(in_lanes(least), offsets),
                                        w.b.CreateICmpSLT(in_lanes(most), offsets));
    return w.any(w.b.CreateAnd(outside, w.mask()));
}

/// Whether one of the bounds of the indices is outside.
llvm::Value *bounds_leave(WarpEmitter &w, const Address &address, const LastRange &range) {
    llvm::Value *pointer = w.b.CreatePtrToInt(address.window, w.b.getInt64Ty());
    const Extent extent(w, address, pointer, range.begin);
    llvm::Value *places = w.b.CreateBinaryIntrinsic(
        llvm::Intrinsic::usub_sat, w.b.CreateAdd(range.bytes, w.i64(1)), extent.bytes);
    return w.b.CreateOr(w.b.CreateICmpUGE(extent.first, places),
                        is_misaligned(w, pointer, checked_alignment(address)));
}

llvm::Value *leave(WarpEmitter &w, const Address &address, const LastRange &range) {
    if (address.index && address.bounds) {
        llvm::BasicBlock *asked = w.new_block("indices"), *after = w.new_block("inside");
        w.b.CreateCondBr(bounds_leave(w, address, range), asked, after);
        return answer_from(w, asked, after, [&] { return indices_leave(w, address, range); });
    }
    if (address.index)
        return indices_leave(w, address, range);
    return address.lanes.shape.groups == kLanes ? lanes_leave(w, address, range)
                                                : groups_leave(w, address, range);
}

/// i1: some relevant lane is not at a multiple of the access's size.
llvm::Value *is_misaligned(WarpEmitter &w, const Address &address) {
    const bool whole = address.lanes.shape.groups == kLanes || address.lanes.shape.offsets;
    llvm::Value *places = whole ? all_lanes(w.b, address.lanes) : address.lanes.base;
    llvm::Type *type = places->getType();
    type = type->getWithNewBitWidth(32);
    llvm::Value *low = w.b.CreateAnd(w.b.CreateTrunc(places, type),
                                     llvm::ConstantInt::get(type, address.alignment - 1));
    llvm::Value *found = w.b.CreateICmpNE(low, llvm::Constant::getNullValue(type), "misaligned");
    if (whole)
        found = w.b.CreateAnd(found, w.mask());
    return found->getType()->isVectorTy() ? w.any(found) : found;
}

} // namespace

llvm::CallInst *call_rarely(WarpEmitter &w, const std::string &function,
                            llvm::ArrayRef<llvm::Value *> arguments) {
    llvm::CallInst *call = target::call_preserving(w.b, function, arguments);
    call->addFnAttr(llvm::Attribute::NoMerge);
    return call;
}

llvm::CallInst *call_often(WarpEmitter &w, const std::string &function,
                           llvm::ArrayRef<llvm::Value *> arguments) {
    llvm::SmallVector<llvm::Type *, 8> types;
    for (const llvm::Value *argument : arguments)
        types.push_back(argument->getType());
    auto *type = llvm::FunctionType::get(w.b.getVoidTy(), types, false);
    llvm::CallInst *call =
        w.b.CreateCall(w.kernel.code.module.getOrInsertFunction(function, type), arguments);
    call->addFnAttr(llvm::Attribute::NoMerge); // each call has its own line
    return call;
}

llvm::Value *is_suspect(WarpEmitter &w, const Address &address) {
    if (!address.needs_check)
        return address.alignment > 1 ? is_misaligned(w, address) : nullptr;
    if (address.index)
        return address.bounds ? suspect_bounds(w, address) : suspect_indices(w, address);
    if (address.lanes.shape.groups == kLanes)
        return suspect_lanes(w, address);
    llvm::Value *base = address.lanes.base;
    const UsualRange range =
        address.lanes.shape.groups == 1 ? UsualRange(w, address, base) : UsualRange(w);
    llvm::Value *found = suspects(w, base, address.checked_bytes, range);
    return found->getType()->isVectorTy() ? w.any(found) : found;
}

void check_suspect(WarpEmitter &w, const Address &address, rt::Access access) {
    const std::uint8_t number = rt::KnownRanges::number_of(access, w.kernel.next_site++);
    const rt::AccessSite site = site_of(address, access, number);
    if (!address.needs_check || w.kernel.plan.wants_short_code) // the runtime compares, too
        return ask_runtime(w, address, site);
    llvm::BasicBlock *ask = w.new_block("ask"), *found = w.new_block("found");
    w.branch_rarely(leave(w, address, LastRange(w, number)), ask, found);
    w.b.SetInsertPoint(ask);
    ask_runtime(w, address, site);
    w.b.CreateBr(found);
    w.b.SetInsertPoint(found);
}

void check_address(WarpEmitter &w, const Address &address, rt::Access access) {
    llvm::Value *suspect = is_suspect(w, address);
    if (!suspect)
        return;
    llvm::BasicBlock *rare = w.new_block("suspect");
    llvm::BasicBlock *fine = w.new_block("checked");
    w.branch_rarely(suspect, rare, fine);
    w.b.SetInsertPoint(rare);
    check_suspect(w, address, access);
    w.b.CreateBr(fine);
    w.b.SetInsertPoint(fine);
}

void check_by_call(WarpEmitter &w, const Address &address, rt::Access access, llvm::Value *places) {
    const std::uint8_t number = rt::KnownRanges::number_of(access, w.kernel.next_site++);
    touches_nothing(call_often(w, "scu_reach_addresses",
                               {w.kernel.frame.invariants.worker, w.kernel.frame.invariants.frame,
                                places, w.mask_bits(), w.i32(address.bytes),
                                constant(w, site_of(address, access, number))}));
}

} // namespace softcuda::codegen
