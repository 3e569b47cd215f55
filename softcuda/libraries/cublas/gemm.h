// gemm.h -- products of general matrices of any element types: C = alpha op(A) op(B) + beta C.
#pragma once

#include "../common/element.h"
#include "handle.h"

namespace softcublas {

using softlib::ElementType;

/// The shape of a product.
struct Shape {
    int op_a, op_b; ///< 0: as it is, 1: transposed, 2: conjugated and transposed
    std::int64_t m, n, k;
    std::int64_t lda, ldb, ldc;

    /// Throws Failure(invalid value).
    void check() const;
    [[nodiscard]] Count extent_a() const {
        return op_a == 0 ? extent(m, k, lda) : extent(k, m, lda);
    }
    [[nodiscard]] Count extent_b() const {
        return op_b == 0 ? extent(k, n, ldb) : extent(n, k, ldb);
    }
    [[nodiscard]] Count extent_c() const { return extent(m, n, ldc); }
};

/// The types of a product: of its matrices, of alpha and beta, and in which it is computed.
struct Types {
    ElementType a, b, c;
    ElementType scale;
    ElementType compute; ///< Float32, Float64, Complex64 or Complex128

    /// Throws Failure(not supported) for a combination that cuBLAS does not have. `computation` is
    /// a number of cublasComputeType_t.
    static Types of(int a, int b, int c, int computation);
};

/// Computes one product, of matrices and scalars at host addresses.
void multiply(const Shape &shape, const Types &types, const void *alpha, const void *a,
              const void *b, const void *beta, void *c);

} // namespace softcublas
