// event.cpp -- pycuda.driver.Event.
#include "support/bindings.h"

#include "memory/device_pointer.h"
#include "support/interruptible.h"
#include "support/python_object.h"

#include <pycuda/event.h>
#include <pycuda/kept_objects.h>

#include <nanobind/stl/string.h>

#include <cstring>

namespace pycuda::python {
namespace {

nb::object record(nb::object self, nb::object stream) {
    nb::cast<const Event &>(self).record(stream_ref(stream));
    return self;
}

nb::object synchronize_event(nb::object self) {
    const Event &event = nb::cast<const Event &>(self);
    wait_with_signals([&](const KeepWaiting &keep_waiting) { event.synchronize(keep_waiting); });
    release_kept_objects();
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
                    "the handle must have " + std::to_string(sizeof handle) + " bytes");
    return Event::from_ipc_handle(handle);
}

std::string represent(const Event &event) {
    if (event.get() == nullptr)
        return "<pycuda.driver.Event, closed>";
    return shown_with_handle("Event", event.get());
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
             "Record the event in a stream: the event is complete when all earlier work of the "
             "stream is done. Returns the event.\n\n"
             "stream: a Stream; by default the thread's current stream.\n\n"
             "The call does not wait. A second record() replaces the first one. Raises LogicError "
             "if stream and event belong to\n"
             "different contexts.\n\n"
             ">>> event = cuda.Event().record()\n"
             ">>> event.synchronize().query()\n"
             "True")
        .def("synchronize", synchronize_event,
             "Wait until the work before the last record() is done. Returns the event.\n\n"
             "Returns at once if the event was never recorded. Ctrl-C ends the wait. The thread "
             "sleeps if the event was made with\n"
             "event_flags.BLOCKING_SYNC, else it polls. Raises the error of a kernel that failed.")
        .def("query", &Event::query,
             "Return True if all work before the last record() is done, or if the event was never "
             "recorded; else False.\n\n"
             "Does not wait. Raises the error of a kernel that failed.")
        .def("time_since", time_since, nb::arg("start"),
             "Return the time from another event to this event in milliseconds, as a float.\n\n"
             "start: the earlier event.\n\n"
             "The device takes the times, with a resolution of about half a microsecond on a GPU. "
             "Raises LogicError if one of the\n"
             "two events was not recorded, is not complete, or was made with DISABLE_TIMING.\n\n"
             ">>> start = cuda.Event().record()\n"
             ">>> x = gpuarray.zeros(1000) + 1\n"
             ">>> end = cuda.Event().record().synchronize()\n"
             ">>> end.time_since(start) == start.time_till(end)\n"
             "True")
        .def("time_till", time_till, nb::arg("end"),
             "Return the time from this event to another event in milliseconds, as a float.\n\n"
             "end: the later event.\n\n"
             "``start.time_till(end)`` is ``end.time_since(start)``, with its errors.")
        .def("ipc_handle", ipc_handle,
             "The 64 bytes with which Event.from_ipc_handle() opens this event in another "
             "process.\n\n"
             "The event must be made with event_flags.INTERPROCESS and DISABLE_TIMING.")
        .def_static("from_ipc_handle", from_ipc_handle, nb::arg("handle"),
                    "Open an event of another process.\n\n"
                    "handle: the 64 bytes of ipc_handle() in the other process.\n\n"
                    "Raises LogicError if the event does not exist any more.")
        .def("close", &Event::close, nb::lock_self(),
             "Destroy the event now. A second call does nothing.\n\n"
             "Other functions raise LogicError for a closed event. Streams that wait for the event "
             "still wait. ``with event:``\n"
             "closes the event at the end of the block.")
        .def("__enter__", [](nb::object self) { return self; })
        .def(
            "__exit__", [](Event &event, nb::args) { event.close(); }, nb::lock_self())
        .def("__repr__", represent)
        .def_prop_ro("handle", handle_of<Event>, "The CUevent, as an int.");
}

} // namespace pycuda::python
