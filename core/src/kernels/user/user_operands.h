// user_operands.h -- how a user's kernel addresses the elements of each array of one call.
//
// A kernel uses `x[i]` for i from 0 to n. If all arrays are contiguous in the same order, i is the
// index in memory, and x is a plain pointer: the flat form. Otherwise i is the index in C order,
// and arrays with another layout become pycuda::Strided. Neighbouring axes are merged if their
// strides allow it:
//
//     z (C order, 6 x 4)          flat
//     x (6 x 4 out of 6 x 8)      strided, 2 axes  \ one group: equal shapes share their extents,
//     y (transposed of 4 x 6)     strided, 2 axes  / so the index is split once
#pragma once

#include <pycuda/argument_block.h>
#include <pycuda/array.h>
#include <pycuda/kernel_argument.h>
#include <pycuda/layout.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pycuda {

/// Arrays of equal shape that are addressed by strides.
struct StridedGroup {
    std::vector<std::size_t> members; ///< which arrays
    std::vector<Layout> layouts;      ///< of each member, with merged axes; at least one axis
};

class OperandForms {
  public:
    explicit OperandForms(std::span<const Array> arrays);

    bool all_flat() const noexcept { return groups_.empty(); }
    const std::vector<StridedGroup> &groups() const noexcept { return groups_; }
    /// The group of an array; null for a flat one.
    const StridedGroup *group_of(std::size_t array) const noexcept;

    /// The key of the kernel's source: the group of each array and the number of axes of each
    /// group. Empty if all arrays are flat.
    std::string key() const;

    void push_array(ArgumentBlock &block, const ArrayView &view, std::size_t array) const;
    void push_extents(ArgumentBlock &block) const;

  private:
    void add_to_group(std::span<const Array> arrays, std::size_t array);

    std::vector<StridedGroup> groups_;
    std::vector<std::size_t> group_of_; // the group of each array, from 1; empty if all are flat
};

/// The arrays of one call. Their memory belongs to the caller, their elements are bytes.
std::vector<Array> arrays_of(std::span<const ArrayView> views);

/// True if the elements are adjacent and in order of the last index.
bool is_c_contiguous(const ArrayView &view) noexcept;

/// The forms; null if all arrays are flat.
std::unique_ptr<OperandForms> find_forms(std::span<const ArrayView> arrays);

/// The number of elements of each array that a text uses only as x[i]: as many as the first array
/// has, by default.
struct NeededElements {
    bool may_skip = false; ///< a condition of the text decides
    std::optional<std::pair<std::int64_t, std::int64_t>> by_range = {}; ///< its bounds
};

/// Throws std::invalid_argument in three cases: the number of arrays differs from the declaration,
/// an array with `at_i_only` does not have the elements needed, or the elements of a strided array
/// differ from the declaration. The message begins with `kind` and `name` of the kernel.
void check_array_sizes(const char *kind, const std::string &name,
                       const std::vector<KernelArgument> &declared,
                       const std::vector<bool> &at_i_only, std::span<const ArrayView> arrays,
                       const NeededElements &needed);

/// True if all arrays start at multiples of `bytes`.
bool all_aligned(std::span<const ArrayView> arrays, std::size_t bytes) noexcept;

} // namespace pycuda
