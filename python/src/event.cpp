// event.cpp -- pycuda.driver.Event.
#include "bindings.h"

#include "device_pointer.h"
#include "interruptible.h"
#include "pending_buffers.h"
#include "python_object.h"

#include <pycuda/event.h>

#include <nanobind/stl/string.h>

#include <cstdio>
#include <cstring>

namespace pycuda::python {
namespace {

nb::object record(nb::object self, nb::object stream) {
    nb::cast<const Event &>(self).record(stream_ref(stream));
    return self;
}

nb::object synchronize_event(nb::object self) {
    const Event &event = nb::cast<const Event &>(self);
    wait_without_gil([&](const KeepWaiting &keep_waiting) { event.synchronize(keep_waiting); });
    PendingBuffers::instance().release_finished();
    return self;
}

float time_since(const Event &end, const Event &start) { return end.milliseconds_since(start); }
float time_till(const Event &start, const Event &end) { return end.milliseconds_since(start); }

nb::bytearray ipc_handle(const Event &event) {
    CUipcEventHandle handle = event.ipc_handle();
    return nb::bytearray(&handle, sizeof handle);
}

Event from_ipc_handle(nb::object bytes) {
    CUipcEventHandle handle;
    Py_buffer view;
    if (PyObject_GetBuffer(bytes.ptr(), &view, PyBUF_SIMPLE) != 0)
        throw nb::python_error();
    bool right_size = view.len == sizeof handle;
    if (right_size)
        std::memcpy(&handle, view.buf, sizeof handle);
    PyBuffer_Release(&view);
    if (!right_size)
        throw Error("event_from_ipc_handle", CUDA_ERROR_INVALID_VALUE,
                    "a handle has " + std::to_string(sizeof handle) + " bytes");
    return Event::from_ipc_handle(handle);
}

std::string represent(const Event &event) {
    if (event.get() == nullptr)
        return "<pycuda.driver.Event, closed>";
    char text[64];
    std::snprintf(text, sizeof text, "<pycuda.driver.Event %p>",
                  static_cast<const void *>(event.get()));
    return text;
}

} // namespace

void bind_event(nb::module_ &module) {
    nb::class_<Event>(module, "Event", nb::dynamic_attr(), nb::is_weak_referenceable(),
                      "A point in a stream that can be waited for and timed.")
        .def(nb::init<unsigned>(), nb::arg("flags") = 0)
        .def("record", record, nb::arg("stream") = nb::none(),
             "Put the event into a stream; returns the event.")
        .def("synchronize", synchronize_event, "Wait for the event; returns the event.")
        .def("query", &Event::query, "Whether all work before the last record() is done.")
        .def("time_since", time_since, nb::arg("start"), "Milliseconds from `start` to this event.")
        .def("time_till", time_till, nb::arg("end"), "Milliseconds from this event to `end`.")
        .def("ipc_handle", ipc_handle, "64 bytes for Event.from_ipc_handle in another process.")
        .def_static(
            "from_ipc_handle", from_ipc_handle, nb::arg("handle"),
            "The event of another process, from its ipc_handle(). LogicError where it is gone.")
        .def("close", &Event::close, nb::lock_self(), "Give it back now.")
        .def("__enter__", [](nb::object self) { return self; })
        .def(
            "__exit__", [](Event &event, nb::args) { event.close(); }, nb::lock_self())
        .def("__repr__", represent)
        .def_prop_ro(
            "handle",
            [](const Event &event) { return reinterpret_cast<std::uintptr_t>(event.get()); },
            "The CUevent, as an int.");
}

} // namespace pycuda::python
