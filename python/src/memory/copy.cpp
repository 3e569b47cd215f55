// copy.cpp -- copies between host and device.
//
// A copy is work of the thread's current stream, or of the given one. A copy that waits does so
// without the GIL, and Ctrl-C interrupts the wait. An asynchronous copy keeps the host's buffer
// alive until the device has finished the copy.
#include "support/bindings.h"

#include "arrays/array_scope.h"
#include "memory/host_buffer.h"
#include "memory/python_work.h"
#include "support/interruptible.h"
#include "support/python_object.h"

#include <pycuda/copy.h>
#include <pycuda/kept_objects.h>

#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

namespace pycuda::python {
namespace {

/// Memory from mem_alloc() must be at least as large as the host memory of a copy.
void check_fits(nb::handle memory, const HostBuffer &host, const char *function) {
    if (const DeviceMemory * own; nb::try_cast(memory, own) && own)
        detail::check_fits(*own, host.size(), function);
}

void memcpy_htod(nb::handle dest, nb::handle src) {
    PythonWork work({dest});
    const CUdeviceptr to = work.write(dest, "dest");
    HostBuffer from = HostBuffer::to_read(src, "src");
    check_fits(dest, from, "cuMemcpyHtoD");
    wait_with_signals([&](const KeepWaiting &keep_waiting) {
        copy_to_device(to, from.data(), from.size(), work.get(), keep_waiting);
    });
}

void memcpy_dtoh(nb::handle dest, nb::handle src) {
    PythonWork work({src});
    HostBuffer to = HostBuffer::to_write(dest, "dest");
    const CUdeviceptr from = work.read(src, "src");
    check_fits(src, to, "cuMemcpyDtoH");
    wait_with_signals([&](const KeepWaiting &keep_waiting) {
        copy_to_host(to.data(), from, to.size(), work.get(), keep_waiting);
    });
    release_kept_objects();
}

void memcpy_htod_async(nb::handle dest, nb::handle src, nb::handle stream) {
    PythonWork work({dest}, stream);
    const CUdeviceptr to = work.write(dest, "dest");
    HostBuffer from = HostBuffer::to_read(src, "src");
    check_fits(dest, from, "cuMemcpyHtoDAsync");
    copy_to_device_async(to, from.data(), from.size(), work.stream());
    work.get().keep_until_done(keep_alive(std::move(from)));
}

void memcpy_dtoh_async(nb::handle dest, nb::handle src, nb::handle stream) {
    PythonWork work({src}, stream);
    HostBuffer to = HostBuffer::to_write(dest, "dest");
    const CUdeviceptr from = work.read(src, "src");
    check_fits(src, to, "cuMemcpyDtoHAsync");
    copy_to_host_async(to.data(), from, to.size(), work.stream());
    work.get().keep_until_done(keep_alive(std::move(to)));
}

void memcpy_dtod_async(nb::handle dest, nb::handle src, std::size_t size, nb::handle stream) {
    PythonWork work({dest, src}, stream);
    const CUdeviceptr to = work.write(dest, "dest"), from = work.read(src, "src");
    if (stream.is_none() && work.stream().is_default())
        copy_on_device(to, from, size);
    else
        copy_on_device_async(to, from, size, work.stream());
}

void memcpy_dtod(nb::handle dest, nb::handle src, std::size_t size) {
    memcpy_dtod_async(dest, src, size, nb::none());
}

void memcpy_batch_async(const std::vector<nb::object> &dests, const std::vector<nb::object> &srcs,
                        const std::vector<std::size_t> &sizes, nb::handle stream) {
    if (dests.size() != srcs.size() || dests.size() != sizes.size())
        throw_value_error("dests, srcs and sizes must have the same length, not " +
                          std::to_string(dests.size()) + ", " + std::to_string(srcs.size()) +
                          " and " + std::to_string(sizes.size()));
    if (dests.empty())
        return;
    PythonWork work({dests.front(), srcs.front()}, stream);
    std::vector<DeviceCopy> copies;
    for (std::size_t i = 0; i < dests.size(); ++i)
        copies.push_back({work.write(dests[i], "dests"), work.read(srcs[i], "srcs"), sizes[i]});
    copy_batch_async(copies, work.stream());
}

/// None means the current context.
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
    Context to_context = context_or_current(dest_context, "dest_context");
    Context from_context = context_or_current(src_context, "src_context");
    Work work(current_stream());
    const CUdeviceptr to = device_address(dest, "dest", work, Access::Write),
                      from = device_address(src, "src", work, Access::Read);
    if (work.stream().is_default())
        copy_to_peer(to, to_context, from, from_context, size);
    else
        copy_to_peer_async(to, to_context, from, from_context, size, work.stream());
}

void memcpy_peer_async(nb::handle dest, nb::handle src, std::size_t size, nb::handle dest_context,
                       nb::handle src_context, nb::handle stream) {
    Context to_context = context_or_current(dest_context, "dest_context");
    Context from_context = context_or_current(src_context, "src_context");
    Work work(stream_ref(stream));
    const CUdeviceptr to = device_address(dest, "dest", work, Access::Write),
                      from = device_address(src, "src", work, Access::Read);
    copy_to_peer_async(to, to_context, from, from_context, size, work.stream());
}

} // namespace

void bind_copy(nb::module_ &module) {
    module.def(
        "memcpy_htod", memcpy_htod, nb::arg("dest"), nb::arg("src"),
        "Copy a host array to the device. The call returns when the source may be changed.\n\n"
        "dest: device memory: a DeviceAllocation, a GPUArray or an address.\n"
        "src: a contiguous host array or buffer. All of its bytes are copied.\n\n"
        "Raises ValueError if ``src`` is not contiguous, and LogicError if the device memory is "
        "smaller.");
    module.def("memcpy_dtoh", memcpy_dtoh, nb::arg("dest"), nb::arg("src"),
               "Copy from the device to a host array. The call returns when the copy is done.\n\n"
               "dest: a contiguous, writable host array or buffer. All of its bytes are filled.\n"
               "src: device memory: a DeviceAllocation, a GPUArray or an address.\n\n"
               "Raises ValueError for ``dest``, and LogicError if the device memory is smaller.");
    module.def("memcpy_htod_async", memcpy_htod_async, nb::arg("dest"), nb::arg("src"),
               nb::arg("stream") = nb::none(),
               "memcpy_htod() as work of a stream. The call may return before the copy is done.\n\n"
               "dest: device memory.\n"
               "src: a contiguous host array, which is kept alive. Do not change it before the "
               "copy is done. Only copies from\n"
               "  page-locked memory overlap with Python's work.\n"
               "stream: a Stream; by default the thread's current stream.");
    module.def("memcpy_dtoh_async", memcpy_dtoh_async, nb::arg("dest"), nb::arg("src"),
               nb::arg("stream") = nb::none(),
               "memcpy_dtoh() as work of a stream. The call may return before the copy is done.\n\n"
               "dest: a contiguous host array, which is kept alive. Read it after a synchronize() "
               "of the stream. Only copies to\n"
               "  page-locked memory overlap with Python's work.\n"
               "src: device memory.\n"
               "stream: a Stream; by default the thread's current stream.");
    module.def(
        "memcpy_dtod", memcpy_dtod, nb::arg("dest"), nb::arg("src"), nb::arg("size"),
        "Copy from device memory to device memory. The call may return before the copy is done.\n\n"
        "dest, src: device memory.\n"
        "size: bytes.\n\n"
        "Raises LogicError if one of the two is smaller than ``size``.");
    module.def("memcpy_dtod_async", memcpy_dtod_async, nb::arg("dest"), nb::arg("src"),
               nb::arg("size"), nb::arg("stream") = nb::none(),
               "memcpy_dtod() as work of a stream; by default of the thread's current stream.\n\n"
               "dest, src: device memory.\n"
               "size: bytes.\n"
               "stream: a Stream.");
    module.def("memcpy_batch_async", memcpy_batch_async, nb::arg("dests"), nb::arg("srcs"),
               nb::arg("sizes"), nb::arg("stream") = nb::none(),
               "Copy many pieces of device memory, as work of a stream.\n\n"
               "dests, srcs: sequences of device memory.\n"
               "sizes: the bytes of each copy.\n"
               "stream: a Stream; by default the thread's current stream.\n\n"
               "The copies may run at the same time and in any order, so no copy may write what "
               "another one uses. With CUDA 13 this is one\n"
               "call of the driver, unless the stream is the default one or records a graph.\n\n"
               "Raises ValueError if the sequences have different lengths.");
    module.def("memcpy_peer", memcpy_peer, nb::arg("dest"), nb::arg("src"), nb::arg("size"),
               nb::arg("dest_context") = nb::none(), nb::arg("src_context") = nb::none(),
               "Copy memory between two contexts, also of two devices.\n\n"
               "dest, src: device memory.\n"
               "size: bytes.\n"
               "dest_context, src_context: the contexts of the memory; None is the current one.");
    module.def("memcpy_peer_async", memcpy_peer_async, nb::arg("dest"), nb::arg("src"),
               nb::arg("size"), nb::arg("dest_context") = nb::none(),
               nb::arg("src_context") = nb::none(), nb::arg("stream") = nb::none(),
               "memcpy_peer() as work of a stream; by default of the thread's current stream.\n\n"
               "dest, src: device memory.\n"
               "size: bytes.\n"
               "dest_context, src_context: the contexts of the memory; None is the current one.\n"
               "stream: a Stream.");
}

} // namespace pycuda::python
