// entry_points.cpp -- cuGetProcAddress: finds a function by its name and a version.
//
// A function may have several versions, each introduced by a version of CUDA. A client passes the
// CUDA version that it was built for, and gets the newest version of the function that is not
// newer. A client that requests the per-thread default stream gets the newest such version, if
// there is one.
#include "api/call.h"
#include "api/exports.h"

#include <cstring>

using namespace softcuda;

namespace {

struct Lookup {
    void *function = nullptr;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
};

enum class Form { Plain, PerThread };

Lookup look_up(const char *name, int version, Form form) {
    Lookup result;
    int newest = -1;
    for (const api::Export &row : api::exports()) {
        if (row.per_thread != (form == Form::PerThread) || std::strcmp(row.name, name) != 0)
            continue;
        if (result.status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND)
            result.status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
        if (row.version > version || row.version <= newest)
            continue;
        newest = row.version;
        result = {row.function, CU_GET_PROC_ADDRESS_SUCCESS};
    }
    return result;
}

constexpr cuuint64_t kKnownFlags =
    CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;

Lookup checked_look_up(const char *symbol, void **function, int version, cuuint64_t flags) {
    api::require_non_null(symbol, function);
    *function = nullptr;
    // A version above the driver's is not an error: the newest function serves such a client, too.
    device::require(version > 0 && *symbol != '\0', CUDA_ERROR_INVALID_VALUE);
    device::require((flags & ~kKnownFlags) == 0 && flags != kKnownFlags, CUDA_ERROR_INVALID_VALUE);
    Lookup result;
    if (flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
        result = look_up(symbol, version, Form::PerThread);
    if (!result.function) // most functions have no stream parameter
        result = look_up(symbol, version, Form::Plain);
    *function = result.function;
    return result;
}

} // namespace

#undef cuGetProcAddress
SCU_EXPORT CUresult CUDAAPI cuGetProcAddress(const char *symbol, void **function, int version,
                                             cuuint64_t flags) {
    return api::guarded([&] {
        const Lookup result = checked_look_up(symbol, function, version, flags);
        device::require(result.function != nullptr, CUDA_ERROR_NOT_FOUND);
    });
}

// The second version reports a missing function by its status, not by its result.
SCU_EXPORT CUresult CUDAAPI cuGetProcAddress_v2(const char *symbol, void **function, int version,
                                                cuuint64_t flags,
                                                CUdriverProcAddressQueryResult *status) {
    return api::guarded([&] {
        const Lookup result = checked_look_up(symbol, function, version, flags);
        if (status)
            *status = result.status;
    });
}
