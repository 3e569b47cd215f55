// copy.cpp -- copies of bytes, of boxes, between devices, and of variables.
#include "copy.h"

#include "device.h"
#include "program.h"

namespace softcudart {

void copy_bytes(void *to, const void *from, std::size_t count, cudaMemcpyKind kind,
                const Order &order) {
    require(kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault,
            cudaErrorInvalidMemcpyDirection);
    if (count == 0)
        return;
    require_non_null(to, from);
    const CUdeviceptr to_address = address_of(to);
    const CUdeviceptr from_address = address_of(from);
    switch (kind) {
    case cudaMemcpyHostToDevice:
        return order.run([&] { return cuMemcpyHtoD(to_address, from, count); },
                         [&](CUstream s) { return cuMemcpyHtoDAsync(to_address, from, count, s); });
    case cudaMemcpyDeviceToHost:
        return order.run([&] { return cuMemcpyDtoH(to, from_address, count); },
                         [&](CUstream s) { return cuMemcpyDtoHAsync(to, from_address, count, s); });
    case cudaMemcpyDeviceToDevice:
        return order.run(
            [&] { return cuMemcpyDtoD(to_address, from_address, count); },
            [&](CUstream s) { return cuMemcpyDtoDAsync(to_address, from_address, count, s); });
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
        return order.run(
            [&] { return cuMemcpy(to_address, from_address, count); },
            [&](CUstream s) { return cuMemcpyAsync(to_address, from_address, count, s); });
    }
}

void copy_box(const CUDA_MEMCPY3D &copy, const Order &order) {
    if (copy.WidthInBytes == 0 || copy.Height == 0 || copy.Depth == 0)
        return;
    order.run([&] { return cuMemcpy3D(&copy); },
              [&](CUstream stream) { return cuMemcpy3DAsync(&copy, stream); });
}

namespace {

cudaError_t copy_lines(const End &to, const End &from, std::size_t width, std::size_t height,
                       cudaMemcpyKind kind, const Order &order) {
    return with_context([&] {
        const CUDA_MEMCPY3D copy = make_copy(to, from, width, height, 1, kind);
        const auto fits = [&](const End &end) {
            const bool one_row = height == 1 && end.pitch == 0; // the pitch has no effect
            return end.array || width <= end.pitch || one_row;
        };
        require(fits(to) && fits(from), cudaErrorInvalidPitchValue);
        copy_box(copy, order);
    });
}

/// The sides of a copy between arrays are evaluated with the call's arguments, so a null array is
/// an error of the call, not of this function.
template <class Make> cudaError_t with_array(Make &&make) noexcept {
    cudaError_t result = cudaSuccess;
    const cudaError_t failed = guarded([&] { result = make(); });
    return failed == cudaSuccess ? result : failed;
}

enum class Side { Into, OutOf };

cudaError_t copy_symbol(const void *symbol, void *memory, std::size_t count, std::size_t offset,
                        cudaMemcpyKind kind, Side side, const Order &order) {
    return with_context([&] {
        void *variable = as<void *>(part_of(symbol, offset, count));
        const bool into = side == Side::Into;
        require(kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault ||
                    kind == (into ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost),
                cudaErrorInvalidMemcpyDirection);
        copy_bytes(into ? variable : memory, into ? memory : variable, count, kind, order);
    });
}

} // namespace
} // namespace softcudart

using namespace softcudart;

cudaError_t cudaMemcpy(void *to, const void *from, std::size_t count, cudaMemcpyKind kind) {
    return with_context([&] { copy_bytes(to, from, count, kind, Order::waiting()); });
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t count, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    return with_context([&] { copy_bytes(to, from, count, kind, Order::queued(stream)); });
}

cudaError_t cudaMemcpy2D(void *to, std::size_t to_pitch, const void *from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
    return copy_lines(memory_end(to, to_pitch), memory_end(from, from_pitch), width, height, kind,
                      Order::waiting());
}

cudaError_t cudaMemcpy2DAsync(void *to, std::size_t to_pitch, const void *from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_lines(memory_end(to, to_pitch), memory_end(from, from_pitch), width, height, kind,
                      Order::queued(stream));
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void *from,
                                std::size_t pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind) {
    return with_array([&] {
        return copy_lines(array_end(to, x, y), memory_end(from, pitch), width, height, kind,
                          Order::waiting());
    });
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void *from,
                                     std::size_t pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
    return with_array([&] {
        return copy_lines(array_end(to, x, y), memory_end(from, pitch), width, height, kind,
                          Order::queued(stream));
    });
}

cudaError_t cudaMemcpy2DFromArray(void *to, std::size_t pitch, cudaArray_const_t from,
                                  std::size_t x, std::size_t y, std::size_t width,
                                  std::size_t height, cudaMemcpyKind kind) {
    return with_array([&] {
        return copy_lines(memory_end(to, pitch), array_end(from, x, y), width, height, kind,
                          Order::waiting());
    });
}

cudaError_t cudaMemcpy2DFromArrayAsync(void *to, std::size_t pitch, cudaArray_const_t from,
                                       std::size_t x, std::size_t y, std::size_t width,
                                       std::size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream) {
    return with_array([&] {
        return copy_lines(memory_end(to, pitch), array_end(from, x, y), width, height, kind,
                          Order::queued(stream));
    });
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                     cudaArray_const_t from, std::size_t from_x, std::size_t from_y,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind) {
    return with_array([&] {
        return copy_lines(array_end(to, to_x, to_y), array_end(from, from_x, from_y), width, height,
                          kind, Order::waiting());
    });
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *copy) {
    return with_context([&] {
        require_non_null(copy);
        copy_box(to_driver(*copy), Order::waiting());
    });
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *copy, cudaStream_t stream) {
    return with_context([&] {
        require_non_null(copy);
        copy_box(to_driver(*copy), Order::queued(stream));
    });
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms *copy) {
    return with_context([&] {
        require_non_null(copy);
        const CUDA_MEMCPY3D_PEER same = to_driver(*copy);
        Order::waiting().run([&] { return cuMemcpy3DPeer(&same); },
                             [&](CUstream stream) { return cuMemcpy3DPeerAsync(&same, stream); });
    });
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms *copy, cudaStream_t stream) {
    return with_context([&] {
        require_non_null(copy);
        const CUDA_MEMCPY3D_PEER same = to_driver(*copy);
        check(cuMemcpy3DPeerAsync(&same, stream_of(stream)));
    });
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                           std::size_t count) {
    return with_context([&] {
        require_device(to_device);
        require_device(from_device);
        if (count > 0)
            check(cuMemcpyPeer(address_of(to), primary_context(to_device), address_of(from),
                               primary_context(from_device), count));
    });
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                std::size_t count, cudaStream_t stream) {
    return with_context([&] {
        require_device(to_device);
        require_device(from_device);
        if (count > 0)
            check(cuMemcpyPeerAsync(address_of(to), primary_context(to_device), address_of(from),
                                    primary_context(from_device), count, stream_of(stream)));
    });
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, std::size_t count,
                               std::size_t offset, cudaMemcpyKind kind) {
    return copy_symbol(symbol, const_cast<void *>(from), count, offset, kind, Side::Into,
                       Order::waiting());
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, std::size_t count,
                                    std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_symbol(symbol, const_cast<void *>(from), count, offset, kind, Side::Into,
                       Order::queued(stream));
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, std::size_t count,
                                 std::size_t offset, cudaMemcpyKind kind) {
    return copy_symbol(symbol, to, count, offset, kind, Side::OutOf, Order::waiting());
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, std::size_t count,
                                      std::size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
    return copy_symbol(symbol, to, count, offset, kind, Side::OutOf, Order::queued(stream));
}
