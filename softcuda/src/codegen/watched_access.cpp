// watched_access.cpp -- the tests before a kernel reports an access.
#include "codegen/watched_access.h"

#include "codegen/lane_access.h"
#include "codegen/masked_access.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace softcuda::codegen {
namespace {

/// The lanes' addresses: bases of groups, and the offsets of the lanes from them. Exact.
struct Span {
    llvm::Value *bases; ///< <groups x i64>, or one i64
    std::int64_t first = 0, last = 0;
    bool by_lanes = false; ///< a base for each lane
};

llvm::Value *splat(WarpEmitter &w, llvm::Value *value, llvm::Type *like) {
    const auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(like);
    return vector ? w.b.CreateVectorSplat(vector->getNumElements(), value) : value;
}

Span span_of(WarpEmitter &w, const Lanes &lanes) {
    const analysis::Shape &shape = lanes.shape;
    if (shape.checked || shape.groups == kLanes)
        return {.bases = all_lanes(w.b, lanes), .by_lanes = true};
    Span span{.bases = lanes.base};
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        span.first = std::min(span.first, shape.offset(lane));
        span.last = std::max(span.last, shape.offset(lane));
    }
    return span;
}

/// i1: some lane's address, counted from `begin`, is not one of the first `places`.
llvm::Value *leaves(WarpEmitter &w, const Span &span, llvm::Value *begin, llvm::Value *places) {
    llvm::Type *type = span.bases->getType();
    llvm::Value *limit = splat(w, places, type);
    const auto outside = [&](std::int64_t offset) {
        llvm::Value *from =
            w.b.CreateSub(begin, llvm::ConstantInt::getSigned(begin->getType(), offset));
        llvm::Value *distance = w.b.CreateSub(span.bases, splat(w, from, type));
        return w.b.CreateICmpUGE(distance, limit);
    };
    llvm::Value *found = outside(span.first);
    if (span.last != span.first)
        found = w.b.CreateOr(found, outside(span.last));
    if (span.by_lanes)
        found = w.b.CreateAnd(found, w.mask());
    return type->isVectorTy() ? w.any(found) : found;
}

/// i1: some lane's address is not a multiple of `bytes`; null if all are.
llvm::Value *is_misaligned(WarpEmitter &w, const Lanes &lanes, const Span &span, unsigned bytes) {
    if (bytes == 1 || !std::has_single_bit(bytes))
        return nullptr;
    bool offsets_align = true;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        offsets_align &= lanes.shape.offset(lane) % static_cast<std::int64_t>(bytes) == 0;
    if (offsets_align && !span.by_lanes &&
        (1u << std::min<unsigned>(lanes.shape.align, 31)) >= bytes)
        return nullptr;
    llvm::Value *all = offsets_align ? span.bases : all_lanes(w.b, lanes);
    llvm::Value *low = w.b.CreateAnd(all, llvm::ConstantInt::get(all->getType(), bytes - 1));
    llvm::Value *found = w.b.CreateICmpNE(low, llvm::Constant::getNullValue(low->getType()));
    if (!found->getType()->isVectorTy())
        return found;
    if (span.by_lanes || !offsets_align)
        found = w.b.CreateAnd(found, w.mask());
    return w.any(found);
}

/// The bytes that record whether memory is written: the kernel reads them itself.
class WrittenBytes {
  public:
    WrittenBytes(WarpEmitter &w, const Lanes &lanes, const rt::WatchSite &site,
                 llvm::Value *distance)
        : w_(w), lanes_(lanes), site_(site) {
        lanes_.base = w.b.CreateAdd(lanes.base, splat(w, distance, lanes.base->getType()));
        element_ = w.b.getIntNTy(site.bytes * 8);
    }

    /// i1: some bytes are not written.
    llvm::Value *any_missing() {
        if (lanes_.shape.uniform() && !lanes_.shape.checked)
            return differs(w_.b.CreateAlignedLoad(lane_type(), pointer(), llvm::Align(1)));
        if (is_row()) {
            llvm::Value *row = load_row(w_, this->row());
            llvm::Value *missing = differs(row);
            return any_of_active(missing, site_.count);
        }
        llvm::Value *missing = nullptr;
        for (unsigned e = 0; e < site_.count; ++e) {
            llvm::Value *one = differs(gather_singly(w_, address(), element_, e * site_.bytes));
            missing = missing ? w_.b.CreateOr(missing, one) : one;
        }
        return any_of_active(missing, 1);
    }

    void note() {
        if (lanes_.shape.uniform() && !lanes_.shape.checked) {
            w_.b.CreateAlignedStore(ones(lane_type()), pointer(), llvm::Align(1));
        } else if (is_row()) {
            store_row(w_, row(), ones(row().type()));
        } else {
            for (unsigned e = 0; e < site_.count; ++e)
                scatter_singly(w_, address(), ones(with_lanes(element_, kLanes)), e * site_.bytes);
        }
    }

  private:
    static llvm::Constant *ones(llvm::Type *type) { return llvm::Constant::getAllOnesValue(type); }
    llvm::Value *differs(llvm::Value *loaded) {
        return w_.b.CreateICmpNE(loaded, ones(loaded->getType()));
    }
    llvm::Type *lane_type() { return w_.b.getIntNTy(site_.bytes * site_.count * 8); }
    llvm::Value *pointer() { return w_.b.CreateIntToPtr(lanes_.base, w_.b.getPtrTy()); }

    /// Whether the lanes' elements are adjacent.
    [[nodiscard]] bool is_row() const {
        const analysis::Shape &shape = lanes_.shape;
        const auto lane_bytes = static_cast<std::int64_t>(site_.bytes * site_.count);
        bool side_by_side = shape.groups == 1 && !shape.checked;
        for (unsigned lane = 0; lane < kLanes; ++lane)
            side_by_side &= shape.offset(lane) == lane * lane_bytes;
        return side_by_side;
    }
    Row row() { return {pointer(), 0, kLanes, element_, site_.bytes, site_.count}; }
    Address address() {
        return {.lanes = {.base = all_lanes(w_.b, lanes_), .shape = {.groups = kLanes}},
                .needs_check = false,
                .bytes = site_.bytes * site_.count,
                .checked_bytes = site_.bytes * site_.count};
    }

    /// `missing` has `count` bits for each lane.
    llvm::Value *any_of_active(llvm::Value *missing, unsigned count) {
        if (count > 1) {
            llvm::SmallVector<int, 4 * kLanes> lanes;
            for (unsigned e = 0; e < kLanes * count; ++e)
                lanes.push_back(static_cast<int>(e / count));
            return w_.b.CreateOrReduce(
                w_.b.CreateAnd(missing, w_.b.CreateShuffleVector(w_.mask(), lanes)));
        }
        return w_.any(w_.b.CreateAnd(missing, w_.mask()));
    }

    WarpEmitter &w_;
    Lanes lanes_;
    const rt::WatchSite &site_;
    llvm::Type *element_;
};

/// The site's piece: the function stores it while it runs; it is empty at first.
llvm::AllocaInst *new_piece(WarpEmitter &w) {
    llvm::Type *word = w.b.getInt64Ty();
    llvm::AllocaInst *piece = w.kernel.frame.stack_slot(llvm::ArrayType::get(word, 3), "piece");
    llvm::IRBuilder<> behind(piece->getParent(), std::next(piece->getIterator()));
    behind.CreateStore(llvm::Constant::getNullValue(piece->getAllocatedType()), piece);
    return piece;
}

/// Absolute addresses, also in windows.
Lanes absolute(WarpEmitter &w, const Address &address) {
    Lanes lanes = address.lanes;
    if (address.window) {
        llvm::Value *window = w.b.CreatePtrToInt(address.window, w.b.getInt64Ty());
        lanes.base = w.b.CreateAdd(lanes.base, splat(w, window, lanes.base->getType()));
        lanes.shape.align = 0;
    }
    return lanes;
}

} // namespace

void report_if_suspect(WarpEmitter &w, const ir::Instruction &i, const Address &address,
                       const rt::WatchSite &site, const ir::LocalVariable *variable,
                       const std::function<void(llvm::Value *piece)> &tell) {
    llvm::AllocaInst *piece = new_piece(w);
    const auto member = [&](std::size_t offset) {
        return w.b.CreateLoad(w.b.getInt64Ty(),
                              w.b.CreateConstInBoundsGEP1_64(w.b.getInt8Ty(), piece, offset));
    };
    const Lanes lanes = absolute(w, address);
    const Span span = span_of(w, lanes);
    const unsigned bytes = site.bytes * site.count;
    llvm::Value *suspect = leaves(w, span, member(offsetof(rt::WatchPiece, begin)),
                                  member(offsetof(rt::WatchPiece, places)));
    if (llvm::Value *misaligned = is_misaligned(w, lanes, span, bytes))
        suspect = w.b.CreateOr(suspect, misaligned);
    if (variable && site.space == rt::WatchSpace::Local) { // by offsets in a thread's local memory
        Lanes offsets = w.lanes(i.operand(0));
        llvm::Type *type = with_lanes(w.b.getInt64Ty(), offsets.shape.groups);
        offsets.base = w.b.CreateSExtOrTrunc(offsets.base, type);
        if (offsets.correction)
            offsets.correction =
                w.b.CreateSExtOrTrunc(offsets.correction, with_lanes(w.b.getInt64Ty(), kLanes));
        const auto begin = static_cast<std::int64_t>(variable->offset) - i.attributes.offset;
        const std::uint64_t places = variable->size < bytes ? 0 : variable->size - bytes + 1;
        suspect = w.b.CreateOr(suspect, leaves(w, span_of(w, offsets),
                                               w.b.getInt64(static_cast<std::uint64_t>(begin)),
                                               w.i64(places)));
    }

    llvm::BasicBlock *rare = w.new_block("tell"), *fine = w.new_block("fine");
    llvm::BasicBlock *after = w.new_block("watched");
    w.branch_rarely(suspect, rare, fine);
    w.b.SetInsertPoint(fine);
    if (w.kernel.plan.request.watch & rt::kWatchWrites) {
        llvm::Value *distance = member(offsetof(rt::WatchPiece, written));
        llvm::BasicBlock *known = w.new_block("known");
        w.b.CreateCondBr(w.b.CreateICmpNE(distance, w.i64(0)), known, after);
        w.b.SetInsertPoint(known);
        WrittenBytes written(w, lanes, site, distance);
        if (site.kind == rt::WatchKind::Store) {
            written.note();
            w.b.CreateBr(after);
        } else {
            w.branch_rarely(written.any_missing(), rare, after);
        }
    } else {
        w.b.CreateBr(after);
    }
    w.b.SetInsertPoint(rare);
    w.kernel.frame.announce_warp(w.warp);
    tell(piece);
    w.b.CreateBr(after);
    w.b.SetInsertPoint(after);
}

} // namespace softcuda::codegen
