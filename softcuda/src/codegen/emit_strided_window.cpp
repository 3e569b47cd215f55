// emit_strided_window.cpp -- wide accesses to memory, and the permutations between addresses and
// lanes.

#include "codegen/strided_window.h"

#include "rt/windows.h"

#include <algorithm>

namespace softcuda::codegen {

namespace {

using warp::StridedWindow;
using Vectors = llvm::SmallVector<llvm::Value *, 8>;

/// Element `position` of vector `number` of a list of vectors.
struct Position {
    unsigned number, position;
};

/// The vectors of memory that form a window: all have the widest registers' size; the last one is
/// moved towards the start if it would extend past the end.
class Cut {
  public:
    Cut(const WarpEmitter &w, const StridedWindow &window, unsigned bytes)
        : length_(window.length),
          width_(std::min(w.kernel.code.target.facts().register_bits / 8 / bytes, window.length)) {}

    [[nodiscard]] unsigned width() const { return width_; }
    [[nodiscard]] unsigned count() const { return (length_ + width_ - 1) / width_; }
    [[nodiscard]] unsigned begin(unsigned vector) const {
        return std::min(vector * width_, length_ - width_);
    }
    [[nodiscard]] Position find(unsigned index) const {
        const unsigned vector = std::min(index / width_, count() - 1);
        return {vector, index - begin(vector)};
    }

  private:
    unsigned length_, width_;
};

/// <from.size() x T> with element i from vectors[from[i]]; elements without a source are undefined,
/// and null is returned if no element has one. Built two vectors at a time, as processors permute.
llvm::Value *pick(WarpEmitter &w, llvm::ArrayRef<llvm::Value *> vectors,
                  llvm::ArrayRef<std::optional<Position>> from) {
    llvm::Value *made = nullptr;
    llvm::SmallVector<bool, kLanes> done(from.size(), false);
    for (unsigned v = 0; v < vectors.size(); ++v) {
        llvm::SmallVector<int, kLanes> mask(from.size(), -1);
        bool used = false;
        for (std::size_t i = 0; i < from.size(); ++i)
            if (from[i] && from[i]->number == v) {
                mask[i] = static_cast<int>(from[i]->position);
                used = true;
            }
        if (!used)
            continue;
        llvm::Value *mine = w.b.CreateShuffleVector(vectors[v], mask);
        for (std::size_t i = 0; i < from.size(); ++i) {
            const bool now = mask[i] >= 0;
            mask[i] = now ? static_cast<int>(from.size() + i) : done[i] ? static_cast<int>(i) : -1;
            done[i] = done[i] || now;
        }
        made = made ? w.b.CreateShuffleVector(made, mine, mask) : mine;
    }
    return made;
}

llvm::Value *place(WarpEmitter &w, const Address &address, unsigned group, std::int64_t offset) {
    return w.b.CreateGEP(w.b.getInt8Ty(), group_pointer(w, address, group),
                         llvm::ConstantInt::getSigned(w.b.getInt64Ty(), offset));
}

llvm::Value *place(WarpEmitter &w, const Address &address, unsigned group,
                   const StridedWindow &window, const Cut &cut, unsigned vector) {
    return place(w, address, group, window.first + std::int64_t{cut.begin(vector)} * address.bytes);
}

Vectors load_vectors(WarpEmitter &w, const Address &address, unsigned group,
                     const StridedWindow &window, llvm::Type *element) {
    const Cut cut(w, window, address.bytes);
    Vectors vectors;
    for (unsigned v = 0; v < cut.count(); ++v)
        vectors.push_back(w.b.CreateAlignedLoad(llvm::FixedVectorType::get(element, cut.width()),
                                                place(w, address, group, window, cut, v),
                                                llvm::Align(1)));
    return vectors;
}

llvm::SmallVector<std::optional<Position>, kLanes>
places_of_lanes(const WarpEmitter &w, const Address &address, const StridedWindow &window) {
    const Cut cut(w, window, address.bytes);
    llvm::SmallVector<std::optional<Position>, kLanes> places;
    for (unsigned index : window.index)
        places.push_back(cut.find(index));
    return places;
}

/// For each element of a vector of the window, the lane of its group that accesses it.
llvm::SmallVector<std::optional<Position>, kLanes>
lanes_of_places(const StridedWindow &window, const Cut &cut, unsigned vector) {
    llvm::SmallVector<std::optional<Position>, kLanes> lanes(cut.width());
    for (unsigned lane = 0; lane < window.index.size(); ++lane) {
        const unsigned index = window.index[lane], begin = cut.begin(vector);
        if (index >= begin && index < begin + cut.width())
            lanes[index - begin] = Position{0, lane};
    }
    return lanes;
}

/// One store for each lane, if the processor's masked stores are slower.
void store_singly(WarpEmitter &w, const Address &address, unsigned group,
                  const StridedWindow &window, llvm::Value *values) {
    for (unsigned lane = 0; lane < window.index.size(); ++lane)
        w.b.CreateAlignedStore(
            w.b.CreateExtractElement(values, lane),
            place(w, address, group,
                  window.first + std::int64_t{window.index[lane]} * address.bytes),
            llvm::Align(1));
}

/// For memory that other threads may write: only the lanes' own elements, all of them.
void store_between(WarpEmitter &w, const Address &address, unsigned group,
                   const StridedWindow &window, llvm::Value *values) {
    if (!w.kernel.code.target.facts().masks_all())
        return store_singly(w, address, group, window, values);
    const Cut cut(w, window, address.bytes);
    for (unsigned v = 0; v < cut.count(); ++v) {
        const auto lanes = lanes_of_places(window, cut, v);
        llvm::SmallVector<llvm::Constant *, kLanes> mask;
        for (const auto &lane : lanes)
            mask.push_back(w.b.getInt1(lane.has_value()));
        if (llvm::Value *made = pick(w, {values}, lanes))
            w.b.CreateMaskedStore(made, place(w, address, group, window, cut, v), llvm::Align(1),
                                  llvm::ConstantVector::get(mask));
    }
}

/// Writes values into the window, and the old contents everywhere else. A program that exchanges
/// the values of two lanes then moves the same values twice in the same way.
void store_over(WarpEmitter &w, const Address &address, unsigned group, const StridedWindow &window,
                const Vectors &old, llvm::Value *values, llvm::Value *active) {
    const Cut cut(w, window, address.bytes);
    for (unsigned v = 0; v < cut.count(); ++v) {
        const auto lanes = lanes_of_places(window, cut, v);
        llvm::SmallVector<int, kLanes> both;
        for (unsigned e = 0; e < cut.width(); ++e)
            both.push_back(static_cast<int>(lanes[e] ? e : cut.width() + e));
        llvm::Value *made = pick(w, {values}, lanes), *stored = old[v];
        if (made) {
            made = w.b.CreateSelect(pick(w, {active}, lanes), made, old[v]);
            stored = w.b.CreateShuffleVector(made, old[v], both);
        }
        w.b.CreateAlignedStore(stored, place(w, address, group, window, cut, v), llvm::Align(1));
    }
}

} // namespace

// For shared memory: whether the window is in it, up to the end of its last page. For other memory:
// whether every lane accesses its element, because between two addresses less than a page
// apart there is no other page.
llvm::Value *may_access_windows(WarpEmitter &w, const Address &address,
                                const warp::AccessPlan &plan) {
    if (!address.window)
        return w.b.CreateICmpEQ(w.mask_bits(), w.i32(~0u));
    if (plan.windows_exist)
        return w.b.getTrue();
    llvm::Type *wide = w.b.getInt64Ty();
    const std::uint64_t fixed = (w.kernel.plan.function.static_shared_bytes + 15) / 16 * 16;
    llvm::Value *shared =
        w.b.CreateAdd(w.b.CreateZExt(w.kernel.frame.invariants.dynamic_shared, wide),
                      w.i64(fixed + rt::kWindowUnit - 1));
    shared = w.b.CreateAnd(shared, w.i64(~(rt::kWindowUnit - 1)));
    llvm::Value *holds = w.b.getTrue();
    for (unsigned group = 0; group < plan.windows.size(); ++group) {
        const StridedWindow &window = plan.windows[group];
        llvm::Value *first = address.lanes.base;
        if (plan.windows.size() > 1)
            first = w.b.CreateExtractElement(first, group);
        first = w.b.CreateAdd(first, llvm::ConstantInt::getSigned(wide, window.first));
        llvm::Value *last = w.b.CreateBinaryIntrinsic(
            llvm::Intrinsic::usub_sat, shared, w.i64(std::uint64_t{window.length} * address.bytes));
        holds = w.b.CreateAnd(holds, w.b.CreateICmpULE(first, last));
    }
    return holds;
}

llvm::Value *load_windows(WarpEmitter &w, const Address &address, const warp::AccessPlan &plan,
                          llvm::Type *element) {
    Vectors groups;
    for (unsigned group = 0; group < plan.windows.size(); ++group)
        groups.push_back(pick(w, load_vectors(w, address, group, plan.windows[group], element),
                              places_of_lanes(w, address, plan.windows[group])));
    return concatenate(w.b, groups);
}

void store_windows(WarpEmitter &w, const Address &address, const warp::AccessPlan &plan,
                   llvm::Value *values) {
    const unsigned size = address.lanes.shape.group_size();
    for (unsigned group = 0; group < plan.windows.size(); ++group) {
        const StridedWindow &window = plan.windows[group];
        llvm::Value *mine = lane_range(w.b, values, group * size, size);
        if (!address.window) {
            store_between(w, address, group, window, mine);
            continue;
        }
        const Vectors old =
            load_vectors(w, address, group, window, mine->getType()->getScalarType());
        store_over(w, address, group, window, old, mine,
                   lane_range(w.b, w.mask(), group * size, size));
    }
}

} // namespace softcuda::codegen
