// operations.h -- the operations that both the 32-bit and the 64-bit interface have. Each checks
// its operands and puts its work into the handle's stream.
#pragma once

#include "handle.h"
#include "jacobi.h"

#include "../common/element.h"

namespace softcusolver {

// In factor.cpp. Pivots are int or int64_t; no address of pivots means a factorisation without
// them.
template <class T, class Pivot>
void lu(const Call &call, int m, int n, T *a, int lda, Pivot *pivots, int *info);
template <class T, class Pivot>
void lu_solve(const Call &call, int op, int n, int columns, const T *a, int lda,
              const Pivot *pivots, T *b, int ldb, int *info);
template <class T> void cholesky(const Call &call, int mode, int n, T *a, int lda, int *info);
template <class T>
void cholesky_solve(const Call &call, int mode, int n, int columns, const T *a, int lda, T *b,
                    int ldb, int *info);

/// Whether a matrix of complex elements is Hermitian. Real matrices are symmetric.
enum class Form { Symmetric, Hermitian };

// In symmetric.cpp: factors L D L^T of indefinite matrices.
template <class T, class Pivot>
void symmetric_factor(const Call &call, Form form, int mode, int n, T *a, int lda, Pivot *pivots,
                      int *info);
template <class T, class Pivot>
void symmetric_solve(const Call &call, Form form, int mode, int n, int columns, const T *a, int lda,
                     const Pivot *pivots, T *b, int ldb, int *info);

// In orthogonal.cpp.
template <class T> void qr(const Call &call, int m, int n, T *a, int lda, T *tau, int *info);

// In eigen.cpp. `jacobi` is null or gets the residual.
template <class T>
void eigenvalues(const Call &call, int jobz, int mode, int n, T *a, int lda, Real<T> *values,
                 int *info, Jacobi jacobi = nullptr);
template <class T>
void eigenvalues_batch(const Call &call, int jobz, int mode, int n, T *a, int lda, Real<T> *values,
                       int *info, int count);
template <class T>
void generalised(const Call &call, int type, int jobz, int mode, int n, T *a, int lda, T *b,
                 int ldb, Real<T> *values, int *info);

/// The eigenvalues that a call selects: cuSOLVER's number of the range, and its limits.
template <class R> struct Selection {
    int range;
    R low, high;
    int first, last;
};

// In selected.cpp. `count` is in the host's memory: the number of eigenvalues found.
template <class T, class Count>
void selected(const Call &call, int jobz, const Selection<Real<T>> &selection, int mode, int n,
              T *a, int lda, Count *count, Real<T> *values, int *info);
template <class T, class Count>
void selected_generalised(const Call &call, int type, int jobz, const Selection<Real<T>> &selection,
                          int mode, int n, T *a, int lda, T *b, int ldb, Count *count,
                          Real<T> *values, int *info);

// In singular.cpp.
template <class T>
void singular_values(const Call &call, signed char jobu, signed char jobvt, int m, int n, T *a,
                     int lda, Real<T> *values, T *u, int ldu, T *vt, int ldvt, int *info);
template <class T>
void singular_values_v(const Call &call, int jobz, int economy, int m, int n, T *a, int lda,
                       Real<T> *values, T *u, int ldu, T *v, int ldv, int *info,
                       Jacobi jacobi = nullptr);
/// The first `rank` singular values, and as many columns of U and V.
template <class T>
void leading_singular_values(const Call &call, int jobz, int rank, int m, int n, const T *a,
                             int lda, std::int64_t stride_a, Real<T> *values, std::int64_t stride_s,
                             T *u, int ldu, std::int64_t stride_u, T *v, int ldv,
                             std::int64_t stride_v, int *info, double *residuals, int count);

/// Calls `action` with a value of the element type.
template <class Action> void with_type(int type, Action action) {
    using softlib::ElementType;
    switch (static_cast<ElementType>(type)) {
    case ElementType::Float32:
        return action(float{});
    case ElementType::Float64:
        return action(double{});
    case ElementType::Complex64:
        return action(Complex{});
    case ElementType::Complex128:
        return action(DoubleComplex{});
    default:
        throw Failure(statuses.not_supported,
                      "the element type " + std::to_string(type) + " is not supported");
    }
}

} // namespace softcusolver

/// Instantiates a template for all element types, for other files.
#define CUSOLVER_INSTANTIATE(ONE) ONE(float) ONE(double) ONE(Complex) ONE(DoubleComplex)
