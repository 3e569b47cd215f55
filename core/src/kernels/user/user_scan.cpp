// user_scan.cpp -- scans written by users: their source, and their launches.
#include <pycuda/scan_kernel.h>

#include "arrays/device_code.h"
#include "arrays/operations/scan_pipeline.h"
#include "kernels/user/user_elementwise_source.h"
#include "kernels/user/user_text.h"

#include "arrays/operations/device/scan.cuh.h"
#include "arrays/operations/device/scan_pipeline.cuh.h"
#include "arrays/operations/device/scan_rolled.cuh.h"
#include "arrays/operations/device/shuffle.cuh.h"

#include <pycuda/copy.h>
#include <pycuda/device_traits.h>
#include <pycuda/launch.h>
#include <pycuda/work.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace pycuda {
namespace {

constexpr unsigned threads = 256;
constexpr std::size_t vector_bytes = 16;

enum class Access { Vectors, Elements, Strided };
constexpr const char *access_names[] = {"Vectors", "Elements", "Strided"};

/// How a scan is compiled. `stages` is 0 if it is not a pipeline.
struct Form {
    Access access;
    unsigned stages = 0;
    bool rolled = runs_on_host();
};

/// The elements of a thread: `rows` vectors of `neighbours` elements.
struct Tile {
    unsigned rows;
    unsigned neighbours;
    std::uint64_t elements() const noexcept { return std::uint64_t{threads} * rows * neighbours; }
};

/// Depends only on the size of an element, so that results do not depend on addresses.
Tile tile_for(std::size_t size) {
    const bool divides = size != 0 && vector_bytes % size == 0;
    const unsigned neighbours =
        divides ? static_cast<unsigned>(std::min<std::size_t>(vector_bytes / size, 8)) : 1;
    return {size <= 8 ? 8u : size <= vector_bytes ? 4u : 2u, neighbours};
}

std::int64_t stride_of(const ArrayView &view) {
    return view.strides.empty() ? static_cast<std::int64_t>(view.item_size) : view.strides[0];
}

/// As pycuda::ScanPlaces of scan.cuh.
struct Places {
    CUdeviceptr in, out;
    std::int64_t in_stride, out_stride;
    std::uint64_t count;
};

} // namespace

struct ScanKernel::State {
    ScanText text;
    UserMacros macros; ///< of the options
    KernelBuild build; ///< without these macros
    VariantCache variants;

    KernelSource write(const Form &form) const;
    Access choose_access(const ArrayView &out, const ArrayView &in) const;
    void check_shapes(const ArrayView &out, const ArrayView &in) const;
};

KernelSource ScanKernel::State::write(const Form &form) const {
    const Tile tile = tile_for(text.size);
    const bool exclusive = text.kind == ScanKind::Exclusive;
    const bool pipeline = form.stages != 0;
    std::string source = includes_for({{KernelArgument::Kind::Scalar, text.type, "", text.size}},
                                      {text.preamble, text.scan_expr, text.neutral}, nullptr);
    source += define("SCAN_ROLLED", form.rolled) + std::string(device_code::shuffle_cuh) +
              std::string(device_code::scan_cuh);
    if (pipeline)
        source += device_code::scan_pipeline_cuh;
    else if (form.rolled)
        source += device_code::scan_rolled_cuh;
    source += macros.within(named_text(text.preamble, text.name + ".preamble")) +
              macros.within("\ntypedef " + text.type + " scan_type;\n", text.type);
    source += macros.otherwise("SCAN_EXPR", "(a, b)", "(" + one_line(text.scan_expr) + ")") +
              "struct pycuda_scan_op {\n"
              "__device__ scan_type operator()(scan_type a, scan_type b) const {\n" +
              macros.within(return_named(text.scan_expr, text.name + ".scan_expr")) +
              "}\n};\n"
              "extern \"C\" __global__ void __launch_bounds__(" +
              (pipeline ? std::to_string(ScanPipeline::threads) + ", 1" : std::to_string(threads)) +
              ") " + text.name +
              "(pycuda::ScanPlaces<scan_type> places, unsigned long long *nodes)\n{\n"
              "const scan_type pycuda_neutral =" +
              (exclusive ? macros.within(named_statements(text.neutral, text.name + ".neutral"))
                         : " scan_type();\n");
    const std::string shape =
        std::to_string(tile.rows) + ", " + std::to_string(tile.neighbours) + ", ";
    const std::string kind = exclusive ? "true" : "false";
    if (pipeline)
        source += "pycuda::scan_pipeline<scan_type, " + shape + std::to_string(form.stages) + ", " +
                  kind + ">(pycuda::OneScan<scan_type, " + shape + std::to_string(threads) +
                  ">{places, nodes + 1}, nodes, pycuda_neutral, pycuda_scan_op());\n}\n";
    else
        source += "const pycuda::ScanElements<scan_type, pycuda::ScanAccess::" +
                  std::string(access_names[static_cast<int>(form.access)]) +
                  "> elements{places};\npycuda::scan_tile" + (form.rolled ? "_rolled" : "") +
                  "<scan_type, " + shape + std::to_string(threads) + ", " + kind +
                  ">(elements, places.count, pycuda::claim_tile(nodes), nodes + 1, pycuda_neutral, "
                  "pycuda_scan_op());\n}\n";
    return {std::move(source), {text.name}};
}

Access ScanKernel::State::choose_access(const ArrayView &out, const ArrayView &in) const {
    if (!is_c_contiguous(out) || !is_c_contiguous(in))
        return Access::Strided;
    const std::array<ArrayView, 2> both = {out, in};
    const bool vectors = tile_for(text.size).neighbours > 1 && all_aligned(both, vector_bytes);
    return vectors ? Access::Vectors : Access::Elements;
}

void ScanKernel::State::check_shapes(const ArrayView &out, const ArrayView &in) const {
    const auto refuse = [&](const std::string &why) {
        throw std::invalid_argument("scan kernel '" + text.name + "': " + why);
    };
    if (out.size() != in.size())
        refuse("the output has " + std::to_string(out.size()) + " elements, the input has " +
               std::to_string(in.size()));
    for (const ArrayView *view : {&out, &in}) {
        if (view->item_size != text.size)
            refuse("an array has elements of " + std::to_string(view->item_size) + " bytes, but " +
                   text.type + " has " + std::to_string(text.size));
        if (view->shape.size() != 1 && !is_c_contiguous(*view))
            refuse("an array of " + std::to_string(view->shape.size()) +
                   " axes must be C-contiguous");
    }
}

ScanKernel::ScanKernel(ScanText text) : state_(std::make_shared<State>()) {
    if (text.kind == ScanKind::Exclusive && text.neutral.empty())
        throw std::invalid_argument("neutral element is required for exclusive scan");
    check_kernel_name("scan kernel", text.name);
    state_->text = std::move(text);
    state_->build = state_->text.build;
    state_->macros.take_from(state_->build.options);
}

const ScanText &ScanKernel::text() const noexcept { return state_->text; }
std::string ScanKernel::source() const { return state_->write({Access::Vectors}).text; }

std::shared_ptr<const KernelVariant> ScanKernel::launch(StreamRef stream, const ArrayView &out,
                                                        const ArrayView &in) {
    state_->check_shapes(out, in);
    const std::uint64_t count = in.size();
    if (count == 0)
        return nullptr;
    const std::uint64_t tile = tile_for(state_->text.size).elements();
    const std::uint64_t tiles = (count + tile - 1) / tile;
    if (tiles > 0x7fffffff)
        throw std::invalid_argument("scan kernel '" + state_->text.name +
                                    "': " + std::to_string(count) + " elements are too many");
    Form form = {state_->choose_access(out, in)};
    std::optional<ScanPipeline> pipeline;
    if (form.access == Access::Vectors && tiles >= ScanPipeline::fewest_tiles)
        pipeline = ScanPipeline::plan(ArrayContext::current()->traits(), tile * in.item_size,
                                      static_cast<std::int64_t>(tiles));
    form.stages = pipeline ? pipeline->stages : 0;
    const char key[] = {static_cast<char>('0' + static_cast<int>(form.access)),
                        static_cast<char>('0' + form.stages)};
    std::shared_ptr<const KernelVariant> variant = state_->variants.get(
        std::string_view(key, sizeof key), state_->build, [&] { return state_->write(form); });

    // Words for a counter and the nodes.
    const auto words = static_cast<std::uint64_t>(
        1 + scan_node_words(static_cast<std::int64_t>(tiles), state_->text.size));
    const Workspace nodes(ArrayContext::current(), words * sizeof(std::uint64_t), stream);
    fill_async<std::uint32_t>(nodes.address(), 0, words * 2, stream);

    const Places places = {in.address, out.address, stride_of(in), stride_of(out), count};
    const Function &function = variant->functions.front();
    ArgumentBlock block(function);
    if (!block.try_push(&places, sizeof places, ValueKind::Bytes) ||
        !block.try_push_pointer(nodes.address()))
        throw std::logic_error("the kernel does not take the arrays that it was made for");
    const LaunchConfig config = pipeline ? pipeline->configure(function, stream)
                                         : LaunchConfig{.grid = {static_cast<unsigned>(tiles)},
                                                        .block = {threads},
                                                        .stream = stream};
    pycuda::launch(function, config, block);
    return variant;
}

} // namespace pycuda
