// handle.cpp -- cuSPARSE's handles, their settings, and the names of its statuses.
#include "handle.h"

#include "../common/version.h"

using softcusparse::Handle;
using softlib::guarded;
using softlib::require;

namespace softlib {
const Statuses statuses = {"cuSPARSE", 0, 1, 3, 2, 6, 7, 10};
} // namespace softlib

namespace {
constexpr const char *names[][2] = {
    {"CUSPARSE_STATUS_SUCCESS", "success"},
    {"CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error"},
    {"CUSPARSE_STATUS_ALLOC_FAILED", "out of memory"},
    {"CUSPARSE_STATUS_INVALID_VALUE", "invalid value"},
    {"CUSPARSE_STATUS_ARCH_MISMATCH", "architecture mismatch"},
    {"CUSPARSE_STATUS_MAPPING_ERROR", "texture mapping error"},
    {"CUSPARSE_STATUS_EXECUTION_FAILED", "kernel launch failure"},
    {"CUSPARSE_STATUS_INTERNAL_ERROR", "internal error"},
    {"CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED", "matrix type not supported"},
    {"CUSPARSE_STATUS_ZERO_PIVOT", "zero pivot"},
    {"CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported"},
    {"CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "insufficient resources"},
};
constexpr const char *unknown = "unrecognized error code";

const char *name_of(int status, int which) {
    const bool known = status >= 0 && status < static_cast<int>(std::size(names));
    return known ? names[status][which] : unknown;
}
} // namespace

SOFTLIB_EXPORT int cusparseCreate(Handle *handle) {
    return guarded("cusparseCreate", [&] { softlib::make_handle(handle); });
}
CUSPARSE_DEFINE(cusparseDestroy, (Handle handle), {
    call.handle.session.finish();
    softlib::destroy(handle);
})
CUSPARSE_DEFINE(cusparseSetStream, (Handle handle, CUstream stream),
                call.handle.session.set_stream(stream))
CUSPARSE_DEFINE(cusparseGetStream, (Handle handle, CUstream *stream), {
    require(stream != nullptr, "stream");
    *stream = call.handle.session.stream();
})
CUSPARSE_DEFINE(cusparseSetPointerMode, (Handle handle, int mode), {
    require(mode == 0 || mode == 1, "mode");
    call.handle.pointer_mode = mode;
})
CUSPARSE_DEFINE(cusparseGetPointerMode, (Handle handle, int *mode), {
    require(mode != nullptr, "mode");
    *mode = call.handle.pointer_mode;
})
CUSPARSE_DEFINE(cusparseGetVersion, (Handle handle, int *version), {
    require(version != nullptr, "version");
    *version = softlib::version;
})
SOFTLIB_EXPORT int cusparseGetProperty(int type, int *value) {
    return guarded("cusparseGetProperty", [&] {
        require(type >= 0 && type <= 2 && value != nullptr, "property");
        *value = softlib::version_parts[type];
    });
}
SOFTLIB_EXPORT const char *cusparseGetErrorName(int status) { return name_of(status, 0); }
SOFTLIB_EXPORT const char *cusparseGetErrorString(int status) { return name_of(status, 1); }
