// array_operand.h -- arrays of the device, of whatever library, as arguments of users' kernels.
#pragma once

#include "bindings.h"

#include <pycuda/kernel_argument.h>
#include <pycuda/stream_use.h>

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace pycuda::python {

/// An array as it was passed: where it lies, and numpy's dtype, or "<f4" of a foreign array.
struct ArrayOperand {
    ArrayView view;
    nb::object dtype;
};

/// Reads the arrays of one call, and keeps the shapes and strides that their views point to.
class ArrayReader {
  public:
    /// For a call whose work on arrays is part of `use`.
    explicit ArrayReader(StreamUse &use) noexcept : use_(use) {}

    /// A GPUArray, or anything with __cuda_array_interface__. Throws TypeError for what is no
    /// array of the device; the message names the kernel and its argument.
    ArrayOperand read(nb::handle object, const std::string &kernel, const std::string &argument);

  private:
    std::span<const std::int64_t> keep(nb::handle tuple);

    StreamUse &use_;
    std::array<std::int64_t, 64> inline_;
    std::size_t used_ = 0;
    std::deque<std::vector<std::int64_t>> more_;
};

} // namespace pycuda::python
