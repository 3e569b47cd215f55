// user_elementwise.cpp -- chooses the form of an elementwise kernel for the arrays of a call.
//
// If the text uses arrays only as `x[i]`, it is an expression like an operation on arrays, and a
// walk is used. Otherwise each thread runs a loop: if the text depends on threads, if it uses an
// array with strides in another way, or if the call has a range.
#include <pycuda/elementwise_kernel.h>

#include "arrays/device_code.h"
#include "arrays/expression_launch.h"
#include "kernels/user/user_elementwise_source.h"
#include "kernels/user/user_index.h"
#include "kernels/user/user_text.h"

#include <algorithm>
#include <stdexcept>

namespace pycuda {
namespace {

constexpr unsigned block_size = 256;
constexpr std::uint64_t wide_threshold = 1ull << 31;
constexpr std::size_t vector_bytes = 16;

/// Gives arrays of the same size the shape of the first one that has gaps or another order. False
/// if the elements of another such array have other indices.
bool give_one_shape(std::span<Array> arrays) {
    const auto odd = std::ranges::find_if_not(arrays, &Array::is_c_contiguous);
    const Layout shape = (odd == arrays.end() ? arrays.front() : *odd).layout();
    for (Array &array : arrays) {
        if (array.layout().same_shape(shape))
            continue;
        if (!array.is_c_contiguous())
            return false;
        array = array.view(Layout::contiguous(shape.shape(), array.item_size()));
    }
    return true;
}

/// The range of addresses that an array covers, including gaps.
struct Bytes {
    std::uint64_t begin, end;
    std::size_t item_size;
};

Bytes bytes_of(const ArrayView &flat) {
    return {flat.address, flat.address + flat.size() * flat.item_size, flat.item_size};
}

Bytes bytes_of(const Array &array) {
    const Layout::ByteRange range = array.layout().byte_range(array.item_size());
    const std::uint64_t address = array.ptr();
    return {address + static_cast<std::uint64_t>(range.begin),
            address + static_cast<std::uint64_t>(range.end), array.item_size()};
}

/// The number of elements in an access of 16 bytes; 1 if such accesses are not possible, because
/// arrays share bytes or do not start at multiples of 16.
template <class Arrays> unsigned vector_length(const Arrays &arrays) {
    std::size_t largest = 1;
    for (std::size_t k = 0; k < arrays.size(); ++k) {
        const Bytes mine = bytes_of(arrays[k]);
        largest = std::max(largest, mine.item_size);
        if (mine.begin % vector_bytes != 0)
            return 1;
        for (std::size_t other = 0; other < k; ++other) {
            const Bytes theirs = bytes_of(arrays[other]);
            if (mine.begin < theirs.end && theirs.begin < mine.end)
                return 1;
        }
    }
    return vector_bytes % largest == 0 ? static_cast<unsigned>(vector_bytes / largest) : 1;
}

/// A walk over all elements reads whole vectors: no array may be shorter.
bool have_one_size(std::span<const ArrayView> arrays) {
    const std::size_t size = arrays.front().size();
    return std::ranges::all_of(arrays, [&](const ArrayView &view) { return view.size() == size; });
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

std::pair<std::int64_t, std::int64_t> IndexRange::bounds() const noexcept {
    const std::uint64_t count = size();
    if (count == 0)
        return {0, 0};
    const std::int64_t last = start + static_cast<std::int64_t>(count - 1) * step;
    return {std::min(start, last), std::max(start, last) + 1};
}

struct ElementwiseKernel::State {
    std::vector<KernelArgument> arguments;
    ElementwiseText text;
    UserMacros macros;           ///< of the options
    KernelBuild build;           ///< without these macros
    std::vector<bool> at_i_only; ///< for each array: whether it is used only as x[i]
    bool walks =
        false; ///< the text does not depend on threads, and some array is used only as x[i]
    bool all_walked = true;  ///< all arrays are used only as x[i]
    bool uses_index = false; ///< `i` is used outside of x[i]
    bool may_skip = false;   ///< a condition decides whether an element is used
    VariantCache variants;
};

/// A walk over arrays with strides that are used only as x[i].
struct ElementwiseKernel::Call::Walked {
    std::vector<Array> arrays;
    ElementOperands operands;
    ElementPlan plan;
    std::vector<std::int64_t> offsets = {}; ///< of the first elements of all arrays of the call

    Walked(std::vector<Array> walked, const WalkOptions &options)
        : arrays(std::move(walked)), operands{arrays, {}, {}}, plan(operands, options) {}
};

ElementwiseKernel::ElementwiseKernel(std::vector<KernelArgument> arguments, ElementwiseText text)
    : state_(std::make_shared<State>()) {
    state_->arguments = std::move(arguments);
    state_->text = std::move(text);
    const ElementwiseText &own = state_->text;
    check_kernel_name("elementwise kernel", own.name);
    state_->build = own.build;
    state_->macros.take_from(state_->build.options);
    const std::string all = own.loop_prep + "\n" + own.operation + "\n" + own.after_loop;
    const IndexUse use = find_index_use({own.preamble, all}, state_->arguments, state_->macros);
    state_->at_i_only = use.at_i_only;
    if (state_->at_i_only.empty())
        throw std::invalid_argument("elementwise kernel '" + own.name +
                                    "' needs at least one array among its arguments");
    const auto walked = std::ranges::count(state_->at_i_only, true);
    state_->all_walked = walked == std::ssize(state_->at_i_only);
    state_->walks =
        walked != 0 && !use.minds_threads && own.loop_prep.empty() && own.after_loop.empty();
    state_->uses_index = use.index_alone;
    state_->may_skip = use.may_skip;
}

ElementwiseKernel::ElementwiseKernel(std::string_view arguments, std::string operation)
    : ElementwiseKernel(parse_kernel_arguments(arguments), {.operation = std::move(operation)}) {}

const std::vector<KernelArgument> &ElementwiseKernel::arguments() const noexcept {
    return state_->arguments;
}
const ElementwiseText &ElementwiseKernel::text() const noexcept { return state_->text; }

std::string ElementwiseKernel::source() const {
    if (!state_->walks)
        return write_elementwise(state_->arguments, state_->text, state_->macros, {}).text;
    return write_elementwise(state_->arguments, state_->text, state_->macros, state_->at_i_only,
                             false, {.walk = Walk::Elements, .rolled = runs_on_host()})
        .text;
}

/// Plans a walk over arrays of which some have strides. False if no walk fits.
bool ElementwiseKernel::Call::try_strides(const State &state) {
    std::vector<Array> walked = arrays_of(arrays_);
    for (std::size_t k = arrays_.size(); k-- > 0;) {
        if (state.at_i_only[k])
            continue;
        if (!walked[k].is_c_contiguous())
            return false;
        walked.erase(walked.begin() + static_cast<std::ptrdiff_t>(k));
    }
    if (!give_one_shape(walked))
        return false;
    WalkOptions options;
    options.rolled = runs_on_host();
    options.vectors = !options.rolled && state.all_walked && vector_length(walked) > 1;
    options.order = state.uses_index ? IndexOrder::Memory : IndexOrder::Any;
    walked_ = std::make_shared<Walked>(std::move(walked), options);
    walked_->offsets.reserve(arrays_.size());
    std::size_t walker = 0;
    for (std::size_t k = 0; k < arrays_.size(); ++k)
        walked_->offsets.push_back(state.at_i_only[k] ? walked_->plan.offset(walker++) : 0);
    return true;
}

/// Chooses a walk, if the text and the arrays allow one.
bool ElementwiseKernel::Call::try_walk(State &state) {
    if (!state.walks || range_ || !have_one_size(arrays_))
        return false;
    ElementWalk walk{.walk = Walk::Elements, .rolled = runs_on_host()};
    LaunchConfig config;
    if (!std::ranges::all_of(arrays_, is_c_contiguous)) {
        if (!try_strides(state))
            return false;
        walk = walked_->plan.walk();
        config = walked_->plan.config();
    } else {
        if (const unsigned length = walk.rolled || !state.all_walked ? 1 : vector_length(arrays_);
            length > 1) {
            walk.walk = Walk::Vectors;
            walk.vector_length = static_cast<std::uint8_t>(length);
        }
        const std::uint64_t tile = tile_size(walk);
        config.grid = {static_cast<unsigned>((elements_ + tile - 1) / tile)};
        config.block = {elementwise_block};
    }
    const bool wide = elements_ >= wide_threshold;
    variant_ = state.variants.get((wide ? "W" : "w") + walk_key(walk), state.build, [&] {
        return write_elementwise(state.arguments, state.text, state.macros, state.at_i_only, wide,
                                 walk);
    });
    config.stream = config_.stream;
    config_ = config;
    return true;
}

/// Launches the form in which each thread runs a loop.
void ElementwiseKernel::Call::run_threads(State &state) {
    forms_ = find_forms(arrays_);
    const ElementwiseForm form = {forms_.get(), elements_ >= wide_threshold, range_.has_value()};
    std::string key(1, static_cast<char>(1 + form.wide + 2 * form.ranged));
    if (form.operands)
        key += form.operands->key();
    variant_ = state.variants.get(key, state.build, [&] {
        return write_elementwise(state.arguments, state.text, state.macros, form);
    });
    const std::uint64_t blocks = (count_ + block_size - 1) / block_size;
    config_.grid.x = static_cast<unsigned>(std::min<std::uint64_t>(blocks, 0x7fffffff));
    config_.block.x = block_size;
}

ElementwiseKernel::Call ElementwiseKernel::prepare(std::span<const ArrayView> arrays,
                                                   StreamRef stream,
                                                   std::optional<IndexRange> range) {
    NeededElements needed = {state_->may_skip};
    if (range)
        needed.by_range = range->bounds();
    check_array_sizes("elementwise kernel", state_->text.name, state_->arguments, state_->at_i_only,
                      arrays, needed);
    Call call(arrays, stream);
    call.range_ = range;
    call.elements_ = arrays.front().size();
    call.count_ = range ? range->size() : call.elements_;
    if (call.count_ != 0 && !call.try_walk(*state_))
        call.run_threads(*state_);
    return call;
}

ElementwiseKernel::Call::Call(std::span<const ArrayView> arrays, StreamRef stream)
    : arrays_(arrays) {
    config_.stream = stream;
}

const Function &ElementwiseKernel::Call::function() const noexcept {
    return variant_->functions.front();
}

void ElementwiseKernel::Call::push_array(ArgumentBlock &block, std::size_t array) const {
    const ArrayView &view = arrays_[array];
    if (forms_)
        return forms_->push_array(block, view, array);
    const std::int64_t offset = walked_ ? walked_->offsets[array] : 0;
    block.push_pointer(view.address + static_cast<CUdeviceptr>(offset));
}

void ElementwiseKernel::Call::launch(ArgumentBlock &block) const {
    if (forms_)
        forms_->push_extents(block);
    bool taken = true;
    if (walked_)
        walked_->plan.push_extent(block);
    else if (range_)
        taken = block.try_push_integer(range_->start) && block.try_push_integer(range_->stop) &&
                block.try_push_integer(range_->step);
    else
        taken = block.try_push_integer(elements_);
    if (!taken)
        throw std::logic_error("the kernel does not take the counts that it was made for");
    pycuda::launch(function(), config_, block);
}

} // namespace pycuda
