// matmul.h -- cublasLt's products with an epilogue: D = f(alpha op(A) op(B) + beta C + bias).
#pragma once

#include "descriptors.h"

#include "../common/session.h"
#include "../cublas/gemm.h"

namespace softcublaslt {

/// The operands of one call of cublasLtMatmul().
struct Matmul {
    MatmulDescription description;
    Layout layout_a, layout_b, layout_c, layout_d;

    softcublas::Types types() const;
    /// Throws Failure(not supported) or (invalid value) for operands that cannot be multiplied.
    void check() const;
    /// The shape of the product, in the order of columns.
    softcublas::Shape shape() const;
    void check_memory(const softlib::Session &session, const void *a, const void *b, const void *c,
                      const void *d) const;
    /// Computes at host addresses.
    void run(const void *alpha, const void *a, const void *b, const void *beta, const void *c,
             void *d) const;
};

} // namespace softcublaslt
