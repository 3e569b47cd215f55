// copy.cpp -- copies between host and device.
//
// A copy without a stream waits without the GIL and can be ended with Ctrl-C. One with a stream
// keeps the host's buffer alive until the device is done with it.
#include "bindings.h"

#include "device_pointer.h"
#include "host_buffer.h"
#include "interruptible.h"
#include "pending_buffers.h"
#include "python_object.h"

#include <pycuda/copy.h>

#include <optional>

namespace pycuda::python {
namespace {

/// Memory from mem_alloc() must be as large as the host's side of a copy.
void check_fits(nb::handle memory, const HostBuffer &host, const char *function) {
    if (const DeviceMemory * own; nb::try_cast(memory, own) && own)
        detail::check_fits(*own, host.size(), function);
}

void memcpy_htod(nb::handle dest, nb::handle src) {
    CUdeviceptr to = device_address(dest, "dest");
    HostBuffer from = HostBuffer::to_read(src, "src");
    check_fits(dest, from, "cuMemcpyHtoD");
    wait_without_gil([&](const KeepWaiting &keep_waiting) {
        copy_to_device(to, from.data(), from.size(), keep_waiting);
    });
}

void memcpy_dtoh(nb::handle dest, nb::handle src) {
    HostBuffer to = HostBuffer::to_write(dest, "dest");
    CUdeviceptr from = device_address(src, "src");
    check_fits(src, to, "cuMemcpyDtoH");
    wait_without_gil([&](const KeepWaiting &keep_waiting) {
        copy_to_host(to.data(), from, to.size(), keep_waiting);
    });
}

void memcpy_htod_async(nb::handle dest, nb::handle src, nb::handle stream) {
    CUdeviceptr to = device_address(dest, "dest");
    HostBuffer from = HostBuffer::to_read(src, "src");
    check_fits(dest, from, "cuMemcpyHtoDAsync");
    StreamRef queue = stream_ref(stream);
    {
        nb::gil_scoped_release release;
        copy_to_device_async(to, from.data(), from.size(), queue);
    }
    PendingBuffers::instance().keep(std::move(from), queue);
}

void memcpy_dtoh_async(nb::handle dest, nb::handle src, nb::handle stream) {
    HostBuffer to = HostBuffer::to_write(dest, "dest");
    CUdeviceptr from = device_address(src, "src");
    check_fits(src, to, "cuMemcpyDtoHAsync");
    StreamRef queue = stream_ref(stream);
    {
        nb::gil_scoped_release release;
        copy_to_host_async(to.data(), from, to.size(), queue);
    }
    PendingBuffers::instance().keep(std::move(to), queue);
}

void memcpy_dtod(nb::handle dest, nb::handle src, std::size_t size) {
    CUdeviceptr to = device_address(dest, "dest"), from = device_address(src, "src");
    nb::gil_scoped_release release;
    copy_on_device(to, from, size);
}

void memcpy_dtod_async(nb::handle dest, nb::handle src, std::size_t size, nb::handle stream) {
    CUdeviceptr to = device_address(dest, "dest"), from = device_address(src, "src");
    StreamRef queue = stream_ref(stream);
    nb::gil_scoped_release release;
    copy_on_device_async(to, from, size, queue);
}

/// None is the current context.
Context context_or_current(nb::handle object, const char *what) {
    if (object.is_none())
        return Context::require_current();
    if (const Context * context; nb::try_cast(object, context) && context)
        return *context;
    throw_type_error(std::string(what) + " must be a pycuda.driver.Context or None, not " +
                     name_of_type(object));
}

void memcpy_peer(nb::handle dest, nb::handle src, std::size_t size, nb::handle dest_context,
                 nb::handle src_context) {
    CUdeviceptr to = device_address(dest, "dest"), from = device_address(src, "src");
    Context to_context = context_or_current(dest_context, "dest_context");
    Context from_context = context_or_current(src_context, "src_context");
    nb::gil_scoped_release release;
    copy_to_peer(to, to_context, from, from_context, size);
}

void memcpy_peer_async(nb::handle dest, nb::handle src, std::size_t size, nb::handle dest_context,
                       nb::handle src_context, nb::handle stream) {
    CUdeviceptr to = device_address(dest, "dest"), from = device_address(src, "src");
    Context to_context = context_or_current(dest_context, "dest_context");
    Context from_context = context_or_current(src_context, "src_context");
    StreamRef queue = stream_ref(stream);
    nb::gil_scoped_release release;
    copy_to_peer_async(to, to_context, from, from_context, size, queue);
}

} // namespace

void bind_copy(nb::module_ &module) {
    module.def("memcpy_htod", memcpy_htod, nb::arg("dest"), nb::arg("src"),
               "Copy all of the host array `src` to the device.");
    module.def("memcpy_dtoh", memcpy_dtoh, nb::arg("dest"), nb::arg("src"),
               "Fill the host array `dest` from the device.");
    module.def("memcpy_htod_async", memcpy_htod_async, nb::arg("dest"), nb::arg("src"),
               nb::arg("stream") = nb::none(),
               "memcpy_htod() in a stream; `src` is kept alive until it is done, and should be "
               "page-locked.");
    module.def("memcpy_dtoh_async", memcpy_dtoh_async, nb::arg("dest"), nb::arg("src"),
               nb::arg("stream") = nb::none(),
               "memcpy_dtoh() in a stream; `dest` is kept alive until it is done, and should be "
               "page-locked.");
    module.def("memcpy_dtod", memcpy_dtod, nb::arg("dest"), nb::arg("src"), nb::arg("size"),
               "Copy `size` bytes on the device.");
    module.def("memcpy_dtod_async", memcpy_dtod_async, nb::arg("dest"), nb::arg("src"),
               nb::arg("size"), nb::arg("stream") = nb::none(), "memcpy_dtod() in a stream.");
    module.def("memcpy_peer", memcpy_peer, nb::arg("dest"), nb::arg("src"), nb::arg("size"),
               nb::arg("dest_context") = nb::none(), nb::arg("src_context") = nb::none(),
               "Copy between contexts; None is the current one.");
    module.def("memcpy_peer_async", memcpy_peer_async, nb::arg("dest"), nb::arg("src"),
               nb::arg("size"), nb::arg("dest_context") = nb::none(),
               nb::arg("src_context") = nb::none(), nb::arg("stream") = nb::none(),
               "memcpy_peer() in a stream.");
}

} // namespace pycuda::python
