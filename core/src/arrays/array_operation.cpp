// array_operation.cpp -- computes an operation on arrays, from the operands to the kernel's launch.
//
// 1. Types: operation_types.cpp chooses the types of the computation.
// 2. Shape: the operands are broadcast; a new array gets the memory order of the inputs.
// 3. Walk: expression_launch.cpp chooses how the kernel accesses the elements.
// 4. Kernel: found by its key, or generated and compiled; then launched.
#include <pycuda/array_operation.h>

#include "arrays/device_code.h"
#include "arrays/expression.h"
#include "arrays/expression_launch.h"
#include "arrays/kernel_table.h"

#include <pycuda/copy.h>
#include <pycuda/work.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace pycuda {
namespace {

/// 0: the steps along the last axis are parameters of the kernel; 1: all arrays have one element.
std::uint64_t step_code(const ElementWalk &walk) noexcept {
    if (!walk.has_step)
        return walk.unit_steps ? 1 : 0;
    return 2 + static_cast<std::uint64_t>(std::ranges::find(known_steps, walk.step) -
                                          std::begin(known_steps));
}

KernelKey key_of(const TypedOperation &operation, unsigned numbers, const ElementWalk &walk) {
    const int operands = operation.operands();
    std::uint64_t stored = 0;
    for (int i = 0; i < max_operands; ++i)
        stored = stored << 4 | (i < operands ? static_cast<std::uint64_t>(operation.stored[i]) : 0);
    // The operand that determines the loop's types; the types of the other operands follow from the
    // operation.
    const ScalarType decisive = operation.loop.in[operands == 3 ? 1 : 0];
    // Rolled walks have neither kept nor crossed operands; other walks have no known step. Together
    // with the types, the walk determines the length of vectors and the size of tiles.
    return {KernelFamily::Operation,
            {{operation.operation, 7},
             {stored, 4 * max_operands},
             {numbers, max_operands},
             {walk.single, max_operands},
             {walk.kept | (walk.unit & 15), max_operands},
             {walk.crossed | walk.unit >> 4, max_operands},
             {decisive, 4},
             {operation.out, 4},
             {walk.masked, 1},
             {walk.mask_is_single, 1},
             {walk.walk, 3},
             {walk.rolled, 1},
             {walk.axes, 6},
             {step_code(walk), 3},
             {walk.wide_index, 1}}};
}

Expression expression_of(const TypedOperation &operation, unsigned numbers) {
    Expression expression;
    ExpressionStep step{operation, {}};
    for (int i = 0; i < operation.operands(); ++i) {
        expression.operands.push_back({operation.stored[i], (numbers >> i & 1) != 0});
        step.operands.push_back(i);
    }
    expression.steps = {std::move(step)};
    expression.results = {operation.operands()};
    return expression;
}

/// Throws if a number does not fit its type, like the launch.
void check_numbers(const LoopTypes &loop, std::span<const Operand> operands) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
        alignas(16) std::byte bytes[16];
        if (!operands[i].is_array())
            operands[i].scalar().write(loop.in[i], bytes);
    }
}

/// Computes into `out`, which has the shape of the result.
void run(Operation operation, const LoopTypes &loop, const Array &out,
         std::span<const Operand> operands, const ApplyOptions &options) {
    if (out.size() == 0)
        return check_numbers(loop, operands);
    TypedOperation typed{operation, {}, loop, out.scalar_type()};
    unsigned numbers = 0;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        typed.stored[i] = operands[i].is_array() ? operands[i].array().scalar_type() : loop.in[i];
        numbers |= unsigned{!operands[i].is_array()} << i;
    }
    const ElementOperands call{{&out, 1}, operands, typed.stored, options.where};
    const ElementPlan plan(
        call, {.rolled = is_rolled(),
               .is_long = is_long(typed),
               .order = operation == Operation::Arange ? IndexOrder::C : IndexOrder::Any});
    const Function &kernel = out.context()->kernels().find(
        key_of(typed, numbers, plan.walk()), operation_name(operation),
        [&] { return expression_source(expression_of(typed, numbers), plan.walk()); });
    plan.launch(kernel, options.stream);
}

/// Whether writing `out` element by element could overwrite elements of `in` that are still to be
/// read.
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
        if (first)
            shape = array.layout();
        else if (!shape.same_shape(array.layout()))
            shape = broadcast_shapes(shape, array.layout());
        first = false;
    };
    for (const Operand &operand : operands)
        if (operand.is_array())
            add(operand.array());
    if (where != nullptr)
        add(*where);
    return shape;
}

/// The layout of the result: the memory order of the first input that has the result's shape.
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
    const Layout fitted = shape.broadcast_to(out.shape()); // throws if the shapes do not fit
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

/// As NumPy does for a number. Exponents in arrays are not checked, because they are on the device.
void refuse_negative_power(Operation operation, const LoopTypes &loop,
                           std::span<const Operand> operands) {
    if (operation == Operation::Power && is_integer(loop.out) && !operands[1].is_array() &&
        operands[1].scalar().is_negative())
        throw std::invalid_argument("integers to negative integer powers are not allowed");
}

/// Computes the operation on aligned copies; an `out` is copied back.
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

/// Whether integers are compared with a Python int that no type of integers holds.
bool compares_beyond_64_bits(Operation operation, std::span<const Operand> operands) {
    if (!is_comparison(operation))
        return false;
    bool beyond = false;
    for (const Operand &operand : operands) {
        if (operand.is_array() && !is_integer(operand.array().scalar_type()) &&
            !is_bool(operand.array().scalar_type()))
            return false;
        beyond |= !operand.is_array() && operand.scalar().is_beyond_64_bits();
    }
    return beyond;
}

/// Every integer is less than infinity. The int itself may be nearest to the double that is also
/// nearest to the largest uint64.
std::vector<Operand> with_infinities(std::span<const Operand> operands) {
    std::vector<Operand> replaced;
    for (const Operand &operand : operands)
        if (!operand.is_array() && operand.scalar().is_beyond_64_bits())
            replaced.emplace_back(Scalar::weak(operand.scalar().is_negative()
                                                   ? -std::numeric_limits<double>::infinity()
                                                   : std::numeric_limits<double>::infinity()));
        else
            replaced.push_back(operand);
    return replaced;
}

/// For copies of structs as words: adds an axis for the words of an element to the layout.
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

/// Copies between arrays of the same type, which can be any type.
void copy_bytes(const Array &to, const Array &from, StreamRef stream) {
    const std::size_t word = is_word_aligned(to) && is_word_aligned(from) ? 4 : 1;
    assign(as_words(to, word), as_words(from.view(from.layout().broadcast_to(to.shape())), word),
           Casting::No, stream);
}

/// Whether the driver should copy: both arrays are contiguous and have the same order. On a GPU, a
/// kernel is as fast for large arrays and faster for small arrays.
bool is_plain_copy(const Array &to, const Array &from) {
    return runs_on_host() && from.dtype() == to.dtype() &&
           std::ranges::equal(from.shape(), to.shape()) &&
           std::ranges::equal(from.layout().strides(), to.layout().strides()) &&
           to.layout().is_dense(to.item_size()) && from.context() == to.context() &&
           !to.may_share_bytes(from);
}

/// Sets long contiguous elements of a GPU by the driver, which writes memory faster than a kernel.
/// Returns false, and does nothing, for other elements.
bool fill_by_driver(const Array &to, const Scalar &number, StreamRef stream) {
    constexpr std::size_t kLeastBytes = std::size_t{1} << 20;
    const std::size_t size = to.item_size();
    if (runs_on_host() || to.bytes() < kLeastBytes || !to.is_contiguous() || !to.is_aligned())
        return false;
    std::array<std::uint32_t, 4> words{}; // of an element
    number.write(to.scalar_type(), reinterpret_cast<std::byte *>(words.data()));
    const std::size_t count = size / sizeof(std::uint32_t);
    for (std::size_t i = 1; i < count; ++i)
        if (words[i] != words[0])
            return false;
    Work use(stream);
    const CUdeviceptr address = use.write(to);
    if (size == 1)
        fill_async(address, static_cast<std::uint8_t>(words[0]), to.size(), use.stream());
    else if (size == 2)
        fill_async(address, static_cast<std::uint16_t>(words[0]), to.size(), use.stream());
    else
        fill_async(address, words[0], to.size() * count, use.stream());
    return true;
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

ResultDescription describe_result(Operation operation, std::span<const Operand> operands,
                                  const ApplyOptions &options) {
    const LoopTypes loop = loop_types(operation, operands, options.dtype);
    const Layout shape = broadcast_shape(operands, options.where);
    return {result_layout(operation, shape, loop.out, operands), loop.out};
}

std::string operation_source(Operation operation, ScalarType type, const std::string &name) {
    const Array stand_in(nullptr, CUdeviceptr{0}, DType(type), Layout()); // has a type only
    const std::vector<Operand> operands(static_cast<std::size_t>(operand_count(operation)),
                                        Operand(stand_in));
    TypedOperation typed{operation, {}, loop_types(operation, operands), type};
    typed.stored.fill(type);
    const std::string code = operation_struct(typed, name);
    return with_prelude(code);
}

Array apply(Operation operation, std::span<const Operand> operands, const ApplyOptions &options) {
    if (compares_beyond_64_bits(operation, operands)) [[unlikely]]
        return apply(operation, with_infinities(operands), options);
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
        std::array<std::byte, 16> element; // converted even if there are no elements, so that an
                                           // overflow is always reported
        if (!is_array && !to.dtype().is_opaque())
            from.scalar().write(to.scalar_type(), element.data());
        return;
    }
    if (is_array && is_plain_copy(to, from.array())) {
        Work use(stream);
        return copy_on_device_async(use.write(to), use.read_only(from.array()), to.bytes(),
                                    use.stream());
    }
    if (!is_array && !to.dtype().is_opaque() && fill_by_driver(to, from.scalar(), stream))
        return;
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
