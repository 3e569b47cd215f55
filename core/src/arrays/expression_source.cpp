// expression_source.cpp -- generates the source of an elementwise kernel.
//
// Each step becomes a struct with operate(), which takes the stored operands and returns the stored
// result. compute() calls the steps in order. One of the walks in device/ calls compute().
//
// The statements of a user become a function pycuda_compute(), whose parameters have the user's
// names. A walked array is a pycuda_element, which is the same element for every index. Our headers
// come before the user's texts, and the walk after them in a namespace, where the user's macros are
// undefined. So our names are free for the user's macros and functions.
#include "arrays/expression.h"

#include "arrays/device_code.h"
#include "driver/one_of.h"

#include "arrays/device/axes.cuh.h"
#include "arrays/device/element.cuh.h"
#include "arrays/device/walk.cuh.h"
#include "arrays/device/walk_elements.cuh.h"
#include "arrays/device/walk_long_vectors.cuh.h"
#include "arrays/device/walk_rolled.cuh.h"
#include "arrays/device/walk_strided.cuh.h"
#include "arrays/device/walk_tiles.cuh.h"
#include "arrays/device/walk_vectors.cuh.h"

#include <algorithm>

namespace pycuda {
namespace {

/// With more arrays, a thread does not load all its elements before it stores the first.
constexpr std::ptrdiff_t most_loaded_at_once = 8;

std::string number(std::size_t value) { return std::to_string(value); }
std::string type_name(ScalarType type) { return std::string(cuda_name(type)); }

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

/// #define NAME(X) X(p0) X(p2): a list of the operands for which `has` is true.
template <class Has>
std::string operand_list(const std::string &name, const Expression &expression, Has &&has) {
    std::string list;
    for (std::size_t k = 0; k < expression.operands.size(); ++k)
        if (has(k))
            list += " X(p" + number(k) + ")";
    return define(name + "(X)", list);
}

/// The names that device/walk.cuh requires.
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
    return define("PARAMETERS", parameters) +
           define("COMPUTE(index, x)", "compute(index" + arguments + ")") +
           define("RESULTS(X)", results) + define("MASKS(X)", mask ? "X(mask)" : "") +
           define("IF_MASK(x)", mask ? "if (x(mask))" : "") +
           define("SINGLE_MASK", walk.masked && walk.mask_is_single) + define("IN_PLACE", false) +
           define("PROMISES", "") + define("WALKED(X)", "RESULTS(X) MASKS(X) OPERANDS(X)") +
           operand_list("OPERANDS", expression,
                        [&](std::size_t k) { return is_element(expression, walk, k); }) +
           operand_list("SINGLES", expression, [&](std::size_t k) { return walk.is_single(k); });
}

std::string strided_names(const ElementWalk &walk) {
    return type_alias("Index", walk.wide_index ? "long long" : "int") + define("AXES", walk.axes) +
           define("ROWS", walk.walk == Walk::Rows) + define("UNIT_STEPS", walk.unit_steps) +
           define("HAS_STEP", walk.has_step) + define("ANY_KEPT", walk.kept != 0);
}

/// #define STEP_p0 2: for each array that is accessed element by element, in order.
std::string steps_code(const ElementWalk &walk, std::span<const std::string> walked) {
    std::string code;
    for (std::size_t k = 0; walk.has_step && k < walked.size(); ++k)
        code += define("STEP_" + walked[k], walk.unit >> k & 1 ? 1 : walk.step);
    return code;
}

/// The two groups of operands of a strided walk: those for which `has` is true, and the others.
template <class Has>
std::string two_lists(const char *with, const char *without, const Expression &expression,
                      const ElementWalk &walk, Has &&has) {
    return operand_list(with, expression, has) +
           operand_list(without, expression,
                        [&](std::size_t k) { return is_element(expression, walk, k) && !has(k); });
}

std::string strided_lists(const Expression &expression, const ElementWalk &walk) {
    std::vector<std::string> walked;
    for (std::size_t k = 0; k < expression.results.size(); ++k)
        walked.push_back("out" + number(k));
    if (walk.has_mask_elements())
        walked.push_back("mask");
    for (std::size_t k = 0; k < expression.operands.size(); ++k)
        if (is_element(expression, walk, k))
            walked.push_back("p" + number(k));
    return steps_code(walk, walked) +
           two_lists("KEPT", "NOT_KEPT", expression, walk,
                     [&](std::size_t k) { return walk.is_kept(k); }) +
           two_lists("CROSSED", "DIRECT", expression, walk,
                     [&](std::size_t k) { return walk.is_crossed(k); });
}

bool has_long_step(const Expression &expression) {
    return std::ranges::any_of(expression.steps,
                               [](const ExpressionStep &step) { return is_long(step.operation); });
}

/// Whether the tests of loads in the single loop of walk_rolled.cuh are cheap compared to the
/// operation. Measured: not for tan, logaddexp and sin of float32.
bool is_faster_in_one_loop(const TypedOperation &operation) {
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
               return is_faster_in_one_loop(step.operation);
           });
}

/// The properties, besides the walk, on which the source depends.
struct WalkTraits {
    bool in_turn;  ///< a thread computes its elements in a loop
    bool is_long;  ///< some step satisfies is_long()
    bool one_loop; ///< has_one_loop()
};

WalkTraits traits_of(const Expression &expression, const ElementWalk &walk) {
    const std::ptrdiff_t arrays =
        std::ranges::count(expression.operands, false, &Expression::Operand::is_number);
    const bool is_long = has_long_step(expression);
    return {walk.rolled || is_long || arrays > most_loaded_at_once, is_long,
            has_one_loop(expression, walk)};
}

std::string walk_code(const ElementWalk &walk, const WalkTraits &traits) {
    std::string code = walk.is_strided() ? strided_names(walk) + std::string(device_code::axes_cuh)
                                         : std::string();
    code += define("IN_TURN", traits.in_turn) + define("ROLLED", walk.rolled) +
            define("ONE_LOOP", traits.one_loop) + define("LENGTH", walk.vector_length) +
            std::string(device_code::walk_cuh);
    if (walk.walk == Walk::Tiles)
        return code + define("TILE", walk.tile_side) + std::string(device_code::walk_tiles_cuh);
    if (walk.is_strided())
        return code + std::string(device_code::walk_strided_cuh);
    if (walk.rolled)
        return code + std::string(device_code::walk_rolled_cuh);
    if (walk.walk == Walk::Elements)
        return code + std::string(device_code::walk_elements_cuh);
    return code + std::string(traits.is_long ? device_code::walk_long_vectors_cuh
                                             : device_code::walk_vectors_cuh);
}

/// Parameter k, with its name in the user's declaration and its name in the walks.
struct PlacedParameter {
    const KernelArgument &declared;
    std::string name; ///< p0, p1 ...
    bool is_walked;
};

std::vector<PlacedParameter> place(const InPlaceExpression &expression) {
    std::vector<PlacedParameter> placed;
    std::size_t array = 0;
    for (const KernelArgument &parameter : expression.parameters)
        placed.push_back({parameter, "p" + number(placed.size()),
                          parameter.is_vector() && expression.walked[array++]});
    return placed;
}

/// The function pycuda_compute(), and a declaration of the kernel, from which readers of the source
/// get the types of the parameters. The compiler does not see it.
std::string statements_code(const InPlaceExpression &expression, const ElementWalk &walk,
                            std::span<const PlacedParameter> parameters) {
    std::string types, own, kernel;
    for (const auto &[declared, name, is_walked] : parameters) {
        types += expression.macros.within(type_alias("type_" + name, declared.type), declared.type);
        own += is_walked              ? ", pycuda_element<type_" + name + "> "
               : declared.is_vector() ? ", type_" + name + " *"
                                      : ", type_" + name + " ";
        own += declared.name;
        kernel += declared.type + (declared.is_vector() ? " *" : " ") + declared.name + ", ";
    }
    return "#if 0\nextern \"C\" __global__ void " + expression.kernel + "(" + kernel +
           (walk.is_strided() ? "Geometry g);\n" : "unsigned long long n);\n") + "#endif\n" +
           types +
           type_alias("pycuda_index", expression.wide_index ? "unsigned long" : "unsigned") +
           "__device__ __forceinline__ void pycuda_compute([[maybe_unused]] pycuda_index i, "
           "[[maybe_unused]] size_t n" +
           own + ") {\ndo {\n" + expression.macros.within(expression.statements) +
           ";\n} while (0);\n}\n";
}

/// Whether a text of the user's includes a file, which may define any macro.
bool includes_files(const InPlaceExpression &expression) {
    const auto has_include = [](const std::string &text) {
        return std::ranges::any_of(
            tokens_of(text), [](const Token &token) { return token.kind == Token::Kind::Include; });
    };
    return has_include(expression.preamble) || has_include(expression.statements);
}

/// The names that device/walk.cuh requires.
std::string in_place_names(const InPlaceExpression &expression, const ElementWalk &walk,
                           std::span<const PlacedParameter> parameters) {
    const bool vectors = walk.walk == Walk::Vectors;
    std::string list, arguments, walked, promises;
    std::vector<std::string> names;
    for (const auto &[declared, name, is_walked] : parameters) {
        list += (list.empty() ? " type_" : ", type_") + name +
                (!declared.is_vector() ? " "
                 : vectors             ? " *__restrict__ "
                                       : " *") +
                name;
        arguments +=
            is_walked ? ", pycuda_element<type_" + name + ">{x(" + name + ")}" : ", " + name;
        if (is_walked) {
            walked += " X(" + name + ")";
            names.push_back(name);
        }
        if (vectors && is_walked)
            promises += name + " = static_cast<type_" + name + " *>(__builtin_assume_aligned(" +
                        name + ", 16));";
    }
    std::string code = define("KERNEL", expression.kernel) + define("PARAMETERS", list) +
                       define("COMPUTE(index, x)",
                              "pycuda_compute(static_cast<pycuda_index>(index), " +
                                  std::string(walk.is_strided() ? "g.n" : "n") + arguments + ")") +
                       define("PROMISES", promises) + define("WALKED(X)", walked) +
                       steps_code(walk, names) + define("SINGLE_MASK", false) +
                       define("IN_PLACE", true);
    for (const char *empty : {"RESULTS(X)", "MASKS(X)", "OPERANDS(X)", "SINGLES(X)", "KEPT(X)",
                              "NOT_KEPT(X)", "IF_MASK(x)"})
        code += define(empty, "");
    return code;
}

} // namespace

std::string operation_struct(const TypedOperation &operation, const std::string &name) {
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
    return "struct " + name + " {\n" + types + "static __device__ __forceinline__ O operate(" +
           parameters + ") {\n" + conversions + "    const R result = array_convert<R>(" +
           operation_expression(operation.operation) +
           ");\n    return array_convert<O>(array_convert<LR>(result));\n}\n};\n";
}

ScalarType Expression::type_of(int value) const noexcept {
    const auto index = static_cast<std::size_t>(value);
    return index < operands.size() ? operands[index].type
                                   : steps[index - operands.size()].operation.out;
}

bool is_long(const TypedOperation &operation) noexcept {
    using enum Operation;
    return is_one_of(operation.operation, FloorDivide, Remainder, Fmod, Power, FloatPower, Gcd, Lcm,
                     Sin, Cos, Tan, Logaddexp, Logaddexp2) ||
           (is_complex(operation.loop.in[0]) &&
            operation_row(operation.operation).rule == TypeRule::Float);
}

std::size_t tile_size(const ElementWalk &walk) noexcept {
    const int per_thread = walk.walk == Walk::Vectors ? walk.vector_length : elements_per_thread;
    return static_cast<std::size_t>(elementwise_block) * static_cast<std::size_t>(per_thread);
}

std::string expression_functions(const Expression &expression) {
    std::string code;
    for (std::size_t k = 0; k < expression.steps.size(); ++k)
        code += operation_struct(expression.steps[k].operation, "Step" + number(k));
    return code + compute_function(expression);
}

std::string expression_source(const Expression &expression, const ElementWalk &walk) {
    const std::string code = expression_functions(expression) + names_code(expression, walk) +
                             strided_lists(expression, walk) +
                             walk_code(walk, traits_of(expression, walk));
    return with_prelude(code);
}

std::string expression_source(const InPlaceExpression &expression, const ElementWalk &walk) {
    const std::vector<PlacedParameter> parameters = place(expression);
    const std::string walk_text =
        in_place_names(expression, walk, parameters) +
        walk_code(walk, {.in_turn = true, .is_long = false, .one_loop = false});
    return expression.includes + std::string(device_code::element_cuh) +
           expression.macros.within(expression.preamble) + "\nnamespace pycuda_walk {\n" +
           statements_code(expression, walk, parameters) + expression.macros.forget() +
           (includes_files(expression) ? undefine_names(walk_text) : "") + walk_text + "}\n";
}

std::string walk_key(const ElementWalk &walk) {
    std::string key;
    for (int byte : {static_cast<int>(walk.walk), static_cast<int>(walk.vector_length),
                     static_cast<int>(walk.axes),
                     walk.unit_steps | walk.wide_index << 1 | walk.rolled << 2 | walk.masked << 3 |
                         walk.mask_is_single << 4 | walk.has_step << 5,
                     static_cast<int>(walk.step)})
        key += static_cast<char>(byte);
    for (std::uint64_t operands : {walk.single, walk.kept, walk.crossed, walk.unit})
        if (operands != 0)
            key += std::to_string(operands) + "|";
    return key;
}

} // namespace pycuda
