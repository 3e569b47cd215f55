// kinds.h -- the six types of transforms, on memory whose type is known at run time only.
#pragma once

#include "../common/element.h"
#include "../common/session.h"
#include "transform.h"

namespace softcufft {

/// cufftType's numbers, and numbers of the same form for types of 16 bits, which
/// cufftXtMakePlanMany() makes.
enum class Kind {
    C2C = 0x29,
    R2C = 0x2a,
    C2R = 0x2c,
    Z2Z = 0x69,
    D2Z = 0x6a,
    Z2D = 0x6c,
    HalfC2C = 0x09, ///< computed in float, and rounded
    HalfR2C = 0x0a,
    HalfC2R = 0x0c,
    BFloatC2C = 0x89,
    BFloatR2C = 0x8a,
    BFloatC2R = 0x8c,
};

constexpr bool is_real_input(Kind kind) { return (static_cast<int>(kind) & 0x0f) == 0x0a; }
constexpr bool is_real_output(Kind kind) { return (static_cast<int>(kind) & 0x0f) == 0x0c; }
constexpr bool is_complex(Kind kind) { return !is_real_input(kind) && !is_real_output(kind); }
/// The type of real numbers, and of the two parts of complex ones.
softlib::ElementType part_type(Kind kind);

/// Transforms the memory, without a factor. Input and output may be the same memory in any two
/// layouts. `direction` counts for complex transforms only.
void transform(Kind kind, const Layout &from, const void *input, const Layout &to, void *output,
               Direction direction);

/// The number of floating-point operations, about.
double operations(const Layout &from);
/// All for the sizes of which transform_of.h gives each 2^15 elements a thread.
softlib::Threads threads_of(const Layout &from);

} // namespace softcufft
