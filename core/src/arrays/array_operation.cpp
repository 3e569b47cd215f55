// array_operation.cpp -- from operands to the launch of a kernel.
//
// 1. Types: operation_types.cpp says what is computed in which type.
// 2. Shape: what the operands broadcast to; a new array gets the memory order of the inputs.
// 3. Walk: where all elements lie one after the other, one index serves all; else axes are sorted
//    as the output has them in memory, merged where they can be, and the kernel gets strides.
// 4. The kernel of that variant is found by its key, or written and compiled; then launched.
#include <pycuda/array_operation.h>

#include "arrays/kernel_arguments.h"
#include "arrays/kernel_table.h"
#include "arrays/operation_source.h"

#include <pycuda/copy.h>
#include <pycuda/launch.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace pycuda {
namespace {

/// The arrays that a kernel walks over: first the output, then the mask, then operands.
struct Walker {
    const Array *array;
    Layout layout;           ///< broadcast to the output's shape
    std::int64_t offset = 0; ///< of the first element, in bytes
};

struct Plan {
    OperationVariant variant;
    std::array<Walker, max_operands + 2> walkers;
    std::size_t walker_count = 0;
};

bool is_single(const Array &array, std::size_t size) noexcept {
    return array.size() == 1 && size != 1;
}

/// The type as which an operand's value goes to the kernel.
ScalarType stored_type(const Operand &operand, ScalarType loop) noexcept {
    return operand.is_array() ? operand.array().scalar_type() : loop;
}

void classify_operands(Plan &plan, std::span<const Operand> operands, std::size_t size) {
    OperationVariant &variant = plan.variant;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        variant.stored[i] = stored_type(operands[i], variant.loop.in[i]);
        variant.access[i] = !operands[i].is_array()                ? Access::Value
                            : is_single(operands[i].array(), size) ? Access::Single
                                                                   : Access::Elements;
    }
}

/// Whether one index serves: all elements in the order of the output's memory.
bool all_contiguous(const Array &out, std::span<const Operand> operands, const Plan &plan,
                    const Array *mask) {
    auto agrees = [&](const Array &array) {
        return array.layout().same_shape(out.layout()) &&
               ((array.is_c_contiguous() && out.is_c_contiguous()) ||
                (array.is_f_contiguous() && out.is_f_contiguous()));
    };
    if (!out.is_contiguous())
        return false;
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (plan.variant.access[i] == Access::Elements && !agrees(operands[i].array()))
            return false;
    // The index of arange() counts in C order.
    if (plan.variant.operation == Operation::Arange && !out.is_c_contiguous())
        return false;
    return mask == nullptr || plan.variant.mask_is_single || agrees(*mask);
}

bool is_aligned(const Array &array, int length) noexcept {
    return array.misalignment() % (static_cast<std::size_t>(length) * array.item_size()) == 0;
}

Walk contiguous_walk(const OperationVariant &variant, const Array &out,
                     std::span<const Operand> operands) {
    const int length = vector_length(variant);
    if (variant.rolled || !is_aligned(out, length))
        return Walk::Elements;
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (variant.access[i] == Access::Elements && !is_aligned(operands[i].array(), length))
            return Walk::Elements;
    return Walk::Vectors;
}

void add_walker(Plan &plan, const Array &array, std::span<const std::int64_t> shape) {
    plan.walkers[plan.walker_count++] = {&array, array.layout().broadcast_to(shape)};
}

/// Sorts and merges the axes and decides how threads go over them.
void plan_strided(Plan &plan, const Array &out, std::span<const Operand> operands,
                  const Array *mask) {
    add_walker(plan, out, out.shape());
    if (mask != nullptr && !plan.variant.mask_is_single)
        add_walker(plan, *mask, out.shape());
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (plan.variant.access[i] == Access::Elements)
            add_walker(plan, operands[i].array(), out.shape());

    std::array<Layout, max_operands + 2> layouts;
    std::array<std::int64_t, max_operands + 2> offsets{};
    const std::size_t count = plan.walker_count;
    for (std::size_t k = 0; k < count; ++k)
        layouts[k] = plan.walkers[k].layout;
    if (plan.variant.operation != Operation::Arange)
        sort_axes({layouts.data(), count}, {offsets.data(), count});
    coalesce({layouts.data(), count});
    for (std::size_t k = 0; k < count; ++k) {
        plan.walkers[k].layout = layouts[k];
        plan.walkers[k].offset = offsets[k];
    }
}

bool needs_wide_index(const Plan &plan, std::size_t size) {
    constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max() / 2;
    if (size > static_cast<std::size_t>(limit))
        return true;
    for (std::size_t k = 0; k < plan.walker_count; ++k) {
        const Layout::ByteRange range =
            plan.walkers[k].layout.byte_range(plan.walkers[k].array->item_size());
        if (range.begin < -limit || range.end > limit)
            return true;
    }
    return false;
}

/// Walkers of operands are the last ones, in order.
void note_kept_operands(Plan &plan) {
    OperationVariant &variant = plan.variant;
    std::size_t k = plan.walker_count;
    for (int i = variant.operands(); i-- > 0;) {
        if (variant.access[i] != Access::Elements)
            continue;
        const Layout &layout = plan.walkers[--k].layout;
        variant.kept[i] = true;
        for (int axis = 0; axis + 1 < layout.dimensions(); ++axis)
            variant.kept[i] = variant.kept[i] && layout.stride(axis) == 0;
    }
}

/// How many rows a thread goes through: several where it reads the same elements for all of them,
/// if that leaves enough blocks.
std::size_t rows_per_thread(const Plan &plan, std::size_t blocks) {
    constexpr std::size_t most = 4, enough_blocks = 4096;
    const bool repeats = std::ranges::any_of(
        std::span(plan.walkers).first(plan.walker_count), [](const Walker &walker) {
            const Layout &layout = walker.layout;
            for (int axis = 0; axis < layout.dimensions(); ++axis)
                if (layout.stride(axis) == 0)
                    return true;
            return false;
        });
    return repeats ? std::clamp<std::size_t>(blocks / enough_blocks, 1, most) : 1;
}

void choose_strided_walk(Plan &plan, std::size_t size) {
    constexpr std::int64_t long_axis = 32;
    OperationVariant &variant = plan.variant;
    if (plan.walkers[0].layout.dimensions() == 0) // one element
        for (std::size_t k = 0; k < plan.walker_count; ++k)
            plan.walkers[k].layout.append(1, 0);
    const Layout &first = plan.walkers[0].layout;
    const int last = first.dimensions() - 1;
    variant.axes = first.dimensions();
    variant.walk = first.extent(last) >= long_axis ? Walk::Rows : Walk::Flat;
    variant.wide_index = needs_wide_index(plan, size);
    variant.unit_steps = variant.walk == Walk::Rows;
    for (std::size_t k = 0; k < plan.walker_count; ++k)
        if (plan.walkers[k].layout.stride(last) !=
            static_cast<std::int64_t>(plan.walkers[k].array->item_size()))
            variant.unit_steps = false;
    if (variant.walk == Walk::Rows && !variant.rolled && last > 0)
        note_kept_operands(plan);
}

template <class Index>
void add_geometry(KernelArguments &arguments, const Plan &plan, std::size_t size) {
    const Layout &first = plan.walkers[0].layout;
    const int axes = plan.variant.axes;
    const std::size_t count = 2 + static_cast<std::size_t>(axes) * (1 + plan.walker_count);
    auto *numbers =
        reinterpret_cast<Index *>(arguments.reserve(count * sizeof(Index), alignof(Index)));
    *numbers++ = static_cast<Index>(size);
    *numbers++ = static_cast<Index>(size / static_cast<std::size_t>(first.extent(axes - 1)));
    for (int axis = 0; axis < axes; ++axis)
        *numbers++ = static_cast<Index>(first.extent(axis));
    for (int axis = 0; axis < axes; ++axis)
        for (std::size_t k = 0; k < plan.walker_count; ++k)
            *numbers++ = static_cast<Index>(plan.walkers[k].layout.stride(axis));
}

unsigned divide_up(std::size_t a, std::size_t b) { return static_cast<unsigned>((a + b - 1) / b); }

LaunchConfig strided_config(const Plan &plan, std::size_t size) {
    constexpr std::size_t block = elementwise_block, per_thread = elements_per_thread;
    LaunchConfig config;
    if (plan.variant.walk == Walk::Flat) {
        config.block = {elementwise_block};
        config.grid = {divide_up(size, block * per_thread)};
        return config;
    }
    const Layout &first = plan.walkers[0].layout;
    const auto inner = static_cast<std::size_t>(first.extent(plan.variant.axes - 1));
    std::size_t width = 32;
    while (width < block && width * per_thread < inner)
        width *= 2;
    config.block = {static_cast<unsigned>(width), static_cast<unsigned>(block / width)};
    const unsigned columns = divide_up(inner, width * per_thread);
    std::size_t rows = divide_up(size / inner, block / width);
    if (!plan.variant.rolled)
        rows = divide_up(rows, rows_per_thread(plan, columns * rows));
    config.grid = {columns, static_cast<unsigned>(std::min<std::size_t>(rows, 65535))};
    return config;
}

void add_operands(KernelArguments &arguments, const Plan &plan, std::span<const Operand> operands) {
    // The walkers of operands come after those of the output and the mask, in order.
    std::size_t walker = plan.walker_count;
    for (std::size_t i = operands.size(); i-- > 0;)
        walker -= plan.variant.access[i] == Access::Elements && plan.walker_count > 0;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (!operands[i].is_array()) {
            alignas(16) std::byte value[16];
            const ScalarType type = plan.variant.stored[i];
            operands[i].scalar().write(type, value);
            arguments.add(value, item_size(type),
                          is_complex(type) ? item_size(type) / 2 : item_size(type));
            continue;
        }
        const bool walks = plan.variant.access[i] == Access::Elements && plan.walker_count > 0;
        arguments.add(operands[i].array(), walks ? plan.walkers[walker++].offset : 0);
    }
}

const Function &kernel_of(const OperationVariant &variant, const Array &out) {
    return out.context()->kernels().find(variant.key(), [&] { return operation_source(variant); });
}

void launch_plan(Plan &plan, const Array &out, std::span<const Operand> operands,
                 const ApplyOptions &options) {
    const Function &kernel = kernel_of(plan.variant, out); // may take long, so before the addresses
    const bool strided = plan.variant.strided();
    StreamUse use(options.stream);
    KernelArguments arguments(use);
    arguments.add(out, strided ? plan.walkers[0].offset : 0);
    if (options.where != nullptr) {
        const bool by_element = strided && !plan.variant.mask_is_single;
        arguments.add(*options.where, by_element ? plan.walkers[1].offset : 0);
    }
    add_operands(arguments, plan, operands);
    LaunchConfig config;
    if (strided) {
        config = strided_config(plan, out.size());
        if (plan.variant.wide_index)
            add_geometry<std::int64_t>(arguments, plan, out.size());
        else
            add_geometry<std::int32_t>(arguments, plan, out.size());
    } else {
        config.block = {elementwise_block};
        config.grid = {divide_up(out.size(), tile_size(plan.variant))};
        arguments.add(static_cast<std::uint64_t>(out.size()));
    }
    arguments.launch(kernel, config);
}

/// Throws where a number does not fit its type, as the launch would.
void check_numbers(const LoopTypes &loop, std::span<const Operand> operands) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
        alignas(16) std::byte bytes[16];
        if (!operands[i].is_array())
            operands[i].scalar().write(loop.in[i], bytes);
    }
}

/// Computes into `out`, whose shape is that of the result.
void run(Operation operation, const LoopTypes &loop, const Array &out,
         std::span<const Operand> operands, const ApplyOptions &options) {
    if (out.size() == 0)
        return check_numbers(loop, operands);
    Plan plan;
    plan.variant.operation = operation;
    plan.variant.loop = loop;
    plan.variant.out = out.scalar_type();
    plan.variant.rolled = is_rolled(options.form);
    plan.variant.masked = options.where != nullptr;
    plan.variant.mask_is_single = options.where != nullptr && is_single(*options.where, out.size());
    classify_operands(plan, operands, out.size());
    if (all_contiguous(out, operands, plan, options.where)) {
        plan.variant.walk = contiguous_walk(plan.variant, out, operands);
    } else {
        plan_strided(plan, out, operands, options.where);
        choose_strided_walk(plan, out.size());
    }
    launch_plan(plan, out, operands, options);
}

/// Whether writing `out` element by element could change what is still to be read of `in`.
bool is_overwritten(const Array &in, const Array &out) {
    if (!in.may_share_bytes(out))
        return false;
    return !in.starts_where(out) || in.item_size() != out.item_size() ||
           !std::ranges::equal(in.shape(), out.shape()) ||
           !std::ranges::equal(in.layout().strides(), out.layout().strides());
}

Layout broadcast_shape(std::span<const Operand> operands, const Array *where) {
    Layout shape;
    bool first = true;
    auto add = [&](const Array &array) {
        shape = first ? array.layout() : broadcast_shapes(shape, array.layout());
        first = false;
    };
    for (const Operand &operand : operands)
        if (operand.is_array())
            add(operand.array());
    if (where != nullptr)
        add(*where);
    return shape;
}

/// In the memory order of the inputs: that of the first one which has the result's shape.
Layout result_layout(Operation operation, const Layout &shape, ScalarType type,
                     std::span<const Operand> operands) {
    const Array *like = nullptr;
    bool all_c = true;
    for (const Operand &operand : operands) {
        if (!operand.is_array())
            continue;
        all_c &= operand.array().is_c_contiguous();
        if (like == nullptr && operand.array().layout().same_shape(shape))
            like = &operand.array();
    }
    if (like == nullptr || all_c || operation == Operation::Arange)
        return Layout::contiguous(shape.shape(), item_size(type));
    return like->layout().dense(item_size(type));
}

const std::shared_ptr<ArrayContext> &context_of(std::span<const Operand> operands) {
    for (const Operand &operand : operands)
        if (operand.is_array() && operand.array().memory())
            return operand.array().context();
    return ArrayContext::current();
}

void check_out(Operation operation, const Layout &shape, ScalarType type,
               const ApplyOptions &options) {
    const Array &out = *options.out;
    out.require_writable("out");
    if (out.dtype().is_opaque() || !can_cast(type, out.scalar_type(), options.casting))
        throw UnsupportedTypes(
            "the result of " + std::string(operation_name(operation)) + "() is " +
            std::string(numpy_name(type)) + ", which cannot be cast to " + out.dtype().name() +
            " of out by the rule \"" + std::string(casting_name(options.casting)) + "\"");
    const Layout fitted = shape.broadcast_to(out.shape()); // throws where it does not fit
    static_cast<void>(fitted);
}

bool is_misaligned(std::span<const Operand> operands, const Array *out) {
    if (out != nullptr && !out->is_aligned())
        return true;
    return std::ranges::any_of(operands, [](const Operand &operand) {
        return operand.is_array() && !operand.array().is_aligned();
    });
}

void copy_bytes(const Array &to, const Array &from, StreamRef stream);

Array copy_of(const Array &array, StreamRef stream) {
    Array copy = Array::with_layout(array.context(), array.layout().dense(array.item_size()),
                                    array.dtype(), stream);
    copy_bytes(copy, array, stream);
    return copy;
}

/// As NumPy does for a number. Exponents in an array are on the device, and are not looked at.
void refuse_negative_power(Operation operation, const LoopTypes &loop,
                           std::span<const Operand> operands) {
    if (operation == Operation::Power && is_integer(loop.out) && !operands[1].is_array() &&
        operands[1].scalar().is_negative())
        throw std::invalid_argument("integers to negative integer powers are not allowed");
}

/// The same operation on copies; an `out` is copied back.
Array apply_misaligned(Operation operation, std::span<const Operand> operands,
                       const ApplyOptions &options) {
    std::vector<Array> copies;
    copies.reserve(operands.size());
    std::vector<Operand> replaced;
    for (const Operand &operand : operands) {
        if (!operand.is_array()) {
            replaced.push_back(operand);
            continue;
        }
        copies.push_back(aligned(operand.array(), options.stream));
        replaced.emplace_back(copies.back());
    }
    ApplyOptions changed = options;
    if (options.out == nullptr || options.out->is_aligned())
        return apply(operation, replaced, changed);
    const Array out = aligned(*options.out, options.stream);
    changed.out = &out;
    apply(operation, replaced, changed);
    copy_bytes(*options.out, out, options.stream);
    return *options.out;
}

} // namespace

ResultDescription describe_result(Operation operation, std::span<const Operand> operands,
                                  const ApplyOptions &options) {
    const LoopTypes loop = loop_types(operation, operands, options.dtype);
    const Layout shape = broadcast_shape(operands, options.where);
    return {result_layout(operation, shape, loop.out, operands), loop.out};
}

Array apply(Operation operation, std::span<const Operand> operands, const ApplyOptions &options) {
    if (is_misaligned(operands, options.out)) [[unlikely]]
        return apply_misaligned(operation, operands, options);
    const LoopTypes loop = loop_types(operation, operands, options.dtype);
    if (options.dtype || options.casting != Casting::SameKind)
        check_casts(operation, operands, loop, options.casting);
    refuse_negative_power(operation, loop, operands);
    const Layout shape = broadcast_shape(operands, options.where);
    if (options.out == nullptr) {
        Array result = Array::with_layout(context_of(operands),
                                          result_layout(operation, shape, loop.out, operands),
                                          loop.out, options.stream);
        run(operation, loop, result, operands, options);
        return result;
    }
    check_out(operation, shape, loop.out, options);
    if (options.where != nullptr && is_overwritten(*options.where, *options.out)) {
        ApplyOptions copied = options;
        const Array mask = copy_of(*options.where, options.stream);
        copied.where = &mask;
        return apply(operation, operands, copied);
    }
    for (const Operand &operand : operands)
        if (operand.is_array() && is_overwritten(operand.array(), *options.out)) {
            ApplyOptions aside = options;
            const Array result = Array::with_layout(
                options.out->context(), options.out->layout().dense(item_size(loop.out)), loop.out,
                options.stream);
            aside.out = nullptr;
            aside.where = nullptr;
            run(operation, loop, result, operands, aside);
            aside.where = options.where;
            run(Operation::Copy, {{loop.out}, options.out->scalar_type()}, *options.out,
                std::array{Operand(result)}, aside);
            return *options.out;
        }
    run(operation, loop, *options.out, operands, options);
    return *options.out;
}

namespace {

/// Structs are copied as words: the axis of an element's words is added to the layout.
Array as_words(const Array &array, std::size_t word) {
    Layout layout = array.layout();
    layout.append(static_cast<std::int64_t>(array.item_size() / word),
                  static_cast<std::int64_t>(word));
    return array.view(layout, word == 4 ? ScalarType::UInt32 : ScalarType::UInt8);
}

bool is_word_aligned(const Array &array) noexcept {
    std::uint64_t bits = array.misalignment() | array.item_size();
    for (std::int64_t stride : array.layout().strides())
        bits |= static_cast<std::uint64_t>(stride);
    return bits % 4 == 0;
}

/// Between arrays of the same type, whatever it is.
void copy_bytes(const Array &to, const Array &from, StreamRef stream) {
    const std::size_t word = is_word_aligned(to) && is_word_aligned(from) ? 4 : 1;
    assign(as_words(to, word), as_words(from.view(from.layout().broadcast_to(to.shape())), word),
           Casting::No, stream);
}

/// Whether the driver is to copy: the same elements in the same places, side by side, of two
/// arrays. On a GPU a kernel is no slower for large arrays and quicker for small ones.
bool is_plain_copy(const Array &to, const Array &from) {
    return is_rolled(KernelForm::Chosen) && from.dtype() == to.dtype() &&
           std::ranges::equal(from.shape(), to.shape()) &&
           std::ranges::equal(from.layout().strides(), to.layout().strides()) &&
           to.layout().is_dense(to.item_size()) && from.context() == to.context() &&
           !to.may_share_bytes(from);
}

void assign_opaque(const Array &to, const Array &from, StreamRef stream) {
    if (from.dtype() != to.dtype())
        throw UnsupportedTypes("elements of " + from.dtype().name() + " cannot be copied to " +
                               to.dtype().name());
    copy_bytes(to, from, stream);
}

void check_number(const Scalar &number, ScalarType type) {
    if (number.is_weak() && number.weak_class() == TypeClass::Complex && !is_complex(type) &&
        !is_bool(type))
        throw UnsupportedTypes("an element of " + std::string(numpy_name(type)) +
                               " cannot be set to a Python complex number");
    number.check_assignable(type);
}

} // namespace

Array aligned(const Array &array, StreamRef stream) {
    return array.is_aligned() ? array : copy_of(array, stream);
}

void assign(const Array &to, const Operand &from, Casting casting, StreamRef stream) {
    to.require_writable("the array to assign to");
    const bool is_array = from.is_array();
    if (!is_array)
        check_number(from.scalar(), to.scalar_type());
    else if (!from.array().layout().same_shape(to.layout()))
        return assign(to, from.array().view(from.array().layout().assigned_to(to.shape())), casting,
                      stream);
    if (to.size() == 0) {
        std::array<std::byte, 16>
            element; // a number that does not fit is an error for no elements, too
        if (!is_array && !to.dtype().is_opaque())
            from.scalar().write(to.scalar_type(), element.data());
        return;
    }
    if (is_array && is_plain_copy(to, from.array())) {
        StreamUse use(stream);
        return copy_on_device_async(use.address(to), use.address(from.array()), to.bytes(),
                                    use.stream());
    }
    if (to.dtype().is_opaque() || (is_array && from.array().dtype().is_opaque())) {
        if (!is_array)
            throw UnsupportedTypes("elements of " + to.dtype().name() +
                                   " cannot be set to a number");
        return assign_opaque(to, from.array(), stream);
    }
    const ScalarType type = is_array ? from.array().scalar_type() : to.scalar_type();
    apply(Operation::Copy, std::array{from},
          {.out = &to, .dtype = type, .casting = casting, .stream = stream});
}

} // namespace pycuda
