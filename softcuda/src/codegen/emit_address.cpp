// emit_address.cpp -- address spaces: windows, and the generic space.
//
// A global or constant address is a host address inside the arena of device memory. A shared or
// local address is a 32-bit offset into a window of the worker that is reserved as a whole, so its
// range needs no check: an access outside the memory in use faults. The alignment is checked unless
// it is known at compile time. A generic address is the host address.

#include "codegen/address.h"

#include "codegen/answer.h"
#include "codegen/warp_families.h"
#include "rt/kernel_abi.h"
#include "rt/windows.h"

#include <cassert>
#include <cstddef>
#include <cstdint>

namespace softcuda::codegen {

namespace {

using ir::Space;

/// A hardware gather or scatter takes the time of about this many single accesses.
constexpr unsigned kFewLanes = 8;
constexpr std::uint64_t kWideWindow = std::uint64_t{1} << 32;

llvm::Value *integer_of(WarpEmitter &w, llvm::Value *pointer) {
    return w.b.CreatePtrToInt(pointer, w.b.getInt64Ty());
}

// The place of an offset in interleaved memory. Offsets far outside of a thread's own memory are
// clamped to inaccessible addresses, so that they do not wrap into another thread's memory. Offsets
// have 32 bits, see window_offset().
llvm::Value *spread_offset(WarpEmitter &w, llvm::Value *offset, std::int64_t granule) {
    constexpr std::int64_t kReach = (std::int64_t{1} << 31) / kLanes;
    llvm::Type *wide = offset->getType(), *words = wide->getWithNewBitWidth(32);
    auto everywhere = [&](std::int64_t n) { return llvm::ConstantInt::getSigned(words, n); };
    offset = w.b.CreateTrunc(offset, words);
    llvm::Value *inside = w.b.CreateAnd(offset, everywhere(granule - 1));
    llvm::Value *piece = w.b.CreateAnd(offset, everywhere(-granule));
    piece = w.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, piece, everywhere(kReach - granule));
    piece = w.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, piece, everywhere(-kReach));
    piece = w.b.CreateMul(piece, everywhere(kLanes));
    return w.b.CreateSExt(w.b.CreateAdd(piece, inside), wide);
}

// Offsets from the begin of the warp's memory, if local memory is interleaved.
Lanes spread(WarpEmitter &w, const Lanes &offset, std::int64_t extra) {
    const std::int64_t granule = w.kernel.plan.function.local_granule;
    if (granule == 0)
        return offset;
    Lanes result =
        warp::keeps_shape(offset.shape, extra, granule)
            ? offset
            : Lanes{.base = all_lanes(w.b, offset), .shape = analysis::Shape{.groups = kLanes}};
    result.base = spread_offset(w, result.base, granule);
    return result;
}

// The start of a lane's local memory is a pattern over the lanes.
Lanes add_thread_frames(WarpEmitter &w, const Lanes &given, std::int64_t extra) {
    const warp::KernelPlan &plan = w.kernel.plan;
    llvm::Value *first =
        w.b.CreateMul(w.b.CreateZExt(w.warp, w.b.getInt64Ty()), w.i64(plan.local_stride * kLanes));
    llvm::Value *window = w.b.CreateAdd(integer_of(w, w.kernel.frame.invariants.local), first);
    const Lanes offset = spread(w, given, extra);
    unsigned groups = offset.shape.groups;
    analysis::LanePattern pattern;
    llvm::SmallVector<llvm::Constant *, kLanes> first_frames;
    unsigned size = offset.shape.group_size();
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        pattern[lane] = warp::place_in_warp(plan, offset.shape.offset(lane), lane % size);
        if (lane % size == 0)
            first_frames.push_back(
                w.i64(static_cast<std::uint64_t>(warp::place_in_warp(plan, 0, lane))));
    }
    Lanes result{.shape = offset.shape};
    result.shape.align = 0;
    result.shape.offsets = w.kernel.patterns.intern(pattern);
    llvm::Value *frames = groups == 1 ? first_frames[0] : llvm::ConstantVector::get(first_frames);
    result.base = w.b.CreateAdd(w.b.CreateAdd(offset.base, repeat(w.b, window, 1, groups)), frames);
    return result;
}

// For narrow windows: an offset outside the window is limited to an address before or after it,
// which is not accessible. The first lane's offset may be negative if only later lanes are active:
// s[tid.x - 4].
Lanes narrow_offset(WarpEmitter &w, const Lanes &value, std::int64_t extra) {
    const Lanes lanes =
        warp::is_near_first_lane(value.shape)
            ? value
            : Lanes{.base = all_lanes(w.b, value), .shape = analysis::Shape{.groups = kLanes}};
    unsigned groups = lanes.shape.groups;
    llvm::Type *words = with_lanes(w.b.getInt32Ty(), groups);
    auto everywhere = [&](std::int64_t n) { return llvm::ConstantInt::getSigned(words, n); };
    llvm::Value *offset = w.b.CreateAdd(w.b.CreateTrunc(lanes.base, words),
                                        everywhere(static_cast<std::int32_t>(extra)));
    offset = w.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, offset,
                                       everywhere(std::int64_t{rt::kNarrowWindow}));
    offset = w.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, offset,
                                       everywhere(-std::int64_t{rt::kNarrowReach / 2}));
    return {.base = w.b.CreateSExt(offset, with_lanes(w.b.getInt64Ty(), groups)),
            .shape = lanes.shape};
}

// Offsets have 32 bits; of 64-bit offsets only the low half counts, and a wrap when they were
// widened is a multiple of 2^32. They are signed here, as for hardware gathers: memory is reserved
// on both sides of a window (rt/windows.h).
Lanes window_offset(WarpEmitter &w, const Lanes &value, std::int64_t extra) {
    if (w.kernel.code.target.has_narrow_windows())
        return narrow_offset(w, value, extra);
    unsigned groups = value.shape.groups;
    Lanes result{.base = w.b.CreateTrunc(value.base, with_lanes(w.b.getInt32Ty(), groups)),
                 .shape = value.shape};
    result.shape.checked = false;
    result.base = w.b.CreateSExt(result.base, with_lanes(w.b.getInt64Ty(), groups));
    if (extra != 0)
        result.base =
            w.b.CreateAdd(result.base, llvm::ConstantInt::getSigned(result.base->getType(), extra));
    return result;
}

Lanes add_uniform(WarpEmitter &w, Lanes lanes, llvm::Value *addend) {
    lanes.base = w.b.CreateAdd(lanes.base, repeat(w.b, addend, 1, lanes.shape.groups));
    return lanes;
}

bool is_window(Space space) { return space == Space::Shared || space == Space::Local; }

Lanes in_all_lanes(WarpEmitter &w, const Lanes &lanes) {
    return {.base = all_lanes(w.b, lanes), .shape = analysis::Shape{.groups = kLanes}};
}

// For shared memory, the offset.
Lanes host_address(WarpEmitter &w, const ir::Value *value, Space space, std::int64_t extra) {
    Lanes address = w.lanes(value);
    if (is_window(space)) {
        if (address.shape.divided)
            address = in_all_lanes(w, address);
        Lanes offset = window_offset(w, address, extra);
        return space == Space::Local ? add_thread_frames(w, offset, extra) : offset;
    }
    if (!address.base->getType()->getScalarType()->isIntegerTy(64))
        address = Lanes{
            .base = w.b.CreateZExt(all_lanes(w.b, address), with_lanes(w.b.getInt64Ty(), kLanes)),
            .shape = analysis::Shape{.groups = kLanes}};
    if (extra != 0)
        address = add_uniform(w, address, llvm::ConstantInt::getSigned(w.b.getInt64Ty(), extra));
    return address;
}

llvm::Value *place_on(WarpEmitter &w, const warp::WarpLine &line) {
    auto number = [&](std::int64_t n) { return llvm::ConstantInt::getSigned(w.b.getInt64Ty(), n); };
    llvm::Value *warp = w.b.CreateZExt(w.warp, w.b.getInt64Ty());
    return w.b.CreateAdd(w.b.CreateMul(warp, number(line.step)), number(line.start));
}

// The address of lanes without a pattern as a pointer and an index, if its plan has them.
Address with_index(WarpEmitter &w, const warp::AccessPlan &plan, std::int64_t extra,
                   Address address) {
    const warp::IndexedAddress &indexed = plan.indexed;
    if (!indexed.pointer)
        return address;
    llvm::Value *start = w.b.CreateAdd(w.scalar(indexed.pointer),
                                       llvm::ConstantInt::getSigned(w.b.getInt64Ty(), extra));
    address.window = w.b.CreateIntToPtr(start, w.b.getPtrTy());
    address.index = w.b.CreateTrunc(w.full(indexed.index), with_lanes(w.b.getInt32Ty(), kLanes));
    address.scale = indexed.scale;
    address.bounds = indexed.bounds;
    address.lanes.base =
        w.b.CreateMul(w.b.CreateSExt(address.index, with_lanes(w.b.getInt64Ty(), kLanes)),
                      w.b.CreateVectorSplat(kLanes, w.i64(indexed.scale)));
    return address;
}

analysis::LanePattern adjacent_places(unsigned bytes) {
    analysis::LanePattern pattern;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        pattern[lane] = std::int64_t{bytes} * lane;
    return pattern;
}

// Checks the last lane first if vectors are narrow: mostly this is sufficient. Lanes whose last
// lane is not relevant, and is elsewhere, count as not contiguous.
template <typename Whole>
llvm::Value *if_last_fits(WarpEmitter &w, llvm::Value *all, unsigned bytes, Whole whole) {
    if (w.kernel.code.target.facts().masks_all())
        return whole();
    llvm::Value *first = w.b.CreateExtractElement(all, std::uint64_t{0});
    llvm::Value *last = w.b.CreateExtractElement(all, std::uint64_t{kLanes - 1});
    llvm::Value *distance =
        llvm::ConstantInt::get(first->getType(), std::uint64_t{bytes} * (kLanes - 1));
    llvm::BasicBlock *fits = w.new_block("fits"), *after = w.new_block("asked");
    w.b.CreateCondBr(w.b.CreateICmpEQ(w.b.CreateSub(last, first), distance), fits, after);
    return answer_from(w, fits, after, whole);
}

} // namespace

Address find_address(WarpEmitter &w, const ir::Instruction &i, const warp::AccessPlan &plan) {
    const Space space = i.attributes.space;
    const std::int64_t offset = plan.offset_of(i);
    Address address{.lanes = host_address(w, i.operand(0), space, offset),
                    .needs_check = plan.check == warp::Check::Range,
                    .bytes = plan.lane_bytes(),
                    .checked_bytes = plan.checked_bytes(),
                    .alignment = plan.alignment,
                    .contiguous_warps = plan.contiguous_warps,
                    .generic = space == Space::Generic};
    if (address.lanes.shape.divided && plan.shape.divergent())
        address.lanes = in_all_lanes(w, address.lanes);
    assert(address.lanes.shape.groups == plan.shape.groups && "planned for another shape");
    if (space == Space::Shared)
        address.window = w.kernel.frame.invariants.shared;
    if (plan.line)
        address.lanes.base = place_on(w, *plan.line);
    return plan.shape.divergent() ? with_index(w, plan, offset, address) : address;
}

Address in_exact_lanes(WarpEmitter &w, const ir::Instruction &i, const warp::AccessPlan &plan,
                       const Address &address) {
    Address result = address;
    result.lanes = in_all_lanes(w, address.lanes);
    return with_index(w, plan, plan.offset_of(i), result);
}

Address in_groups(WarpEmitter &w, const Address &address, const warp::AccessPlan &plan) {
    Address result = address;
    result.lanes.shape = plan.grouped;
    result.lanes.base = first_lanes(w.b, address.lanes, plan.grouped.groups);
    return result;
}

llvm::Value *turns_out_contiguous(WarpEmitter &w, const Address &address) {
    if (address.contiguous_warps)
        return w.b.CreateTrunc(w.b.CreateLShr(w.i32(*address.contiguous_warps), w.warp),
                               w.b.getInt1Ty());
    llvm::Value *all = address.index ? address.index : all_lanes(w.b, address.lanes);
    if (address.window && !address.index) // the offsets have 32 bits
        all = w.b.CreateTrunc(all, with_lanes(w.b.getInt32Ty(), kLanes));
    llvm::Value *first = w.b.CreateExtractElement(all, std::uint64_t{0});
    const unsigned bytes = address.index ? address.bytes / address.scale : address.bytes;
    return if_last_fits(w, all, bytes, [&] {
        const analysis::LanePattern pattern = adjacent_places(bytes);
        const analysis::Shape shape{.groups = 1, .offsets = &pattern};
        llvm::Value *wanted = w.b.CreateAdd(w.b.CreateVectorSplat(kLanes, first),
                                            offset_vector(first->getType(), shape));
        llvm::Value *differs = w.b.CreateAnd(w.b.CreateICmpNE(all, wanted), w.mask());
        return w.b.CreateNot(w.any(differs));
    });
}

Address as_contiguous(WarpEmitter &w, const Address &address) {
    Address result = address;
    llvm::Value *all = all_lanes(w.b, address.lanes);
    result.lanes = Lanes{
        .base = w.b.CreateExtractElement(all, std::uint64_t{0}),
        .shape = analysis::Shape{
            .groups = 1, .offsets = w.kernel.patterns.intern(adjacent_places(address.bytes))}};
    return result;
}

llvm::Value *all_addresses(WarpEmitter &w, const Address &address) {
    llvm::Value *all = all_lanes(w.b, address.lanes);
    if (!address.window)
        return all;
    return w.b.CreateAdd(all, repeat(w.b, integer_of(w, address.window), 1, kLanes));
}

llvm::Value *all_pointers(WarpEmitter &w, const Address &address) {
    const analysis::Shape &shape = address.lanes.shape;
    if (shape.groups == 1 && shape.offsets && !shape.checked)
        return w.b.CreateGEP(w.b.getInt8Ty(), group_pointer(w, address, 0),
                             offset_vector(w.b.getInt64Ty(), shape));
    if (address.index)
        return w.b.CreateGEP(llvm::ArrayType::get(w.b.getInt8Ty(), address.scale), address.window,
                             w.b.CreateSExt(address.index, with_lanes(w.b.getInt64Ty(), kLanes)));
    llvm::Value *all = all_lanes(w.b, address.lanes);
    return address.window ? w.b.CreateGEP(w.b.getInt8Ty(), address.window, all)
                          : w.b.CreateIntToPtr(all, with_lanes(w.b.getPtrTy(), kLanes));
}

llvm::Value *group_pointer(WarpEmitter &w, const Address &address, unsigned group) {
    llvm::Value *base = address.lanes.base;
    if (address.lanes.shape.groups > 1)
        base = w.b.CreateExtractElement(base, group);
    return address.window ? w.b.CreateGEP(w.b.getInt8Ty(), address.window, base)
                          : w.b.CreateIntToPtr(base, w.b.getPtrTy());
}

FewLanes few_lanes(WarpEmitter &w, const Address &address) {
    const analysis::Shape &shape = address.lanes.shape;
    auto *mask = llvm::dyn_cast<llvm::Constant>(w.mask());
    const unsigned most = w.kernel.code.target.facts().fast_gather || w.kernel.plan.wants_short_code
                              ? kFewLanes
                              : kLanes;
    FewLanes lanes;
    if (!mask || shape.groups != 1 || shape.checked)
        return lanes;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        if (!mask->getAggregateElement(lane)->isOneValue())
            continue;
        if (lanes.size() == most)
            return {};
        lanes.push_back(lane);
    }
    return lanes;
}

llvm::Value *lane_pointer(WarpEmitter &w, const Address &address, unsigned lane,
                          std::int64_t extra) {
    return w.b.CreateGEP(
        w.b.getInt8Ty(), group_pointer(w, address, 0),
        w.i64(static_cast<std::uint64_t>(address.lanes.shape.offset(lane) + extra)));
}

void emit_to_generic(WarpEmitter &w, const ir::Instruction &i) {
    const ir::Value *result = i.result();
    Space space = i.attributes.space;
    Lanes address = w.lanes(i.operand(0));
    if (!is_window(space)) {
        address.shape = w.shape(result);
        w.define(result, address);
        return;
    }
    if (space == Space::Shared && address.base->getType()->getScalarType()->isIntegerTy(64)) {
        address = add_uniform(w, address, integer_of(w, w.kernel.frame.invariants.shared));
        address.shape = w.shape(result);
        w.define(result, address);
        return;
    }
    Lanes host = host_address(w, i.operand(0), space, 0);
    if (space == Space::Shared)
        host = add_uniform(w, host, integer_of(w, w.kernel.frame.invariants.shared));
    unsigned groups = w.shape(result).groups;
    w.define(result, groups == kLanes ? all_lanes(w.b, host) : first_lanes(w.b, host, groups));
}

void emit_from_generic(WarpEmitter &w, const ir::Instruction &i) {
    const ir::Value *result = i.result();
    Space space = i.attributes.space;
    Lanes address = w.lanes(i.operand(0));
    if (is_window(space)) {
        if (space == Space::Local) {
            Lanes frames = add_thread_frames(
                w, Lanes{.base = w.i64(0), .shape = analysis::Shape{.groups = 1}}, 0);
            llvm::Value *offset = w.b.CreateSub(all_lanes(w.b, address), all_lanes(w.b, frames));
            w.define_full(result, w.b.CreateTrunc(offset, w.type(result->type, kLanes)));
            return;
        }
        address =
            add_uniform(w, address, w.b.CreateNeg(integer_of(w, w.kernel.frame.invariants.shared)));
    }
    unsigned groups = w.shape(result).groups;
    if (result->type != ir::Type::I64) {
        w.define(result,
                 w.b.CreateTrunc(first_lanes(w.b, address, groups), w.type(result->type, groups)));
        return;
    }
    address.shape = w.shape(result);
    w.define(result, address);
}

namespace {

rt::PointerSpace pointer_space(Space space) {
    switch (space) {
    case Space::Constant:
        return rt::PointerSpace::Constant;
    case Space::Param:
        return rt::PointerSpace::Parameters;
    default:
        return rt::PointerSpace::Global;
    }
}

} // namespace

void emit_is_space(WarpEmitter &w, const ir::Instruction &i) {
    const Space space = i.attributes.space;
    const Invariants &known = w.kernel.frame.invariants;
    if (!is_window(space)) { // only the runtime knows the bounds
        llvm::Value *addresses = w.spill(w.full(i.operand(0)));
        llvm::FunctionCallee ask = w.kernel.code.runtime_function(
            "scu_is_space", w.b.getInt32Ty(),
            {w.b.getPtrTy(), w.b.getPtrTy(), w.b.getPtrTy(), w.b.getInt32Ty(), w.b.getInt32Ty()});
        llvm::Value *bits =
            w.b.CreateCall(ask, {known.worker, known.frame, addresses, w.mask_bits(),
                                 w.i32(static_cast<std::uint32_t>(pointer_space(space)))});
        w.define_active(i.result(), w.b.CreateBitCast(bits, with_lanes(w.b.getInt1Ty(), kLanes)));
        return;
    }
    const unsigned groups = w.shape(i.result()).groups;
    llvm::Value *address = w.firsts(i.operand(0), groups);
    const bool narrow = w.kernel.code.target.has_narrow_windows();
    const bool shared = space == Space::Shared;
    const std::uint64_t bytes = !narrow  ? kWideWindow
                                : shared ? rt::kNarrowWindow
                                         : rt::kNarrowLocal;
    llvm::Value *start = integer_of(w, shared ? known.shared : known.local);
    llvm::Value *distance = w.b.CreateSub(address, repeat(w.b, start, 1, groups));
    w.define(i.result(),
             w.b.CreateICmpULT(distance, llvm::ConstantInt::get(address->getType(), bytes)));
}

} // namespace softcuda::codegen
