// handle.cpp -- cuSPARSE's handles, their settings, and the names of its statuses.
#include "handle.h"

#include "../common/logger.h"
#include "../common/version.h"

using softcusparse::Handle;
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

SOFTLIB_HANDLE_LIFE(softcusparse::Call, Handle, cusparse, )
SOFTLIB_HANDLE_STREAM(softcusparse::Call, Handle, cusparse, )
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
SOFTLIB_PROPERTY(cusparseGetProperty)
SOFTLIB_LOGGER(cusparse)
SOFTLIB_EXPORT const char *cusparseGetErrorName(int status) { return name_of(status, 0); }
SOFTLIB_EXPORT const char *cusparseGetErrorString(int status) { return name_of(status, 1); }
