// array_nonzero.cpp -- finding the elements that are not zero, in three launches.
//
//     mask   1 0 1 1 | 0 0 0 1 | 1 1 0 0        tiles of 4096 elements, here of 4
//     count  3         1         2              each block counts its tile
//     scan   3         4         6              the last one is how many there are
//     write  0 2 3     7         8 9            a block writes from where the one before ends
//
// A block looks at its tile row by row, 256 elements each; within a row, a thread's place follows
// from the ballots of the warps before its own and of the lanes below it.
#include <pycuda/array_nonzero.h>

#include "arrays/device_code.h"
#include "arrays/kernel_arguments.h"
#include "arrays/kernel_table.h"
#include "kernels/compact.h"

#include <pycuda/array_operation.h>
#include <pycuda/array_scan.h>
#include <pycuda/copy.h>
#include <pycuda/launch.h>

#include <array>
#include <string>

namespace pycuda {
namespace {

constexpr std::int64_t tile = 4096;

enum class Step : std::uint8_t { Count, Write };

/// What both kernels begin with: `found`, for each row of the tile, whether a thread's element is
/// not zero, and `here` the number of such elements in the row below this thread's.
constexpr const char *rows = R"__(
    __shared__ unsigned warps[8];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const long long first = blockIdx.x * 4096ll;
    long long before = BEFORE;
    for (int row = 0; row < 16; ++row) {
        const long long i = first + row * 256 + threadIdx.x;
        const bool found = i < n && array_true(array_convert<C>(in[i]));
        const unsigned votes = __ballot_sync(0xffffffffu, found);
        if (lane == 0)
            warps[warp] = __popc(votes);
        __syncthreads();
        unsigned here = __popc(votes & ((1u << lane) - 1)), all = 0;
        for (int w = 0; w < 8; ++w) {
            here += w < warp ? warps[w] : 0;
            all += warps[w];
        }
        WRITE
        before += all;
        __syncthreads();
    }
)__";

std::string replaced(std::string text, const std::string &name, const std::string &value) {
    return text.replace(text.find(name), name.size(), value);
}

std::string write_code(int axes) {
    std::string code = "if (found) {\n            long long rest = i;\n";
    for (int axis = axes - 1; axis >= 0; --axis) {
        const std::string number = std::to_string(axis), extent = "g.extent[" + number + "]";
        code += "            out[" + number +
                " * total + before + here] = " + (axis == 0 ? "rest" : "rest % " + extent) + ";\n";
        if (axis > 0)
            code += "            rest /= " + extent + ";\n";
    }
    return code + "        }";
}

std::string source_of(Step step, ScalarType type, int axes) {
    const std::array types = {type};
    std::string code =
        "typedef " + std::string(cuda_name(type)) + " A;\ntypedef " + compute_name(type) +
        " C;\nstruct Geometry { long long extent[" + std::to_string(axes) +
        "]; };\nextern \"C\" __global__ void __launch_bounds__(256) run(const A *in, ";
    if (step == Step::Count)
        code += "long long *counts, long long n) {" +
                replaced(replaced(rows, "BEFORE", "0"), "WRITE", "static_cast<void>(here);") +
                "    if (threadIdx.x == 0)\n        counts[blockIdx.x] = before;\n}\n";
    else
        code +=
            "const long long *ends, long long *out, long long n, long long total, Geometry g) {" +
            replaced(replaced(rows, "BEFORE", "blockIdx.x == 0 ? 0 : ends[blockIdx.x - 1]"),
                     "WRITE", write_code(axes)) +
            "}\n";
    return device_prelude(types, code) + code;
}

void launch_step(Step step, const Array &in, KernelArguments &arguments, StreamRef stream) {
    const int axes = step == Step::Count ? 1 : in.dimensions();
    KernelKey key = 9;
    for (auto [value, bits] : {std::pair{static_cast<unsigned>(step), 1},
                               {static_cast<unsigned>(in.scalar_type()), 4},
                               {static_cast<unsigned>(axes), 50}})
        key = key << bits | value;
    const Function &kernel =
        in.context()->kernels().find(key, [&] { return source_of(step, in.scalar_type(), axes); });
    LaunchConfig config;
    config.block = {256};
    config.grid = {static_cast<unsigned>((static_cast<std::int64_t>(in.size()) + tile - 1) / tile)};
    config.stream = stream;
    launch_packed(kernel, config, arguments.data(), arguments.size());
}

/// How many there are up to the end of each tile.
Array count_tiles(const Array &in, StreamRef stream) {
    const std::int64_t tiles[] = {(static_cast<std::int64_t>(in.size()) + tile - 1) / tile};
    const Array counts = Array::empty(in.context(), tiles, ScalarType::Int64, Order::C, stream);
    KernelArguments arguments;
    arguments.add(in.address());
    arguments.add(counts.address());
    arguments.add(static_cast<std::int64_t>(in.size()));
    launch_step(Step::Count, in, arguments, stream);
    return scan(Scan::Sum, counts, 0, {}, stream);
}

std::int64_t last_of(const Array &ends, StreamRef stream) {
    std::int64_t last = 0;
    const CUdeviceptr address = ends.address() + (ends.size() - 1) * sizeof last;
    if (stream.get() != nullptr)
        synchronize(stream);
    copy_to_host(&last, address, sizeof last);
    return last;
}

} // namespace

Array nonzero(const Array &array, StreamRef stream) {
    if (array.dimensions() == 0)
        throw std::invalid_argument("an array without axes has no places");
    if (array.dtype().is_opaque())
        throw UnsupportedTypes("nonzero() is not defined for elements of " + array.dtype().name());
    const std::shared_ptr<ArrayContext> &context =
        array.memory() ? array.context() : ArrayContext::current();
    std::array<std::int64_t, 2> shape = {array.dimensions(), 0};
    if (array.size() == 0)
        return Array::empty(context, shape, ScalarType::Int64, Order::C, stream);
    const Array in = compact(array, stream);
    const Array ends = count_tiles(in, stream);
    shape[1] = last_of(ends, stream);
    const Array out = Array::empty(context, shape, ScalarType::Int64, Order::C, stream);
    if (shape[1] == 0)
        return out;
    KernelArguments arguments;
    for (const Array *one : {&in, &ends, &out})
        arguments.add(one->address());
    arguments.add(static_cast<std::int64_t>(in.size()));
    arguments.add(shape[1]);
    for (std::int64_t extent : in.shape())
        arguments.add(extent);
    launch_step(Step::Write, in, arguments, stream);
    if (stream.get() != nullptr)
        synchronize(stream); // the memory of `in` and `ends` goes back to the pool here
    return out;
}

} // namespace pycuda
