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
                      "A point in a stream. Other streams and threads can wait for an event, and "
                      "two events measure a time.\n\n"
                      "flags: a sum of event_flags: BLOCKING_SYNC, DISABLE_TIMING, INTERPROCESS "
                      "(together with DISABLE_TIMING).\n\n"
                      ">>> start, end = cuda.Event(), cuda.Event()\n"
                      ">>> _ = start.record()\n"
                      ">>> _ = end.record()\n"
                      ">>> end.synchronize().time_since(start) >= 0\n"
                      "True")
        .def(nb::init<unsigned>(), nb::arg("flags") = 0)
        .def("record", record, nb::arg("stream") = nb::none(),
             "Record the event: it is complete when all earlier work of the stream is done. "
             "Returns the event.\n\n"
             "stream: a Stream; by default the thread's current stream.")
        .def("synchronize", synchronize_event,
             "Wait until the work before the last record() is done. Returns the event. Ctrl-C ends "
             "the wait.")
        .def("query", &Event::query,
             "True if all work before the last record() is done, or if the event was never "
             "recorded. Does not wait.")
        .def("time_since", time_since, nb::arg("start"),
             "The time from another event to this event in milliseconds.\n\n"
             "start: the earlier event.\n\n"
             "Raises LogicError if one of the two was not recorded, is not complete, or was made "
             "with DISABLE_TIMING.")
        .def("time_till", time_till, nb::arg("end"),
             "The time from this event to another event in milliseconds; see time_since().")
        .def("ipc_handle", ipc_handle,
             "The 64 bytes with which Event.from_ipc_handle() opens this event in another "
             "process.\n\n"
             "The event must be made with event_flags.INTERPROCESS and DISABLE_TIMING.")
        .def_static("from_ipc_handle", from_ipc_handle, nb::arg("handle"),
                    "Open an event of another process.\n\n"
                    "handle: the 64 bytes of ipc_handle() in the other process.\n\n"
                    "Raises LogicError if the event does not exist any more.")
        .def("close", &Event::close, nb::lock_self(),
             "Destroy the event now. A second call does nothing.")
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
