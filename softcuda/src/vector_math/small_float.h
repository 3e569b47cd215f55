// small_float.h -- f16, bf16 and the 8-bit formats, to and from float.
#pragma once

#include "vector_math/emitter.h"

namespace softcuda::vector_math {

/// A floating-point format narrower than float.
struct SmallFormat {
    unsigned bits;
    unsigned mantissa;      ///< stored bits of it
    unsigned exponent;      ///< bits
    std::uint32_t nan;      ///< the NaN that conversions and arithmetic produce
    std::uint32_t overflow; ///< result above the largest number: infinity, or the largest number
    std::uint32_t largest;  ///< finite
};

inline constexpr SmallFormat kHalf{16, 10, 5, 0x7fff, 0x7c00, 0x7bff};
inline constexpr SmallFormat kBfloat{16, 7, 8, 0x7fff, 0x7f80, 0x7f7f};
/// Conversions to the 8-bit formats always saturate to the largest number.
inline constexpr SmallFormat kE4m3{8, 3, 4, 0x7f, 0x7e, 0x7e};
inline constexpr SmallFormat kE5m2{8, 2, 5, 0x7f, 0x7b, 0x7b};

/// F16 and F16x2, BF16 and BF16x2, E4M3 and E4M3x2, E5M2 and E5M2x2; null for others.
[[nodiscard]] const SmallFormat *small_format(ir::Scalar type);

/// Numbers of `format` (integers of its width) as floats, exactly.
[[nodiscard]] Value *widen(Emitter &e, Value *value, const SmallFormat &format);

/// Floats rounded once to `format`; NaN becomes the format's own. The result is integers.
[[nodiscard]] Value *narrow(Emitter &e, Value *value, const SmallFormat &format,
                            ir::Rounding rounding);

/// Floats rounded to the 10 stored bits of tf32, which has float's layout. `finite`: a result that
/// would be infinite or NaN is one unit less.
[[nodiscard]] Value *narrow_tf32(Emitter &e, Value *value, ir::Rounding rounding, bool finite);

} // namespace softcuda::vector_math
