// array_search.cpp -- finds positions in a sorted array: each thread searches a few values by
// bisection. Edges of bins rise or fall, as their first and last element say; the threads compare
// neighbours in the same launch.
#include "arrays/define.h"
#include "kernels/compact.h"
#include "kernels/sorting.h"

#include "arrays/device_code.h"
#include "arrays/error_flags.h"

#include <pycuda/array_operation.h>
#include <pycuda/array_sort.h>
#include <pycuda/called_function.h>

#include <algorithm>
#include <array>
#include <bit>

namespace pycuda {
namespace {

constexpr unsigned threads = 256;
constexpr std::int64_t many = 1 << 16; ///< values for which pivots are worth their cost

// The first steps of a long search use pivots in shared memory. There are 2^levels - 1 pivots;
// pivot p is element p * length / 2^levels, rounded down. If c pivots precede a value, the value's
// position is between pivots c and c + 1. After its values, a block continues with values behind
// those of all blocks.
constexpr const char *search_kernel = R"__(
struct Geometry { long long length, count; int levels, reach; };
constexpr int most_pivots = 16384 / sizeof(A);

extern "C" __global__ void __launch_bounds__(256) KERNEL(const A *sorted, const A *values,
                                                      long long *out, int *unsorted, Geometry g) {
#if EDGES
    const bool falls = g.length > 0 && array_convert<T>(sorted[0]) >
                                           array_convert<T>(sorted[g.length - 1]);
#define GOES_RIGHT(x, value) (goes_right(x, value) != falls)
#else
#define GOES_RIGHT(x, value) goes_right(x, value)
#endif
    __shared__ T pivots[most_pivots];
    const int pivot_count = (1 << g.levels) - 1;
    for (int i = threadIdx.x; i < pivot_count; i += 256)
        pivots[i] = array_convert<T>(sorted[(i + 1) * g.length >> g.levels]);
    __syncthreads();
    const long long stride = 256ll * gridDim.x;
#if EDGES
    for (long long i = 256ll * blockIdx.x + threadIdx.x; i + 1 < g.length; i += stride) {
        const T one = array_convert<T>(sorted[i]), next = array_convert<T>(sorted[i + 1]);
        if (!(falls ? one >= next : one <= next))
            *unsorted = 1;
    }
#endif
    for (long long i = 256ll * blockIdx.x + threadIdx.x; i < g.count; i += AHEAD * stride) {
        T value[AHEAD];
        int before[AHEAD];
        Place low[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            const long long at = i + k * stride;
            value[k] = array_convert<T>(values[at < g.count ? at : i]);
            before[k] = 0;
        }
#pragma unroll 1
        for (int half = (pivot_count + 1) / 2; half > 0; half /= 2)
#pragma unroll
            for (int k = 0; k < AHEAD; ++k)
                if (GOES_RIGHT(pivots[before[k] + half - 1], value[k]))
                    before[k] += half;
#pragma unroll
        for (int k = 0; k < AHEAD; ++k)
            low[k] = Place(before[k] * g.length >> g.levels);
#pragma unroll 1
        for (Place half = Place(1) << g.reach; half > 0; half /= 2)
#pragma unroll
            for (int k = 0; k < AHEAD; ++k) {
                const Place at = low[k] + half - 1;
                if (at < g.length && GOES_RIGHT(array_convert<T>(sorted[at]), value[k]))
                    low[k] += half;
            }
#pragma unroll
        for (int k = 0; k < AHEAD; ++k)
            if (i + k * stride < g.count)
                out[i + k * stride] = low[k];
    }
}
)__";

/// A variant of the kernel.
struct Variant {
    ScalarType type;
    SearchSide side;
    bool wide;  ///< places have 64 bits
    bool edges; ///< the array may fall, and is checked
};

std::string search_source(const Variant &variant) {
    const auto [type, side, wide, edges] = variant;
    const std::array types = {type};
    const std::string code =
        type_alias("A", cuda_name(type)) + type_alias("T", compute_name(type)) +
        type_alias("Place", wide ? "long long" : "int") +
        "__device__ __forceinline__ bool before(T a, T b) {\n"
        "    return array_nan(b) ? !array_nan(a) : a < b;\n}\n"
        "__device__ __forceinline__ bool goes_right(T x, T value) { return " +
        (side == SearchSide::Left ? "before(x, value)" : "!before(value, x)") + "; }\n" +
        define("AHEAD", runs_on_host() ? 1 : 4) + define("EDGES", edges) + search_kernel;
    return device_prelude(types, code) + code;
}

/// Equals the kernel's struct. `reach`: the power of two that is the highest bit of a number
/// greater than the distance between pivots.
struct Geometry {
    std::int64_t length, count;
    std::int32_t levels, reach;
};

Geometry geometry_of(const Array &sorted, const Array &values) {
    Geometry geometry{static_cast<std::int64_t>(sorted.size()),
                      static_cast<std::int64_t>(values.size()), 0, 0};
    const auto most =
        std::min(static_cast<std::int64_t>(16384 / sorted.item_size()), geometry.length);
    if (geometry.count >= many)
        while ((std::int64_t{2} << geometry.levels) <= most)
            ++geometry.levels;
    const auto between = static_cast<std::uint64_t>(geometry.length >> geometry.levels) + 1;
    geometry.reach = static_cast<std::int32_t>(std::bit_width(between)) - 1;
    return geometry;
}

void check_arguments(const Array &sorted, const Array &values) {
    if (sorted.dimensions() != 1)
        throw std::invalid_argument("the sorted array must have one axis, not " +
                                    std::to_string(sorted.dimensions()));
    if (sorted.dtype() != values.dtype() || sorted.dtype().is_opaque())
        throw UnsupportedTypes("values of " + values.dtype().name() +
                               " cannot be searched in elements of " + sorted.dtype().name());
}

Array result_for(const Array &values, StreamRef stream) {
    const std::shared_ptr<ArrayContext> &context =
        values.memory() ? values.context() : ArrayContext::current();
    return Array::empty(context, values.shape(), ScalarType::Int64, Order::C, stream);
}

/// `unsorted`: a flag for an array that neither rises nor falls, or 0 if it is known to rise.
void search(const Array &out, const Array &sorted, const Array &values, SearchSide side,
            CUdeviceptr unsorted, Work &use) {
    const Array from = compact(sorted, use.stream());
    const Array wanted = compact(values, use.stream());
    KernelArguments arguments(use);
    arguments.add(from);
    arguments.add(wanted);
    arguments.add(out);
    arguments.add_library_address(unsorted);
    const Geometry geometry = geometry_of(from, wanted);
    arguments.add(geometry);
    const Variant variant{sorted.scalar_type(), side, geometry.length >= std::int64_t{1} << 30,
                          unsorted != 0};
    const KernelKey key = KernelKey(KernelFamily::Search)
                              .add(variant.type, 4)
                              .add(side, 1)
                              .add(variant.wide, 1)
                              .add(variant.edges, 1);
    const std::shared_ptr<ArrayContext> &context = out.context();
    const Function &kernel =
        context->kernels().find(key, "searchsorted", [&] { return search_source(variant); });
    const std::int64_t blocks = divide_up(geometry.count, threads);
    const std::int64_t resident = std::int64_t{8} * context->traits().processors;
    LaunchConfig config;
    config.block = {threads};
    config.grid = {sort_grid(geometry.levels == 0 ? std::max<std::int64_t>(blocks, 1)
                                                  : std::min(blocks, resident))};
    arguments.launch(kernel, config);
}

} // namespace

Array search_sorted(const Array &sorted, const Array &values, SearchSide side, StreamRef stream) {
    check_arguments(sorted, values);
    const Array out = result_for(values, stream);
    if (values.size() == 0)
        return out;
    Work use(stream);
    search(out, sorted, values, side, 0, use);
    return out;
}

Array search_edges(const Array &edges, const Array &values, SearchSide side, StreamRef stream) {
    check_arguments(edges, values);
    const Array out = result_for(values, stream);
    constexpr const char *failure = "the edges must be monotonically increasing or decreasing";
    Work use(stream);
    ErrorFlags::Call unsorted(out.context()->error_flags(), use, [] {
        return std::array{FailedCheck(FailedCheck::Kind::Value,
                                      called_function("digitize()") + ": " + failure +
                                          ", in a launch of the graph that recorded the call")};
    });
    search(out, edges, values, side, unsorted.address(), use);
    if (unsorted.wait(1) >= 0)
        throw std::invalid_argument(failure);
    return out;
}

} // namespace pycuda
