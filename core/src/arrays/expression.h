// expression.h -- what an elementwise kernel computes, how it accesses elements, and its CUDA C++.
//
// An operation on arrays is an expression of one step, a fusion is one of several steps:
//
//     exp(2 * x) + y    operands: 0 = x, 1 = y, 2 = the number 2
//                       steps:    3 = multiply(2, 0), 4 = exp(3), 5 = add(4, 1)
//                       results:  5
//
// The walk is chosen for the arrays of a call (expression_launch.h). Each walk is a file in
// device/.
#pragma once

#include "arrays/operation_types.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pycuda {

/// An operation with all types known.
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

/// How threads go over the elements.
enum class Walk : std::uint8_t {
    Vectors,  ///< contiguous: accesses of 16 bytes
    Elements, ///< contiguous, element by element
    Rows,     ///< strided, with a long last axis: threads along this axis, blocks over the others
    Flat,     ///< strided, each thread computes the indices of its elements
};

/// What a kernel's source depends on in addition to its expression. Bit k of `single` and `kept`
/// describes operand k.
struct ElementWalk {
    Walk walk = Walk::Vectors;
    std::uint8_t vector_length = 1; ///< for Vectors: elements in one access
    std::uint8_t axes = 0;          ///< of Rows and Flat
    bool unit_steps = false;        ///< for Rows: contiguous along the last axis
    bool wide_index = false;        ///< for Rows and Flat: indices have 64 bits
    bool rolled = false;            ///< loops instead of a copy of the code for each element
    bool masked = false;
    bool mask_is_single = false;
    std::uint64_t single = 0; ///< arrays of one element, which is read once
    /// For Rows, if not rolled: arrays that are the same in all rows.
    std::uint64_t kept = 0;

    bool operator==(const ElementWalk &) const = default;
    bool is_strided() const noexcept { return walk == Walk::Rows || walk == Walk::Flat; }
    bool is_single(std::size_t operand) const noexcept { return single >> operand & 1; }
    bool is_kept(std::size_t operand) const noexcept { return kept >> operand & 1; }
    bool has_mask_elements() const noexcept { return masked && !mask_is_single; }
};

/// Threads of a block, and elements of a thread for walks other than Vectors. As in
/// device/walk.cuh.
inline constexpr int elementwise_block = 256;
inline constexpr int elements_per_thread = 4;

/// Elements that a block of a contiguous walk computes.
std::size_t tile_size(const ElementWalk &walk) noexcept;

/// Whether the operation has so much code that copies of it would take long to compile.
bool is_long(const TypedOperation &operation) noexcept;

/// The source of one kernel, "run". Its parameters are: the results, the mask if any, the operands
/// (addresses or numbers), then
///   contiguous:  unsigned long long n
///   strided:     Geometry: n, rows, extents, and for each axis the strides in bytes of the
///                results, the mask, and the operands that are read element by element
std::string expression_source(const Expression &expression, const ElementWalk &walk);

} // namespace pycuda
