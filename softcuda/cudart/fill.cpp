// fill.cpp -- fills memory with a byte.
#include "copy.h"

namespace softcudart {
namespace {

cudaError_t fill(void *memory, int value, std::size_t count, const Order &order) {
    return with_context([&] {
        if (count == 0)
            return;
        const auto byte = static_cast<unsigned char>(value);
        const CUdeviceptr address = address_of(memory);
        order.run([&] { return cuMemsetD8(address, byte, count); },
                  [&](CUstream stream) { return cuMemsetD8Async(address, byte, count, stream); });
    });
}

void fill_lines(CUdeviceptr address, std::size_t pitch, int value, std::size_t width,
                std::size_t height, const Order &order) {
    if (width == 0 || height == 0)
        return;
    const auto byte = static_cast<unsigned char>(value);
    order.run([&] { return cuMemsetD2D8(address, pitch, byte, width, height); },
              [&](CUstream stream) {
                  return cuMemsetD2D8Async(address, pitch, byte, width, height, stream);
              });
}

cudaError_t fill_box(const cudaPitchedPtr &memory, int value, const cudaExtent &extent,
                     const Order &order) {
    return with_context([&] {
        if (extent.height == memory.ysize) // no rows between the slices
            return fill_lines(address_of(memory.ptr), memory.pitch, value, extent.width,
                              extent.height * extent.depth, order);
        for (std::size_t slice = 0; slice < extent.depth; slice++)
            fill_lines(address_of(memory.ptr) + slice * memory.pitch * memory.ysize, memory.pitch,
                       value, extent.width, extent.height, order);
    });
}

} // namespace
} // namespace softcudart

using namespace softcudart;

cudaError_t cudaMemset(void *memory, int value, std::size_t count) {
    return fill(memory, value, count, Order::waiting());
}

cudaError_t cudaMemsetAsync(void *memory, int value, std::size_t count, cudaStream_t stream) {
    return fill(memory, value, count, Order::queued(stream));
}

cudaError_t cudaMemset2D(void *memory, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
    return with_context(
        [&] { fill_lines(address_of(memory), pitch, value, width, height, Order::waiting()); });
}

cudaError_t cudaMemset2DAsync(void *memory, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
    return with_context([&] {
        fill_lines(address_of(memory), pitch, value, width, height, Order::queued(stream));
    });
}

cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent) {
    return fill_box(memory, value, extent, Order::waiting());
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int value, cudaExtent extent,
                              cudaStream_t stream) {
    return fill_box(memory, value, extent, Order::queued(stream));
}
