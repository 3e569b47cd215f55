// user_reduction.cpp -- reductions written by users: their source, and their launches.
//
// Up to `single_tiles` tiles, one block computes the result. With more tiles, each block reduces
// its part to a partial result, and a second kernel of one block reduces the partial results. Both
// kernels have the same parameters and use the same argument block:
//
//     (out, arguments..., extents..., n, partials, number of partials)
#include <pycuda/reduction_kernel.h>

#include "kernels/user/user_elementwise_source.h"
#include "kernels/user/user_index.h"
#include "kernels/user/user_text.h"

#include "arrays/operations/device/shuffle.cuh.h"
#include "kernels/user/device/reduce.cuh.h"

#include <pycuda/work.h>

#include <algorithm>
#include <stdexcept>

namespace pycuda {
namespace {

constexpr std::uint64_t wide_threshold = 1ull << 31;
constexpr std::size_t vector_bytes = 16;
constexpr std::uint64_t single_tiles = 4;
/// Enough blocks to keep a GPU busy. More are used only to limit the number of elements that a
/// thread adds.
constexpr std::uint64_t usual_blocks = 4096;
constexpr std::uint64_t tiles_in_a_run = 32;
constexpr std::uint64_t most_blocks = 65536;

/// The number of elements that a thread reads at a time: several vectors.
struct Tile {
    int rows;
    int neighbours;
    std::uint64_t elements() const noexcept {
        return std::uint64_t{ReductionKernel::block_size} * static_cast<unsigned>(rows) *
               static_cast<unsigned>(neighbours);
    }
};

struct Form {
    const OperandForms *operands = nullptr;
    bool wide = false;
    bool aligned = false; ///< all arrays start at multiples of 16 bytes
};

std::uint64_t blocks_for(std::uint64_t elements, const Tile &tile) {
    const std::uint64_t tiles = (elements + tile.elements() - 1) / tile.elements();
    if (tiles <= single_tiles)
        return 1;
    return std::clamp(tiles / tiles_in_a_run, std::min(tiles, usual_blocks), most_blocks);
}

} // namespace

struct ReductionKernel::State {
    std::vector<KernelArgument> arguments;
    ReductionText text;
    UserMacros macros;           ///< of the options
    KernelBuild build;           ///< without these macros
    std::vector<bool> at_i_only; ///< for each array: whether it is used only as x[i]
    bool may_skip = false;       ///< a condition decides whether an element is used
    VariantCache variants;

    Tile tile() const;
    KernelSource write(const Form &form) const;
    std::string write_stage(const std::vector<KernelArgument> &own, const Form &form,
                            bool first) const;
};

/// Depends only on declared sizes, so that the result is equal for all layouts of the same
/// elements.
Tile ReductionKernel::State::tile() const {
    std::size_t largest = text.out_size;
    for (const KernelArgument &argument : arguments)
        if (argument.is_vector())
            largest = std::max(largest, argument.size);
    const int neighbours =
        largest == 0 || largest > vector_bytes ? 1 : static_cast<int>(vector_bytes / largest);
    // Powers of two, because the values of the threads are combined in pairs.
    const int rounded = neighbours >= 8 ? 8 : neighbours >= 4 ? 4 : neighbours >= 2 ? 2 : 1;
    return {text.out_size > 32             ? 1
            : text.out_size > vector_bytes ? 2
            : rounded == 8                 ? 2
                                           : 4,
            rounded};
}

std::string ReductionKernel::State::write_stage(const std::vector<KernelArgument> &own,
                                                const Form &form, bool first) const {
    const Tile shape = tile();
    const std::string counts = "<" + std::to_string(block_size) + ", " +
                               std::to_string(shape.rows) + ", " +
                               std::to_string(shape.neighbours) + ">";
    const std::string parameters = declare_parameters(own, form.operands);
    std::string source = "\nextern \"C\" __global__ void " + text.name +
                         (first ? "_stage1" : "_stage2") + "(out_type *pycuda_out, " + parameters +
                         ", size_t n, out_type *pycuda_partials, size_t pycuda_count)\n{\n";
    if (first && form.aligned)
        source += promise_alignment(own);
    source += bind_strided(own, form.operands, form.wide);
    source += std::string("typedef ") + (form.wide ? "size_t" : "unsigned") +
              " pycuda_index;\n"
              "const out_type pycuda_neutral =" +
              macros.within(named_statements(text.neutral, text.name + ".neutral")) +
              "auto pycuda_join = [&](out_type a, out_type b) -> out_type {\n" +
              macros.within(return_named(text.reduce_expr, text.name + ".reduce_expr")) + "};\n";
    if (first)
        source +=
            "auto pycuda_read = [&](pycuda_index i) -> out_type {\n" +
            macros.within(return_named(text.map_expr, text.name + ".map_expr")) +
            "};\n"
            "const out_type pycuda_result = pycuda::reduce_grid" +
            counts +
            "((pycuda_index)n, pycuda_neutral, pycuda_read, pycuda_join);\n"
            "if (threadIdx.x == 0)\n"
            "(gridDim.x == 1 ? pycuda_out : pycuda_partials + blockIdx.x)[0] = pycuda_result;\n}\n";
    else
        source += "auto pycuda_read = [&](pycuda_index i) -> out_type {\n"
                  "return pycuda_partials[i];\n};\n"
                  "const out_type pycuda_result = pycuda::reduce_grid" +
                  counts +
                  "((pycuda_index)pycuda_count, pycuda_neutral, pycuda_read, pycuda_join);\n"
                  "if (threadIdx.x == 0)\n*pycuda_out = pycuda_result;\n}\n";
    return source;
}

KernelSource ReductionKernel::State::write(const Form &form) const {
    std::vector<KernelArgument> all = arguments;
    all.push_back({KernelArgument::Kind::Scalar, text.out_type, "", text.out_size});
    std::string source = includes_for(
        all, {text.preamble, text.map_expr, text.reduce_expr, text.neutral}, form.operands);
    source += std::string(device_code::shuffle_cuh) + std::string(device_code::reduce_cuh);
    source += macros.within(named_text(text.preamble, text.name + ".preamble")) +
              macros.within("\ntypedef " + text.out_type + " out_type;\n", text.out_type);
    source += macros.otherwise("BLOCK_SIZE", "", std::to_string(block_size)) +
              macros.otherwise("READ_AND_MAP", "(i)", "(" + one_line(text.map_expr) + ")") +
              macros.otherwise("REDUCE", "(a, b)", "(" + one_line(text.reduce_expr) + ")");
    const std::vector<KernelArgument> own = with_own_types(arguments, macros, source);
    source += write_stage(own, form, true) + write_stage(own, form, false);
    return {std::move(source), {text.name + "_stage1", text.name + "_stage2"}};
}

ReductionKernel::ReductionKernel(std::vector<KernelArgument> arguments, ReductionText text)
    : state_(std::make_shared<State>()) {
    state_->arguments = std::move(arguments);
    state_->text = std::move(text);
    check_kernel_name("reduction kernel", state_->text.name);
    state_->build = state_->text.build;
    state_->macros.take_from(state_->build.options);
    const IndexUse use = find_index_use({state_->text.preamble, state_->text.map_expr},
                                        state_->arguments, state_->macros);
    state_->at_i_only = use.at_i_only;
    state_->may_skip = use.may_skip;
    if (state_->at_i_only.empty())
        throw std::invalid_argument("reduction kernel '" + state_->text.name +
                                    "' needs at least one array among its arguments");
}

ReductionKernel::ReductionKernel(std::string_view arguments, ReductionText text)
    : ReductionKernel(parse_kernel_arguments(arguments), std::move(text)) {}

const std::vector<KernelArgument> &ReductionKernel::arguments() const noexcept {
    return state_->arguments;
}
const ReductionText &ReductionKernel::text() const noexcept { return state_->text; }
std::string ReductionKernel::source() const { return state_->write({}).text; }

std::shared_ptr<const KernelVariant> ReductionKernel::compile_flat() {
    return state_->variants.get(form_key(false, true, nullptr), state_->build,
                                [&] { return state_->write({.aligned = true}); });
}

ReductionKernel::Call ReductionKernel::prepare(std::span<const ArrayView> arrays,
                                               StreamRef stream) {
    check_array_sizes("reduction kernel", state_->text.name, state_->arguments, state_->at_i_only,
                      arrays, {state_->may_skip});
    Call call(arrays);
    call.elements_ = arrays.front().size();
    call.out_size_ = state_->text.out_size;
    call.forms_ = find_forms(arrays);
    Form form;
    form.operands = call.forms_.get();
    form.wide = call.elements_ >= wide_threshold;
    form.aligned = !form.operands && all_aligned(arrays, vector_bytes);
    call.variant_ = state_->variants.get(form_key(form.wide, form.aligned, form.operands),
                                         state_->build, [&] { return state_->write(form); });
    call.config_.grid.x = static_cast<unsigned>(blocks_for(call.elements_, state_->tile()));
    call.config_.block.x = block_size;
    call.config_.stream = stream;
    return call;
}

ReductionKernel::Call::Call(std::span<const ArrayView> arrays) : arrays_(arrays) {}

void ReductionKernel::Call::push_array(ArgumentBlock &block, std::size_t array) const {
    if (forms_)
        forms_->push_array(block, arrays_[array], array);
    else
        block.push_pointer(arrays_[array].address);
}

void ReductionKernel::Call::launch(ArgumentBlock &block) const {
    if (forms_)
        forms_->push_extents(block);
    const std::uint64_t partials = config_.grid.x == 1 ? 0 : config_.grid.x;
    const Workspace scratch(ArrayContext::current(), partials * out_size_, config_.stream);
    if (!block.try_push_integer(elements_) || !block.try_push_pointer(scratch.address()) ||
        !block.try_push_integer(partials))
        throw std::logic_error("the kernel does not take the counts that it was made for");
    launch_packed(variant_->functions[0], config_, block.data(), block.size());
    if (partials == 0)
        return;
    LaunchConfig one_block = config_;
    one_block.grid.x = 1;
    launch_packed(variant_->functions[1], one_block, block.data(), block.size());
}

} // namespace pycuda
