// expression_launch.cpp -- chooses a walk for the arrays of a call, and launches the kernel.
//
// If all arrays have the memory order of the results and no gaps, one index serves all arrays.
// Otherwise, the axes are sorted in the memory order of the first result and merged if possible,
// and the kernel gets strides.
#include "arrays/expression_launch.h"
#include "arrays/array_axes.h"

#include "arrays/kernel_arguments.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>

namespace pycuda {
namespace {

/// The maximum number of extents and strides that fit into a kernel's parameters.
constexpr std::size_t most_geometry_numbers = 400;

bool is_single(const Array &array, std::size_t size) noexcept {
    return array.size() == 1 && size != 1;
}

/// Moves an axis to a later place; the axes between move up.
void move_axis(Layout &layout, int axis, int place) {
    const std::int64_t extent = layout.extent(axis), stride = layout.stride(axis);
    for (int k = axis; k < place; ++k)
        layout.set(k, layout.extent(k + 1), layout.stride(k + 1));
    layout.set(place, extent, stride);
}

/// Adds a number that is passed by value as an element of a type. Throws ScalarOverflow.
void add_number(KernelArguments &arguments, const Scalar &number, ScalarType type) {
    alignas(16) std::byte value[16];
    number.write(type, value);
    const std::size_t size = item_size(type);
    arguments.add(value, size, is_complex(type) ? size / 2 : size);
}

} // namespace

void add_numbers(KernelArguments &arguments, const Expression &expression,
                 std::span<const Operand> numbers) {
    for (const Expression::Operand &operand : expression.operands)
        if (operand.is_number) {
            add_number(arguments, numbers.front().scalar(), operand.type);
            numbers = numbers.subspan(1);
        }
}

template <class Holds> bool ElementPlan::all_arrays(Holds &&holds) const noexcept {
    for (const Array &result : call_.results)
        if (!holds(result))
            return false;
    if (walk_.has_mask_elements() && !holds(*call_.mask))
        return false;
    for (std::size_t k = 0; k < call_.operands.size(); ++k)
        if (has_elements(k) && !holds(call_.operands[k].array()))
            return false;
    return true;
}

bool ElementPlan::has_elements(std::size_t operand) const noexcept {
    return call_.operands[operand].is_array() && !walk_.is_single(operand);
}

ElementPlan::ElementPlan(const ElementOperands &call, const WalkOptions &options)
    : call_(call), size_(call.results[0].size()) {
    walk_.rolled = options.rolled;
    find_singles();
    if (is_contiguous() && (options.order != IndexOrder::C || call.results[0].is_c_contiguous()))
        choose_contiguous(options);
    else
        choose_strided(options);
}

void ElementPlan::find_singles() noexcept {
    walk_.masked = call_.mask != nullptr;
    walk_.mask_is_single = walk_.masked && is_single(*call_.mask, size_);
    for (std::size_t k = 0; k < call_.operands.size(); ++k)
        if (call_.operands[k].is_array() && is_single(call_.operands[k].array(), size_))
            walk_.single |= std::uint64_t{1} << k;
}

bool ElementPlan::is_contiguous() const noexcept {
    const Array &result = call_.results[0];
    return result.is_contiguous() && all_arrays([&](const Array &array) {
               return array.layout().same_shape(result.layout()) &&
                      ((array.is_c_contiguous() && result.is_c_contiguous()) ||
                       (array.is_f_contiguous() && result.is_f_contiguous()));
           });
}

/// The length of vectors, 16 bytes of the widest type, if all arrays are aligned for it.
void ElementPlan::choose_contiguous(const WalkOptions &options) noexcept {
    walk_.walk = Walk::Elements;
    if (walk_.rolled || !options.vectors || walk_.has_mask_elements())
        return;
    std::size_t widest = 1;
    all_arrays([&](const Array &array) {
        widest = std::max(widest, array.item_size());
        return true;
    });
    const std::size_t length = std::min<std::size_t>(16 / widest, options.is_long ? 8 : 16);
    if (all_arrays([&](const Array &array) {
            return array.misalignment() % (length * array.item_size()) == 0;
        })) {
        walk_.walk = Walk::Vectors;
        walk_.vector_length = static_cast<std::uint8_t>(length);
    }
}

void ElementPlan::add_walkers() {
    std::size_t count = 0;
    all_arrays([&](const Array &) { return ++count != 0; });
    arrays_.resize(count);
    layouts_.resize(count);
    offsets_.resize(count);
    std::size_t k = 0;
    all_arrays([&](const Array &array) {
        arrays_[k] = &array;
        offsets_[k++] = 0;
        return true;
    });
    for (k = 0; k < count; ++k) // throws if the shapes do not fit
        layouts_[k] = arrays_[k]->layout().broadcast_to(call_.results[0].shape());
}

void ElementPlan::choose_strided(const WalkOptions &options) {
    constexpr std::int64_t long_axis = 32;
    add_walkers();
    if (options.order == IndexOrder::Any)
        sort_axes(layouts_.get(), offsets_.get());
    coalesce_to_axes(layouts_.get());
    const int axes = layouts_[0].dimensions();
    walk_.axes = static_cast<std::uint8_t>(axes);
    if (options.rolled && options.order == IndexOrder::Any &&
        layouts_[0].extent(axes - 1) < long_axis)
        find_longer_axis();
    walk_.walk = layouts_[0].extent(axes - 1) >= long_axis ? Walk::Rows : Walk::Flat;
    walk_.wide_index = needs_wide_index();
    walk_.unit_steps = walk_.walk == Walk::Rows && has_unit_steps();
    if (walk_.walk == Walk::Rows && walk_.rolled && !walk_.unit_steps)
        find_steps();
    if (walk_.walk == Walk::Rows && !walk_.rolled && axes > 1) {
        find_kept();
        if (options.order == IndexOrder::Any && !options.is_long)
            find_crossed();
    }
}

/// The step, in elements, of all arrays that are not contiguous along an axis: 1 if there are none,
/// nothing if they differ or if kernels are not compiled for the step.
std::optional<std::int8_t> ElementPlan::step_along(int axis) const noexcept {
    std::int64_t step = 1;
    for (std::size_t k = 0; k < layouts_.size(); ++k) {
        const auto size = static_cast<std::int64_t>(arrays_[k]->item_size());
        const std::int64_t bytes = layouts_[k].stride(axis), own = bytes / size;
        if (bytes % size != 0 || (own != 1 && step != 1 && own != step))
            return {};
        step = own == 1 ? step : own;
    }
    const bool known = step == 1 || std::ranges::find(known_steps, step) != std::end(known_steps);
    return known ? std::optional(static_cast<std::int8_t>(step)) : std::nullopt;
}

/// If the last axis is short: puts the longest axis behind it, if the steps along that axis allow
/// vectors. Example: a vector whose elements are repeated, seen as (n, 2), is written as (2, n).
void ElementPlan::find_longer_axis() noexcept {
    const auto shape = layouts_[0].shape();
    const auto axis = static_cast<int>(std::ranges::max_element(shape) - shape.begin());
    if (axis == walk_.axes - 1 || !step_along(axis))
        return;
    for (Layout &layout : layouts_.get())
        move_axis(layout, axis, walk_.axes - 1);
}

/// Whether all arrays that are not contiguous along the last axis have one known step there.
void ElementPlan::find_steps() noexcept {
    const std::optional<std::int8_t> step = step_along(walk_.axes - 1);
    if (!step || layouts_.size() > 64)
        return;
    walk_.has_step = true;
    walk_.step = *step;
    for (std::size_t k = 0; k < layouts_.size(); ++k)
        if (layouts_[k].stride(walk_.axes - 1) ==
            static_cast<std::int64_t>(arrays_[k]->item_size()))
            walk_.unit |= std::uint64_t{1} << k;
}

/// An axis along which some operand is contiguous, while its stride along the last axis is large
/// and the first result is contiguous there; -1 if there is no such axis.
int ElementPlan::crossing_axis() const noexcept {
    constexpr std::int64_t far = 128; // bytes
    const int last = walk_.axes - 1;
    for (std::size_t k = call_.results.size(); k < layouts_.size(); ++k)
        for (int axis = 0; axis < last; ++axis)
            if (layouts_[k].stride(axis) == static_cast<std::int64_t>(arrays_[k]->item_size()) &&
                std::abs(layouts_[k].stride(last)) >= far)
                return axis;
    return -1;
}

/// Large arrays of which some are transposed relative to the results: uses tiles. The crossing axis
/// becomes the axis before the last.
void ElementPlan::find_crossed() noexcept {
    constexpr std::size_t least = 1 << 16, most_arrays = 8, shared_bytes = 48 << 10;
    const bool fits =
        size_ >= least && layouts_.size() <= most_arrays && !walk_.has_mask_elements();
    const int axis = fits ? crossing_axis() : -1;
    if (axis < 0 || layouts_[0].extent(axis) < 16)
        return;
    std::uint64_t crossed = 0;
    std::size_t widest = 0, bytes = 0, walker = call_.results.size();
    for (std::size_t k = 0; k < call_.operands.size(); ++k) {
        if (!has_elements(k))
            continue;
        const std::size_t size = arrays_[walker]->item_size();
        if (layouts_[walker++].stride(axis) != static_cast<std::int64_t>(size))
            continue;
        crossed |= std::uint64_t{1} << k;
        widest = std::max(widest, size);
        bytes += size;
    }
    const std::size_t side = widest <= 2 ? 64 : 32;
    if (crossed == 0 || bytes * side * (side + 1) > shared_bytes)
        return;
    for (Layout &layout : layouts_.get())
        move_axis(layout, axis, walk_.axes - 2);
    walk_.tile_side = static_cast<std::uint8_t>(side);
    if (tile_count() > std::numeric_limits<std::int32_t>::max())
        return; // Rows supports every order of the axes
    walk_.walk = Walk::Tiles;
    walk_.crossed = crossed;
    walk_.kept = 0;
    walk_.unit_steps = false;
}

std::size_t ElementPlan::tile_count() const noexcept {
    const std::size_t side = walk_.tile_side;
    const auto width = static_cast<std::size_t>(layouts_[0].extent(walk_.axes - 1));
    const auto height = static_cast<std::size_t>(layouts_[0].extent(walk_.axes - 2));
    return (width + side - 1) / side * ((height + side - 1) / side) * (size_ / (width * height));
}

bool ElementPlan::needs_wide_index() const noexcept {
    constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max() / 2;
    if (size_ > static_cast<std::size_t>(limit))
        return true;
    for (std::size_t k = 0; k < layouts_.size(); ++k) {
        const Layout::ByteRange range = layouts_[k].byte_range(arrays_[k]->item_size());
        if (range.begin < -limit || range.end > limit)
            return true;
    }
    return false;
}

bool ElementPlan::has_unit_steps() const noexcept {
    for (std::size_t k = 0; k < layouts_.size(); ++k)
        if (layouts_[k].stride(walk_.axes - 1) !=
            static_cast<std::int64_t>(arrays_[k]->item_size()))
            return false;
    return true;
}

/// Finds the operands that are the same in all rows.
void ElementPlan::find_kept() noexcept {
    std::size_t walker = layouts_.size();
    for (std::size_t k = call_.operands.size(); k-- > 0;) {
        if (!has_elements(k))
            continue;
        const auto strides = layouts_[--walker].strides().first(walk_.axes - 1u);
        if (std::ranges::all_of(strides, [](std::int64_t stride) { return stride == 0; }))
            walk_.kept |= std::uint64_t{1} << k;
    }
}

/// The number of rows per thread: more than one if all rows read the same elements, and if enough
/// blocks remain.
std::size_t ElementPlan::rows_per_thread(std::size_t blocks) const noexcept {
    constexpr std::size_t most = 4, enough_blocks = 4096;
    const bool repeats = std::ranges::any_of(layouts_.get(), [](const Layout &layout) {
        return std::ranges::find(layout.strides(), 0) != layout.strides().end();
    });
    return repeats ? std::clamp<std::size_t>(blocks / enough_blocks, 1, most) : 1;
}

LaunchConfig ElementPlan::config() const noexcept {
    constexpr std::size_t block = elementwise_block, per_thread = elements_per_thread;
    LaunchConfig config;
    if (walk_.walk == Walk::Tiles) {
        config.block = {walk_.tile_side, static_cast<unsigned>(block / walk_.tile_side)};
        config.grid = {static_cast<unsigned>(tile_count())};
        return config;
    }
    if (walk_.walk != Walk::Rows) {
        config.block = {elementwise_block};
        config.grid = {static_cast<unsigned>(divide_up(size_, tile_size(walk_)))};
        return config;
    }
    const auto inner = static_cast<std::size_t>(layouts_[0].extent(walk_.axes - 1));
    // A few rows of interleaved elements share cache lines, so a block computes all of them.
    const std::size_t lines = size_ / inner;
    const std::size_t shared_rows = walk_.has_step && lines < 8 ? lines : 1;
    std::size_t width = 32;
    while (width < block && width * per_thread < inner && block / width > shared_rows)
        width *= 2;
    config.block = {static_cast<unsigned>(width), static_cast<unsigned>(block / width)};
    const std::size_t columns = divide_up(inner, width * per_thread);
    std::size_t rows = divide_up(size_ / inner, block / width);
    if (!walk_.rolled)
        rows = divide_up(rows, rows_per_thread(columns * rows));
    config.grid = {static_cast<unsigned>(columns),
                   static_cast<unsigned>(std::min<std::size_t>(rows, 65535))};
    return config;
}

void ElementPlan::add_operands(KernelArguments &arguments) const {
    std::size_t walker = 0;
    auto next_offset = [&] { return walk_.is_strided() ? offsets_[walker++] : 0; };
    for (const Array &result : call_.results)
        arguments.add(result, next_offset());
    if (walk_.masked)
        arguments.add(OnlyRead{&*call_.mask}, walk_.mask_is_single ? 0 : next_offset());
    for (std::size_t k = 0; k < call_.operands.size(); ++k) {
        const Operand &operand = call_.operands[k];
        if (!operand.is_array())
            add_number(arguments, operand.scalar(), call_.types[k]);
        else
            arguments.add(OnlyRead{&operand.array()}, walk_.is_single(k) ? 0 : next_offset());
    }
}

std::size_t ElementPlan::geometry_numbers() const noexcept {
    return 2 + walk_.axes * (1 + layouts_.size());
}

template <class Index> void ElementPlan::write_geometry(void *place) const noexcept {
    const Layout &first = layouts_[0];
    auto *numbers = static_cast<Index *>(place);
    *numbers++ = static_cast<Index>(size_);
    *numbers++ = static_cast<Index>(size_ / static_cast<std::size_t>(first.extent(walk_.axes - 1)));
    for (std::int64_t extent : first.shape())
        *numbers++ = static_cast<Index>(extent);
    for (int axis = 0; axis < walk_.axes; ++axis)
        for (const Layout &layout : layouts_.get())
            *numbers++ = static_cast<Index>(layout.stride(axis));
}

void ElementPlan::check_geometry() const {
    if (layouts_.size() * (walk_.axes + 2u) > most_geometry_numbers) [[unlikely]]
        throw std::invalid_argument(std::to_string(layouts_.size()) + " arrays of " +
                                    std::to_string(walk_.axes) +
                                    " axes that cannot be merged are too many for one kernel");
}

void ElementPlan::launch(const Function &kernel, StreamRef stream) const {
    check_geometry();
    Work use(stream, kernel.context());
    KernelArguments arguments(use);
    add_operands(arguments);
    const std::size_t count = geometry_numbers();
    if (!walk_.is_strided())
        arguments.add(static_cast<std::uint64_t>(size_));
    else if (walk_.wide_index)
        write_geometry<std::int64_t>(arguments.reserve(8 * count, 8));
    else
        write_geometry<std::int32_t>(arguments.reserve(4 * count, 4));
    arguments.launch(kernel, config());
}

void ElementPlan::push_extent(ArgumentBlock &block) const {
    check_geometry();
    std::array<std::int64_t, 2 + most_geometry_numbers> numbers;
    const std::size_t bytes = geometry_numbers() * (walk_.wide_index ? 8 : 4);
    if (!walk_.is_strided())
        numbers[0] = static_cast<std::int64_t>(size_);
    else if (walk_.wide_index)
        write_geometry<std::int64_t>(numbers.data());
    else
        write_geometry<std::int32_t>(numbers.data());
    if (!block.try_push(numbers.data(), walk_.is_strided() ? bytes : sizeof(std::uint64_t),
                        ValueKind::Bytes))
        throw std::logic_error("the kernel does not take the extents that it was made for");
}

} // namespace pycuda
