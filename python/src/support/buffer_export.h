// buffer_export.h -- gives a bound class with data() and size() the buffer protocol.
#pragma once

#include "support/bindings.h"

namespace pycuda::python {

namespace detail {
template <class Memory> int get_buffer(PyObject *self, Py_buffer *view, int flags) noexcept {
    try {
        const Memory *memory = nb::inst_ptr<Memory>(self);
        return PyBuffer_FillInfo(view, self, memory->data(),
                                 static_cast<Py_ssize_t>(memory->size()), 0, flags);
    } catch (const std::exception &error) { // the memory was freed
        PyErr_SetString(PyExc_BufferError, error.what());
        view->obj = nullptr;
        return -1;
    }
}
} // namespace detail

/// For nb::class_<Memory>(..., buffer_export<Memory>()): numpy.ndarray(buffer=memory) then works,
/// and the array keeps the memory alive as its base.
template <class Memory> nb::type_slots buffer_export() {
    static PyType_Slot slots[] = {
        {Py_bf_getbuffer, reinterpret_cast<void *>(detail::get_buffer<Memory>)}, {0, nullptr}};
    return nb::type_slots(slots);
}

} // namespace pycuda::python
