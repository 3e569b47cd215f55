// per_thread.cpp -- the forms of functions for which the default stream is the thread's own.
//
// cuda.h calls them cuX_ptsz and cuX_ptds. Here each is its plain form, called with another meaning
// of the null stream.
#include "api/call.h"
#include "api/default_stream.h"
#include "api/exports.h"

namespace softcuda::api {
namespace {

template <auto Function> struct PerThread;

template <class... Arguments, CUresult (*Function)(Arguments...)> struct PerThread<Function> {
    static CUresult call(Arguments... arguments) {
        const PerThreadDefaultStream scope;
        return Function(arguments...);
    }
};

struct Row {
    void *plain;
    void *per_thread;
};

template <auto... Functions> struct Forms {
    static inline const Row rows[] = {{reinterpret_cast<void *>(Functions),
                                       reinterpret_cast<void *>(&PerThread<Functions>::call)}...};
};

using StreamFunctions = Forms<
    // copies
    &cuMemcpy, &cuMemcpyAsync, &cuMemcpyPeer, &cuMemcpyPeerAsync, &cuMemcpyHtoD, &cuMemcpyHtoDAsync,
    &cuMemcpyDtoH, &cuMemcpyDtoHAsync, &cuMemcpyDtoD, &cuMemcpyDtoDAsync, &cuMemcpy2D,
    &cuMemcpy2DUnaligned, &cuMemcpy2DAsync, &cuMemcpy3D, &cuMemcpy3DAsync, &cuMemcpy3DPeer,
    &cuMemcpy3DPeerAsync,
    // fills
    &cuMemsetD8, &cuMemsetD16, &cuMemsetD32, &cuMemsetD2D8, &cuMemsetD2D16, &cuMemsetD2D32,
    &cuMemsetD8Async, &cuMemsetD16Async, &cuMemsetD32Async, &cuMemsetD2D8Async, &cuMemsetD2D16Async,
    &cuMemsetD2D32Async>;

} // namespace

void *per_thread_form(void *function) {
    for (const Row &row : StreamFunctions::rows)
        if (row.plain == function)
            return row.per_thread;
    return nullptr;
}

} // namespace softcuda::api
