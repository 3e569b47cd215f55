// element_offsets.cpp -- from indices to places in memory, checked on the way.
#include <pycuda/array_gather.h>

#include "arrays/kernel_arguments.h"
#include "arrays/kernel_table.h"

#include <pycuda/copy.h>
#include <pycuda/launch.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace pycuda {
namespace {

constexpr unsigned block = 256;

KernelKey key_of(std::size_t arrays, int dimensions) {
    return (KernelKey{11} << 16 | arrays) << 16 | static_cast<KernelKey>(dimensions);
}

std::string source_of(std::size_t arrays, int dimensions) {
    const std::string count = std::to_string(arrays), axes = std::to_string(dimensions);
    return "struct Geometry {\n    const char *indices[" + count + "];\n    long long size[" +
           count + "], step[" + count + "], n, extent[" + axes + "], stride[" + axes + "][" +
           count +
           "];\n};\n"
           "extern \"C\" __global__ void __launch_bounds__(256) run(long long *offsets,\n"
           "        int *outside, Geometry g) {\n"
           "    const long long place = (long long)blockIdx.x * 256 + threadIdx.x;\n"
           "    if (place >= g.n)\n        return;\n"
           "    long long rest = place, at[" +
           count + "] = {}, total = 0;\n#pragma unroll\n    for (int axis = " +
           std::to_string(dimensions - 1) +
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
           "        if (i < 0 || i >= g.size[k])\n            outside[k] = 1;\n"
           "        else\n            total += i * g.step[k];\n    }\n"
           "    offsets[place] = total;\n}\n";
}

void check(std::span<const IndexedAxis> axes) {
    if (axes.empty())
        throw std::invalid_argument("offsets of elements need indices along an axis at least");
    for (const IndexedAxis &axis : axes) {
        if (axis.indices->scalar_type() != ScalarType::Int64)
            throw std::invalid_argument("indices must be of int64, not " +
                                        axis.indices->dtype().name());
        if (!std::ranges::equal(axis.indices->shape(), axes[0].indices->shape()))
            throw std::invalid_argument("indices along several axes must have one shape");
    }
}

void launch(std::span<const IndexedAxis> axes, const Array &offsets, const Array &outside,
            StreamRef stream) {
    std::vector<Layout> layouts = {offsets.layout()};
    for (const IndexedAxis &axis : axes)
        layouts.push_back(axis.indices->layout());
    coalesce(layouts);
    if (layouts[0].dimensions() == 0)
        for (Layout &layout : layouts)
            layout.append(1, 0);
    const int dimensions = layouts[0].dimensions();
    KernelArguments arguments;
    arguments.add(offsets.address());
    arguments.add(outside.address());
    for (const IndexedAxis &axis : axes)
        arguments.add(axis.indices->address());
    for (const IndexedAxis &axis : axes)
        arguments.add(axis.extent);
    for (const IndexedAxis &axis : axes)
        arguments.add(axis.stride);
    arguments.add(static_cast<std::int64_t>(offsets.size()));
    for (std::int64_t extent : layouts[0].shape())
        arguments.add(extent);
    for (int axis = 0; axis < dimensions; ++axis)
        for (const Layout &layout : std::span(layouts).subspan(1))
            arguments.add(layout.stride(axis));
    LaunchConfig config;
    config.block = {block};
    config.grid = {static_cast<unsigned>((offsets.size() + block - 1) / block)};
    config.stream = stream;
    const Function &kernel = offsets.context()->kernels().find(
        key_of(axes.size(), dimensions), [&] { return source_of(axes.size(), dimensions); });
    launch_packed(kernel, config, arguments.data(), arguments.size());
}

} // namespace

ElementOffsets element_offsets(std::span<const IndexedAxis> axes, StreamRef stream) {
    check(axes);
    const Array &first = *axes[0].indices;
    const std::shared_ptr<ArrayContext> &context =
        first.memory() ? first.context() : ArrayContext::current();
    ElementOffsets result{
        Array::empty(context, first.shape(), ScalarType::Int64, Order::C, stream)};
    if (result.offsets.size() == 0)
        return result;
    std::vector<std::int32_t> outside(axes.size());
    const std::int64_t count[] = {static_cast<std::int64_t>(axes.size())};
    const Array on_device = Array::empty(context, count, ScalarType::Int32, Order::C, stream);
    fill_32_async(on_device.address(), 0, outside.size(), stream);
    launch(axes, result.offsets, on_device, stream);
    if (stream.get() != nullptr)
        synchronize(stream);
    copy_to_host(outside.data(), on_device.address(), outside.size() * sizeof(std::int32_t));
    const auto found = std::ranges::find(outside, 1);
    if (found != outside.end())
        result.outside = static_cast<int>(found - outside.begin());
    return result;
}

} // namespace pycuda
