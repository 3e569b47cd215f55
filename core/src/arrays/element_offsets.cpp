// element_offsets.cpp -- from indices to places in memory, or to the elements there, checked on the
// way.
#include <pycuda/array_gather.h>

#include "arrays/kernel_arguments.h"
#include "arrays/kernel_table.h"
#include "arrays/word.h"

#include <pycuda/copy.h>
#include <pycuda/launch.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace pycuda {
namespace {

constexpr unsigned block = 256;

/// Offsets, or elements of some words each.
struct Result {
    std::size_t word = 0, words = 0; ///< 0: offsets
};

KernelKey key_of(const Result &result, std::size_t arrays, int dimensions) {
    KernelKey key = 11;
    for (auto [value, bits] : {std::pair{result.words, 24},
                               {result.word, 5},
                               {arrays, 7},
                               {static_cast<std::size_t>(dimensions), 7}})
        key = key << bits | value;
    return key;
}

std::string store(const Result &result) {
    if (result.words == 0)
        return "    static_cast<long long *>(out)[place] = total;\n";
    const std::string words = std::to_string(result.words);
    return "    if (!inside)\n        return;\n"
           "    const Word *from = reinterpret_cast<const Word *>(base + total);\n"
           "    for (int word = 0; word < " +
           words + "; ++word)\n        static_cast<Word *>(out)[place * " + words +
           " + word] = from[word];\n";
}

std::string source_of(const Result &result, std::size_t arrays, int dimensions) {
    const std::string count = std::to_string(arrays), axes = std::to_string(dimensions);
    return std::string("typedef ") + word_name(result.word) +
           " Word;\nstruct Geometry {\n    const char *indices[" + count +
           "];\n    long long size[" + count + "], step[" + count + "], n, extent[" + axes +
           "], stride[" + axes + "][" + count +
           "];\n};\n"
           "extern \"C\" __global__ void __launch_bounds__(256) run(void *out, int *outside,\n"
           "        const char *base, Geometry g) {\n"
           "    const long long place = (long long)blockIdx.x * 256 + threadIdx.x;\n"
           "    if (place >= g.n)\n        return;\n"
           "    long long rest = place, at[" +
           count + "] = {}, total = 0;\n    bool inside = true;\n#pragma unroll\n" +
           "    for (int axis = " + std::to_string(dimensions - 1) +
           "; axis >= 0; --axis) {\n"
           "        const long long whole = axis == 0 ? 0 : rest / g.extent[axis];\n"
           "        const long long here = rest - whole * g.extent[axis];\n#pragma unroll\n"
           "        for (int k = 0; k < " +
           count +
           "; ++k)\n            at[k] += here * g.stride[axis][k];\n        rest = whole;\n    }\n"
           "#pragma unroll\n    for (int k = 0; k < " +
           count +
           "; ++k) {\n"
           "        long long i = *reinterpret_cast<const long long *>(g.indices[k] + at[k]);\n"
           "        if (i < 0)\n            i += g.size[k];\n"
           "        if (i < 0 || i >= g.size[k]) {\n            outside[k] = 1;\n"
           "            inside = false;\n        }\n"
           "        total += i * g.step[k];\n    }\n" +
           store(result) + "}\n";
}

void check(std::span<const IndexedAxis> axes) {
    if (axes.empty())
        throw std::invalid_argument("offsets of elements need indices for at least one axis");
    for (const IndexedAxis &axis : axes) {
        if (axis.indices->scalar_type() != ScalarType::Int64)
            throw std::invalid_argument("indices must have dtype int64, not " +
                                        axis.indices->dtype().name());
        if (!std::ranges::equal(axis.indices->shape(), axes[0].indices->shape()))
            throw std::invalid_argument("indices of all axes must have the same shape");
    }
}

/// `out` is contiguous; `base` is where elements are, or null.
void launch(std::span<const IndexedAxis> axes, const Result &result, const Array &out,
            const Array *base, const Array &outside, StreamUse &use) {
    std::vector<Layout> layouts = {out.layout()};
    for (const IndexedAxis &axis : axes)
        layouts.push_back(axis.indices->layout());
    coalesce(layouts);
    if (layouts[0].dimensions() == 0)
        for (Layout &layout : layouts)
            layout.append(1, 0);
    const int dimensions = layouts[0].dimensions();
    const Function &kernel =
        out.context()->kernels().find(key_of(result, axes.size(), dimensions),
                                      [&] { return source_of(result, axes.size(), dimensions); });
    KernelArguments arguments(use);
    arguments.add(out);
    arguments.add(outside);
    arguments.add(base);
    for (const IndexedAxis &axis : axes)
        arguments.add(axis.indices);
    for (const IndexedAxis &axis : axes)
        arguments.add(axis.extent);
    for (const IndexedAxis &axis : axes)
        arguments.add(axis.stride);
    arguments.add(static_cast<std::int64_t>(out.size()));
    for (std::int64_t extent : layouts[0].shape())
        arguments.add(extent);
    for (int axis = 0; axis < dimensions; ++axis)
        for (const Layout &layout : std::span(layouts).subspan(1))
            arguments.add(layout.stride(axis));
    LaunchConfig config;
    config.block = {block};
    config.grid = {static_cast<unsigned>((out.size() + block - 1) / block)};
    arguments.launch(kernel, config);
}

/// The first axis that an index is not on, or -1.
int run(std::span<const IndexedAxis> axes, const Result &result, const Array &out,
        const Array *base, StreamRef stream) {
    if (out.size() == 0)
        return -1;
    std::vector<std::int32_t> outside(axes.size());
    const std::int64_t count[] = {static_cast<std::int64_t>(axes.size())};
    const Array on_device = Array::scratch(out.context(), count, ScalarType::Int32, stream);
    StreamUse use(stream);
    fill_32_async(use.address(on_device), 0, outside.size(), use.stream());
    launch(axes, result, out, base, on_device, use);
    copy_to_host(outside.data(), use.address(on_device), outside.size() * sizeof(std::int32_t),
                 use.stream());
    const auto found = std::ranges::find(outside, 1);
    return found == outside.end() ? -1 : static_cast<int>(found - outside.begin());
}

} // namespace

ElementOffsets element_offsets(std::span<const IndexedAxis> axes, StreamRef stream) {
    check(axes);
    const Array &first = *axes[0].indices;
    const std::shared_ptr<ArrayContext> &context =
        first.memory() ? first.context() : ArrayContext::current();
    ElementOffsets result{
        Array::empty(context, first.shape(), ScalarType::Int64, Order::C, stream)};
    result.outside = run(axes, {}, result.offsets, nullptr, stream);
    return result;
}

int gather_indexed(const Array &out, const Array &base, std::span<const IndexedAxis> axes,
                   StreamRef stream) {
    check(axes);
    if (out.dtype() != base.dtype())
        throw std::invalid_argument("elements of " + base.dtype().name() + " cannot be moved to " +
                                    out.dtype().name());
    if (!std::ranges::equal(out.shape(), axes[0].indices->shape()) || !out.is_c_contiguous())
        throw std::invalid_argument(
            "the output of indexed elements must be contiguous and have the shape of the indices");
    std::uint64_t places = out.misalignment() | base.misalignment();
    for (const IndexedAxis &axis : axes)
        places |= static_cast<std::uint64_t>(axis.stride);
    Result result{.word = word_bytes(out.item_size(), places)};
    result.words = out.item_size() / result.word;
    return run(axes, result, out, &base, stream);
}

} // namespace pycuda
