// host_buffer.cpp -- gets an object's memory, or explains why the object has none.
#include "memory/host_buffer.h"

#include "memory/device_pointer.h"
#include "support/names.h"
#include "support/numpy_types.h"
#include "support/python_object.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>

namespace pycuda::python {
namespace {

/// An array of Python objects contains their addresses. A copy of the addresses would not keep the
/// objects alive, and Python would follow addresses that a kernel writes.
void refuse_objects(nb::handle array, const char *what) {
    static constinit std::atomic<PyObject *> known_plain =
        nullptr; // the last dtype without objects
    nb::object dtype = made(PyObject_GetAttr(array.ptr(), names.dtype));
    if (dtype.ptr() == known_plain.load(std::memory_order_relaxed)) [[likely]]
        return;
    if (nb::cast<bool>(dtype.attr("hasobject")))
        throw_type_error(std::string(what) + " holds Python objects (" +
                         nb::cast<std::string>(nb::str(dtype)) +
                         "), which device memory cannot hold");
    Py_XDECREF(known_plain.exchange(
        dtype.release().ptr())); // keeps a reference, so that the address is not reused
}

bool is_read_only(nb::handle object) {
    Py_buffer view;
    if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_FULL_RO) != 0) {
        PyErr_Clear(); // the caller reports the reason for which it has no memory
        return false;
    }
    const bool result = view.readonly != 0;
    PyBuffer_Release(&view);
    return result;
}

} // namespace

HostBuffer::HostBuffer(nb::handle object, const char *what, int flags) {
    if (is_numpy_array(object))
        refuse_objects(object, what);
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) == 0)
        return;
    view_ = {};
    nb::python_error reason;
    std::string text = reason.what();
    if (!PyObject_CheckBuffer(object.ptr())) {
        bool on_device = find_device_address(object).has_value();
        throw_type_error(std::string(what) +
                         " must be host memory (a numpy array, or another object with the buffer "
                         "protocol), not " +
                         name_of_type(object) + (on_device ? ", which is in device memory" : ""));
    }
    if (text.find("contiguous") != std::string::npos)
        throw_value_error(std::string(what) +
                          " is not contiguous; copy it with numpy.ascontiguousarray() first");
    if (text.find("read-only") != std::string::npos)
        throw_value_error(std::string(what) +
                          " is read-only, but the call writes to it; pass a copy, or an array "
                          "whose flags.writeable is True");
    if (reason.matches(PyExc_BufferError) && is_read_only(object)) // bytes, str of another library
        throw_type_error(std::string(what) + " is read-only (" + name_of_type(object) +
                         "), but the call writes to it; expected a numpy array or a bytearray");
    throw reason;
}

std::size_t HostBuffer::extent() const noexcept {
    if (view_.strides == nullptr || view_.len == 0)
        return size();
    Py_ssize_t last = 0;
    for (int axis = 0; axis < view_.ndim; ++axis)
        last += std::max<Py_ssize_t>(view_.strides[axis], 0) * (view_.shape[axis] - 1);
    return static_cast<std::size_t>(last + view_.itemsize);
}

} // namespace pycuda::python
