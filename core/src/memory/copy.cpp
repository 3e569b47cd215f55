// copy.cpp -- copies between host and device, and filling of memory.
#include <pycuda/copy.h>

#include "memory/freed.h"
#include "memory/pageable_copy.h"

#include <pycuda/caller_lock.h>
#include <pycuda/driver.h>
#include <pycuda/pending_work.h>

namespace pycuda {
namespace {

// A copy to or from pageable memory waits in the driver for earlier work of its stream. A host
// function of that stream may need the caller's lock, so the lock is released before the copy.

/// A copy on the default stream would wait in the driver for earlier kernels, and that wait cannot
/// be interrupted. So the copy waits for the kernels here first.
void wait_for_default_stream(const KeepWaiting &keep_waiting) {
    if (!keep_waiting || !detail::kernels_may_run.load(std::memory_order_relaxed))
        return;
    detail::kernels_may_run.store(false, std::memory_order_relaxed); // a launch sets it again
    const CUresult result = driver().cuStreamQuery.status(nullptr);
    if (result != CUDA_ERROR_NOT_READY)
        return check(
            result, "cuStreamQuery"); // the failure of a kernel; the driver may report it only once
    detail::kernels_may_run.store(true, std::memory_order_relaxed); // until a wait succeeds
    synchronize(StreamRef(), keep_waiting);
}

} // namespace

void copy_to_device(CUdeviceptr to, const void *from, std::size_t bytes,
                    const KeepWaiting &keep_waiting) {
    const CallerUnlocked unlocked;
    wait_for_default_stream(keep_waiting);
    if (bytes < detail::least_copy_to_device ||
        !detail::try_pageable_copy_to_device(to, from, bytes))
        check(driver().cuMemcpyHtoD.status(to, from, bytes), "cuMemcpyHtoD",
              [&] { return detail::describe_memory("copy to device memory", to, bytes); });
}

void copy_to_host(void *to, CUdeviceptr from, std::size_t bytes, const KeepWaiting &keep_waiting) {
    const CallerUnlocked unlocked;
    wait_for_default_stream(keep_waiting);
    if (bytes < detail::least_copy_to_host || !detail::try_pageable_copy_to_host(to, from, bytes))
        check(driver().cuMemcpyDtoH.status(to, from, bytes), "cuMemcpyDtoH",
              [&] { return detail::describe_memory("copy from device memory", from, bytes); });
}

void copy_on_device(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    const CallerUnlocked unlocked;
    driver().cuMemcpyDtoD(to, from, bytes);
}

void copy_to_peer(CUdeviceptr to, const Context &to_context, CUdeviceptr from,
                  const Context &from_context, std::size_t bytes) {
    driver().cuMemcpyPeer(to, to_context.get(), from, from_context.get(), bytes);
}

void copy_to_device(CUdeviceptr to, const void *from, std::size_t bytes, StreamRef stream,
                    const KeepWaiting &keep_waiting) {
    if (stream.is_default())
        return copy_to_device(to, from, bytes, keep_waiting);
    synchronize(stream, keep_waiting); // a wait that can be interrupted
    copy_to_device_async(to, from, bytes, stream);
    synchronize(stream);
}

void copy_to_host(void *to, CUdeviceptr from, std::size_t bytes, StreamRef stream,
                  const KeepWaiting &keep_waiting) {
    if (stream.is_default())
        return copy_to_host(to, from, bytes, keep_waiting);
    synchronize(stream, keep_waiting);
    copy_to_host_async(to, from, bytes, stream);
    synchronize(stream);
}

void copy_to_device_async(CUdeviceptr to, const void *from, std::size_t bytes, StreamRef stream) {
    const CallerUnlocked unlocked;
    driver().cuMemcpyHtoDAsync(to, from, bytes, stream.get());
}

void copy_to_host_async(void *to, CUdeviceptr from, std::size_t bytes, StreamRef stream) {
    const CallerUnlocked unlocked;
    driver().cuMemcpyDtoHAsync(to, from, bytes, stream.get());
}

void copy_on_device_async(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, StreamRef stream) {
    driver().cuMemcpyDtoDAsync(to, from, bytes, stream.get());
}

void copy_to_peer_async(CUdeviceptr to, const Context &to_context, CUdeviceptr from,
                        const Context &from_context, std::size_t bytes, StreamRef stream) {
    driver().cuMemcpyPeerAsync(to, to_context.get(), from, from_context.get(), bytes, stream.get());
}

void copy_2d(const CUDA_MEMCPY2D &what, RowAlignment alignment) {
    const CallerUnlocked unlocked;
    if (alignment == RowAlignment::Aligned)
        driver().cuMemcpy2D(&what);
    else
        driver().cuMemcpy2DUnaligned(&what);
}

void copy_2d_async(const CUDA_MEMCPY2D &what, StreamRef stream) {
    const CallerUnlocked unlocked;
    driver().cuMemcpy2DAsync(&what, stream.get());
}

void copy_3d(const CUDA_MEMCPY3D &what) {
    const CallerUnlocked unlocked;
    driver().cuMemcpy3D(&what);
}

void copy_3d_async(const CUDA_MEMCPY3D &what, StreamRef stream) {
    const CallerUnlocked unlocked;
    driver().cuMemcpy3DAsync(&what, stream.get());
}

void copy_3d_to_peer(const CUDA_MEMCPY3D_PEER &what) { driver().cuMemcpy3DPeer(&what); }

void copy_3d_to_peer_async(const CUDA_MEMCPY3D_PEER &what, StreamRef stream) {
    driver().cuMemcpy3DPeerAsync(&what, stream.get());
}

void fill_8(CUdeviceptr to, std::uint8_t value, std::size_t count) {
    driver().cuMemsetD8(to, value, count);
}

void fill_16(CUdeviceptr to, std::uint16_t value, std::size_t count) {
    driver().cuMemsetD16(to, value, count);
}

void fill_32(CUdeviceptr to, std::uint32_t value, std::size_t count) {
    driver().cuMemsetD32(to, value, count);
}

void fill_8_async(CUdeviceptr to, std::uint8_t value, std::size_t count, StreamRef stream) {
    driver().cuMemsetD8Async(to, value, count, stream.get());
}

void fill_16_async(CUdeviceptr to, std::uint16_t value, std::size_t count, StreamRef stream) {
    driver().cuMemsetD16Async(to, value, count, stream.get());
}

void fill_32_async(CUdeviceptr to, std::uint32_t value, std::size_t count, StreamRef stream) {
    driver().cuMemsetD32Async(to, value, count, stream.get());
}

void fill_rows_8(const Rows &rows, std::uint8_t value) {
    driver().cuMemsetD2D8(rows.to, rows.pitch, value, rows.width, rows.height);
}

void fill_rows_16(const Rows &rows, std::uint16_t value) {
    driver().cuMemsetD2D16(rows.to, rows.pitch, value, rows.width, rows.height);
}

void fill_rows_32(const Rows &rows, std::uint32_t value) {
    driver().cuMemsetD2D32(rows.to, rows.pitch, value, rows.width, rows.height);
}

void fill_rows_8_async(const Rows &rows, std::uint8_t value, StreamRef stream) {
    driver().cuMemsetD2D8Async(rows.to, rows.pitch, value, rows.width, rows.height, stream.get());
}

void fill_rows_16_async(const Rows &rows, std::uint16_t value, StreamRef stream) {
    driver().cuMemsetD2D16Async(rows.to, rows.pitch, value, rows.width, rows.height, stream.get());
}

void fill_rows_32_async(const Rows &rows, std::uint32_t value, StreamRef stream) {
    driver().cuMemsetD2D32Async(rows.to, rows.pitch, value, rows.width, rows.height, stream.get());
}

void detail::check_fits(const DeviceMemory &memory, std::size_t wanted, const char *function) {
    if (wanted > memory.size())
        throw Error(function, CUDA_ERROR_INVALID_VALUE,
                    "the host memory has " + std::to_string(wanted) + " bytes, the " +
                        describe_memory("device memory", memory.get(), memory.size()) +
                        " is smaller");
}

} // namespace pycuda
