// expression_source.cpp -- writing an elementwise kernel.
//
// Each step becomes a struct with operate(): stored operands in, the stored result out. compute()
// calls the steps in order. Around compute() is one of the walks in device/.
#include "arrays/expression.h"

#include "arrays/device_code.h"

#include "arrays/device/walk.cuh.h"
#include "arrays/device/walk_elements.cuh.h"
#include "arrays/device/walk_long_vectors.cuh.h"
#include "arrays/device/walk_rolled.cuh.h"
#include "arrays/device/walk_strided.cuh.h"
#include "arrays/device/walk_vectors.cuh.h"

#include <algorithm>

namespace pycuda {
namespace {

/// Above this many arrays, a thread's elements are not all loaded before the first is stored.
constexpr std::ptrdiff_t most_loaded_at_once = 8;

std::string number(std::size_t value) { return std::to_string(value); }
std::string type_name(ScalarType type) { return std::string(cuda_name(type)); }

std::string type_alias(const std::string &name, const std::string &type) {
    return "typedef " + type + " " + name + ";\n";
}

/// struct Step<step>, with operate(index, a, b ...).
std::string step_struct(const TypedOperation &operation, std::size_t step) {
    std::string types, parameters = "unsigned long long index", conversions;
    for (int i = 0; i < operation.operands(); ++i) {
        const std::string index = std::to_string(i), name(1, static_cast<char>('a' + i));
        types += type_alias("A" + index, type_name(operation.stored[i])) +
                 type_alias("L" + index, type_name(operation.loop.in[i])) +
                 type_alias("C" + index, compute_name(operation.loop.in[i]));
        parameters += ", A" + index + " x" + index;
        conversions += "    const C" + index + " " + name + " = array_convert<C" + index +
                       ">(array_convert<L" + index + ">(x" + index + "));\n";
    }
    types += type_alias("R", compute_name(operation.loop.out)) +
             type_alias("LR", type_name(operation.loop.out)) +
             type_alias("O", type_name(operation.out));
    return "struct Step" + number(step) + " {\n" + types +
           "static __device__ __forceinline__ O operate(" + parameters + ") {\n" + conversions +
           "    const R result = array_convert<R>(" +
           operation_row(operation.operation).expression +
           ");\n    return array_convert<O>(array_convert<LR>(result));\n}\n};\n";
}

/// The types in memory, Results, and compute(index, v0, v1 ...).
std::string compute_function(const Expression &expression) {
    std::string types, members, parameters, steps, result;
    for (std::size_t k = 0; k < expression.operands.size(); ++k) {
        types += type_alias("type_p" + number(k), type_name(expression.operands[k].type));
        parameters += ", type_p" + number(k) + " v" + number(k);
    }
    for (std::size_t k = 0; k < expression.results.size(); ++k) {
        const std::string name = "out" + number(k);
        types += type_alias("type_" + name, type_name(expression.type_of(expression.results[k])));
        members += "    type_" + name + " " + name + ";\n";
        result += (k ? ", v" : "v") + std::to_string(expression.results[k]);
    }
    for (std::size_t k = 0; k < expression.steps.size(); ++k) {
        steps += "    const auto v" + number(expression.operands.size() + k) + " = Step" +
                 number(k) + "::operate(index";
        for (int operand : expression.steps[k].operands)
            steps += ", v" + std::to_string(operand);
        steps += ");\n";
    }
    return types + "typedef bool type_mask;\nstruct Results {\n" + members +
           "};\n__device__ __forceinline__ Results compute(unsigned long long index" + parameters +
           ") {\n" + steps + "    return {" + result + "};\n}\n";
}

bool is_element(const Expression &expression, const ElementWalk &walk, std::size_t operand) {
    return !expression.operands[operand].is_number && !walk.is_single(operand);
}

std::string constant(const char *name, bool value) {
    return "#define " + std::string(name) + (value ? " 1\n" : " 0\n");
}

/// #define NAME(X) X(p0) X(p2): the operands that `has` holds of.
template <class Has>
std::string operand_list(const std::string &name, const Expression &expression, Has &&has) {
    std::string list = "#define " + name + "(X)";
    for (std::size_t k = 0; k < expression.operands.size(); ++k)
        if (has(k))
            list += " X(p" + number(k) + ")";
    return list + "\n";
}

/// What device/walk.cuh says about names.
std::string names_code(const Expression &expression, const ElementWalk &walk) {
    std::string results, parameters, arguments;
    for (std::size_t k = 0; k < expression.results.size(); ++k) {
        const std::string name = "out" + number(k);
        results += " X(" + name + ")";
        parameters += (k ? ", type_" : " type_") + name + " *" + name;
    }
    if (walk.masked)
        parameters += ", const bool *mask";
    for (std::size_t k = 0; k < expression.operands.size(); ++k) {
        const std::string name = "p" + number(k);
        const bool is_number = expression.operands[k].is_number;
        parameters +=
            (is_number ? ", type_" : ", const type_") + name + (is_number ? " " : " *") + name;
        arguments += is_number           ? ", " + name
                     : walk.is_single(k) ? ", single_" + name
                                         : ", x(" + name + ")";
    }
    const bool mask = walk.has_mask_elements();
    return "#define PARAMETERS" + parameters + "\n#define COMPUTE(index, x) compute(index" +
           arguments + ")\n#define RESULTS(X)" + results + "\n#define MASKS(X)" +
           (mask ? " X(mask)" : "") + "\n#define IF_MASK(x)" + (mask ? " if (x(mask))" : "") +
           "\n" + constant("SINGLE_MASK", walk.masked && walk.mask_is_single) +
           operand_list("OPERANDS", expression,
                        [&](std::size_t k) { return is_element(expression, walk, k); }) +
           operand_list("SINGLES", expression, [&](std::size_t k) { return walk.is_single(k); });
}

std::string strided_names(const Expression &expression, const ElementWalk &walk) {
    return type_alias("Index", walk.wide_index ? "long long" : "int") + "#define AXES " +
           std::to_string(walk.axes) + "\n" + constant("ROWS", walk.walk == Walk::Rows) +
           constant("UNIT_STEPS", walk.unit_steps) + constant("ANY_KEPT", walk.kept != 0) +
           operand_list("KEPT", expression, [&](std::size_t k) { return walk.is_kept(k); }) +
           operand_list("NOT_KEPT", expression, [&](std::size_t k) {
               return is_element(expression, walk, k) && !walk.is_kept(k);
           });
}

bool has_long_step(const Expression &expression) {
    return std::ranges::any_of(expression.steps,
                               [](const ExpressionStep &step) { return is_long(step.operation); });
}

/// Whether the tests of loads in walk_rolled.cuh's one loop take little time beside the operation.
/// It was measured: not for tan, logaddexp and the sine of float32.
bool gains_by_one_loop(const TypedOperation &operation) {
    if (!is_long(operation))
        return false;
    switch (operation.operation) {
    case Operation::Tan:
    case Operation::Logaddexp:
    case Operation::Logaddexp2:
        return is_complex(operation.loop.in[0]);
    case Operation::Sin:
    case Operation::Cos:
        return item_size(operation.loop.in[0]) == 8;
    default:
        return true;
    }
}

bool has_one_loop(const Expression &expression, const ElementWalk &walk) {
    return !walk.has_mask_elements() &&
           std::ranges::any_of(expression.steps, [](const ExpressionStep &step) {
               return gains_by_one_loop(step.operation);
           });
}

std::string walk_code(const Expression &expression, const ElementWalk &walk) {
    const std::ptrdiff_t arrays =
        std::ranges::count(expression.operands, false, &Expression::Operand::is_number);
    const bool in_turn = walk.rolled || has_long_step(expression) || arrays > most_loaded_at_once;
    if (walk.is_strided())
        return strided_names(expression, walk) + constant("IN_TURN", in_turn) +
               std::string(device_code::walk_strided_cuh);
    if (walk.rolled)
        return constant("ONE_LOOP", has_one_loop(expression, walk)) +
               std::string(device_code::walk_rolled_cuh);
    if (walk.walk == Walk::Elements)
        return constant("IN_TURN", in_turn) + std::string(device_code::walk_elements_cuh);
    return "#define LENGTH " + std::to_string(walk.vector_length) + "\n" +
           std::string(has_long_step(expression) ? device_code::walk_long_vectors_cuh
                                                 : device_code::walk_vectors_cuh);
}

std::vector<ScalarType> types_of(const Expression &expression) {
    std::vector<ScalarType> types;
    for (const Expression::Operand &operand : expression.operands)
        types.push_back(operand.type);
    for (const ExpressionStep &step : expression.steps) {
        const TypedOperation &operation = step.operation;
        types.insert(types.end(), operation.loop.in.begin(),
                     operation.loop.in.begin() + operation.operands());
        types.push_back(operation.loop.out);
        types.push_back(operation.out);
    }
    return types;
}

} // namespace

ScalarType Expression::type_of(int value) const noexcept {
    const auto index = static_cast<std::size_t>(value);
    return index < operands.size() ? operands[index].type
                                   : steps[index - operands.size()].operation.out;
}

bool is_long(const TypedOperation &operation) noexcept {
    switch (operation.operation) {
    case Operation::FloorDivide:
    case Operation::Remainder:
    case Operation::Fmod:
    case Operation::Power:
    case Operation::FloatPower:
    case Operation::Gcd:
    case Operation::Lcm:
    case Operation::Sin:
    case Operation::Cos:
    case Operation::Tan:
    case Operation::Logaddexp:
    case Operation::Logaddexp2:
        return true;
    default:
        return is_complex(operation.loop.in[0]) &&
               operation_row(operation.operation).rule == TypeRule::Float;
    }
}

std::size_t tile_size(const ElementWalk &walk) noexcept {
    const int per_thread = walk.walk == Walk::Vectors ? walk.vector_length : elements_per_thread;
    return static_cast<std::size_t>(elementwise_block) * static_cast<std::size_t>(per_thread);
}

std::string expression_source(const Expression &expression, const ElementWalk &walk) {
    std::string code;
    for (std::size_t k = 0; k < expression.steps.size(); ++k)
        code += step_struct(expression.steps[k].operation, k);
    code += compute_function(expression) + names_code(expression, walk) +
            std::string(device_code::walk_cuh) + walk_code(expression, walk);
    return device_prelude(types_of(expression), code) + code;
}

} // namespace pycuda
