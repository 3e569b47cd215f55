// user_elementwise.cpp -- choosing an elementwise kernel's form for the arrays of a call.
#include <pycuda/elementwise_kernel.h>

#include "kernels/user_elementwise_source.h"

#include <pycuda/driver.h>

#include <algorithm>
#include <stdexcept>

namespace pycuda {
namespace {

constexpr unsigned block_size = 256;
/// Above this, whole vectors of memory are worth a kernel of their own.
constexpr std::uint64_t vector_threshold = 1u << 15;
constexpr std::uint64_t wide_threshold = 1ull << 31;
constexpr std::size_t vector_bytes = 16;

/// Words that tell that neighbouring threads matter to the text, or that a loop ends early: then
/// each thread takes one element after the other, as it always did.
constexpr std::string_view thread_words[] = {
    "threadIdx", "blockIdx", "blockDim", "gridDim", "tid",    "cta_start", "total_threads",
    "break",     "return",   "goto",     "asm",     "static", "__shared__"};

bool minds_threads(const std::string &text) {
    return text.find("__sync") != std::string::npos || text.find("__shfl") != std::string::npos ||
           text.find("atomic") != std::string::npos ||
           std::ranges::any_of(thread_words,
                               [&](std::string_view word) { return mentions(text, word); });
}

std::size_t largest_item(std::span<const ArrayView> arrays) {
    return std::ranges::max(arrays, {}, &ArrayView::item_size).item_size;
}

} // namespace

std::uint64_t IndexRange::size() const noexcept {
    const auto distance = [](std::int64_t from, std::int64_t to) {
        return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
    };
    if (step > 0 && start < stop)
        return (distance(start, stop) - 1) / static_cast<std::uint64_t>(step) + 1;
    if (step < 0 && start > stop)
        return (distance(stop, start) - 1) / (0 - static_cast<std::uint64_t>(step)) + 1;
    return 0;
}

struct ElementwiseKernel::State {
    std::vector<KernelArgument> arguments;
    ElementwiseText text;
    std::vector<bool> at_i_only; ///< of each array: used as x[i] and in no other way
    bool takes_neighbours = false;
    VariantCache variants;

    int neighbours(std::span<const ArrayView> arrays, std::uint64_t count) const;
};

ElementwiseKernel::ElementwiseKernel(std::vector<KernelArgument> arguments, ElementwiseText text)
    : state_(std::make_unique<State>()) {
    state_->arguments = std::move(arguments);
    state_->text = std::move(text);
    const ElementwiseText &own = state_->text;
    const std::string all = own.loop_prep + "\n" + own.operation + "\n" + own.after_loop;
    for (const KernelArgument &argument : state_->arguments)
        if (argument.is_vector())
            state_->at_i_only.push_back(only_at_i(all, argument.name));
    if (state_->at_i_only.empty())
        throw std::invalid_argument("elementwise kernel '" + own.name +
                                    "' needs at least one array among its arguments");
    state_->takes_neighbours = !minds_threads(own.operation) && own.loop_prep.empty() &&
                               own.after_loop.empty() &&
                               std::ranges::all_of(state_->at_i_only, std::identity());
}

ElementwiseKernel::ElementwiseKernel(std::string_view arguments, std::string operation)
    : ElementwiseKernel(parse_kernel_arguments(arguments), {.operation = std::move(operation)}) {}

ElementwiseKernel::~ElementwiseKernel() = default;
ElementwiseKernel::ElementwiseKernel(ElementwiseKernel &&) noexcept = default;
ElementwiseKernel &ElementwiseKernel::operator=(ElementwiseKernel &&) noexcept = default;

const std::vector<KernelArgument> &ElementwiseKernel::arguments() const noexcept {
    return state_->arguments;
}
const ElementwiseText &ElementwiseKernel::text() const noexcept { return state_->text; }

std::string ElementwiseKernel::source() const {
    return write_elementwise(state_->arguments, state_->text, {}).text;
}

int ElementwiseKernel::State::neighbours(std::span<const ArrayView> arrays,
                                         std::uint64_t count) const {
    if (!takes_neighbours || count < vector_threshold || !all_aligned(arrays, vector_bytes) ||
        !all_disjoint(arrays))
        return 1;
    return static_cast<int>(std::max<std::size_t>(1, vector_bytes / largest_item(arrays)));
}

ElementwiseKernel::Call ElementwiseKernel::prepare(std::span<const ArrayView> arrays,
                                                   StreamRef stream,
                                                   std::optional<IndexRange> range) {
    check_array_sizes("elementwise kernel", state_->text.name, state_->arguments, state_->at_i_only,
                      arrays);
    Call call(arrays, stream);
    call.range_ = range;
    call.elements_ = arrays.front().size();
    call.count_ = range ? range->size() : call.elements_;
    if (call.count_ == 0)
        return call;
    call.forms_ = find_forms(arrays);
    ElementwiseForm form;
    form.operands = call.forms_.get();
    form.wide = call.elements_ >= wide_threshold;
    form.ranged = range.has_value();
    if (!form.operands && !range)
        form.neighbours = state_->neighbours(arrays, call.count_);

    std::string key = {static_cast<char>(1 + form.wide + 2 * form.ranged),
                       static_cast<char>(form.neighbours)};
    if (form.operands)
        key += form.operands->key();
    call.variant_ = state_->variants.get(key, state_->text.build, [&] {
        return write_elementwise(state_->arguments, state_->text, form);
    });

    const std::uint64_t per_block = block_size * static_cast<std::uint64_t>(form.neighbours);
    const std::uint64_t blocks = (call.count_ + per_block - 1) / per_block;
    call.config_.grid.x = static_cast<unsigned>(std::min<std::uint64_t>(blocks, 0x7fffffff));
    call.config_.block.x = block_size;
    return call;
}

ElementwiseKernel::Call::Call(std::span<const ArrayView> arrays, StreamRef stream)
    : arrays_(arrays) {
    config_.stream = stream;
}
ElementwiseKernel::Call::Call(Call &&) noexcept = default;
ElementwiseKernel::Call::~Call() = default;

const Function &ElementwiseKernel::Call::function() const noexcept {
    return variant_->functions.front();
}

void ElementwiseKernel::Call::push_array(ArgumentBlock &block, std::size_t array) const {
    if (forms_)
        forms_->push_array(block, arrays_[array], array);
    else
        block.push_pointer(arrays_[array].address);
}

void ElementwiseKernel::Call::launch(ArgumentBlock &block) const {
    if (forms_)
        forms_->push_extents(block);
    bool taken = true;
    if (range_)
        taken = block.try_push_integer(range_->start) && block.try_push_integer(range_->stop) &&
                block.try_push_integer(range_->step);
    else
        taken = block.try_push_integer(elements_);
    if (!taken)
        throw std::logic_error("the kernel does not take the counts that it was made for");
    pycuda::launch(function(), config_, block);
}

} // namespace pycuda
