// array_gather.cpp -- gathers and scatters elements of any size.
#include <pycuda/array_gather.h>

#include "arrays/array_axes.h"
#include "arrays/kernel_arguments.h"
#include "arrays/kernel_table.h"
#include "arrays/word.h"

#include <pycuda/array_operation.h>
#include <pycuda/launch.h>

#include <array>
#include <stdexcept>
#include <string>

namespace pycuda {
namespace {

enum class Direction : std::uint8_t { Gather, Scatter };

constexpr int block = 256;

struct Movement {
    Direction direction;
    std::size_t word = 1;  ///< bytes that one access copies
    std::size_t words = 1; ///< per element
    int axes = 0;

    KernelKey key() const noexcept {
        return {KernelFamily::Movement, {{direction, 1}, {word, 5}, {words, 40}, {axes, 7}}};
    }
};

std::size_t word_of(const Array &a, const Array &b) noexcept {
    std::uint64_t places = a.misalignment() | b.misalignment();
    for (const Array *array : {&a, &b})
        for (std::int64_t stride : array->layout().strides())
            places |= static_cast<std::uint64_t>(stride);
    return word_bytes(a.item_size(), places);
}

std::string source_of(const Movement &movement) {
    const std::string axes = std::to_string(movement.axes);
    const bool gather = movement.direction == Direction::Gather;
    return define_no_element() + "typedef " + word_name(movement.word) +
           " Word;\nstruct Geometry {\n    long long n, extent[" + axes + "], stride[" + axes +
           "][3];\n};\n"
           "extern \"C\" __global__ void __launch_bounds__(256) KERNEL(char *dense, char *base,\n"
           "        const char *offsets, Geometry g) {\n"
           "    long long rest = (long long)blockIdx.x * 256 + threadIdx.x;\n"
           "    if (rest >= g.n)\n        return;\n#pragma unroll\n"
           "    for (int axis = " +
           std::to_string(movement.axes - 1) +
           "; axis >= 0; --axis) {\n"
           "        const long long whole = axis == 0 ? 0 : rest / g.extent[axis];\n"
           "        const long long at = rest - whole * g.extent[axis];\n"
           "        dense += at * g.stride[axis][0];\n"
           "        base += at * g.stride[axis][1];\n"
           "        offsets += at * g.stride[axis][2];\n"
           "        rest = whole;\n    }\n"
           "    const long long offset = *reinterpret_cast<const long long *>(offsets);\n"
           "    if (offset == NO_ELEMENT)\n        return;\n"
           "    base += offset;\n"
           "    for (int i = 0; i < " +
           std::to_string(movement.words) + "; ++i)\n        reinterpret_cast<Word *>(" +
           (gather ? "dense" : "base") + ")[i] = reinterpret_cast<const Word *>(" +
           (gather ? "base" : "dense") + ")[i];\n}\n";
}

void move(Direction direction, const Array &dense, const Array &base, const Array &offsets,
          StreamRef stream) {
    if (offsets.scalar_type() != ScalarType::Int64)
        throw std::invalid_argument("offsets must have dtype int64, not " + offsets.dtype().name());
    if (dense.dtype() != base.dtype())
        throw std::invalid_argument("elements of " + base.dtype().name() +
                                    " cannot be moved from or to " + dense.dtype().name());
    if (dense.size() == 0)
        return;
    std::array<Layout, 3> layouts = {dense.layout(), base.layout().broadcast_to(dense.shape()),
                                     offsets.layout().broadcast_to(dense.shape())};
    coalesce_to_axes(layouts);
    Movement movement{direction, word_of(dense, base), 1, layouts[0].dimensions()};
    movement.words = dense.item_size() / movement.word;

    const Function &kernel = base.context()->kernels().find(
        movement.key(), movement.direction == Direction::Gather ? "gather" : "scatter",
        [&] { return source_of(movement); });
    Work use(stream);
    KernelArguments arguments(use, dense, base, offsets, static_cast<std::int64_t>(dense.size()));
    arguments.add_axes(layouts);
    arguments.launch_for(kernel, dense.size(), block);
}

} // namespace

void gather(const Array &out, const Array &base, const Array &offsets, StreamRef stream) {
    out.require_writable("out");
    move(Direction::Gather, out, base, offsets, stream);
}

void scatter(const Array &base, const Array &offsets, const Array &in, StreamRef stream) {
    base.require_writable("the array to assign to");
    if (in.may_share_memory(base)) { // else an element could be written before it is read
        const Array copy =
            Array::with_layout(in.context(), in.layout().dense(in.item_size()), in.dtype(), stream);
        assign(copy, in, Casting::No, stream);
        return move(Direction::Scatter, copy, base, offsets, stream);
    }
    move(Direction::Scatter, in, base, offsets, stream);
}

} // namespace pycuda
