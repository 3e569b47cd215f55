// jacobi.cpp -- the objects with the settings of the Jacobi methods.
#include "jacobi.h"

#include "handle.h"

using softcusolver::Handle;
using softlib::guarded;
using softlib::require;

namespace {

int create(const char *function, Jacobi *info) {
    return guarded(function, [&] {
        require(info != nullptr, "info");
        *info = std::make_unique<SoftcusolverJacobi>().release();
    });
}

int destroy(Jacobi info) {
    delete info;
    return softlib::statuses.success;
}

template <class T>
int set(const char *function, Jacobi info, T SoftcusolverJacobi::*what, T value) {
    return guarded(function, [&] {
        require(info != nullptr, "info");
        info->*what = value;
    });
}

} // namespace

#define JACOBI(Name, name)                                                                         \
    SOFTLIB_EXPORT int cusolverDnCreate##Name##jInfo(Jacobi *info) {                               \
        return create("cusolverDnCreate" #Name "jInfo", info);                                     \
    }                                                                                              \
    SOFTLIB_EXPORT int cusolverDnDestroy##Name##jInfo(Jacobi info) { return destroy(info); }       \
    SOFTLIB_EXPORT int cusolverDnX##name##jSetTolerance(Jacobi info, double tolerance) {           \
        return set("cusolverDnX" #name "jSetTolerance", info, &SoftcusolverJacobi::tolerance,      \
                   tolerance);                                                                     \
    }                                                                                              \
    SOFTLIB_EXPORT int cusolverDnX##name##jSetMaxSweeps(Jacobi info, int sweeps) {                 \
        return set("cusolverDnX" #name "jSetMaxSweeps", info, &SoftcusolverJacobi::sweeps,         \
                   sweeps);                                                                        \
    }                                                                                              \
    SOFTLIB_EXPORT int cusolverDnX##name##jSetSortEig(Jacobi info, int sorted) {                   \
        return set("cusolverDnX" #name "jSetSortEig", info, &SoftcusolverJacobi::sorted, sorted);  \
    }                                                                                              \
    CUSOLVER_DEFINE(cusolverDnX##name##jGetResidual,                                               \
                    (Handle handle, Jacobi info, double *residual), {                              \
                        require(info != nullptr && residual != nullptr, "info, residual");         \
                        call.handle.session.synchronize();                                         \
                        *residual = *info->residual;                                               \
                    })                                                                             \
    /* A direct method makes no sweeps. */                                                         \
    CUSOLVER_DEFINE(cusolverDnX##name##jGetSweeps, (Handle handle, Jacobi info, int *sweeps), {    \
        require(info != nullptr && sweeps != nullptr, "info, executed_sweeps");                    \
        *sweeps = 0;                                                                               \
    })
JACOBI(Syev, syev)
JACOBI(Gesvd, gesvd)
