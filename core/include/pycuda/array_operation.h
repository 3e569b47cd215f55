// array_operation.h -- operations on the elements of arrays, with NumPy's types and broadcasting.
//
//     Array z = apply(Operation::Add, {{x, Scalar::weak(2.0)}}, {.stream = s});        // z = x + 2
#pragma once

#include <pycuda/array.h>
#include <pycuda/failed_check.h>
#include <pycuda/scalar.h>
#include <pycuda/stream.h>

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>

namespace pycuda {

/// The elementwise operations; see operations.def.
enum class Operation : std::uint8_t {
#define PYCUDA_OPERATION(name, numpy_name, operands, rule, expression) name,
#include <pycuda/operations.def>
#undef PYCUDA_OPERATION
};

/// The rule by which the promoted type of the operands determines an operation's types.
enum class TypeRule : std::uint8_t {
    Keep,        ///< any type, itself
    Numeric,     ///< any number; bool stays bool
    NoBool,      ///< any number; bool is an error
    Int8,        ///< any number; bool becomes int8
    RealInt8,    ///< real numbers; bool becomes int8
    Real,        ///< real numbers, bool stays bool
    RealPart,    ///< a complex number gives a real number
    Integer,     ///< integers only
    Bits,        ///< bool and integers
    IntegerBits, ///< integers; bool becomes int8; gives uint8
    Shift,       ///< integers; bool becomes int8
    Divide,      ///< integers give float64
    Double,      ///< computed in float64 or complex128
    Float, ///< an integer becomes a float that represents all its values: int8 gives float16, int16
           ///< float32
    FloatReal,     ///< like Float, without complex numbers
    Special,       ///< integers become float64, as in SciPy; no complex numbers
    FloatTest,     ///< like FloatReal, gives bool
    FloatExponent, ///< like FloatReal, gives int32
    ScaleExponent, ///< a float and an int32
    Compare,       ///< gives bool
    Select,        ///< a bool and two of one type
};

/// NumPy's name of the operation: "add".
std::string_view operation_name(Operation operation) noexcept;
/// The number of operands: 1 to 4.
int operand_count(Operation operation) noexcept;
/// The operation with this NumPy name; empty if there is none.
std::optional<Operation> find_operation(std::string_view numpy_name) noexcept;

/// CUDA C++ of an operation on elements of one type, for kernels of other code: the struct `name`
/// with `O operate(index, a, b ...)` and the types A0, A1 ... of the operands and O of the result,
/// which is `type` too. Throws UnsupportedTypes if the operation has no loop for the type.
std::string operation_source(Operation operation, ScalarType type, const std::string &name);

/// An array, or a number that is passed to the kernel by value. Keeps a pointer to the array, which
/// must outlive the operand.
class Operand {
  public:
    /// An array, which must outlive the operand.
    Operand(const Array &array) noexcept : array_(&array) {} // NOLINT: means the array
    /// A number, which is copied.
    Operand(const Scalar &scalar) noexcept : scalar_(scalar) {} // NOLINT: means the number
    /// False for a scalar.
    bool is_array() const noexcept { return array_ != nullptr; }
    /// The array. Only if is_array().
    const Array &array() const noexcept { return *array_; }
    /// The number. Only if not is_array().
    const Scalar &scalar() const noexcept { return scalar_; }

  private:
    const Array *array_ = nullptr;
    Scalar scalar_;
};

/// The keyword arguments of a NumPy ufunc, for apply().
struct ApplyOptions {
    /// The array for the result, instead of a new one. The result must be castable to its type.
    const Array *out = nullptr;
    /// A mask of bool: elements are computed and written only if it is true. Needs `out`.
    const Array *where = nullptr;
    /// The type of the computation, instead of the promoted type of the operands.
    std::optional<ScalarType> dtype = {};
    Casting casting = Casting::SameKind; ///< which conversions are allowed, as in NumPy
    GivenStream stream;                  ///< of the launch
};

/// The type and shape of apply()'s result, so that the caller can allocate it and pass it as `out`.
struct ResultDescription {
    Layout layout;   ///< the shape and the strides
    ScalarType type; ///< the type of the elements
};
/// Describes the result that apply() would return. Launches nothing. Throws like apply().
ResultDescription describe_result(Operation operation, std::span<const Operand> operands,
                                  const ApplyOptions &options);

/// Computes an operation on operands that broadcast to one shape. The context of the arrays must
/// be current. Returns `out` or a new array, before the device is done. Throws
/// std::invalid_argument for shapes that do not fit, UnsupportedTypes, ScalarOverflow.
Array apply(Operation operation, std::span<const Operand> operands, const ApplyOptions &options);

/// The operation is not defined for these types, or the result may not be cast to out's type.
class UnsupportedTypes : public std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// Copies with conversion and broadcasting. Only `casting` restricts the types. A weak number must
/// pass Scalar::check_assignable().
void assign(const Array &to, const Operand &from, Casting casting, StreamRef stream);

/// The array itself, or a copy whose elements kernels can access.
Array aligned(const Array &array, StreamRef stream);

/// For an operation that throws an error if the one element of `failed` is not 0: if the work is
/// captured, makes each launch of the graph read the element, and the next wait for a launch throw
/// `failure`. Returns false, and does nothing, if the work runs now.
[[nodiscard]] bool record_check(const Array &failed, const FailedCheck &failure, StreamRef stream);

} // namespace pycuda
