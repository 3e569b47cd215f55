// array_fusion.h -- several elementwise operations in one kernel.
//
//     // z = exp(2 * x) + y: values 0 and 1 are x and y, constant 0 is 2
//     Fusion fusion(2, {{Operation::Multiply, {Fusion::constant(0), 0}}, {Operation::Exp, {2}},
//                       {Operation::Add, {3, 1}}}, {4}, {Scalar::weak(2.0)});
//     Array z = fusion.run(std::array{&x, &y}).front();
#pragma once

#include <pycuda/array.h>
#include <pycuda/array_operation.h>
#include <pycuda/array_reduction.h>
#include <pycuda/function.h>
#include <pycuda/scalar.h>
#include <pycuda/stream.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pycuda {

struct ElementWalk;
struct ReductionVariant;
struct TypedExpression;

/// One operation of a fusion. Its operands are values: first come the inputs, then the results of
/// the steps in order; or constants.
struct FusedStep {
    Operation operation;       ///< what the step computes
    std::vector<int> operands; ///< values: inputs, then results of steps; or constant()
    /// The type of the result if it differs from the operation's type: Copy with a type is a cast.
    std::optional<ScalarType> cast = {};
};

/// A program of operations on elements. Each element's result is bit for bit that of the operations
/// applied one after the other: they are computed in the same types, and rounded to the type that
/// each would have in memory. Any thread may call run().
class Fusion {
  public:
    /// The operand that means constant number `number`.
    static constexpr int constant(int number) noexcept { return ~number; }

    /// Throws std::invalid_argument for operands that do not exist, and if there are no results.
    Fusion(int inputs, std::vector<FusedStep> steps, std::vector<int> results,
           std::vector<Scalar> constants = {});

    /// New arrays, one for each result. The inputs are broadcast to one shape. Each result must
    /// have this shape by its own operands. Throws std::invalid_argument for another shape,
    /// UnsupportedTypes, ScalarOverflow.
    std::vector<Array> run(std::span<const Array *const> inputs, StreamRef stream) const;
    /// As above, with other values of the constants.
    std::vector<Array> run(std::span<const Array *const> inputs, std::span<const Scalar> constants,
                           StreamRef stream) const;

    /// As run(), for arrays of the common shape and of the types of the results, which share no
    /// memory with the inputs and have the same order of axes in memory.
    void run_into(std::span<const Array> results, std::span<const Array *const> inputs,
                  StreamRef stream) const;
    /// As above, with other values of the constants.
    void run_into(std::span<const Array> results, std::span<const Array *const> inputs,
                  std::span<const Scalar> constants, StreamRef stream) const;

    /// The constants that the constructor got.
    std::span<const Scalar> constants() const noexcept { return constants_; }

    /// The number of arrays that run() returns.
    int result_count() const noexcept { return static_cast<int>(results_.size()); }

    /// The reduction of the first result, in one pass over the inputs, which broadcast to one
    /// shape. As reduce() of run(), if the inputs are contiguous with the same bits.
    Array reduce(Reduction reduction, std::span<const Array *const> inputs,
                 const ReduceOptions &options) const;

    /// The expression for inputs of these types, for other kernels of this library. Valid as long
    /// as the fusion.
    TypedExpression expression(std::span<const ScalarType> inputs) const;
    /// Identifies the program, without its types and constants.
    const std::string &text() const noexcept { return text_; }

    /// The types of the results for inputs of these types.
    std::vector<ScalarType> result_types(std::span<const ScalarType> inputs) const;

  private:
    struct Typed;
    struct Known;
    std::vector<Array> allocate(const Typed &program, std::span<const Array *const> inputs,
                                StreamRef stream) const;
    void check_shapes(std::span<const Array *const> inputs, const Layout &shape) const;
    Typed typed(std::span<const ScalarType> inputs) const;
    const Typed &known_types(std::span<const ScalarType> types) const;
    std::vector<Array> run(std::span<const Array> given, std::span<const Array *const> inputs,
                           std::span<const Scalar> constants, StreamRef stream) const;
    Function kernel(const Typed &program, const ElementWalk &walk) const;
    Function kernel(const Typed &program, const ReductionVariant &variant) const;

    int inputs_;
    std::vector<FusedStep> steps_;
    std::vector<int> results_;
    std::vector<Scalar> constants_;
    std::vector<std::uint64_t> depends_on_; ///< of each value: bit k for input k
    std::string text_;                      ///< identifies a program
    std::shared_ptr<Known> known_;
};

} // namespace pycuda
