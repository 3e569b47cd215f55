// expression.h -- what an elementwise kernel computes, how it accesses elements, and its CUDA C++.
//
// An operation on arrays is an expression of one step, a fusion is one of several steps:
//
//     exp(2 * x) + y    operands: 0 = x, 1 = y, 2 = the number 2
//                       steps:    3 = multiply(2, 0), 4 = exp(3), 5 = add(4, 1)
//                       results:  5
//
// Instead of steps, a user may write statements (ElementwiseKernel): an InPlaceExpression.
//
// The walk is chosen for the arrays of a call (expression_launch.h). Each walk is a file in
// device/.
#pragma once

#include "arrays/operation_types.h"
#include "compile/source/source_tokens.h"

#include <pycuda/kernel_argument.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pycuda {

struct TypedOperation {
    Operation operation;
    std::array<ScalarType, max_operands> stored; ///< types of the operands in memory
    LoopTypes loop;
    ScalarType out; ///< type of the result in memory

    int operands() const noexcept { return operand_count(operation); }
};

/// One step of an expression. Its operands are values: first come the expression's operands, then
/// the results of the steps in order. Values have the type that they would have in memory.
struct ExpressionStep {
    TypedOperation operation;
    std::vector<int> operands;
};

struct Expression {
    struct Operand {
        ScalarType type;
        bool is_number; ///< passed by value
    };
    std::vector<Operand> operands;
    std::vector<ExpressionStep> steps;
    std::vector<int> results; ///< values

    ScalarType type_of(int value) const noexcept;
};

/// Statements of a user, which read and write one element of each walked array as `x[i]`.
struct InPlaceExpression {
    std::string kernel;     ///< its name
    std::string includes;   ///< that our own text needs
    std::string preamble;   ///< includes and declarations of the user
    std::string statements; ///< with separate line numbers
    std::span<const KernelArgument> parameters;
    /// Of each array among the parameters: whether it is accessed element by element. Others are
    /// pointers.
    std::vector<bool> walked;
    bool wide_index = false; ///< `i` has 64 bits
    UserMacros macros;       ///< of the options, and of the texts above
};

/// A struct whose operate(index, a, b ...) computes an operation. It names the types of its
/// operands A0, A1 ... and the type of its result O.
std::string operation_struct(const TypedOperation &operation, const std::string &name);

enum class Walk : std::uint8_t {
    Vectors,  ///< contiguous: accesses of 16 bytes
    Elements, ///< contiguous, element by element
    Rows,     ///< strided, with a long last axis: threads along this axis, blocks over the others
    Flat,     ///< strided, each thread computes the indices of its elements
    Tiles,    ///< strided, some operands run along the axis before the last: through shared memory
};

/// What a kernel's source depends on in addition to its expression. Bit k of `single` and `kept`
/// describes operand k.
struct ElementWalk {
    Walk walk = Walk::Vectors;
    std::uint8_t vector_length = 1; ///< elements in one access, of Vectors
    std::uint8_t axes = 0;          ///< of strided walks
    bool unit_steps = false;        ///< of Rows: contiguous along the last axis
    bool wide_index = false;        ///< of strided walks: 64-bit
    bool rolled = false;            ///< loops instead of a copy of the code for each element
    bool masked = false;
    bool mask_is_single = false;
    std::uint64_t single = 0; ///< arrays of one element, which is read once
    /// For Rows, if not rolled: arrays that are the same in all rows.
    std::uint64_t kept = 0;
    std::uint64_t crossed = 0;  ///< of Tiles: operands that run along the axis before the last
    std::uint8_t tile_side = 0; ///< of Tiles
    /// Of rolled Rows with has_step: results, mask and operands, as they come, that are contiguous
    /// along the last axis. The others advance by `step` elements. A CPU reads a known step as
    /// vectors, an unknown one element by element.
    std::uint64_t unit = 0;
    bool has_step = false;
    std::int8_t step = 0; ///< one of known_steps

    bool operator==(const ElementWalk &) const = default;
    bool is_strided() const noexcept {
        return walk == Walk::Rows || walk == Walk::Flat || walk == Walk::Tiles;
    }
    bool is_single(std::size_t operand) const noexcept { return single >> operand & 1; }
    bool is_kept(std::size_t operand) const noexcept { return kept >> operand & 1; }
    bool is_crossed(std::size_t operand) const noexcept { return crossed >> operand & 1; }
    bool has_mask_elements() const noexcept { return masked && !mask_is_single; }
};

/// The steps for which kernels are compiled.
inline constexpr std::int8_t known_steps[] = {0, 2, 3, 4, -1, -2};

/// Threads of a block, and elements of a thread if the walk is not Vectors. As in device/walk.cuh.
inline constexpr int elementwise_block = 256;
inline constexpr int elements_per_thread = 4;

/// Elements that a block of a contiguous walk computes.
std::size_t tile_size(const ElementWalk &walk) noexcept;

/// Whether the operation has so much code that copies of it would take long to compile.
bool is_long(const TypedOperation &operation) noexcept;

/// The functions of an expression, for kernels of other code: `compute(index, p0, p1 ...)`, whose
/// result has the members out0, out1 ...; and the types type_p0, type_p1 ... of the operands.
std::string expression_functions(const Expression &expression);

/// The source of one kernel, KERNEL (kernel_table.h). Its parameters are: the results, the mask if
/// any, the operands (addresses or numbers), then
///   contiguous:  unsigned long long n
///   strided:     Geometry: n, rows, extents, and for each axis the strides in bytes of the
///                results, the mask, and the operands that are read element by element
std::string expression_source(const Expression &expression, const ElementWalk &walk);

/// As above, for a walk without a mask. The kernel has the expression's name, and its parameters
/// have the order in which the user declared them. With Vectors, all arrays are walked, start at
/// multiples of 16 bytes, and share no bytes.
std::string expression_source(const InPlaceExpression &expression, const ElementWalk &walk);

/// A few bytes that identify a walk of the expression.
std::string walk_key(const ElementWalk &walk);

} // namespace pycuda
