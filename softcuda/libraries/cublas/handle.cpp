// handle.cpp -- cuBLAS's handles and their settings.
#include "handle.h"

#include "../common/version.h"

using softcublas::Handle;
using softlib::require;

namespace softlib {
const Statuses statuses = {"cuBLAS", 0, 1, 7, 3, 13, 14, 15};
} // namespace softlib

namespace {

void set_in_range(int &setting, int value, int last, const char *what) {
    require(value >= 0 && value <= last, what);
    setting = value;
}

template <class T> void give(T *address, T value) {
    require(address != nullptr, "the result's address");
    *address = value;
}

} // namespace

SOFTLIB_HANDLE_LIFE(softcublas::Call, Handle, cublas, _v2)
SOFTLIB_HANDLE_STREAM(softcublas::Call, Handle, cublas, _v2)
SOFTLIB_FUNCTION(cublasGetVersion_v2, (Handle, int *version), give(version, softlib::version))
// Of the interface without handles (cuda_1.cpp).
SOFTLIB_FUNCTION(cublasGetVersion, (int *version), give(version, softlib::version))
SOFTLIB_PROPERTY(cublasGetProperty)

SOFTLIB_EXPORT std::size_t cublasGetCudartVersion() {
    return softlib::version_parts[0] == 12 ? 12090 : 13050;
}

CUBLAS_DEFINE(cublasSetPointerMode_v2, (Handle handle, int mode),
              set_in_range(call.handle.pointer_mode, mode, 1, "pointer mode"))
CUBLAS_DEFINE(cublasGetPointerMode_v2, (Handle handle, int *mode),
              give(mode, call.handle.pointer_mode))
// Results never depend on the order of threads.
CUBLAS_DEFINE(cublasSetAtomicsMode, (Handle handle, int mode),
              set_in_range(call.handle.atomics_mode, mode, 1, "atomics mode"))
CUBLAS_DEFINE(cublasGetAtomicsMode, (Handle handle, int *mode),
              give(mode, call.handle.atomics_mode))
// Each mode permits a less exact computation; none demands it.
CUBLAS_DEFINE(cublasSetMathMode, (Handle handle, int mode), {
    require((mode & ~0x1f) == 0, "math mode");
    call.handle.math_mode = mode;
})
CUBLAS_DEFINE(cublasGetMathMode, (Handle handle, int *mode), give(mode, call.handle.math_mode))
CUBLAS_DEFINE(cublasSetSmCountTarget, (Handle handle, int count),
              set_in_range(call.handle.multiprocessors, count, 1 << 20, "multiprocessors"))
CUBLAS_DEFINE(cublasGetSmCountTarget, (Handle handle, int *count),
              give(count, call.handle.multiprocessors))
SOFTLIB_EMULATION(softcublas::Call, Handle, cublas)
// No function needs a workspace of the device.
CUBLAS_DEFINE(cublasSetWorkspace_v2, (Handle handle, void *workspace, std::size_t bytes), {
    require(workspace != nullptr || bytes == 0, "workspace");
    call.handle.session.check_memory(workspace, bytes, "the workspace");
})

namespace {
struct StatusText {
    int status;
    const char *name;
    const char *text;
};
constexpr StatusText status_texts[] = {
    {0, "CUBLAS_STATUS_SUCCESS", "success"},
    {1, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    {3, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {7, "CUBLAS_STATUS_INVALID_VALUE",
     "an unsupported value or parameter was passed to the function"},
    {8, "CUBLAS_STATUS_ARCH_MISMATCH",
     "the function requires an architectural feature absent from the device architecture"},
    {11, "CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory space failed"},
    {13, "CUBLAS_STATUS_EXECUTION_FAILED", "the GPU program failed to execute"},
    {14, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {15, "CUBLAS_STATUS_NOT_SUPPORTED",
     "the functionality requested is not supported in the current configuration"},
    {16, "CUBLAS_STATUS_LICENSE_ERROR",
     "the functionality requested requires some license and an error was detected"},
};
} // namespace

SOFTLIB_EXPORT const char *cublasGetStatusName(int status) {
    for (const StatusText &one : status_texts)
        if (one.status == status)
            return one.name;
    return "CUBLAS_STATUS_UNKNOWN";
}

SOFTLIB_EXPORT const char *cublasGetStatusString(int status) {
    for (const StatusText &one : status_texts)
        if (one.status == status)
            return one.text;
    return "an unknown status";
}

namespace {
using LogCallback = void (*)(const char *);
LogCallback log_callback = nullptr; ///< kept for cublasGetLoggerCallback(); nothing is logged
} // namespace

SOFTLIB_EXPORT int cublasSetLoggerCallback(LogCallback callback) {
    log_callback = callback;
    return 0;
}
SOFTLIB_FUNCTION(cublasGetLoggerCallback, (LogCallback * callback),
                 { give(callback, log_callback); })
SOFTLIB_EXPORT int cublasLoggerConfigure(int, int, int, const char *) { return 0; }

SOFTLIB_EXPORT void cublasXerbla(const char *name, int argument) {
    softlib::print(name,
                   ("argument " + std::to_string(argument) + " has an illegal value").c_str());
}
