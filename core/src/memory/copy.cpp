// copy.cpp -- copies between host and device, and filling of memory.
#include <pycuda/copy.h>

#include "context/graph_checks.h"
#include "memory/address_range.h"
#include "memory/freed.h"
#include "memory/pageable_copy.h"

#include <pycuda/caller_lock.h>
#include <pycuda/driver.h>
#include <pycuda/driver_calls.h>
#include <pycuda/pending_work.h>

#include <memory>
#include <utility>
#include <vector>

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

/// "memset of device memory at 0x7f2a40000100 (4096 bytes): the allocation of 1024 bytes ends after
/// 768 bytes"
std::string describe_range(const char *what, CUdeviceptr address, std::size_t bytes) {
    std::string text = detail::describe_memory(what, address, bytes);
    const std::optional<AddressRange> found = detail::find_address_range(address);
    if (!found)
        return text + ": there is no allocation";
    const std::size_t left = found->base + found->size - address;
    if (bytes > left)
        text += ": the allocation of " + std::to_string(found->size) + " bytes ends after " +
                std::to_string(left) + " bytes";
    return text;
}

/// Throws for the result of `function` if it is not success, with the range in the message.
void check_range(CUresult result, const char *function, const char *what, CUdeviceptr address,
                 std::size_t bytes) {
    check(result, function, [&] { return describe_range(what, address, bytes); });
}

void check_copy(CUresult result, const char *function, CUdeviceptr to, CUdeviceptr from,
                std::size_t bytes) {
    check(result, function, [&] {
        return describe_range("copy from device memory", from, bytes) + ", " +
               describe_range("to device memory", to, bytes);
    });
}

} // namespace

void copy_to_device(CUdeviceptr to, const void *from, std::size_t bytes,
                    const KeepWaiting &keep_waiting) {
    const CallerUnlocked unlocked;
    wait_for_default_stream(keep_waiting);
    if (bytes < detail::least_copy_to_device ||
        !detail::try_pageable_copy_to_device(to, from, bytes))
        check_range(driver().cuMemcpyHtoD.status(to, from, bytes), "cuMemcpyHtoD",
                    "copy to device memory", to, bytes);
}

void copy_to_host(void *to, CUdeviceptr from, std::size_t bytes, const KeepWaiting &keep_waiting) {
    const CallerUnlocked unlocked;
    wait_for_default_stream(keep_waiting);
    if (bytes < detail::least_copy_to_host || !detail::try_pageable_copy_to_host(to, from, bytes))
        check_range(driver().cuMemcpyDtoH.status(to, from, bytes), "cuMemcpyDtoH",
                    "copy from device memory", from, bytes);
    detail::report_failed_checks(StreamRef());
}

void copy_on_device(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
    check_copy(driver().cuMemcpyDtoD.status(to, from, bytes), "cuMemcpyDtoD", to, from, bytes);
}

void copy_to_peer(CUdeviceptr to, const Context &to_context, CUdeviceptr from,
                  const Context &from_context, std::size_t bytes) {
    driver().cuMemcpyPeer(to, to_context.get(), from, from_context.get(), bytes);
}

void copy_to_device_async(CUdeviceptr to, const void *from, std::size_t bytes, StreamRef stream) {
    check_range(driver().cuMemcpyHtoDAsync.status(to, from, bytes, stream.get()),
                "cuMemcpyHtoDAsync", "copy to device memory", to, bytes);
}

void copy_to_host_async(void *to, CUdeviceptr from, std::size_t bytes, StreamRef stream) {
    check_range(driver().cuMemcpyDtoHAsync.status(to, from, bytes, stream.get()),
                "cuMemcpyDtoHAsync", "copy from device memory", from, bytes);
}

void copy_on_device_async(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, StreamRef stream) {
    check_copy(driver().cuMemcpyDtoDAsync.status(to, from, bytes, stream.get()),
               "cuMemcpyDtoDAsync", to, from, bytes);
}

void copy_batch_async(std::span<const DeviceCopy> copies, StreamRef stream) {
    const bool in_one_call = driver().cuMemcpyBatchAsync.available() && !stream.is_default() &&
                             !is_capturing(stream.get());
    std::vector<CUdeviceptr> to, from;
    std::vector<std::size_t> bytes;
    for (const DeviceCopy &copy : copies) {
        if (!in_one_call) {
            copy_on_device_async(copy.to, copy.from, copy.bytes, stream);
        } else if (copy.bytes > 0) { // the driver refuses empty copies
            to.push_back(copy.to);
            from.push_back(copy.from);
            bytes.push_back(copy.bytes);
        }
    }
    if (to.empty())
        return;
    CUmemcpyAttributes attributes{};
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    std::size_t first = 0; // the attributes are those of all copies
    driver().cuMemcpyBatchAsync(to.data(), from.data(), bytes.data(), to.size(), &attributes,
                                &first, 1, stream.get());
}

void copy_to_peer_async(CUdeviceptr to, const Context &to_context, CUdeviceptr from,
                        const Context &from_context, std::size_t bytes, StreamRef stream) {
    driver().cuMemcpyPeerAsync(to, to_context.get(), from, from_context.get(), bytes, stream.get());
}

void copy_2d(const CUDA_MEMCPY2D &what, RowAlignment alignment) {
    if (alignment == RowAlignment::Aligned)
        driver().cuMemcpy2D(&what);
    else
        driver().cuMemcpy2DUnaligned(&what);
    detail::report_failed_checks(StreamRef());
}

void copy_2d_async(const CUDA_MEMCPY2D &what, StreamRef stream) {
    driver().cuMemcpy2DAsync(&what, stream.get());
}

void copy_3d(const CUDA_MEMCPY3D &what) {
    driver().cuMemcpy3D(&what);
    detail::report_failed_checks(StreamRef());
}

void copy_3d_async(const CUDA_MEMCPY3D &what, StreamRef stream) {
    driver().cuMemcpy3DAsync(&what, stream.get());
}

void copy_3d_to_peer(const CUDA_MEMCPY3D_PEER &what) { driver().cuMemcpy3DPeer(&what); }

void copy_3d_to_peer_async(const CUDA_MEMCPY3D_PEER &what, StreamRef stream) {
    driver().cuMemcpy3DPeerAsync(&what, stream.get());
}

namespace {

/// The driver's function for elements of this size.
template <class Element, class On8, class On16, class On32>
const auto &of_size(const On8 &on_8, const On16 &on_16, const On32 &on_32) {
    if constexpr (sizeof(Element) == 1)
        return on_8;
    else if constexpr (sizeof(Element) == 2)
        return on_16;
    else
        return on_32;
}

/// The driver of a GPU does not check the sizes: rows beyond the address space begin anew at its
/// start, and are then an access to memory that no allocation has.
void check_rows(const Rows &rows, const char *function) {
    using Wide = unsigned __int128;
    constexpr Wide kEnd = Wide(1) << 64;
    const Wide bytes = Wide(rows.pitch) * rows.height;
    if (bytes > kEnd - rows.to)
        throw Error(function, CUDA_ERROR_INVALID_VALUE,
                    std::to_string(rows.height) + " rows with a pitch of " +
                        std::to_string(rows.pitch) + " bytes exceed the size of the memory");
}

} // namespace

template <FillElement Element> void fill(CUdeviceptr to, Element value, std::size_t count) {
    const Driver &d = driver();
    const auto &call = of_size<Element>(d.cuMemsetD8, d.cuMemsetD16, d.cuMemsetD32);
    check_range(call.status(to, value, count), call.name(), "memset of device memory", to,
                sizeof value * count);
}

template <FillElement Element>
void fill_async(CUdeviceptr to, Element value, std::size_t count, StreamRef stream) {
    const Driver &d = driver();
    const auto &call = of_size<Element>(d.cuMemsetD8Async, d.cuMemsetD16Async, d.cuMemsetD32Async);
    check_range(call.status(to, value, count, stream.get()), call.name(), "memset of device memory",
                to, sizeof value * count);
}

template <FillElement Element> void fill_rows(const Rows &rows, Element value) {
    const Driver &d = driver();
    const auto &call = of_size<Element>(d.cuMemsetD2D8, d.cuMemsetD2D16, d.cuMemsetD2D32);
    check_rows(rows, call.name());
    call(rows.to, rows.pitch, value, rows.width, rows.height);
}

template <FillElement Element>
void fill_rows_async(const Rows &rows, Element value, StreamRef stream) {
    const Driver &d = driver();
    const auto &call =
        of_size<Element>(d.cuMemsetD2D8Async, d.cuMemsetD2D16Async, d.cuMemsetD2D32Async);
    check_rows(rows, call.name());
    call(rows.to, rows.pitch, value, rows.width, rows.height, stream.get());
}

#define PYCUDA_FILL(Element)                                                                       \
    template void fill(CUdeviceptr, Element, std::size_t);                                         \
    template void fill_async(CUdeviceptr, Element, std::size_t, StreamRef);                        \
    template void fill_rows(const Rows &, Element);                                                \
    template void fill_rows_async(const Rows &, Element, StreamRef);
PYCUDA_FILL(std::uint8_t)
PYCUDA_FILL(std::uint16_t)
PYCUDA_FILL(std::uint32_t)

void detail::check_fits(const DeviceMemory &memory, std::size_t wanted, const char *function) {
    if (wanted > memory.size())
        throw Error(function, CUDA_ERROR_INVALID_VALUE,
                    "the host memory has " + std::to_string(wanted) + " bytes, the " +
                        describe_memory("device memory", memory.get(), memory.size()) +
                        " is smaller");
}

} // namespace pycuda
