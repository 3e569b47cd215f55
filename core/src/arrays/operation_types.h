// operation_types.h -- the types of a computation, from the types of the operands.
#pragma once

#include <pycuda/array_operation.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace pycuda {

inline constexpr int max_operands = 4;

/// The types to which the elements are converted before the operation, and the type of the result.
struct LoopTypes {
    std::array<ScalarType, max_operands> in;
    ScalarType out;
};

struct OperationRow {
    std::string_view numpy_name;
    int operands;
    TypeRule rule;
};
const OperationRow &operation_row(Operation operation) noexcept;

/// The CUDA C++ of each operation on operands a, b, c and d.
inline constexpr const char *operation_expressions[] = {
#define PYCUDA_OPERATION(name, numpy_name, operands, rule, expression) expression,
#include <pycuda/operations.def>
#undef PYCUDA_OPERATION
};
constexpr const char *operation_expression(Operation operation) noexcept {
    return operation_expressions[static_cast<std::size_t>(operation)];
}

/// Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual.
bool is_comparison(Operation operation) noexcept;

/// The promoted type of the operands. Weak scalars adapt to arrays and typed scalars. Throws
/// UnsupportedTypes for opaque elements.
ScalarType common_type(std::span<const Operand> operands, std::string_view operation);

/// Throws UnsupportedTypes if the operation has no loop for the operands.
LoopTypes loop_types(Operation operation, std::span<const Operand> operands,
                     std::optional<ScalarType> dtype = {});

/// Throws UnsupportedTypes if the casting rule does not allow a cast of an operand to the loop's
/// type.
void check_casts(Operation operation, std::span<const Operand> operands, const LoopTypes &loop,
                 Casting casting);

} // namespace pycuda
