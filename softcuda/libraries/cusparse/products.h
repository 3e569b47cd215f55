// products.h -- the products and the solutions that several interfaces have.
#pragma once

#include "matrix.h"

namespace softcusparse {

/// C = alpha op(A) op(B) + beta C, in the stream. `type` is that of alpha, beta and the sums.
void enqueue_product(const Call &call, int op, int op_b, const void *alpha, const Matrix &a,
                     const Dense &b, const void *beta, const Dense &c, int type);

/// op(A) C = alpha op(B) with a triangular A, in the stream. `values` replace those of A.
void enqueue_solution(const Call &call, int op, int op_b, const void *alpha, const Matrix &a,
                      const Dense &b, const Dense &c, int type,
                      const std::shared_ptr<std::vector<std::byte>> &values = nullptr);

} // namespace softcusparse
