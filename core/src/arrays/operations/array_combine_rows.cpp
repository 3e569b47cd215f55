// array_combine_rows.cpp -- the scatter engine: combines elements with rows that indices select.
//
// On a GPU, threads combine elements by atomic operations, and sums go to one of two places:
//
//     few elements in the base     a table in the shared memory of each thread block, with copies
//                                  of each element for neighbouring lanes, which is added at the
//                                  end
//     many elements                memory, where the hardware adds
//
// If the driver loads PTX, a thread is a CPU's core or a lane: it combines a column of the rows in
// order, so results equal NumPy's. Long sums into few elements are divided into parts with a table
// each. The number of parts depends on the shapes only.
#include "arrays/operations/rows.h"

#include "arrays/array_axes.h"
#include "arrays/device_code.h"
#include "arrays/error_flags.h"
#include "arrays/operation_types.h"
#include "driver/one_of.h"

#include "arrays/device/axes.cuh.h"
#include "arrays/operations/device/combine_rows.cuh.h"

#include <pycuda/array_operation.h>
#include <pycuda/array_reduction.h>
#include <pycuda/copy.h>
#include <pycuda/launch.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace pycuda {
namespace {

constexpr unsigned block = 256;
constexpr std::int64_t shared_bytes = 32 << 10; ///< of a table
constexpr std::int64_t most_copies = 32;        ///< of an element in a table
constexpr std::int64_t small = 4096;            ///< elements for one block that checks them itself
constexpr std::int64_t most_parts = 8;

enum class Task : std::uint8_t { Memory, Shared, Serial };

/// The element's name in device code to which atomicAdd() adds; null if there is none.
const char *native_name(ScalarType type) {
    using enum ScalarType;
    return is_one_of(type, Int32, UInt32)         ? "unsigned"
           : is_one_of(type, Int64, UInt64)       ? "unsigned long long"
           : is_one_of(type, Float32, Complex64)  ? "float"
           : is_one_of(type, Float64, Complex128) ? "double"
                                                  : nullptr;
}

bool is_sum(Operation operation) {
    return operation == Operation::Add || operation == Operation::Subtract;
}

bool has_native_add(Operation operation, ScalarType type) {
    return operation == Operation::Add && native_name(type) != nullptr && !is_complex(type);
}

/// All that a kernel's source depends on.
struct Combining {
    Operation operation;
    ScalarType type, index;
    Task task = Task::Memory;
    bool is_small = false;
    std::int64_t width = 1, n = 0; ///< elements of a row, and of all rows
    int axes = 0;                  ///< of a row whose elements are not contiguous

    KernelKey key() const noexcept {
        return {KernelFamily::CombinedRows,
                {{operation, 7},
                 {type, 4},
                 {index, 4},
                 {task, 2},
                 {is_small, 1},
                 {width == 1, 1},
                 {is_wide(n), 1},
                 {axes, 6}}};
    }
};

std::string source_of(const Combining &combining) {
    std::string code = operation_source(combining.operation, combining.type, "Step") +
                       rows_prelude(combining.index, combining.width, combining.n);
    if (const char *native = native_name(combining.type))
        code += "typedef " + std::string(native) + " Native;\n";
    return code + define("TASK_MEMORY", combining.task == Task::Memory) +
           define("TASK_SHARED", combining.task == Task::Shared) +
           define("TASK_SERIAL", combining.task == Task::Serial) +
           define("SMALL", combining.is_small) +
           define("NATIVE_ADD", has_native_add(combining.operation, combining.type)) +
           define("PARTS", is_complex(combining.type) && is_sum(combining.operation)) +
           define("ADDS", combining.operation == Operation::Subtract ? -1 : 1) +
           define("AXES", combining.axes) + std::string(device_code::axes_cuh) +
           std::string(device_code::combine_rows_cuh);
}

/// Equals the kernels' struct.
struct Geometry {
    std::int64_t n, width, extent, stride, value_row, value_column, cells;
    std::int32_t copies, wrap;
};

struct Call {
    Combining combining;
    const Array &base, &places, &values;
    Geometry geometry;
    Layout row = {}; ///< of the base, if its elements are not contiguous
    LaunchConfig config = {};
};

void launch(const Call &call, const Array &base, CUdeviceptr failed, Work &use) {
    const Function &kernel = call.base.context()->kernels().find(
        call.combining.key(), std::string(operation_name(call.combining.operation)) + "_at",
        [&] { return source_of(call.combining); });
    KernelArguments arguments(use, base, OnlyRead{&call.places}, OnlyRead{&call.values},
                              LibraryAddress{failed}, call.geometry);
    for (int axis = 0; axis < call.combining.axes; ++axis)
        arguments.add(call.row.extent(axis));
    for (int axis = 0; axis < call.combining.axes; ++axis)
        arguments.add(call.row.stride(axis));
    arguments.launch(kernel, call.config);
}

/// How many copies of the base fit a table in shared memory; 0 if that is not the way.
std::int64_t copies_in_table(const Combining &combining, const Geometry &geometry) {
    if (!has_native_add(combining.operation, combining.type))
        return 0;
    const std::int64_t bytes =
        geometry.cells * static_cast<std::int64_t>(item_size(combining.type));
    if (bytes == 0 || bytes > shared_bytes || geometry.n < 8 * geometry.cells)
        return 0;
    std::int64_t copies = 1;
    while (copies < most_copies && 2 * copies * bytes <= shared_bytes)
        copies *= 2;
    return copies;
}

void choose_grid(Call &call) {
    const std::int64_t processors = call.base.context()->traits().processors;
    call.config.block = {block};
    if (call.combining.is_small) {
        call.config.grid = {1};
        return;
    }
    const std::int64_t copies = copies_in_table(call.combining, call.geometry);
    const bool in_table = copies > 0 && call.geometry.n > small;
    if (in_table) {
        call.combining.task = Task::Shared;
        call.geometry.copies = static_cast<std::int32_t>(copies);
        call.config.shared_bytes =
            static_cast<unsigned>(copies * call.geometry.cells *
                                  static_cast<std::int64_t>(item_size(call.combining.type)));
    }
    const std::int64_t each = in_table ? 4096 : 1024, most = (in_table ? 6 : 32) * processors;
    call.config.grid = {
        static_cast<unsigned>(std::clamp(divide_up(call.geometry.n, each), std::int64_t{1}, most))};
}

/// For a CPU: the parts of the rows, a power of two that depends on the shapes only.
std::int64_t parts_of(const Combining &combining, const Geometry &geometry) {
    std::int64_t parts = 1;
    if (combining.operation == Operation::Add)
        while (parts < most_parts && 16 * parts * geometry.cells <= geometry.n)
            parts *= 2;
    return geometry.n < (1 << 16) ? 1 : parts;
}

void run_serial(Call &call, CUdeviceptr failed, Work &use) {
    const Geometry &geometry = call.geometry;
    const std::int64_t parts = parts_of(call.combining, geometry);
    call.combining.task = Task::Serial;
    const bool is_one = geometry.width == 1;
    call.config.block = {is_one ? 1u : 32u};
    call.config.grid = {static_cast<unsigned>(is_one ? 1 : divide_up(geometry.width, 32)),
                        static_cast<unsigned>(parts)};
    if (parts == 1)
        return launch(call, call.base, failed, use);
    const std::int64_t shape[] = {parts, geometry.cells};
    const Array tables =
        Array::scratch(call.base.context(), shape, call.combining.type, use.stream());
    fill_async<std::uint8_t>(use.write(tables), 0, tables.bytes(), use.stream());
    call.combining.axes = 0; // the tables are contiguous
    call.geometry.stride = geometry.width * static_cast<std::int64_t>(call.base.item_size());
    launch(call, tables, failed, use);
    const Array *const input = &tables;
    const Array sums = reduce(Reduction::Sum, {&input, 1},
                              {.axes = 1, .dtype = call.combining.type, .stream = use.stream()});
    const Array added = sums.view(Layout::contiguous(call.base.shape(), sums.item_size()));
    const std::array operands = {Operand(call.base), Operand(added)};
    apply(Operation::Add, operands, {.out = &call.base, .stream = use.stream()});
}

void check_arguments(Operation operation, const Array &base, const Array &places, const Array &in) {
    base.require_writable("the array to combine with");
    if (base.dimensions() == 0)
        throw std::invalid_argument("an array without axes has no rows");
    if (base.dtype().is_opaque() || in.dtype() != base.dtype() ||
        !can_combine_rows(operation, base.scalar_type()))
        throw UnsupportedTypes(std::string(operation_name(operation)) + "() of rows of " +
                               base.dtype().name() + " and " + in.dtype().name() +
                               " is not supported");
    check_index_type(places);
}

} // namespace

bool can_combine_rows(Operation operation, ScalarType type) {
    using enum Operation;
    if (!is_one_of(operation, Add, Subtract, Multiply, Divide, Minimum, Maximum, Fmin, Fmax,
                   LogicalAnd, LogicalOr, LogicalXor, BitwiseAnd, BitwiseOr, BitwiseXor))
        return false;
    if (item_size(type) == 16 && !is_sum(operation))
        return false; // no atomic operation replaces so many bytes
    try {
        const Array stand_in(nullptr, CUdeviceptr{0}, DType(type), Layout()); // has a type only
        const std::array operands = {Operand(stand_in), Operand(stand_in)};
        const LoopTypes loop = loop_types(operation, operands);
        return loop.in[0] == type && loop.in[1] == type && loop.out == type;
    } catch (const UnsupportedTypes &) {
        return false; // an expected answer
    }
}

bool combine_rows(Operation operation, const Array &base, RowIndices indices, const Array &in,
                  StreamRef stream) {
    check_arguments(operation, base, *indices.places, in);
    if (!base.is_aligned()) {
        const Array copy = compact(base, stream);
        if (!combine_rows(operation, copy, indices, in, stream))
            return false;
        assign(base, copy, Casting::No, stream);
        return true;
    }
    Array values = separate(in, base, stream);
    const RowSteps steps = row_steps(values, base, *indices.places, stream);
    if (indices.places->size() == 0)
        return true;
    const Array places = row_indices(*indices.places, base, stream);
    const std::int64_t extent = base.layout().extent(0);
    const auto cells = static_cast<std::int64_t>(base.size());
    const std::int64_t width = cells == 0 ? 0 : cells / extent;
    const auto n = static_cast<std::int64_t>(places.size()) * width;
    Call call{{operation, base.scalar_type(), places.scalar_type()},
              base,
              places,
              values,
              {n, width, extent, base.layout().stride(0), steps.row, steps.element, cells, 1,
               indices.checked}};
    if (cells != 0 && !has_rows(base)) {
        call.row = words_of_row(base, base.item_size());
        call.combining.axes = call.row.dimensions();
    }
    call.combining.width = width;
    call.combining.n = n;
    const bool serial = is_rolled();
    call.combining.is_small = indices.checked && n <= small && !serial;
    Work use(stream);
    return run_checked({std::string(operation_name(operation)) + ".at()", *indices.places, places,
                        extent, indices.checked, call.combining.is_small, n != 0},
                       use, [&](CUdeviceptr failed) {
                           if (serial)
                               return run_serial(call, failed, use);
                           choose_grid(call);
                           launch(call, base, failed, use);
                       });
}

} // namespace pycuda
