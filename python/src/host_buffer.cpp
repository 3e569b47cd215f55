// host_buffer.cpp -- asking an object for its memory, and saying well why it has none.
#include "host_buffer.h"

#include "device_pointer.h"
#include "python_object.h"

namespace pycuda::python {

HostBuffer::HostBuffer(nb::handle object, const char *what, int flags) {
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
                         name_of_type(object) + (on_device ? ", which lives on the device" : ""));
    }
    if (text.find("contiguous") != std::string::npos)
        throw_value_error(std::string(what) +
                          " is not contiguous; copy it with numpy.ascontiguousarray() first");
    throw reason; // read-only where it should be written
}

} // namespace pycuda::python
