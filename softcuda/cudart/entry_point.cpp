// entry_point.cpp -- looks up the driver's functions by name; the driver's log.
#include "call.h"
#include "default_stream.h"
#include "older_api.h"
#include "version.h"

namespace softcudart {
namespace {

cudaDriverEntryPointQueryResult status_of(CUdriverProcAddressQueryResult status) {
    switch (status) {
    case CU_GET_PROC_ADDRESS_SUCCESS:
        return cudaDriverEntryPointSuccess;
    case CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT:
        return cudaDriverEntryPointVersionNotSufficent;
    default:
        return cudaDriverEntryPointSymbolNotFound;
    }
}

/// A missing function is an error only if the caller does not request a status.
cudaError_t find(const char *symbol, void **function, unsigned version, unsigned long long flags,
                 cudaDriverEntryPointQueryResult *status) {
    return with_driver([&] {
        if (flags == cudaEnableDefault && PerThreadDefaultStream::active())
            flags = cudaEnablePerThreadDefaultStream;
        CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
        check(cuGetProcAddress(symbol, function, static_cast<int>(version), flags, &found));
        if (status)
            *status = status_of(found);
        else
            require(found == CU_GET_PROC_ADDRESS_SUCCESS, cudaErrorSymbolNotFound);
    });
}

} // namespace
} // namespace softcudart

using namespace softcudart;

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult *status) {
    return find(symbol, function, static_cast<unsigned>(runtime_version), flags, status);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
                                             unsigned int version, unsigned long long flags,
                                             cudaDriverEntryPointQueryResult *status) {
    return find(symbol, function, version, flags, status);
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    return guarded([&] {
        require_non_null(version);
        *version = runtime_version;
    });
}

cudaError_t cudaGetExportTable(const void **table, const cudaUUID_t *id) {
    return with_driver([&] { check(cuGetExportTable(table, as<const CUuuid *>(id))); });
}

cudaError_t cudaLogsRegisterCallback(cudaLogsCallback_t callback, void *data,
                                     cudaLogsCallbackHandle *result) {
    return with_driver([&] {
        check(cuLogsRegisterCallback(as<CUlogsCallback>(callback), data,
                                     as<CUlogsCallbackHandle *>(result)));
    });
}

cudaError_t cudaLogsUnregisterCallback(cudaLogsCallbackHandle callback) {
    return with_driver(
        [&] { check(cuLogsUnregisterCallback(as<CUlogsCallbackHandle>(callback))); });
}

cudaError_t cudaLogsCurrent(cudaLogIterator *iterator, unsigned int flags) {
    return with_driver([&] { check(cuLogsCurrent(iterator, flags)); });
}

cudaError_t cudaLogsDumpToFile(cudaLogIterator *iterator, const char *path, unsigned int flags) {
    return with_driver([&] { check(cuLogsDumpToFile(iterator, path, flags)); });
}

cudaError_t cudaLogsDumpToMemory(cudaLogIterator *iterator, char *buffer, std::size_t *bytes,
                                 unsigned int flags) {
    return with_driver([&] { check(cuLogsDumpToMemory(iterator, buffer, bytes, flags)); });
}
