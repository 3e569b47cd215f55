// rows.h -- the common part of the kernels for rows that indices select.
#pragma once

#include "arrays/kernel_arguments.h"
#include "arrays/kernel_table.h"

#include <pycuda/array.h>
#include <pycuda/array_rows.h>

#include <cstdint>
#include <string>

namespace pycuda {

/// The indices as a contiguous array. For elements of `target` that are written, a copy if the
/// indices may lie in the memory of `target`: all are read before the first element is written.
Array row_indices(const Array &places, StreamRef stream);
Array row_indices(const Array &places, const Array &target, StreamRef stream);

/// Throws std::invalid_argument if the indices are no int32 or int64.
void check_index_type(const Array &places);

/// `values`, or a copy if they may lie in the memory of `target`, or are not aligned.
Array separate(const Array &values, const Array &target, StreamRef stream);

/// `#define` lines and the type of an index, for rows.cuh and combine_rows.cuh. `width`: words or
/// elements of a row; `n`: of all rows.
std::string rows_prelude(ScalarType index, std::int64_t width, std::int64_t n);

/// Whether a count needs 64 bits.
inline bool is_wide(std::int64_t n) noexcept { return n >= std::int64_t{1} << 31; }

/// The steps of `in`, in elements, from row to row and from element to element of a row, after it
/// is broadcast. `in` is replaced by a copy if its layout has no such steps.
struct RowSteps {
    std::int64_t row = 0, element = 0;
};
RowSteps row_steps(Array &in, const Array &base, const Array &places, StreamRef stream);

/// Queues a kernel that checks indices for a base of `extent` rows: `failed`, an int32, becomes 1,
/// and so does the flag at `outside` in host memory.
void check_row_indices(const Array &places, std::int64_t extent, const Array &failed,
                       CUdeviceptr outside, Work &use);

} // namespace pycuda
