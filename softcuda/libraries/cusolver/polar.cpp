// polar.cpp -- the polar decomposition A = U H by singular values: cusolverDnXpolar.
#include "operations.h"
#include "spectral.h"

namespace softcusolver {
namespace {

/// What a client may ask of a decomposition; each may be null.
struct Measures {
    double *residual;  ///< |A - U H|
    double *norm;      ///< |A|
    double *condition; ///< 1 / (|A| |A^-1|)
};

/// Writes the columns of `from`, or one of its triangles: 0 the lower, 1 the upper, 2 both.
template <class T>
void write_triangle(int mode, int n, const std::vector<T> &from, T *to, int leading) {
    for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = mode == 0 ? j : 0; i < (mode == 1 ? j + 1 : n); ++i)
            to[i + j * leading] = from[i + j * n];
}

template <class T>
int decompose(int mode, int m, int n, T *a, int lda, T *h, int ldh, const Measures &measures) {
    const std::size_t rows = m, columns = n;
    const int lead_m = std::max(1, m), lead_n = std::max(1, n);
    std::vector<T> copy = packed(m, n, a, lda), left(rows * columns), vt(columns * columns);
    const std::vector<T> original = copy;
    std::vector<Real<T>> values(columns);
    const int info = singular<T>("S", "S", m, n, copy.data(), lead_m, values.data(), left.data(),
                                 lead_m, vt.data(), lead_n);
    if (info != 0)
        return info;
    const T one{1}, zero{}, minus{-1};
    softlib::blas<void, "?gemm", T>(softlib::column_major, softlib::no_transpose,
                                    softlib::no_transpose, m, n, n, softlib::scalar(one),
                                    left.data(), lead_m, vt.data(), lead_n, softlib::scalar(zero),
                                    a, lda);
    std::vector<T> scaled = vt, product(columns * columns); // H = V S V^H
    for (std::size_t k = 0; k < scaled.size(); ++k)
        scaled[k] *= values[k % columns];
    softlib::blas<void, "?gemm", T>(softlib::column_major, softlib::conjugate_transpose,
                                    softlib::no_transpose, n, n, n, softlib::scalar(one), vt.data(),
                                    lead_n, scaled.data(), lead_n, softlib::scalar(zero),
                                    product.data(), lead_n);
    write_triangle(mode, n, product, h, ldh);
    if (measures.residual != nullptr) {
        std::vector<T> rest = original;
        softlib::blas<void, "?gemm", T>(softlib::column_major, softlib::no_transpose,
                                        softlib::no_transpose, m, n, n, softlib::scalar(minus), a,
                                        lda, product.data(), lead_n, softlib::scalar(one),
                                        rest.data(), lead_m);
        *measures.residual = norm_of(rest);
    }
    if (measures.norm != nullptr)
        *measures.norm = norm_of(original);
    if (measures.condition != nullptr) {
        double inverse = 0;
        for (const Real<T> value : values)
            inverse += 1 / (static_cast<double>(value) * static_cast<double>(value));
        *measures.condition = 1 / (norm_of(original) * std::sqrt(inverse));
    }
    return 0;
}

template <class T>
void polar(const Call &call, int mode, int m, int n, T *a, int lda, T *h, int ldh,
           const Measures &measures, int *info) {
    require(mode >= 0 && mode <= 2 && m >= n, "uplo, M, N");
    call.matrix(a, m, n, lda, "A");
    call.matrix(h, n, n, ldh, "H");
    for (double *const result : {measures.residual, measures.norm, measures.condition})
        if (result != nullptr)
            call.check(result, 1, "a measure");
    call.check(info, 1, "info");
    call.enqueue(operations(20, m, n, n),
                 [=] { *info = n == 0 ? 0 : decompose(mode, m, n, a, lda, h, ldh, measures); });
}

} // namespace
} // namespace softcusolver

using softcusolver::Handle;
using softcusolver::narrow;
using softlib::require;

CUSOLVER_DEFINE(cusolverDnXpolar_bufferSize,
                (Handle handle, void *, int, std::int64_t, std::int64_t, int, const void *,
                 std::int64_t, int, const void *, std::int64_t, int, std::size_t *device,
                 std::size_t *host),
                {
                    require(host != nullptr, "the size's address");
                    softcusolver::give_size(device);
                    *host = 0;
                })
CUSOLVER_DEFINE(cusolverDnXpolar,
                (Handle handle, void *, int mode, std::int64_t m, std::int64_t n, int type, void *a,
                 std::int64_t lda, int type_h, void *h, std::int64_t ldh, int compute, void *,
                 std::size_t, void *, std::size_t, double *residual, double *norm,
                 double *condition, int *info),
                {
                    require(type == type_h && type == compute, "equal element types");
                    softcusolver::with_type(type, [&]<class T>(T) {
                        softcusolver::polar(call, mode, narrow(m), narrow(n), static_cast<T *>(a),
                                            narrow(lda), static_cast<T *>(h), narrow(ldh),
                                            {residual, norm, condition}, info);
                    });
                })
