// array_operand.h -- device arrays of all libraries as arguments of users' kernels.
#pragma once

#include "memory/device_pointer.h"
#include "support/bindings.h"

#include <pycuda/kernel_argument.h>
#include <pycuda/work.h>

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace pycuda::python {

/// An array argument: its address and layout, and numpy's dtype, or "<f4" for an array of another
/// library.
struct ArrayOperand {
    ArrayView view;
    nb::object dtype;
};

/// Reads the arrays of one call. Keeps the shapes and strides to which the views point.
class ArrayReader {
  public:
    /// For a call whose accesses to arrays are part of `use`.
    explicit ArrayReader(Work &use) noexcept : use_(use) {}

    /// Reads a GPUArray, or any object with __cuda_array_interface__. Throws TypeError if the
    /// object is not a device array; the message names the kernel and its argument.
    ArrayOperand read(nb::handle object, const std::string &kernel, const std::string &argument) {
        return find(object, kernel, argument, Access::Read);
    }
    /// As above, for the array of a result. Throws ValueError if the array is read-only.
    ArrayOperand write(nb::handle object, const std::string &kernel, const std::string &argument) {
        return find(object, kernel, argument, Access::Write);
    }

  private:
    ArrayOperand find(nb::handle object, const std::string &kernel, const std::string &argument,
                      Access access);
    std::span<const std::int64_t> keep(nb::handle tuple);

    Work &use_;
    std::array<std::int64_t, 64> inline_;
    std::size_t used_ = 0;
    std::deque<std::vector<std::int64_t>> more_;
};

} // namespace pycuda::python
