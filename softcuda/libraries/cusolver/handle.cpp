// handle.cpp -- cuSOLVER's handles and their settings.
#include "handle.h"

#include "../common/logger.h"
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

namespace {
/// The default mode, or permissions to emulate float, double or both.
bool is_math_mode(int mode) { return mode == 1 || mode == 2 || mode == 4 || mode == 6; }
} // namespace
SOFTLIB_SETTING(softcusolver::Call, Handle, cusolverDn, MathMode, math_mode, is_math_mode)
SOFTLIB_EMULATION(softcusolver::Call, Handle, cusolverDn)
SOFTLIB_LOGGER(cusolverDn)

SOFTLIB_FUNCTION(cusolverGetVersion, (int *version), {
    require(version != nullptr, "version");
    *version = softlib::version;
})
SOFTLIB_PROPERTY(cusolverGetProperty)
