// host_buffer.h -- the memory of a host object, borrowed through the buffer protocol.
#pragma once

#include "support/bindings.h"

#include <cstddef>
#include <utility>

namespace pycuda::python {

/// The contiguous memory (C or Fortran order) of a host object. Keeps the object from moving or
/// freeing the memory. Create and destroy it with the GIL held.
class HostBuffer {
  public:
    static HostBuffer to_read(nb::handle object, const char *what) {
        return HostBuffer(object, what, PyBUF_ANY_CONTIGUOUS);
    }
    static HostBuffer to_write(nb::handle object, const char *what) {
        return HostBuffer(object, what, PyBUF_ANY_CONTIGUOUS | PyBUF_WRITABLE);
    }

    /// Memory with gaps between rows: the address and the extent, including gaps.
    static HostBuffer strided_to_read(nb::handle object, const char *what) {
        return HostBuffer(object, what, PyBUF_STRIDED_RO);
    }
    static HostBuffer strided_to_write(nb::handle object, const char *what) {
        return HostBuffer(object, what, PyBUF_STRIDED);
    }

    HostBuffer() = default;
    HostBuffer(HostBuffer &&other) noexcept : view_(std::exchange(other.view_, Py_buffer{})) {}
    HostBuffer &operator=(HostBuffer &&other) noexcept {
        std::swap(view_, other.view_);
        return *this;
    }
    ~HostBuffer() { PyBuffer_Release(&view_); }

    void *data() const noexcept { return view_.buf; }
    std::size_t size() const noexcept { return static_cast<std::size_t>(view_.len); }
    /// The bytes from data() to the end of the last element, including gaps between rows.
    std::size_t extent() const noexcept;

  private:
    HostBuffer(nb::handle object, const char *what, int flags);
    Py_buffer view_{};
};

} // namespace pycuda::python
