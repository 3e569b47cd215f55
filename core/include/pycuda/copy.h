// copy.h -- copies between host and device, and filling of memory.
//
// A function without a stream does not use its host memory after it returns. A function with a
// stream queues the copy: the host memory must stay valid until the copy is done.
#pragma once

#include <pycuda/context.h>
#include <pycuda/memory.h>
#include <pycuda/stream.h>
#include <pycuda/wait.h>

#include <cuda.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>

namespace pycuda {

/// Copies host memory to the device, after earlier work of the default stream; `keep_waiting` is
/// called while that work still runs.
void copy_to_device(CUdeviceptr to, const void *from, std::size_t bytes,
                    const KeepWaiting &keep_waiting = {});
/// Copies device memory to the host; `keep_waiting` as for copy_to_device().
void copy_to_host(void *to, CUdeviceptr from, std::size_t bytes,
                  const KeepWaiting &keep_waiting = {});
/// Copies within the current context's device. The host may continue before the copy is done.
void copy_on_device(CUdeviceptr to, CUdeviceptr from, std::size_t bytes);
/// Copies between the memories of two contexts, whose devices may differ. The host may continue
/// before the copy is done.
void copy_to_peer(CUdeviceptr to, const Context &to_context, CUdeviceptr from,
                  const Context &from_context, std::size_t bytes);

/// Queues a copy in `stream`. Pageable host memory may be read before the call returns.
void copy_to_device_async(CUdeviceptr to, const void *from, std::size_t bytes, StreamRef stream);
/// Queues a copy to the host in `stream`.
void copy_to_host_async(void *to, CUdeviceptr from, std::size_t bytes, StreamRef stream);
/// Queues a copy within a device in `stream`.
void copy_on_device_async(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, StreamRef stream);
/// One copy of copy_batch_async().
struct DeviceCopy {
    CUdeviceptr to;   ///< an address on the device
    CUdeviceptr from; ///< an address on the device
    /// The number of bytes.
    std::size_t bytes;
};
/// Copies that may run at the same time, in any order, as one piece of the stream's work. One call
/// of the driver since CUDA 13, if the stream is neither the default one nor captured.
void copy_batch_async(std::span<const DeviceCopy> copies, StreamRef stream);
/// Queues copy_to_peer() in `stream`.
void copy_to_peer_async(CUdeviceptr to, const Context &to_context, CUdeviceptr from,
                        const Context &from_context, std::size_t bytes, StreamRef stream);

/// Whether rows must start at aligned addresses, or may start anywhere (slower).
enum class RowAlignment { Aligned, Any };

/// Copies rows as cuMemcpy2D does; widths, pitches and x positions are in bytes.
void copy_2d(const CUDA_MEMCPY2D &what, RowAlignment alignment = RowAlignment::Any);
/// Queues a copy of rows in `stream`, as cuMemcpy2DAsync does.
void copy_2d_async(const CUDA_MEMCPY2D &what, StreamRef stream);
/// Copies a box as cuMemcpy3D does; widths, pitches and x positions are in bytes.
void copy_3d(const CUDA_MEMCPY3D &what);
/// Queues copy_3d() in `stream`.
void copy_3d_async(const CUDA_MEMCPY3D &what, StreamRef stream);
/// Copies a box between the memories of two contexts.
void copy_3d_to_peer(const CUDA_MEMCPY3D_PEER &what);
/// Queues copy_3d_to_peer() in `stream`.
void copy_3d_to_peer_async(const CUDA_MEMCPY3D_PEER &what, StreamRef stream);

/// An element of a fill: 1, 2 or 4 bytes.
template <class T>
concept FillElement = std::same_as<T, std::uint8_t> || std::same_as<T, std::uint16_t> ||
                      std::same_as<T, std::uint32_t>;

/// Sets `count` elements; `to` is a multiple of an element's size. The host may continue before the
/// memory is set.
template <FillElement Element> void fill(CUdeviceptr to, Element value, std::size_t count);
/// Queues fill() in `stream`.
template <FillElement Element>
void fill_async(CUdeviceptr to, Element value, std::size_t count, StreamRef stream);

/// `height` rows of `width` elements; `pitch` is the bytes from one row to the next.
struct Rows {
    CUdeviceptr to = 0;     ///< the address of the first row
    std::size_t pitch = 0;  ///< in bytes
    std::size_t width = 0;  ///< in elements
    std::size_t height = 0; ///< in rows
};
/// Sets all elements of the rows.
template <FillElement Element> void fill_rows(const Rows &rows, Element value);
/// Queues fill_rows() in `stream`.
template <FillElement Element>
void fill_rows_async(const Rows &rows, Element value, StreamRef stream);

namespace detail {
/// Throws Error (invalid value) if `memory` has fewer than `wanted` bytes.
void check_fits(const DeviceMemory &memory, std::size_t wanted, const char *function);
} // namespace detail

/// The usual cases, with the length known and checked. The host's side is any contiguous range:
/// a vector, an array, a span.
template <std::ranges::contiguous_range Range>
void copy(const DeviceMemory &to, const Range &from) {
    auto bytes = std::as_bytes(std::span(from));
    detail::check_fits(to, bytes.size(), "cuMemcpyHtoD");
    copy_to_device(to.get(), bytes.data(), bytes.size());
}
/// Copies the host's range full. Throws Error if the device memory is smaller than the range.
template <std::ranges::contiguous_range Range> void copy(Range &&to, const DeviceMemory &from) {
    auto bytes = std::as_writable_bytes(std::span(to));
    detail::check_fits(from, bytes.size(), "cuMemcpyDtoH");
    copy_to_host(bytes.data(), from.get(), bytes.size());
}

/// Allocates device memory, and copies `from` to it.
template <std::ranges::contiguous_range Range> DeviceMemory to_device(const Range &from) {
    DeviceMemory memory(std::as_bytes(std::span(from)).size());
    copy(memory, from);
    return memory;
}

} // namespace pycuda
