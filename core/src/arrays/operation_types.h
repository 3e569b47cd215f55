// operation_types.h -- the types of a computation, from the types of the operands.
#pragma once

#include <pycuda/array_operation.h>

#include <array>
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
    const char *expression;
};
const OperationRow &operation_row(Operation operation) noexcept;

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
