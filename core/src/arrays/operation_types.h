// operation_types.h -- from the types of operands to those that an operation computes in.
#pragma once

#include <pycuda/array_operation.h>

#include <array>
#include <optional>
#include <span>

namespace pycuda {

inline constexpr int max_operands = 4;

/// What the elements are converted to before the operation, and what comes out of it.
struct LoopTypes {
    std::array<ScalarType, max_operands> in;
    ScalarType out;
};

struct OperationRow {
    std::string_view numpy_name;
    int operands;
    TypeRule rule;
    const char *expression;
};
const OperationRow &operation_row(Operation operation) noexcept;

/// The common type of operands: arrays and typed scalars promote, weak ones give way. Throws
/// UnsupportedTypes for opaque elements.
ScalarType common_type(std::span<const Operand> operands, std::string_view operation);

/// Throws UnsupportedTypes where the operation has no loop for the operands.
LoopTypes loop_types(Operation operation, std::span<const Operand> operands,
                     std::optional<ScalarType> dtype = {});

/// Throws UnsupportedTypes where an operand may not be cast to the loop's type by the rule.
void check_casts(Operation operation, std::span<const Operand> operands, const LoopTypes &loop,
                 Casting casting);

} // namespace pycuda
