// matrix.h -- the form of a matrix multiplication, packed into Attributes::immediate.
#pragma once

#include "ir/types.h"

namespace softcuda::ir {

/// D = A * B + C, with A m x k, B k x 8 and the others m x 8. D's type is Attributes::type, A's
/// Attributes::source_type.
struct MatrixForm {
    unsigned m = 16; ///< 8 or 16
    unsigned k = 16; ///< a power of two from 4 to 256
    Scalar b = Scalar::None, c = Scalar::None;
    bool quads = false;       ///< mma.m8n8k4 of f16: four products, each of eight lanes
    bool column_a = false;    ///< of those, how lanes hold A
    bool row_b = false;       ///< and B
    bool conjunction = false; ///< of single bits: and instead of xor
    bool sparse = false;      ///< half of A's elements are given, with their positions
    unsigned selector = 0;    ///< of mma.sp: which lanes know
    bool coarse = false;      ///< wgmma of 8-bit floats: sums of 14 bits
};

[[nodiscard]] constexpr std::uint32_t pack(const MatrixForm &form) {
    std::uint32_t log = 0;
    while (4u << log < form.k)
        ++log;
    return (form.m == 16 ? 1u : 0u) | log << 1 | static_cast<std::uint32_t>(form.b) << 4 |
           static_cast<std::uint32_t>(form.c) << 10 | (form.quads ? 1u : 0u) << 16 |
           (form.column_a ? 1u : 0u) << 17 | (form.row_b ? 1u : 0u) << 18 |
           (form.conjunction ? 1u : 0u) << 19 | (form.sparse ? 1u : 0u) << 20 |
           form.selector << 21 | (form.coarse ? 1u : 0u) << 23;
}

[[nodiscard]] constexpr MatrixForm unpack_matrix_form(std::uint32_t bits) {
    return {.m = bits & 1 ? 16u : 8u,
            .k = 4u << (bits >> 1 & 7),
            .b = static_cast<Scalar>(bits >> 4 & 63),
            .c = static_cast<Scalar>(bits >> 10 & 63),
            .quads = (bits >> 16 & 1) != 0,
            .column_a = (bits >> 17 & 1) != 0,
            .row_b = (bits >> 18 & 1) != 0,
            .conjunction = (bits >> 19 & 1) != 0,
            .sparse = (bits >> 20 & 1) != 0,
            .selector = bits >> 21 & 3,
            .coarse = (bits >> 23 & 1) != 0};
}

} // namespace softcuda::ir
