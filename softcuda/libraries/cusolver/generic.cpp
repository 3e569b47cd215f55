// generic.cpp -- the 64-bit interface, whose element types are arguments: cusolverDnX...
//
// Each function calls the operation of the 32-bit interface for the type of A. The other types must
// be those that belong to it. Sizes above 2^31 - 1 are not supported.
#include "operations.h"
#include "spectral.h"

#include <cmath>
#include <memory>

/// cusolverDnParams_t points to it. Each function has one algorithm.
struct SoftcusolverParams {
    int algorithms[7] = {};
};

using softcusolver::Failure;
using softcusolver::Form;
using softcusolver::Handle;
using softcusolver::is_complex;
using softcusolver::narrow;
using softcusolver::Real;
using softcusolver::Selection;
using softcusolver::statuses;
using softcusolver::with_type;
using softlib::require;

namespace {

using Params = SoftcusolverParams *;
using Size = std::int64_t;
using Bytes = std::size_t;

/// The type of the real parts.
int real_of(int type) { return type == 4 ? 0 : type == 5 ? 1 : type; }

/// Throws Failure unless the types are equal.
template <class... Types> void same(int type, Types... others) {
    require(((type == others) && ...), "equal element types");
}

void give_sizes(Bytes *device, Bytes *host) {
    require(device != nullptr && host != nullptr, "the sizes' addresses");
    *device = 1; // programs may divide by it, or allocate it
    *host = 0;
}

template <class T> T *as(void *address) { return static_cast<T *>(address); }
template <class T> const T *as(const void *address) { return static_cast<const T *>(address); }

/// All eigenvalues of a general matrix, and its right and left vectors.
template <class T>
void general_eigenvalues(const softcusolver::Call &call, int left, int right, int n, T *a, int lda,
                         void *values, bool complex_values, T *vl, int ldvl, T *vr, int ldvr,
                         int *info) {
    using Complex = std::complex<Real<T>>;
    const char *const job_l = softcusolver::vectors(left), *const job_r =
                                                               softcusolver::vectors(right);
    call.matrix(a, n, n, lda, "A");
    call.check(static_cast<Real<T> *>(values), 2 * Size{n}, "W");
    if (left != 0)
        call.matrix(vl, n, n, ldvl, "VL");
    if (right != 0)
        call.matrix(vr, n, n, ldvr, "VR");
    call.check(info, 1, "info");
    call.enqueue(softcusolver::operations(25, n, n, n), [=] {
        if (!softcusolver::is_finite("A", n, n, a, lda)) {
            softcusolver::fill_with_nan(complex_values || is_complex<T> ? 2 * n : n, 1,
                                        as<Real<T>>(values), n);
            if (left != 0)
                softcusolver::fill_with_nan(n, n, vl, ldvl);
            if (right != 0)
                softcusolver::fill_with_nan(n, n, vr, ldvr);
            *info = n; // nothing converged
            return;
        }
        const int lead_l = std::max(1, ldvl), lead_r = std::max(1, ldvr);
        std::vector<Real<T>> reals(static_cast<std::size_t>(2 * n));
        softcusolver::with_workspace<T>([&](T *work, int *size) {
            if constexpr (is_complex<T>)
                softcusolver::lapack<"?geev", T>(job_l, job_r, &n, a, &lda, as<T>(values), vl,
                                                 &lead_l, vr, &lead_r, work, size, reals.data(),
                                                 info);
            else
                softcusolver::lapack<"?geev", T>(job_l, job_r, &n, a, &lda, reals.data(),
                                                 reals.data() + n, vl, &lead_l, vr, &lead_r, work,
                                                 size, info);
        });
        if constexpr (!is_complex<T>) {
            if (!complex_values)
                std::copy(reals.begin(), reals.end(), as<T>(values));
            for (int i = 0; complex_values && i < n; ++i)
                as<Complex>(values)[i] = {reals[static_cast<std::size_t>(i)],
                                          reals[static_cast<std::size_t>(i + n)]};
        }
    });
}

template <class T>
void invert_triangle(const softcusolver::Call &call, int mode, int diagonal, int n, T *a, int lda,
                     int *info) {
    const char *const uplo = softcusolver::fill(mode);
    require(diagonal == 0 || diagonal == 1, "diagonal type");
    call.matrix(a, n, n, lda, "A");
    call.check(info, 1, "devInfo");
    call.enqueue(softcusolver::operations(n, n, n) / 3, [=] {
        softcusolver::lapack<"?trtri", T>(uplo, diagonal == 0 ? "N" : "U", &n, a, &lda, info);
    });
}

template <class T>
void generalised_batch(const softcusolver::Call &call, int type, int jobz, int mode, int n, T *a,
                       int lda, Size stride_a, T *b, int ldb, Size stride_b, Real<T> *values,
                       Size stride_w, int *info, Size count) {
    require(count >= 0, "batch size");
    for (Size i = 0; i < count; ++i)
        softcusolver::generalised(call, type, jobz, mode, n, a + i * stride_a, lda,
                                  b + i * stride_b, ldb, values + i * stride_w, info + i);
}

/// Limits of eigenvalues are in the host's memory, with the type of the real parts.
template <class T>
Selection<Real<T>> selection_of(int range, const void *low, const void *high, Size first,
                                Size last) {
    Selection<Real<T>> selection = {range, {}, {}, narrow(first), narrow(last)};
    if (range == 1003) {
        require(low != nullptr && high != nullptr, "vl, vu");
        selection.low = *as<Real<T>>(low);
        selection.high = *as<Real<T>>(high);
    }
    return selection;
}

} // namespace

SOFTLIB_FUNCTION(cusolverDnCreateParams, (Params * params), {
    require(params != nullptr, "params");
    *params = std::make_unique<SoftcusolverParams>().release();
})
SOFTLIB_EXPORT int cusolverDnDestroyParams(Params params) {
    delete params;
    return statuses.success;
}
SOFTLIB_FUNCTION(cusolverDnSetAdvOptions, (Params params, int function, int algorithm), {
    require(params != nullptr && function >= 0 && function < 7 && algorithm >= 0,
            "params, function, algorithm");
    params->algorithms[function] = algorithm;
})

/// A function and its query of workspaces. The last arguments of both are the same everywhere.
#define WITH_WORKSPACE(name, size_arguments, arguments, ...)                                       \
    CUSOLVER_DEFINE(cusolverDnX##name##_bufferSize,                                                \
                    (Handle handle, UNPACK size_arguments, Bytes * device, Bytes * host),          \
                    give_sizes(device, host))                                                      \
    CUSOLVER_DEFINE(cusolverDnX##name,                                                             \
                    (Handle handle, UNPACK arguments, void *, Bytes, void *, Bytes, int *info),    \
                    __VA_ARGS__)
#define UNPACK(...) __VA_ARGS__

WITH_WORKSPACE(getrf, (Params, Size, Size, int, const void *, Size, int),
               (Params, Size m, Size n, int type, void *a, Size lda, Size *pivots, int compute), {
                   same(type, compute);
                   with_type(type, [&]<class T>(T) {
                       softcusolver::lu(call, narrow(m), narrow(n), as<T>(a), narrow(lda), pivots,
                                        info);
                   });
               })
CUSOLVER_DEFINE(cusolverDnXgetrs,
                (Handle handle, Params, int op, Size n, Size columns, int type, const void *a,
                 Size lda, const Size *pivots, int type_b, void *b, Size ldb, int *info),
                {
                    same(type, type_b);
                    with_type(type, [&]<class T>(T) {
                        softcusolver::lu_solve(call, op, narrow(n), narrow(columns), as<T>(a),
                                               narrow(lda), pivots, as<T>(b), narrow(ldb), info);
                    });
                })
WITH_WORKSPACE(potrf, (Params, int, Size, int, const void *, Size, int),
               (Params, int mode, Size n, int type, void *a, Size lda, int compute), {
                   same(type, compute);
                   with_type(type, [&]<class T>(T) {
                       softcusolver::cholesky(call, mode, narrow(n), as<T>(a), narrow(lda), info);
                   });
               })
CUSOLVER_DEFINE(cusolverDnXpotrs,
                (Handle handle, Params, int mode, Size n, Size columns, int type, const void *a,
                 Size lda, int type_b, void *b, Size ldb, int *info),
                {
                    same(type, type_b);
                    with_type(type, [&]<class T>(T) {
                        softcusolver::cholesky_solve(call, mode, narrow(n), narrow(columns),
                                                     as<T>(a), narrow(lda), as<T>(b), narrow(ldb),
                                                     info);
                    });
                })
WITH_WORKSPACE(
    geqrf, (Params, Size, Size, int, const void *, Size, int, const void *, int),
    (Params, Size m, Size n, int type, void *a, Size lda, int type_tau, void *tau, int compute), {
        same(type, type_tau, compute);
        with_type(type, [&]<class T>(T) {
            softcusolver::qr(call, narrow(m), narrow(n), as<T>(a), narrow(lda), as<T>(tau), info);
        });
    })
WITH_WORKSPACE(trtri, (int, int, Size, int, void *, Size),
               (int mode, int diagonal, Size n, int type, void *a, Size lda),
               with_type(type, [&]<class T>(T) {
                   invert_triangle(call, mode, diagonal, narrow(n), as<T>(a), narrow(lda), info);
               }))

#define SYMMETRIC(name, form)                                                                      \
    WITH_WORKSPACE(                                                                                \
        name##trf, (Params, int, Size, int, const void *, Size, const Size *, int),                \
        (Params, int mode, Size n, int type, void *a, Size lda, Size *pivots, int compute), {      \
            same(type, compute);                                                                   \
            with_type(type, [&]<class T>(T) {                                                      \
                softcusolver::symmetric_factor(call, form, mode, narrow(n), as<T>(a), narrow(lda), \
                                               pivots, info);                                      \
            });                                                                                    \
        })
SYMMETRIC(sy, Form::Symmetric)
SYMMETRIC(he, Form::Hermitian)
#define SYMMETRIC_SOLVE(name, form, ...)                                                           \
    WITH_WORKSPACE(                                                                                \
        name##trs,                                                                                 \
        (__VA_ARGS__ int, Size, Size, int, const void *, Size, const Size *, int, void *, Size),   \
        (__VA_ARGS__ int mode, Size n, Size columns, int type, const void *a, Size lda,            \
         const Size *pivots, int type_b, void *b, Size ldb),                                       \
        {                                                                                          \
            same(type, type_b);                                                                    \
            with_type(type, [&]<class T>(T) {                                                      \
                softcusolver::symmetric_solve(call, form, mode, narrow(n), narrow(columns),        \
                                              as<T>(a), narrow(lda), pivots, as<T>(b),             \
                                              narrow(ldb), info);                                  \
            });                                                                                    \
        })
SYMMETRIC_SOLVE(sy, Form::Symmetric)
#define PARAMS_FIRST Params,
SYMMETRIC_SOLVE(he, Form::Hermitian, PARAMS_FIRST)

WITH_WORKSPACE(syevd, (Params, int, int, Size, int, const void *, Size, int, const void *, int),
               (Params, int jobz, int mode, Size n, int type, void *a, Size lda, int type_w,
                void *values, int compute),
               {
                   same(type, compute);
                   same(real_of(type), type_w);
                   with_type(type, [&]<class T>(T) {
                       softcusolver::eigenvalues(call, jobz, mode, narrow(n), as<T>(a), narrow(lda),
                                                 as<Real<T>>(values), info);
                   });
               })
WITH_WORKSPACE(syevdx,
               (Params, int, int, int, Size, int, const void *, Size, void *, void *, Size, Size,
                Size *, int, const void *, int),
               (Params, int jobz, int range, int mode, Size n, int type, void *a, Size lda,
                void *low, void *high, Size first, Size last, Size *count, int type_w, void *values,
                int compute),
               {
                   same(type, compute);
                   same(real_of(type), type_w);
                   with_type(type, [&]<class T>(T) {
                       softcusolver::selected(
                           call, jobz, selection_of<T>(range, low, high, first, last), mode,
                           narrow(n), as<T>(a), narrow(lda), count, as<Real<T>>(values), info);
                   });
               })
WITH_WORKSPACE(sygvd,
               (Params, int, int, int, Size, int, const void *, Size, int, const void *, Size, int,
                const void *, int),
               (Params, int itype, int jobz, int mode, Size n, int type, void *a, Size lda,
                int type_b, void *b, Size ldb, int type_w, void *values, int compute),
               {
                   same(type, type_b, compute);
                   same(real_of(type), type_w);
                   with_type(type, [&]<class T>(T) {
                       softcusolver::generalised(call, itype, jobz, mode, narrow(n), as<T>(a),
                                                 narrow(lda), as<T>(b), narrow(ldb),
                                                 as<Real<T>>(values), info);
                   });
               })
WITH_WORKSPACE(sygvdx,
               (Params, int, int, int, Size, int, const void *, Size, int, const void *, Size,
                void *, void *, Size, Size, Size *, int, const void *, int),
               (Params, int itype, int jobz, int range, int mode, Size n, int type, void *a,
                Size lda, int type_b, void *b, Size ldb, void *low, void *high, Size first,
                Size last, Size *count, int type_w, void *values, int compute),
               {
                   same(type, type_b, compute);
                   same(real_of(type), type_w);
                   with_type(type, [&]<class T>(T) {
                       softcusolver::selected_generalised(
                           call, itype, jobz, selection_of<T>(range, low, high, first, last), mode,
                           narrow(n), as<T>(a), narrow(lda), as<T>(b), narrow(ldb), count,
                           as<Real<T>>(values), info);
                   });
               })
WITH_WORKSPACE(sygvStridedBatched,
               (Params, int, int, int, Size, int, const void *, Size, Size, int, const void *, Size,
                Size, int, const void *, Size, int, Size),
               (Params, int itype, int jobz, int mode, Size n, int type, void *a, Size lda,
                Size stride_a, int type_b, void *b, Size ldb, Size stride_b, int type_w,
                void *values, Size stride_w, int compute, Size count),
               {
                   same(type, type_b, compute);
                   same(real_of(type), type_w);
                   with_type(type, [&]<class T>(T) {
                       generalised_batch(call, itype, jobz, mode, narrow(n), as<T>(a), narrow(lda),
                                         stride_a, as<T>(b), narrow(ldb), stride_b,
                                         as<Real<T>>(values), stride_w, info, count);
                   });
               })
WITH_WORKSPACE(geev,
               (Params, int, int, Size, int, const void *, Size, int, const void *, int,
                const void *, Size, int, const void *, Size, int),
               (Params, int left, int right, Size n, int type, void *a, Size lda, int type_w,
                void *values, int type_vl, void *vl, Size ldvl, int type_vr, void *vr, Size ldvr,
                int compute),
               {
                   same(type, type_vl, type_vr, compute);
                   require(type_w == type || real_of(type_w) == type, "the type of W");
                   with_type(type, [&]<class T>(T) {
                       general_eigenvalues(call, left, right, narrow(n), as<T>(a), narrow(lda),
                                           values, type_w != type, as<T>(vl), narrow(ldvl),
                                           as<T>(vr), narrow(ldvr), info);
                   });
               })
WITH_WORKSPACE(gesvd,
               (Params, signed char, signed char, Size, Size, int, const void *, Size, int,
                const void *, int, const void *, Size, int, const void *, Size, int),
               (Params, signed char jobu, signed char jobvt, Size m, Size n, int type, void *a,
                Size lda, int type_s, void *values, int type_u, void *u, Size ldu, int type_vt,
                void *vt, Size ldvt, int compute),
               {
                   same(type, type_u, type_vt, compute);
                   same(real_of(type), type_s);
                   with_type(type, [&]<class T>(T) {
                       softcusolver::singular_values(call, jobu, jobvt, narrow(m), narrow(n),
                                                     as<T>(a), narrow(lda), as<Real<T>>(values),
                                                     as<T>(u), narrow(ldu), as<T>(vt), narrow(ldvt),
                                                     info);
                   });
               })

// The polar decomposition's and the randomised method's results are LAPACK's: their error is 0.
CUSOLVER_DEFINE(cusolverDnXgesvdp_bufferSize,
                (Handle handle, Params, int, int, Size, Size, int, const void *, Size, int,
                 const void *, int, const void *, Size, int, const void *, Size, int, Bytes *device,
                 Bytes *host),
                give_sizes(device, host))
CUSOLVER_DEFINE(cusolverDnXgesvdp,
                (Handle handle, Params, int jobz, int economy, Size m, Size n, int type, void *a,
                 Size lda, int type_s, void *values, int type_u, void *u, Size ldu, int type_v,
                 void *v, Size ldv, int compute, void *, Bytes, void *, Bytes, int *info,
                 double *error),
                {
                    same(type, type_u, type_v, compute);
                    same(real_of(type), type_s);
                    require(error != nullptr, "h_err_sigma");
                    *error = 0;
                    with_type(type, [&]<class T>(T) {
                        softcusolver::singular_values_v(call, jobz, economy, narrow(m), narrow(n),
                                                        as<T>(a), narrow(lda), as<Real<T>>(values),
                                                        as<T>(u), narrow(ldu), as<T>(v),
                                                        narrow(ldv), info);
                    });
                })
WITH_WORKSPACE(gesvdr,
               (Params, signed char, signed char, Size, Size, Size, Size, Size, int, const void *,
                Size, int, const void *, int, const void *, Size, int, const void *, Size, int),
               (Params, signed char jobu, signed char jobv, Size m, Size n, Size k, Size, Size,
                int type, void *a, Size lda, int type_s, void *values, int type_u, void *u,
                Size ldu, int type_v, void *v, Size ldv, int compute),
               {
                   same(type, type_u, type_v, compute);
                   same(real_of(type), type_s);
                   require((jobu == 'S' || jobu == 'N') && jobu == jobv, "jobu, jobv");
                   with_type(type, [&]<class T>(T) {
                       softcusolver::leading_singular_values(
                           call, jobu == 'S' ? 1 : 0, narrow(k), narrow(m), narrow(n), as<T>(a),
                           narrow(lda), 0, as<Real<T>>(values), 0, as<T>(u), narrow(ldu), 0,
                           as<T>(v), narrow(ldv), 0, info, nullptr, 1);
                   });
               })

// The number of matrices is the last argument, after the workspaces.
CUSOLVER_DEFINE(cusolverDnXsyevBatched_bufferSize,
                (Handle handle, Params, int, int, Size, int, const void *, Size, int, const void *,
                 int, Bytes *device, Bytes *host, Size),
                give_sizes(device, host))
CUSOLVER_DEFINE(cusolverDnXsyevBatched,
                (Handle handle, Params, int jobz, int mode, Size n, int type, void *a, Size lda,
                 int type_w, void *values, int compute, void *, Bytes, void *, Bytes, int *info,
                 Size count),
                {
                    same(type, compute);
                    same(real_of(type), type_w);
                    with_type(type, [&]<class T>(T) {
                        softcusolver::eigenvalues_batch(call, jobz, mode, narrow(n), as<T>(a),
                                                        narrow(lda), as<Real<T>>(values), info,
                                                        narrow(count));
                    });
                })
