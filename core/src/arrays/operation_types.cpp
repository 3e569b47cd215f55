// operation_types.cpp -- the type rules of NumPy's ufuncs.
#include "arrays/operation_types.h"

#include <algorithm>
#include <string>

namespace pycuda {
namespace {

constexpr OperationRow rows[] = {
#define PYCUDA_OPERATION(name, numpy_name, operands, rule, expression)                             \
    {numpy_name, operands, TypeRule::rule},
#include <pycuda/operations.def>
#undef PYCUDA_OPERATION
};

[[noreturn]] void refuse(Operation operation, ScalarType type, std::string_view why) {
    throw UnsupportedTypes(std::string(operation_name(operation)) + "() is not defined for " +
                           std::string(numpy_name(type)) + ": " + std::string(why));
}

ScalarType type_of(const Operand &operand) noexcept {
    return operand.is_array() ? operand.array().scalar_type() : operand.scalar().type();
}

bool is_strong(const Operand &operand) noexcept {
    return operand.is_array() || !operand.scalar().is_weak();
}

ScalarType without_bool(ScalarType type) { return is_bool(type) ? ScalarType::Int8 : type; }

void refuse_complex(Operation operation, ScalarType type) {
    if (is_complex(type))
        refuse(operation, type, "expected real numbers");
}

ScalarType float_of(Operation operation, ScalarType type, bool real) {
    if (real)
        refuse_complex(operation, type);
    return float_type(type);
}

/// The common type of operands that become floats. NumPy has a loop for each float type, and takes
/// the first one that holds each operand: int8 and uint8 fit float16, but their common type is
/// int16.
ScalarType common_float_type(std::span<const Operand> operands, ScalarType common) {
    if (is_bool(common) || !is_integer(common))
        return common;
    std::optional<ScalarType> strong, type;
    for (const Operand &operand : operands)
        if (is_strong(operand)) {
            const ScalarType own = type_of(operand);
            strong = strong ? promote(*strong, own) : own;
            type = type ? promote(*type, float_type(own)) : float_type(own);
        }
    return strong == common
               ? *type
               : common; // else a Python number decides, such as an int with a bool array
}

LoopTypes same(ScalarType type, ScalarType out) { return {{type, type, type, type}, out}; }

/// The loop for operands whose common type is `type`.
LoopTypes loop_of_type(Operation operation, ScalarType type) {
    switch (operation_row(operation).rule) {
    case TypeRule::Keep:
    case TypeRule::Numeric:
        return same(type, type);
    case TypeRule::NoBool:
        if (is_bool(type))
            refuse(operation, type, "use logical_not, logical_xor or bitwise_xor for booleans");
        return same(type, type);
    case TypeRule::Int8:
        return same(without_bool(type), without_bool(type));
    case TypeRule::RealInt8:
        refuse_complex(operation, type);
        return same(without_bool(type), without_bool(type));
    case TypeRule::Real:
        refuse_complex(operation, type);
        return same(type, type);
    case TypeRule::RealPart:
        return same(type, real_type(type));
    case TypeRule::Integer:
        if (!is_integer(type))
            refuse(operation, type, "expected integers");
        return same(type, type);
    case TypeRule::IntegerBits:
        type = without_bool(type);
        if (!is_integer(type))
            refuse(operation, type, "expected integers");
        return same(type, ScalarType::UInt8);
    case TypeRule::Bits:
    case TypeRule::Shift:
        if (!is_integer(type) && !is_bool(type))
            refuse(operation, type, "expected integers");
        if (operation_row(operation).rule == TypeRule::Shift)
            type = without_bool(type);
        return same(type, type);
    case TypeRule::Special:
        refuse_complex(operation, type);
        [[fallthrough]];
    case TypeRule::Divide:
        if (is_bool(type) || is_integer(type))
            type = ScalarType::Float64;
        return same(type, type);
    case TypeRule::Double:
        type = is_complex(type) ? ScalarType::Complex128 : ScalarType::Float64;
        return same(type, type);
    case TypeRule::Float:
    case TypeRule::FloatReal:
        type = float_of(operation, type, operation_row(operation).rule == TypeRule::FloatReal);
        return same(type, type);
    case TypeRule::FloatTest:
        return same(float_of(operation, type, true), ScalarType::Bool);
    case TypeRule::FloatExponent:
        return same(float_of(operation, type, true), ScalarType::Int32);
    case TypeRule::Compare:
        return same(type, ScalarType::Bool);
    case TypeRule::ScaleExponent:
    case TypeRule::Select:
        break; // the operands have different types; see loop_types()
    }
    return same(type, type);
}

LoopTypes select_types(std::span<const Operand> operands) {
    const ScalarType type = common_type(operands.subspan(1), "where");
    return {{ScalarType::Bool, type, type, type}, type};
}

[[noreturn]] void refuse_result(Operation operation, ScalarType wanted) {
    throw UnsupportedTypes(std::string(operation_name(operation)) +
                           "() has no loop whose result is " + std::string(numpy_name(wanted)) +
                           " (the value of dtype)");
}

LoopTypes scale_types(Operation operation, std::span<const Operand> operands,
                      std::optional<ScalarType> dtype) {
    const ScalarType exponent = type_of(operands[1]);
    if (!is_integer(exponent) && !is_bool(exponent))
        refuse(operation, exponent, "the exponent must be an integer");
    const ScalarType type =
        dtype
            ? *dtype
            : float_of(operation, common_type(operands.first(1), operation_name(operation)), true);
    if (!is_float(type))
        refuse_result(operation, type);
    const bool fits = !is_strong(operands[1]) || is_bool(exponent) ||
                      promote(exponent, ScalarType::Int32) == ScalarType::Int32;
    return {{type, fits ? ScalarType::Int32 : ScalarType::Int64, type, type}, type};
}

/// Whether the type of the result is the same for all types of operands.
bool has_one_result(TypeRule rule) noexcept {
    return rule == TypeRule::Compare || rule == TypeRule::FloatTest ||
           rule == TypeRule::FloatExponent || rule == TypeRule::IntegerBits;
}

/// A type that holds weak integers that do not fit the type of any array, so that comparisons are
/// correct.
ScalarType widened_for_comparison(std::span<const Operand> operands, ScalarType type) {
    for (const Operand &operand : operands)
        if (!operand.is_array() && operand.scalar().is_weak() && !operand.scalar().fits(type))
            return promote(type, operand.scalar().type());
    return type;
}

/// The loop of a comparison or logical operation on operands whose common type is `type`. No type
/// holds both int64 and uint64 exactly, so comparisons of these two do not convert to a common
/// type.
LoopTypes comparison_loop(Operation operation, std::span<const Operand> operands, ScalarType type) {
    type = widened_for_comparison(operands, type);
    LoopTypes loop = loop_of_type(operation, type);
    const bool of_integers = std::ranges::all_of(
        operands, [](const Operand &operand) { return is_integer(type_of(operand)); });
    if (is_integer(type) || !of_integers || !is_comparison(operation))
        return loop;
    for (std::size_t i = 0; i < operands.size(); ++i)
        loop.in[i] =
            type_of(operands[i]) == ScalarType::UInt64 ? ScalarType::UInt64 : ScalarType::Int64;
    return loop;
}

/// The loop whose result has type `dtype`.
LoopTypes loop_with_result(Operation operation, std::span<const Operand> operands,
                           ScalarType dtype) {
    const TypeRule rule = operation_row(operation).rule;
    ScalarType type = dtype;
    if (has_one_result(rule)) {
        type = common_type(operands, operation_name(operation));
    } else if (rule == TypeRule::RealPart && is_float(dtype)) {
        // NumPy chooses the loop of complex numbers only if it holds the operand; else it chooses
        // the real loop.
        const ScalarType given = common_type(operands, operation_name(operation));
        const ScalarType wide = complex_type(dtype);
        if (is_complex(given) && real_type(wide) == dtype && can_cast(given, wide, Casting::Safe))
            type = wide;
    }
    const LoopTypes types = rule == TypeRule::Compare ? comparison_loop(operation, operands, type)
                                                      : loop_of_type(operation, type);
    if (types.out != dtype)
        refuse_result(operation, dtype);
    return types;
}

} // namespace

bool is_comparison(Operation operation) noexcept {
    return operation >= Operation::Equal && operation <= Operation::GreaterEqual;
}

const OperationRow &operation_row(Operation operation) noexcept {
    return rows[static_cast<std::size_t>(operation)];
}

std::string_view operation_name(Operation operation) noexcept {
    return operation_row(operation).numpy_name;
}

int operand_count(Operation operation) noexcept { return operation_row(operation).operands; }

std::optional<Operation> find_operation(std::string_view numpy_name) noexcept {
    for (std::size_t i = 0; i < std::size(rows); ++i)
        if (rows[i].numpy_name == numpy_name)
            return static_cast<Operation>(i);
    return {};
}

ScalarType common_type(std::span<const Operand> operands, std::string_view operation) {
    std::optional<ScalarType> type;
    for (const Operand &operand : operands) {
        if (operand.is_array() && operand.array().dtype().is_opaque())
            throw UnsupportedTypes(std::string(operation) + "() is not defined for elements of " +
                                   operand.array().dtype().name());
        if (is_strong(operand))
            type = type ? promote(*type, type_of(operand)) : type_of(operand);
    }
    for (const Operand &operand : operands) {
        if (is_strong(operand))
            continue;
        const Scalar &scalar = operand.scalar();
        type = type ? promote_weak(*type, scalar.weak_class()) : scalar.type();
    }
    return *type;
}

LoopTypes loop_types(Operation operation, std::span<const Operand> operands,
                     std::optional<ScalarType> dtype) {
    const TypeRule rule = operation_row(operation).rule;
    if (rule == TypeRule::Select)
        return select_types(operands);
    if (rule == TypeRule::ScaleExponent)
        return scale_types(operation, operands, dtype);
    if (dtype)
        return loop_with_result(operation, operands, *dtype);
    ScalarType type = common_type(operands, operation_name(operation));
    if (rule == TypeRule::Compare)
        return comparison_loop(operation, operands, type);
    if (rule == TypeRule::Float || rule == TypeRule::FloatReal)
        type = common_float_type(operands, type);
    return loop_of_type(operation, type);
}

void check_casts(Operation operation, std::span<const Operand> operands, const LoopTypes &loop,
                 Casting casting) {
    const TypeRule rule = operation_row(operation).rule;
    const bool is_logical =
        operation == Operation::LogicalAnd || operation == Operation::LogicalOr ||
        operation == Operation::LogicalXor || operation == Operation::LogicalNot;
    if (casting == Casting::Unsafe || is_logical) // these convert each operand to bool by itself
        return;
    // A comparison with a number that does not fit the array's type is decided without a cast.
    const bool widens = rule == TypeRule::Compare;
    const ScalarType common = widens ? common_type(operands, operation_name(operation)) : loop.out;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const ScalarType to = widens ? common : loop.in[i];
        ScalarType from = type_of(operands[i]);
        if (!is_strong(operands[i]) && promote_weak(to, operands[i].scalar().weak_class()) == to)
            continue; // a weak number has the loop's type from the start
        if (!can_cast(from, to, casting))
            throw UnsupportedTypes(std::string(operation_name(operation)) + "() computes in " +
                                   std::string(numpy_name(to)) + ", to which operand " +
                                   std::to_string(i) + " of " + std::string(numpy_name(from)) +
                                   " cannot be cast by the rule \"" +
                                   std::string(casting_name(casting)) + "\"");
    }
}

} // namespace pycuda
