// array_search.cpp -- finding places in a sorted array: a thread bisects for each value.
#include "kernels/compact.h"
#include "kernels/sorting.h"

#include "arrays/device_code.h"

#include <pycuda/array_operation.h>
#include <pycuda/array_sort.h>

namespace pycuda {
namespace {

constexpr unsigned threads = 256;

std::string search_source(ScalarType type, SearchSide side) {
    const std::array types = {type};
    const std::string name(cuda_name(type));
    const std::string code =
        "typedef " + name + " A;\ntypedef " + compute_name(type) +
        " T;\n"
        "__device__ __forceinline__ bool before(T a, T b) {\n"
        "    return array_nan(b) ? !array_nan(a) : a < b;\n}\n"
        "extern \"C\" __global__ void __launch_bounds__(256) run(const A *sorted,\n"
        "        const A *values, long long *out, long long length, long long count) {\n"
        "    const long long i = (long long)blockIdx.x * 256 + threadIdx.x;\n"
        "    if (i >= count)\n        return;\n"
        "    const T value = array_convert<T>(values[i]);\n"
        "    long long low = 0;\n"
        "    for (long long size = length; size > 0;) {\n"
        "        const long long half = size / 2;\n"
        "        const T x = array_convert<T>(sorted[low + half]);\n"
        "        const bool right = " +
        (side == SearchSide::Left ? "before(x, value)" : "!before(value, x)") +
        ";\n        low = right ? low + half + 1 : low;\n"
        "        size = right ? size - half - 1 : half;\n    }\n    out[i] = low;\n}\n";
    return device_prelude(types, code) + code;
}

} // namespace

Array search_sorted(const Array &sorted, const Array &values, SearchSide side, StreamRef stream) {
    if (sorted.dimensions() != 1)
        throw std::invalid_argument("the sorted array must have one axis, not " +
                                    std::to_string(sorted.dimensions()));
    if (sorted.dtype() != values.dtype() || sorted.dtype().is_opaque())
        throw UnsupportedTypes("values of " + values.dtype().name() +
                               " cannot be looked for among elements of " + sorted.dtype().name());
    const std::shared_ptr<ArrayContext> &context =
        values.memory() ? values.context() : ArrayContext::current();
    const Array out = Array::empty(context, values.shape(), ScalarType::Int64, Order::C, stream);
    if (values.size() == 0)
        return out;
    const Array from = sorted.size() == 0 ? sorted : compact(sorted, stream);
    const Array wanted = compact(values, stream);
    KernelArguments arguments;
    arguments.add(from.address());
    arguments.add(wanted.address());
    arguments.add(out.address());
    arguments.add(static_cast<std::int64_t>(from.size()));
    arguments.add(static_cast<std::int64_t>(wanted.size()));
    const ScalarType type = sorted.scalar_type();
    const KernelKey key =
        (KernelKey{6} << 4 | static_cast<KernelKey>(type)) << 1 | static_cast<KernelKey>(side);
    const Function &kernel =
        context->kernels().find(key, [&] { return search_source(type, side); });
    LaunchConfig config;
    config.block = {threads};
    config.grid = {sort_grid(divide_up(static_cast<std::int64_t>(wanted.size()), threads))};
    config.stream = stream;
    launch_packed(kernel, config, arguments.data(), arguments.size());
    if (stream.get() == nullptr)
        return out;
    auto done = std::make_shared<Event>(context->context(), CU_EVENT_DISABLE_TIMING);
    done->record(stream);
    for (const Array *array : {&from, &wanted, &out})
        if (array->size() != 0)
            array->memory()->used_until(done);
    return out;
}

} // namespace pycuda
