// array_scan.cpp -- scans an array along an axis, with one of five kernels.
#include <pycuda/array_scan.h>

#include "arrays/array_axes.h"
#include "arrays/device_code.h"
#include "arrays/kernel_arguments.h"
#include "arrays/kernel_choice.h"
#include "arrays/kernel_table.h"
#include "arrays/operation_types.h"
#include "arrays/operations/scan_pipeline.h"

#include "arrays/device/axes.cuh.h"
#include "arrays/operations/device/array_scan.cuh.h"
#include "arrays/operations/device/scan.cuh.h"
#include "arrays/operations/device/scan_pipeline.cuh.h"
#include "arrays/operations/device/scan_rolled.cuh.h"
#include "arrays/operations/device/shuffle.cuh.h"

#include <pycuda/array_operation.h>
#include <pycuda/copy.h>
#include <pycuda/launch.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace pycuda {
namespace {

constexpr unsigned block = 256;
/// With this many scans, one thread for each keeps a device busy.
constexpr std::int64_t many_columns = 2048;
/// Up to this length, one warp computes a scan, if there are many scans.
constexpr std::int64_t warp_length = 1024;
constexpr std::int64_t many_rows = 64;

enum class ScanMethod : std::uint8_t { Columns, Warps, Blocks, Tiles, Pipeline };

struct ScanRow {
    std::string_view name;
    std::string_view kernel;
    Operation join;
};
constexpr ScanRow scans[] = {
    {"sum", "cumsum", Operation::Add},
    {"prod", "cumprod", Operation::Multiply},
    {"min", "cummin", Operation::Minimum},
    {"max", "cummax", Operation::Maximum},
};

/// All values on which the source depends, and the division of the work.
struct Scanning {
    Scan kind;
    ScalarType stored;
    ScalarType type; ///< of the result
    ScanMethod method = ScanMethod::Columns;
    ScanPipeline pipeline = {}; ///< for ScanMethod::Pipeline
    bool vectors = false, rolled = false;
    int axes = 1; ///< axes that are not scanned
    std::array<Layout, 2> kept = {};
    std::int64_t rows = 1, length = 1, in_step = 0, out_step = 0;

    unsigned neighbours() const noexcept {
        const std::size_t widest = std::max(item_size(stored), item_size(type));
        return static_cast<unsigned>(std::clamp<std::size_t>(16 / widest, 1, 8));
    }
    unsigned tile_rows() const noexcept { return item_size(type) <= 8 ? 8 : 4; }
    std::int64_t tile() const noexcept { return std::int64_t{block} * tile_rows() * neighbours(); }
    std::int64_t tiles() const noexcept { return divide_up(length, tile()); }

    /// One block for each tile, or one thread or warp for each scan.
    std::int64_t blocks() const noexcept {
        return method == ScanMethod::Columns ? divide_up(rows, block)
               : method == ScanMethod::Warps ? divide_up(rows, block / 32)
                                             : rows * tiles();
    }
    KernelKey key() const noexcept {
        return {KernelFamily::Scan,
                {{kind, 2},
                 {stored, 4},
                 {type, 4},
                 {method, 3},
                 {vectors, 1},
                 {rolled, 1},
                 {axes, 7},
                 {pipeline.stages, 4}}};
    }
};

ScalarType result_type(Scan kind, ScalarType type) {
    if (kind == Scan::Min || kind == Scan::Max)
        return type;
    if (is_bool(type) || type_class(type) == TypeClass::Signed)
        return ScalarType::Int64;
    return type_class(type) == TypeClass::Unsigned ? ScalarType::UInt64 : type;
}

std::string source_of(const Scanning &work) {
    constexpr std::string_view methods[] = {"columns", "warps", "blocks", "tiles", "pipeline"};
    const bool pipeline = work.method == ScanMethod::Pipeline;
    const std::string code =
        define("SCAN_ROLLED", work.rolled) + std::string(device_code::shuffle_cuh) +
        std::string(device_code::scan_cuh) +
        std::string(work.rolled ? device_code::scan_rolled_cuh : "") +
        std::string(pipeline ? device_code::scan_pipeline_cuh : "") +
        type_alias("A", cuda_name(work.stored)) + type_alias("L", cuda_name(work.type)) +
        type_alias("O", "L") + type_alias("T", compute_name(work.type)) +
        define("ARRAY_SCAN_AXES", work.axes) +
        define("ARRAY_SCAN_TILE", work.rolled ? "scan_tile_rolled" : "scan_tile") +
        define("METHOD_" + std::string(methods[static_cast<int>(work.method)]), true) +
        define("SCAN_JOIN", operation_expression(scans[static_cast<int>(work.kind)].join)) +
        define("SCAN_BOUNDS",
               pipeline ? std::to_string(ScanPipeline::threads) + ", 1" : std::to_string(block)) +
        define("SCAN_ROWS", work.tile_rows()) + define("SCAN_NEIGHBOURS", work.neighbours()) +
        define("SCAN_VECTORS", work.vectors ? "true" : "false") +
        define("SCAN_STAGES", work.pipeline.stages) + std::string(device_code::axes_cuh) +
        std::string(device_code::array_scan_cuh);
    return with_prelude(code);
}

/// True if the scans of array `k` are contiguous, and each begins at a multiple of `bytes`.
bool is_dense(const Scanning &work, const Array &array, std::size_t k, std::size_t alignment) {
    std::uint64_t bits = array.misalignment();
    for (std::int64_t stride : work.kept[k].strides())
        bits |= static_cast<std::uint64_t>(stride);
    const std::int64_t step = k == 0 ? work.in_step : work.out_step;
    return step == static_cast<std::int64_t>(array.item_size()) && bits % alignment == 0;
}

bool can_use_vectors(const Scanning &work, const Array &in, const Array &out) {
    return is_dense(work, in, 0, work.neighbours() * in.item_size()) &&
           is_dense(work, out, 1, work.neighbours() * out.item_size());
}

void choose_pipeline(Scanning &work, const Array &in, const Array &out) {
    if (!work.vectors || !is_dense(work, in, 0, ScanPipeline::alignment))
        return;
    const auto tile_bytes = static_cast<std::size_t>(work.tile()) * in.item_size();
    const std::optional<ScanPipeline> pipeline =
        ScanPipeline::plan(out.context()->traits(), tile_bytes, work.rows * work.tiles());
    if (!pipeline)
        return;
    work.method = ScanMethod::Pipeline;
    work.pipeline = *pipeline;
}

Scanning plan(Scan kind, const Array &in, const Array &out, int axis) {
    Scanning work{.kind = kind, .stored = in.scalar_type(), .type = out.scalar_type()};
    const std::array arrays = {&in, &out};
    for (std::size_t k = 0; k < 2; ++k)
        for (int i = 0; i < in.dimensions(); ++i)
            if (i != axis)
                work.kept[k].append(arrays[k]->layout().extent(i), arrays[k]->layout().stride(i));
    work.length = in.layout().extent(axis);
    work.in_step = in.layout().stride(axis);
    work.out_step = out.layout().stride(axis);
    // Scans are numbered in the memory order of the result.
    const auto order = work.kept[1].axes_in_memory_order();
    for (Layout &layout : work.kept)
        layout = Layout(layout).transposed(
            std::span(order.data(), static_cast<std::size_t>(layout.dimensions())));
    work.rows = static_cast<std::int64_t>(work.kept[0].size());
    coalesce_to_axes(work.kept);
    work.axes = work.kept[0].dimensions();
    const std::int64_t neighbour = work.kept[1].stride(work.axes - 1);
    if (work.rows >= many_columns &&
        (std::abs(neighbour) < std::abs(work.out_step) || work.length <= 8))
        work.method = ScanMethod::Columns;
    else if (work.length <= warp_length && work.rows >= many_rows)
        work.method = ScanMethod::Warps;
    else
        work.method = work.tiles() == 1 ? ScanMethod::Blocks : ScanMethod::Tiles;
    const bool by_blocks = work.method == ScanMethod::Blocks || work.method == ScanMethod::Tiles;
    work.vectors = by_blocks && can_use_vectors(work, in, out);
    work.rolled = by_blocks && is_rolled();
    if (kernel_choice.form == KernelForm::Chosen)
        choose_pipeline(work, in, out);
    return work;
}

/// As in NumPy: the type of `out` if no type is given.
ScalarType compute_type(Scan kind, const Array &in, const ScanOptions &options) {
    if (options.dtype)
        return *options.dtype;
    if (options.out != nullptr && !options.out->dtype().is_opaque()) {
        const ScalarType type = options.out->scalar_type();
        if (!is_bool(type) && can_cast(in.scalar_type(), type, Casting::SameKind))
            return type;
    }
    return result_type(kind, in.scalar_type());
}

void check_out(const Array &in, ScalarType type, const Array &out) {
    out.require_writable("out");
    if (!std::ranges::equal(in.shape(), out.shape()))
        throw std::invalid_argument("out must have the shape " + shape_text(in.shape()) + ", not " +
                                    shape_text(out.shape()));
    if (out.dtype().is_opaque() || !can_cast(type, out.scalar_type(), Casting::SameKind))
        throw UnsupportedTypes("a cumulative result of " + std::string(numpy_name(type)) +
                               " cannot be cast to " + out.dtype().name() + ", the dtype of out");
}

/// Whether the kernels can write to `out` directly: they read each input element before they write
/// the element at the same position.
bool can_write(const Array &in, ScalarType type, const Array &out) {
    if (out.scalar_type() != type || !out.is_aligned())
        return false;
    const bool is_same = in.starts_where(out) && in.scalar_type() == type &&
                         std::ranges::equal(in.layout().strides(), out.layout().strides());
    return is_same || !in.may_share_bytes(out);
}

void run(const Scanning &work, const Array &in, const Array &out, StreamRef stream) {
    const bool tiled = work.method == ScanMethod::Tiles || work.method == ScanMethod::Pipeline;
    const std::int64_t tiles = tiled ? work.tiles() : 1;
    const std::size_t state = std::max<std::size_t>(item_size(work.type), 4);
    const std::int64_t row_nodes = tiled ? scan_node_words(tiles, state) : 0;
    const std::int64_t words[] = {tiled ? 1 + work.rows * row_nodes : 0};
    const Array nodes = Array::scratch(out.context(), words, ScalarType::UInt64, stream);
    const Function &kernel =
        out.context()->kernels().find(work.key(), scans[static_cast<std::size_t>(work.kind)].kernel,
                                      [&] { return source_of(work); });
    Work use(stream);
    if (words[0] != 0)
        fill_async<std::uint32_t>(use.write(nodes), 0, 2 * nodes.size(), use.stream());
    KernelArguments arguments(use, in, out, nodes);
    for (std::int64_t value :
         {work.rows, work.length, tiles, row_nodes, work.in_step, work.out_step})
        arguments.add(value);
    arguments.add_axes(work.kept);
    if (work.method == ScanMethod::Pipeline)
        arguments.launch(kernel, work.pipeline.configure(kernel, stream));
    else
        arguments.launch(kernel, {.grid = {grid_extent(work.blocks(), "a scan of this size")},
                                  .block = {block}});
}

} // namespace

std::optional<Scan> find_scan(std::string_view name) noexcept {
    for (std::size_t i = 0; i < std::size(scans); ++i)
        if (scans[i].name == name)
            return static_cast<Scan>(i);
    return {};
}

Array scan(Scan kind, const Array &in, int axis, const ScanOptions &options) {
    if (axis < 0 || axis >= in.dimensions())
        throw std::invalid_argument("axis " + std::to_string(axis) +
                                    " is out of bounds for an array of " +
                                    std::to_string(in.dimensions()) + " dimensions");
    if (in.dtype().is_opaque())
        throw UnsupportedTypes("a cumulative sum is not defined for elements of " +
                               in.dtype().name());
    if (!in.is_aligned())
        return scan(kind, aligned(in, options.stream), axis, options);
    const ScalarType type = compute_type(kind, in, options);
    if (options.out != nullptr)
        check_out(in, type, *options.out);
    const std::shared_ptr<ArrayContext> &context = context_or_current(in);
    const bool direct = options.out != nullptr && can_write(in, type, *options.out);
    const Array out = direct ? *options.out
                             : Array::with_layout(context, in.layout().dense(item_size(type)), type,
                                                  options.stream);
    if (in.size() != 0)
        run(plan(kind, in, out, axis), in, out, options.stream);
    if (options.out == nullptr || direct)
        return out;
    assign(*options.out, out, Casting::SameKind, options.stream);
    return *options.out;
}

} // namespace pycuda
