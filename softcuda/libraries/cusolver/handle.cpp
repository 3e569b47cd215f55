// handle.cpp -- cuSOLVER's handles and their settings.
#include "handle.h"

#include "../common/version.h"

using softcusolver::Handle;
using softlib::guarded;
using softlib::require;

namespace softlib {
const Statuses statuses = {"cuSOLVER", 0, 1, 3, 2, 6, 7, 9};
} // namespace softlib

SOFTLIB_EXPORT int cusolverDnCreate(Handle *handle) {
    return guarded("cusolverDnCreate", [&] {
        softlib::require_openblas();
        softlib::make_handle(handle);
    });
}
CUSOLVER_DEFINE(cusolverDnDestroy, (Handle handle), {
    call.handle.session.finish();
    softlib::destroy(handle);
})
CUSOLVER_DEFINE(cusolverDnSetStream, (Handle handle, CUstream stream),
                call.handle.session.set_stream(stream))
CUSOLVER_DEFINE(cusolverDnGetStream, (Handle handle, CUstream *stream), {
    require(stream != nullptr, "stream");
    *stream = call.handle.session.stream();
})
// Results never depend on the order of threads.
CUSOLVER_DEFINE(cusolverDnSetDeterministicMode, (Handle handle, int mode), {
    require(mode == 1 || mode == 2, "mode");
    call.handle.deterministic = mode;
})
CUSOLVER_DEFINE(cusolverDnGetDeterministicMode, (Handle handle, int *mode), {
    require(mode != nullptr, "mode");
    *mode = call.handle.deterministic;
})

SOFTLIB_EXPORT int cusolverGetVersion(int *version) {
    return guarded("cusolverGetVersion", [&] {
        require(version != nullptr, "version");
        *version = softlib::version;
    });
}
SOFTLIB_EXPORT int cusolverGetProperty(int type, int *value) {
    return guarded("cusolverGetProperty", [&] {
        require(type >= 0 && type <= 2 && value != nullptr, "property");
        *value = softlib::version_parts[type];
    });
}
