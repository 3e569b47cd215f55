// rows.h -- the common part of the kernels for rows that indices select.
#pragma once

#include "arrays/kernel_arguments.h"
#include "arrays/kernel_table.h"

#include <pycuda/array.h>
#include <pycuda/array_rows.h>

#include <cstddef>
#include <cstdint>
#include <functional>
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

/// The axes of the words of a row of `base`, as few as possible, in C order.
Layout words_of_row(const Array &base, std::size_t word);

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

struct RowChecks {
    std::string call;    ///< "x[indices]", for errors
    const Array &asked;  ///< the indices of the call
    const Array &places; ///< the same indices, contiguous
    std::int64_t extent; ///< rows of the base
    bool checked;        ///< else all indices are right
    bool is_small;       ///< the kernel checks the indices itself
    bool has_work;       ///< else the indices are checked only
};

/// Calls `run(failed)`, which queues a kernel that does nothing if the flag at `failed` is set; 0
/// if there is no flag. Unless the kernel checks the indices itself, and sets the flag, one before
/// it does. There is no flag either if the indices are known to be in bounds (index_check.h). False
/// if an index is out of bounds.
bool run_checked(const RowChecks &checks, Work &use, const std::function<void(CUdeviceptr)> &run);

} // namespace pycuda
