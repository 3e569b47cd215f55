// index_check.h -- what is known about the values of arrays of indices.
//
// A call with indices out of bounds is an error of the call, so the call waits for the kernel that
// checks them: 5 to 10 us on a GPU, more than the call itself. But most arrays of indices are used
// several times, or come from a function whose results are in bounds: argsort(), nonzero(),
// arange(). So the memory of an array keeps the bounds of its elements:
//
//     order = argsort(x)         note_bounds(order, 0, n), of pycuda/index_check.h
//     y = x[order]               IndexCheck: known, no wait
//     order += 1                 Work::write() forgets the bounds
//     y = x[order]               the kernel checks, the call waits; the bounds are kept
//
// Rules:
//
//   - Any use by a Work forgets them, except Work::read_only().
//   - Memory whose address is known to other code never has bounds (ArrayMemory::expose()): it was
//     asked for (x.ptr, x.gpudata, interfaces), the memory is borrowed, or a graph or a kernel of
//     the program uses it.
//   - A check that finds all indices in bounds keeps the bounds only if no work that was queued
//     earlier in another stream may still write (Work::was_after_all_uses()).
//   - A thread that checks stores a number of its own first, and the bounds are kept only if the
//     number is still there: so a use by another thread in the meantime forgets them as well.
//   - Kernels skip indices out of bounds even if the bounds are known: a program with a data race
//     on its indices gets wrong elements, not accesses to other memory.
#pragma once

#include <pycuda/array.h>
#include <pycuda/work.h>

#include <cstdint>

namespace pycuda::detail {

/// The bounds of an array in memory: its elements are at least `low` and less than `high`.
struct IndexBounds {
    std::uint64_t number = 0; ///< they are known while the memory has this number
    CUdeviceptr first = 0;    ///< the address of the first element
    ScalarType type = ScalarType::Int64;
    Layout layout = {};
    std::int64_t low = 0, high = 0;

    /// Whether all elements of `part` are among the elements.
    bool include(const Array &part) const noexcept;
};

/// The check of one call that all indices of an array are on an axis: from -extent to extent - 1.
class IndexCheck {
  public:
    IndexCheck(const Array &indices, std::int64_t extent, const Work &work);

    /// Whether the indices are known to be on the axis, so that nothing need be checked.
    bool is_known() const noexcept { return known_; }
    /// All indices are on the axis: a kernel that was launched after the constructor has found it.
    /// Call it after a wait for this kernel.
    void pass() const;

    /// As note_bounds() of pycuda/index_check.h.
    static void note(const Array &indices, std::int64_t low, std::int64_t high);

  private:
    static bool can_keep(const Array &indices) noexcept;
    static std::uint64_t begin(const Array &indices);
    static void keep(const Array &indices, IndexBounds bounds);
    bool find() const;

    const Array &indices_;
    const Work &work_;
    const std::int64_t extent_;
    std::uint64_t number_ = 0; ///< of the bounds that pass() keeps; 0: of none
    bool known_ = false;
};

} // namespace pycuda::detail
