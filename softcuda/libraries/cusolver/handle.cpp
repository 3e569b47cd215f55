// handle.cpp -- cuSOLVER's handles and their settings.
#include "handle.h"

#include "../common/version.h"

using softcusolver::Handle;
using softlib::require;

namespace softlib {
const Statuses statuses = {"cuSOLVER", 0, 1, 3, 2, 6, 7, 9};
} // namespace softlib

SOFTLIB_HANDLE_LIFE(softcusolver::Call, Handle, cusolverDn, )
SOFTLIB_HANDLE_STREAM(softcusolver::Call, Handle, cusolverDn, )
// Results never depend on the order of threads.
CUSOLVER_DEFINE(cusolverDnSetDeterministicMode, (Handle handle, int mode), {
    require(mode == 1 || mode == 2, "mode");
    call.handle.deterministic = mode;
})
CUSOLVER_DEFINE(cusolverDnGetDeterministicMode, (Handle handle, int *mode), {
    require(mode != nullptr, "mode");
    *mode = call.handle.deterministic;
})

SOFTLIB_FUNCTION(cusolverGetVersion, (int *version), {
    require(version != nullptr, "version");
    *version = softlib::version;
})
SOFTLIB_PROPERTY(cusolverGetProperty)
