// older_copies.cpp -- copies of a number of bytes that continue in the next row of an array. NVIDIA
// has deprecated them; both libraries still export them.
#include "copy.h"
#include "older_api.h"

#include <algorithm>

namespace softcudart {
namespace {

/// Bytes of an array's row; linear memory is one endless row.
std::size_t line_bytes(const End &end) {
    if (!end.array)
        return static_cast<std::size_t>(-1);
    CUDA_ARRAY3D_DESCRIPTOR description{};
    check(cuArray3DGetDescriptor(&description, end.array));
    return description.Width * element_bytes(end.array);
}

void advance(End &end, std::size_t bytes, std::size_t line) {
    end.x += bytes;
    if (end.x == line) {
        end.x = 0;
        end.y++;
    }
}

/// Copies each part that is in one row on both sides.
void copy_through_lines(End to, End from, std::size_t count, cudaMemcpyKind kind,
                        const Order &order) {
    const std::size_t to_line = line_bytes(to);
    const std::size_t from_line = line_bytes(from);
    require(to.x < to_line && from.x < from_line);
    while (count > 0) {
        const std::size_t part = std::min({count, to_line - to.x, from_line - from.x});
        copy_box(make_copy(to, from, part, 1, 1, kind), order);
        advance(to, part, to_line);
        advance(from, part, from_line);
        count -= part;
    }
}

} // namespace
} // namespace softcudart

using namespace softcudart;

cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void *from,
                              std::size_t count, cudaMemcpyKind kind) {
    return with_context([&] {
        copy_through_lines(array_end(to, x, y), memory_end(from), count, kind, Order::waiting());
    });
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void *from,
                                   std::size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
    return with_context([&] {
        copy_through_lines(array_end(to, x, y), memory_end(from), count, kind,
                           Order::queued(stream));
    });
}

cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                std::size_t count, cudaMemcpyKind kind) {
    return with_context([&] {
        copy_through_lines(memory_end(to), array_end(from, x, y), count, kind, Order::waiting());
    });
}

cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                     std::size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
    return with_context([&] {
        copy_through_lines(memory_end(to), array_end(from, x, y), count, kind,
                           Order::queued(stream));
    });
}

cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                   cudaArray_const_t from, std::size_t from_x, std::size_t from_y,
                                   std::size_t count, cudaMemcpyKind kind) {
    return with_context([&] {
        copy_through_lines(array_end(to, to_x, to_y), array_end(from, from_x, from_y), count, kind,
                           Order::waiting());
    });
}
