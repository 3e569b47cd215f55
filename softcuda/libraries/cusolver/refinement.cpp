// refinement.cpp -- solutions by iterative refinement: cusolverDnDSgesv, cusolverDnIRSXgesv and so
// on.
//
// A lower precision of the factors is permitted by these functions and not demanded. The factors
// have the precision of the result, so that no iteration is needed: the number of iterations is 0.
#include "operations.h"

#include <memory>

/// cusolverDnIRSParams_t points to it. Its numbers are cuSOLVER's.
struct SoftcusolverRefinement {
    int solver = 1100;        ///< CUSOLVER_IRS_REFINE_NOT_SET
    int main = 0, lowest = 0; ///< precisions
    double tolerance = 0, inner_tolerance = 0;
    int iterations = 50, inner_iterations = 50;
    bool fallback = true;
};

/// cusolverDnIRSInfos_t points to it.
struct SoftcusolverRefinementInfo {
    bool has_residuals = false;
    int iterations = 0, outer_iterations = 0, most_iterations = 50;
};

namespace softcusolver {
namespace {

using Refinement = SoftcusolverRefinement *;
using RefinementInfo = SoftcusolverRefinementInfo *;

template <class T> std::vector<T> copy_of(int m, int n, const T *a, int lda) {
    std::vector<T> copy(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
    for (std::int64_t j = 0; j < n; ++j)
        std::copy_n(a + j * lda, m, copy.data() + j * m);
    return copy;
}
template <class T> void put(int m, int n, const T *from, int lead, T *to, int ldt) {
    for (std::int64_t j = 0; j < n; ++j)
        std::copy_n(from + j * lead, m, to + j * ldt);
}

/// A X = B. A and B are not changed. `pivots` may be null.
template <class T>
void solve(const Call &call, int n, int columns, const T *a, int lda, int *pivots, const T *b,
           int ldb, T *x, int ldx, int *iterations, int *info) {
    call.matrix(a, n, n, lda, "A");
    call.matrix(b, n, columns, ldb, "B");
    call.matrix(x, n, columns, ldx, "X");
    if (pivots != nullptr)
        call.check(pivots, n, "the pivots");
    call.check(info, 1, "d_info");
    require(iterations != nullptr, "niters");
    *iterations = 0;
    call.enqueue(operations(n, n, std::max(n, columns)), [=] {
        std::vector<T> factors = copy_of(n, n, a, lda), right = copy_of(n, columns, b, ldb);
        std::vector<int> rows(static_cast<std::size_t>(n));
        const int lead = std::max(1, n);
        lapack<"?gesv", T>(&n, &columns, factors.data(), &lead, rows.data(), right.data(), &lead,
                           info);
        if (pivots != nullptr)
            std::copy(rows.begin(), rows.end(), pivots);
        if (*info == 0)
            put(n, columns, right.data(), lead, x, ldx);
    });
}

/// The least squares solution of A X = B with at least as many rows as columns. A and B are not
/// changed.
template <class T>
void least_squares(const Call &call, int m, int n, int columns, const T *a, int lda, const T *b,
                   int ldb, T *x, int ldx, int *iterations, int *info) {
    require(m >= n, "m must not be smaller than n");
    call.matrix(a, m, n, lda, "A");
    call.matrix(b, m, columns, ldb, "B");
    call.matrix(x, n, columns, ldx, "X");
    call.check(info, 1, "d_info");
    require(iterations != nullptr, "niters");
    *iterations = 0;
    call.enqueue(operations(m, n, std::max(n, columns)), [=] {
        std::vector<T> factors = copy_of(m, n, a, lda), right = copy_of(m, columns, b, ldb);
        const int lead = std::max(1, m);
        with_workspace<T>([&](T *work, int *size) {
            lapack<"?gels", T>("N", &m, &n, &columns, factors.data(), &lead, right.data(), &lead,
                               work, size, info);
        });
        if (*info == 0)
            put(n, columns, right.data(), lead, x, ldx);
    });
}

/// The element type of a main precision: CUSOLVER_R_64F and so on.
int type_of(const Refinement params) {
    if (params == nullptr)
        throw Failure(12, ""); // CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED
    switch (params->main) {
    case 1203:
        return 1;
    case 1204:
        return 0;
    case 1213:
        return 5;
    case 1214:
        return 4;
    default:
        throw Failure(14, ""); // CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC
    }
}

Refinement checked_params(Refinement params) {
    if (params == nullptr)
        throw Failure(12, "");
    return params;
}
RefinementInfo checked_info(RefinementInfo info) {
    if (info == nullptr)
        throw Failure(25, ""); // CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED
    return info;
}

void check_solver(const Refinement params, RefinementInfo info) {
    static_cast<void>(type_of(params));
    if (params->solver == 1100)
        throw Failure(15, ""); // CUSOLVER_STATUS_IRS_PARAMS_INVALID_REFINE
    static_cast<void>(checked_info(info));
    info->iterations = info->outer_iterations = 0;
    info->most_iterations = params->iterations;
}

} // namespace
} // namespace softcusolver

using softcusolver::checked_info;
using softcusolver::checked_params;
using softcusolver::Complex;
using softcusolver::DoubleComplex;
using softcusolver::Handle;
using softcusolver::Refinement;
using softcusolver::RefinementInfo;
using softlib::require;
using Bytes = std::size_t;

#define FOR_PRECISIONS(letters, T)                                                                 \
    CUSOLVER_DEFINE(                                                                               \
        cusolverDn##letters##gesv_bufferSize,                                                      \
        (Handle handle, int, int, T *, int, int *, T *, int, T *, int, void *, Bytes *size),       \
        softcusolver::give_size(size))                                                             \
    CUSOLVER_DEFINE(                                                                               \
        cusolverDn##letters##gesv,                                                                 \
        (Handle handle, int n, int columns, T *a, int lda, int *pivots, T *b, int ldb, T *x,       \
         int ldx, void *, Bytes, int *iterations, int *info),                                      \
        softcusolver::solve(call, n, columns, a, lda, pivots, b, ldb, x, ldx, iterations, info))   \
    CUSOLVER_DEFINE(                                                                               \
        cusolverDn##letters##gels_bufferSize,                                                      \
        (Handle handle, int, int, int, T *, int, T *, int, T *, int, void *, Bytes *size),         \
        softcusolver::give_size(size))                                                             \
    CUSOLVER_DEFINE(cusolverDn##letters##gels,                                                     \
                    (Handle handle, int m, int n, int columns, T *a, int lda, T *b, int ldb, T *x, \
                     int ldx, void *, Bytes, int *iterations, int *info),                          \
                    softcusolver::least_squares(call, m, n, columns, a, lda, b, ldb, x, ldx,       \
                                                iterations, info))
FOR_PRECISIONS(DD, double)
FOR_PRECISIONS(DS, double)
FOR_PRECISIONS(DH, double)
FOR_PRECISIONS(DB, double)
FOR_PRECISIONS(DX, double)
FOR_PRECISIONS(SS, float)
FOR_PRECISIONS(SH, float)
FOR_PRECISIONS(SB, float)
FOR_PRECISIONS(SX, float)
FOR_PRECISIONS(ZZ, DoubleComplex)
FOR_PRECISIONS(ZC, DoubleComplex)
FOR_PRECISIONS(ZK, DoubleComplex)
FOR_PRECISIONS(ZE, DoubleComplex)
FOR_PRECISIONS(ZY, DoubleComplex)
FOR_PRECISIONS(CC, Complex)
FOR_PRECISIONS(CK, Complex)
FOR_PRECISIONS(CE, Complex)
FOR_PRECISIONS(CY, Complex)

CUSOLVER_DEFINE(cusolverDnIRSXgesv_bufferSize,
                (Handle handle, Refinement params, int, int, Bytes *size), {
                    static_cast<void>(softcusolver::type_of(params));
                    softcusolver::give_size(size);
                })
CUSOLVER_DEFINE(cusolverDnIRSXgels_bufferSize,
                (Handle handle, Refinement params, int, int, int, Bytes *size), {
                    static_cast<void>(softcusolver::type_of(params));
                    softcusolver::give_size(size);
                })
CUSOLVER_DEFINE(cusolverDnIRSXgesv,
                (Handle handle, Refinement params, RefinementInfo infos, int n, int columns,
                 void *a, int lda, void *b, int ldb, void *x, int ldx, void *, Bytes,
                 int *iterations, int *info),
                {
                    softcusolver::check_solver(params, infos);
                    softcusolver::with_type(softcusolver::type_of(params), [&]<class T>(T) {
                        softcusolver::solve(call, n, columns, static_cast<T *>(a), lda, nullptr,
                                            static_cast<T *>(b), ldb, static_cast<T *>(x), ldx,
                                            iterations, info);
                    });
                })
CUSOLVER_DEFINE(cusolverDnIRSXgels,
                (Handle handle, Refinement params, RefinementInfo infos, int m, int n, int columns,
                 void *a, int lda, void *b, int ldb, void *x, int ldx, void *, Bytes,
                 int *iterations, int *info),
                {
                    softcusolver::check_solver(params, infos);
                    softcusolver::with_type(softcusolver::type_of(params), [&]<class T>(T) {
                        softcusolver::least_squares(call, m, n, columns, static_cast<T *>(a), lda,
                                                    static_cast<T *>(b), ldb, static_cast<T *>(x),
                                                    ldx, iterations, info);
                    });
                })

#define PLAIN(name, parameters, ...) SOFTLIB_FUNCTION(cusolverDnIRS##name, parameters, __VA_ARGS__)
PLAIN(ParamsCreate, (Refinement * params), {
    require(params != nullptr, "params");
    *params = std::make_unique<SoftcusolverRefinement>().release();
})
PLAIN(ParamsDestroy, (Refinement params), delete checked_params(params))
PLAIN(ParamsSetRefinementSolver, (Refinement params, int solver), {
    if (solver < 1100 || solver > 1106)
        throw softlib::Failure(15, "");
    checked_params(params)->solver = solver;
})
PLAIN(ParamsSetSolverMainPrecision, (Refinement params, int precision),
      checked_params(params)->main = precision)
PLAIN(ParamsSetSolverLowestPrecision, (Refinement params, int precision),
      checked_params(params)->lowest = precision)
PLAIN(ParamsSetSolverPrecisions, (Refinement params, int main, int lowest), {
    checked_params(params)->main = main;
    params->lowest = lowest;
})
PLAIN(ParamsSetTol, (Refinement params, double tolerance),
      checked_params(params)->tolerance = tolerance)
PLAIN(ParamsSetTolInner, (Refinement params, double tolerance),
      checked_params(params)->inner_tolerance = tolerance)
PLAIN(ParamsSetMaxIters, (Refinement params, int count), checked_params(params)->iterations = count)
PLAIN(ParamsSetMaxItersInner, (Refinement params, int count),
      checked_params(params)->inner_iterations = count)
PLAIN(ParamsGetMaxIters, (Refinement params, int *count), {
    require(count != nullptr, "maxiters");
    *count = checked_params(params)->iterations;
})
PLAIN(ParamsEnableFallback, (Refinement params), checked_params(params)->fallback = true)
PLAIN(ParamsDisableFallback, (Refinement params), checked_params(params)->fallback = false)
PLAIN(InfosCreate, (RefinementInfo * infos), {
    require(infos != nullptr, "infos");
    *infos = std::make_unique<SoftcusolverRefinementInfo>().release();
})
PLAIN(InfosDestroy, (RefinementInfo infos), delete checked_info(infos))
PLAIN(InfosGetNiters, (RefinementInfo infos, int *count), {
    require(count != nullptr, "niters");
    *count = checked_info(infos)->iterations;
})
PLAIN(InfosGetOuterNiters, (RefinementInfo infos, int *count), {
    require(count != nullptr, "outer_niters");
    *count = checked_info(infos)->outer_iterations;
})
PLAIN(InfosGetMaxIters, (RefinementInfo infos, int *count), {
    require(count != nullptr, "maxiters");
    *count = checked_info(infos)->most_iterations;
})
PLAIN(InfosRequestResidual, (RefinementInfo infos), checked_info(infos)->has_residuals = true)
// There is no iteration, and so no history of residuals.
PLAIN(InfosGetResidualHistory, (RefinementInfo infos, void **history), {
    require(history != nullptr, "residual_history");
    static_cast<void>(checked_info(infos));
    throw softlib::Failure(softlib::statuses.not_supported, "a history of residuals");
})
