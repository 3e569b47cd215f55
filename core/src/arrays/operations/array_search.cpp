// array_search.cpp -- finds positions in a sorted array: each thread searches a few values by
// bisection. Edges of bins rise or fall, as their first and last element say; the threads compare
// neighbours in the same launch.
#include "arrays/operations/sorting.h"

#include "arrays/array_axes.h"
#include "arrays/device_code.h"
#include "arrays/error_flags.h"

#include "arrays/operations/device/search.cuh.h"

#include <pycuda/array_operation.h>
#include <pycuda/array_sort.h>
#include <pycuda/called_function.h>
#include <pycuda/index_check.h>

#include <algorithm>
#include <array>
#include <bit>

namespace pycuda {
namespace {

constexpr unsigned threads = 256;
constexpr std::int64_t many = 1 << 16; ///< values for which pivots are worth their cost

/// A variant of the kernel.
struct Variant {
    ScalarType type;
    SearchSide side;
    bool wide;  ///< places have 64 bits
    bool edges; ///< the array may fall, and is checked
};

std::string search_source(const Variant &variant) {
    const auto [type, side, wide, edges] = variant;
    const std::string code =
        type_alias("A", cuda_name(type)) + type_alias("T", compute_name(type)) +
        type_alias("Place", wide ? "long long" : "int") + define("LEFT", side == SearchSide::Left) +
        define("AHEAD", runs_on_host() ? 1 : 4) + define("EDGES", edges) +
        std::string(device_code::search_cuh);
    return with_prelude(code);
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
    const std::shared_ptr<ArrayContext> &context = context_or_current(values);
    return Array::empty(context, values.shape(), ScalarType::Int64, Order::C, stream);
}

/// `unsorted`: a flag for an array that neither rises nor falls, or 0 if it is known to rise.
void search(const Array &out, const Array &sorted, const Array &values, SearchSide side,
            CUdeviceptr unsorted, Work &use) {
    const Array from = compact(sorted, use.stream());
    const Array wanted = compact(values, use.stream());
    KernelArguments arguments(use, from, wanted, out, LibraryAddress{unsorted});
    const Geometry geometry = geometry_of(from, wanted);
    arguments.add(geometry);
    const Variant variant{sorted.scalar_type(), side, geometry.length >= std::int64_t{1} << 30,
                          unsorted != 0};
    const KernelKey key =
        KernelKey(KernelFamily::Search,
                  {{variant.type, 4}, {side, 1}, {variant.wide, 1}, {variant.edges, 1}});
    const std::shared_ptr<ArrayContext> &context = out.context();
    const Function &kernel =
        context->kernels().find(key, "searchsorted", [&] { return search_source(variant); });
    const std::int64_t blocks = divide_up(geometry.count, threads);
    const std::int64_t resident = std::int64_t{8} * context->traits().processors;
    const std::int64_t grid =
        geometry.levels == 0 ? std::max<std::int64_t>(blocks, 1) : std::min(blocks, resident);
    arguments.launch(kernel, {.grid = {sort_grid(grid)}, .block = {threads}});
}

} // namespace

Array search_sorted(const Array &sorted, const Array &values, SearchSide side, StreamRef stream) {
    check_arguments(sorted, values);
    const Array out = result_for(values, stream);
    if (values.size() == 0)
        return out;
    Work use(stream);
    search(out, sorted, values, side, 0, use);
    note_bounds(out, 0, sorted.layout().extent(0) + 1);
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
