// array_fusion.cpp -- makes an expression from a sequence of operations, and launches it.
#include <pycuda/array_fusion.h>
#include <pycuda/caller_lock.h>

#include "arrays/array_axes.h"
#include "arrays/device_code.h"
#include "arrays/expression_launch.h"
#include "arrays/kernel_table.h"
#include "arrays/reduction_source.h"
#include "kernels/user/user_variants.h"

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <stdexcept>

namespace pycuda {
namespace {

constexpr int max_inputs = 48;

KernelSource fused_source(const std::string &text) {
    return {named_source("fused", text), {own_kernel_name("fused")}};
}

} // namespace

/// The program, with all types known.
struct Fusion::Typed {
    Expression expression; ///< operands: the inputs, then a number for each use of a constant
    std::vector<ScalarType> types;   ///< of the operands
    std::vector<Operand> constants;  ///< one for each use
    std::vector<std::size_t> places; ///< of these among the fusion's constants
    bool is_long = false;

    mutable UsedKernels<ElementWalk> used = {};
    mutable UsedKernels<KernelKey> used_reductions = {};

    /// The part of a kernel's key that the types determine.
    std::string types_key() const {
        std::string key;
        for (ScalarType type : types)
            key += "," + std::to_string(static_cast<int>(type));
        return key;
    }
};

/// The typed programs, for the types of earlier calls.
struct Fusion::Known {
    CallerMutex mutex;
    std::deque<Typed> programs;
};

Fusion::Fusion(int inputs, std::vector<FusedStep> steps, std::vector<int> results,
               std::vector<Scalar> constants)
    : inputs_(inputs), steps_(std::move(steps)), results_(std::move(results)),
      constants_(std::move(constants)), known_(std::make_shared<Known>()) {
    if (inputs_ < 1 || results_.empty())
        throw std::invalid_argument("a fusion needs at least one array and one result");
    int values = inputs_;
    if (inputs_ > max_inputs)
        throw std::invalid_argument("a fusion takes at most 48 arrays, not " +
                                    std::to_string(inputs_));
    text_ = std::to_string(inputs_);
    for (int k = 0; k < inputs_; ++k)
        depends_on_.push_back(std::uint64_t{1} << k);
    for (const FusedStep &step : steps_) {
        if (static_cast<int>(step.operands.size()) != operand_count(step.operation))
            throw std::invalid_argument(std::string(operation_name(step.operation)) + "() takes " +
                                        std::to_string(operand_count(step.operation)) +
                                        " operands, not " + std::to_string(step.operands.size()));
        text_ += ";" + std::to_string(static_cast<int>(step.operation));
        std::uint64_t depends = 0;
        for (int operand : step.operands) {
            if (operand >= values || ~operand >= static_cast<int>(constants_.size()))
                throw std::invalid_argument("a step of a fusion uses value " +
                                            std::to_string(operand) +
                                            " or a constant, which does not exist");
            if (operand >= 0)
                depends |= depends_on_[static_cast<std::size_t>(operand)];
            text_ += "," + (operand < 0 ? std::string("c") : std::to_string(operand));
        }
        if (step.cast)
            text_ += ":" + std::to_string(static_cast<int>(*step.cast));
        depends_on_.push_back(depends);
        ++values;
    }
    for (int result : results_) {
        if (result < 0 || result >= values)
            throw std::invalid_argument("a fusion has no value " + std::to_string(result));
        text_ += ">" + std::to_string(result);
    }
}

Fusion::Typed Fusion::typed(std::span<const ScalarType> inputs) const {
    if (static_cast<int>(inputs.size()) != inputs_)
        throw std::invalid_argument("this fusion takes " + std::to_string(inputs_) +
                                    " arrays, not " + std::to_string(inputs.size()));
    Typed program;
    program.types.assign(inputs.begin(), inputs.end());
    int used_constants = 0;
    for (const FusedStep &step : steps_)
        used_constants += static_cast<int>(
            std::ranges::count_if(step.operands, [](int operand) { return operand < 0; }));
    // In the values of the expression, the steps come after the constants.
    auto place = [&](int value) { return value < inputs_ ? value : value + used_constants; };
    std::vector<ScalarType> values =
        program.types; // numbered as the steps of the fusion number them
    for (const FusedStep &step : steps_) {
        std::vector<Array> stand_ins; // only their type matters
        stand_ins.reserve(step.operands.size());
        std::vector<Operand> operands;
        for (int operand : step.operands) {
            if (operand < 0) {
                operands.emplace_back(constants_[static_cast<std::size_t>(~operand)]);
                continue;
            }
            const ScalarType type = values[static_cast<std::size_t>(operand)];
            stand_ins.emplace_back(nullptr, CUdeviceptr{0}, DType(type), Layout());
            operands.emplace_back(stand_ins.back());
        }
        TypedOperation operation{step.operation, {}, loop_types(step.operation, operands, {}), {}};
        ExpressionStep typed{operation, {}};
        for (std::size_t i = 0; i < operands.size(); ++i) {
            const bool is_value = step.operands[i] >= 0;
            typed.operation.stored[i] = is_value
                                            ? values[static_cast<std::size_t>(step.operands[i])]
                                            : operation.loop.in[i];
            typed.operands.push_back(is_value ? place(step.operands[i])
                                              : static_cast<int>(program.types.size()));
            if (!is_value) {
                program.types.push_back(operation.loop.in[i]);
                program.constants.push_back(operands[i]);
                program.places.push_back(static_cast<std::size_t>(~step.operands[i]));
            }
        }
        typed.operation.out = step.cast ? *step.cast : operation.loop.out;
        values.push_back(typed.operation.out);
        program.is_long = program.is_long || is_long(typed.operation);
        program.expression.steps.push_back(std::move(typed));
    }
    for (std::size_t k = 0; k < program.types.size(); ++k)
        program.expression.operands.push_back({program.types[k], k >= inputs.size()});
    for (int result : results_)
        program.expression.results.push_back(place(result));
    return program;
}

std::vector<ScalarType> Fusion::result_types(std::span<const ScalarType> inputs) const {
    const Typed program = typed(inputs);
    std::vector<ScalarType> types;
    for (int result : program.expression.results)
        types.push_back(program.expression.type_of(result));
    return types;
}

std::vector<Array> Fusion::allocate(const Typed &program, std::span<const Array *const> inputs,
                                    StreamRef stream) const {
    const bool alike = std::ranges::all_of(
        inputs, [&](const Array *a) { return a->layout().same_shape(inputs[0]->layout()); });
    const Layout shape = alike ? inputs[0]->layout() : common_shape(inputs);
    if (!alike)
        check_shapes(inputs, shape);
    const auto like =
        std::ranges::find_if(inputs, [&](const Array *a) { return a->layout().same_shape(shape); });
    const bool all_c =
        std::ranges::all_of(inputs, [](const Array *a) { return a->is_c_contiguous(); });
    const std::shared_ptr<ArrayContext> &context = context_or_current(*inputs[0]);
    std::vector<Array> results;
    for (int result : program.expression.results) {
        const ScalarType type = program.expression.type_of(result);
        const Layout layout = all_c || like == inputs.end()
                                  ? Layout::contiguous(shape.shape(), item_size(type))
                                  : (*like)->layout().dense(item_size(type));
        results.push_back(Array::with_layout(context, layout, type, stream));
    }
    return results;
}

/// A result that depends only on some of the inputs would have their shape instead of the common
/// shape.
void Fusion::check_shapes(std::span<const Array *const> inputs, const Layout &shape) const {
    for (int result : results_) {
        std::vector<const Array *> used;
        for (std::size_t k = 0; k < inputs.size(); ++k)
            if (depends_on_[static_cast<std::size_t>(result)] >> k & 1)
                used.push_back(inputs[k]);
        const Layout own = used.empty() ? Layout() : common_shape(used);
        if (!own.same_shape(shape))
            throw std::invalid_argument("a result of shape " + shape_text(own.shape()) +
                                        " cannot be fused with others of shape " +
                                        shape_text(shape.shape()));
    }
}

const Fusion::Typed &Fusion::known_types(std::span<const ScalarType> types) const {
    std::lock_guard lock(known_->mutex);
    for (const Typed &program : known_->programs)
        if (std::ranges::equal(types, std::span(program.types).first(types.size())))
            return program;
    return known_->programs.emplace_back(typed(types));
}

TypedExpression Fusion::expression(std::span<const ScalarType> inputs) const {
    const Typed &program = known_types(inputs);
    return {program.expression, program.constants};
}

Function Fusion::kernel(const Typed &program, const ElementWalk &walk) const {
    return program.used.get(known_->mutex, walk, [&](std::string &key) {
        key = text_ + "|" + walk_key(walk) + program.types_key();
        return [&] { return fused_source(expression_source(program.expression, walk)); };
    });
}

Function Fusion::kernel(const Typed &program, const ReductionVariant &variant) const {
    const KernelKey number = variant.key();
    return program.used_reductions.get(known_->mutex, number, [&](std::string &key) {
        key = text_ + "|reduce" + std::to_string(number.fields()) + program.types_key();
        return [&] { return fused_source(reduction_source(variant)); };
    });
}

Array Fusion::reduce(Reduction reduction, std::span<const Array *const> inputs,
                     const ReduceOptions &options) const {
    constexpr std::size_t most_arrays = 8;
    if (inputs.size() > most_arrays) {
        const Array elements = std::move(run(inputs, options.stream).front());
        const Array *const input = &elements;
        return pycuda::reduce(reduction, {&input, 1}, options);
    }
    std::array<ScalarType, most_arrays> types;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
        if (inputs[k]->dtype().is_opaque())
            throw UnsupportedTypes("elements of " + inputs[k]->dtype().name() + " cannot be fused");
        types[k] = inputs[k]->scalar_type();
    }
    const Typed &program = known_types({types.data(), inputs.size()});
    const ComputedElements elements{
        program.expression, program.constants,
        [&](const ReductionVariant &variant) { return kernel(program, variant); }};
    return pycuda::reduce(reduction, inputs, options, elements);
}

std::vector<Array> Fusion::run(std::span<const Array *const> arrays, StreamRef stream) const {
    return run({}, arrays, constants_, stream);
}

void Fusion::run_into(std::span<const Array> results, std::span<const Array *const> inputs,
                      StreamRef stream) const {
    run_into(results, inputs, constants_, stream);
}

/// Whether a program has the same types with these constants.
static bool have_equal_types(std::span<const Scalar> a, std::span<const Scalar> b) {
    return std::ranges::equal(a, b, [](const Scalar &x, const Scalar &y) {
        return x.type() == y.type() && x.is_weak() == y.is_weak() &&
               x.is_beyond_64_bits() == y.is_beyond_64_bits();
    });
}

std::vector<Array> Fusion::run(std::span<const Array *const> inputs,
                               std::span<const Scalar> constants, StreamRef stream) const {
    if (have_equal_types(constants, constants_))
        return run({}, inputs, constants, stream);
    return Fusion(inputs_, steps_, results_, {constants.begin(), constants.end()})
        .run(inputs, stream);
}

void Fusion::run_into(std::span<const Array> results, std::span<const Array *const> inputs,
                      std::span<const Scalar> constants, StreamRef stream) const {
    if (results.size() != results_.size())
        throw std::invalid_argument("this fusion has " + std::to_string(results_.size()) +
                                    " results, not " + std::to_string(results.size()));
    if (have_equal_types(constants, constants_))
        static_cast<void>(run(results, inputs, constants, stream));
    else
        Fusion(inputs_, steps_, results_, {constants.begin(), constants.end()})
            .run_into(results, inputs, stream);
}

/// The given arrays as the results, after a check.
static std::vector<Array> checked_results(std::span<const Array> given, const Layout &shape,
                                          const Expression &expression) {
    for (std::size_t k = 0; k < given.size(); ++k) {
        given[k].require_writable("the result");
        const DType type = expression.type_of(expression.results[k]);
        if (given[k].dtype() != type || !given[k].layout().same_shape(shape))
            throw std::invalid_argument("a result of " + type.name() + " and shape " +
                                        shape_text(shape.shape()) +
                                        " cannot be written to one of " + given[k].dtype().name() +
                                        " and shape " + shape_text(given[k].shape()));
    }
    return {given.begin(), given.end()};
}

std::vector<Array> Fusion::run(std::span<const Array> given, std::span<const Array *const> arrays,
                               std::span<const Scalar> constants, StreamRef stream) const {
    if (static_cast<int>(arrays.size()) != inputs_)
        throw std::invalid_argument("this fusion takes " + std::to_string(inputs_) +
                                    " arrays, not " + std::to_string(arrays.size()));
    std::vector<Array> copies;
    std::array<const Array *, max_inputs> placed;
    std::array<ScalarType, max_inputs> types;
    for (std::size_t k = 0; k < arrays.size(); ++k) {
        if (arrays[k]->dtype().is_opaque())
            throw UnsupportedTypes("elements of " + arrays[k]->dtype().name() + " cannot be fused");
        types[k] = arrays[k]->scalar_type();
        placed[k] = arrays[k];
        if (!arrays[k]->is_aligned()) {
            copies.reserve(arrays.size());
            placed[k] = &copies.emplace_back(aligned(*arrays[k], stream));
        }
    }
    const std::span<const Array *const> inputs(placed.data(), arrays.size());
    const Typed &program = known_types({types.data(), arrays.size()});
    std::vector<Array> results =
        given.empty() ? allocate(program, inputs, stream)
                      : checked_results(given, common_shape(inputs), program.expression);
    if (results[0].size() == 0)
        return results;
    std::vector<Operand> operands;
    operands.reserve(program.types.size());
    for (const Array *input : inputs)
        operands.emplace_back(*input);
    for (std::size_t place : program.places)
        operands.emplace_back(constants[place]);
    const ElementOperands call{results, operands, program.types};
    const ElementPlan plan(call, {.rolled = is_rolled(), .is_long = program.is_long});
    plan.launch(kernel(program, plan.walk()), stream);
    return results;
}

} // namespace pycuda
