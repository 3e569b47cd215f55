// per_thread.cpp -- the versions of functions in which the null stream is the per-thread stream.
//
// cuda.h names them cuX_ptsz and cuX_ptds. Here each calls the plain version with another meaning
// of the null stream. They need the parameters of the plain version without listing them, so each
// is an indirect function (ifunc): the dynamic linker calls a resolver once, which returns the
// address of a template instance.
#include "api/call.h"
#include "api/default_stream.h"

#include <cudaTypedefs.h>

namespace {

template <auto Function> struct PerThread;

template <class... Arguments, CUresult (*Function)(Arguments...)> struct PerThread<Function> {
    static CUresult call(Arguments... arguments) {
        const softcuda::api::PerThreadDefaultStream scope;
        return Function(arguments...);
    }
};

} // namespace

// The resolver runs before a sanitizer is initialised.
#define PER_THREAD(plain, form)                                                                    \
    SCU_EXPORT __attribute__((                                                                     \
        no_sanitize("address", "thread", "undefined"))) decltype(&plain) resolve_##form() {        \
        return &PerThread<&plain>::call;                                                           \
    }                                                                                              \
    SCU_EXPORT decltype(plain) form __attribute__((ifunc("resolve_" #form)));

// Older versions, which cuda.h no longer declares.
#undef cuMemPrefetchAsync
#undef cuMemcpyBatchAsync
#undef cuStreamBeginCapture
#undef cuStreamGetCaptureInfo
#undef cuStreamGetCtx
#undef cuStreamUpdateCaptureDependencies
#undef cuStreamBatchMemOp
#undef cuStreamWaitValue32
#undef cuStreamWaitValue64
#undef cuStreamWriteValue32
#undef cuStreamWriteValue64
extern "C" {
std::remove_pointer_t<PFN_cuMemPrefetchAsync_v8000> cuMemPrefetchAsync;
std::remove_pointer_t<PFN_cuMemPrefetchAsync_v12020> cuMemPrefetchAsync_v2;
CUresult cuStreamBeginCapture(CUstream);
std::remove_pointer_t<PFN_cuStreamGetCaptureInfo_v10010> cuStreamGetCaptureInfo;
std::remove_pointer_t<PFN_cuStreamGetCaptureInfo_v11030> cuStreamGetCaptureInfo_v2;
std::remove_pointer_t<PFN_cuStreamGetCaptureInfo_v12030> cuStreamGetCaptureInfo_v3;
std::remove_pointer_t<PFN_cuStreamGetCtx_v9020> cuStreamGetCtx;
std::remove_pointer_t<PFN_cuStreamGetCtx_v12050> cuStreamGetCtx_v2;
std::remove_pointer_t<PFN_cuMemcpyBatchAsync_v13000> cuMemcpyBatchAsync_v2;
CUresult cuMemcpyWithAttributesAsync(CUdeviceptr, CUdeviceptr, std::size_t, CUmemcpyAttributes *,
                                     CUstream);
CUresult cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream);
CUresult cuMemcpyBatchAsync(CUdeviceptr *, CUdeviceptr *, std::size_t *, std::size_t,
                            CUmemcpyAttributes *, std::size_t *, std::size_t, std::size_t *,
                            CUstream);
std::remove_pointer_t<PFN_cuStreamUpdateCaptureDependencies_v11030>
    cuStreamUpdateCaptureDependencies;
std::remove_pointer_t<PFN_cuStreamUpdateCaptureDependencies_v12030>
    cuStreamUpdateCaptureDependencies_v2;
std::remove_pointer_t<PFN_cuStreamBatchMemOp_v11070> cuStreamBatchMemOp, cuStreamBatchMemOp_v2;
std::remove_pointer_t<PFN_cuStreamWaitValue32_v11070> cuStreamWaitValue32, cuStreamWaitValue32_v2;
std::remove_pointer_t<PFN_cuStreamWaitValue64_v11070> cuStreamWaitValue64, cuStreamWaitValue64_v2;
std::remove_pointer_t<PFN_cuStreamWriteValue32_v11070> cuStreamWriteValue32,
    cuStreamWriteValue32_v2;
std::remove_pointer_t<PFN_cuStreamWriteValue64_v11070> cuStreamWriteValue64,
    cuStreamWriteValue64_v2;
}

// Copies.
PER_THREAD(cuMemcpy, cuMemcpy_ptds)
PER_THREAD(cuMemcpyAsync, cuMemcpyAsync_ptsz)
PER_THREAD(cuMemcpyPeer, cuMemcpyPeer_ptds)
PER_THREAD(cuMemcpyPeerAsync, cuMemcpyPeerAsync_ptsz)
PER_THREAD(cuMemcpyHtoD_v2, cuMemcpyHtoD_v2_ptds)
PER_THREAD(cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync_v2_ptsz)
PER_THREAD(cuMemcpyDtoH_v2, cuMemcpyDtoH_v2_ptds)
PER_THREAD(cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync_v2_ptsz)
PER_THREAD(cuMemcpyDtoD_v2, cuMemcpyDtoD_v2_ptds)
PER_THREAD(cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync_v2_ptsz)
PER_THREAD(cuMemcpyDtoA_v2, cuMemcpyDtoA_v2_ptds)
PER_THREAD(cuMemcpyAtoD_v2, cuMemcpyAtoD_v2_ptds)
PER_THREAD(cuMemcpyHtoA_v2, cuMemcpyHtoA_v2_ptds)
PER_THREAD(cuMemcpyHtoAAsync_v2, cuMemcpyHtoAAsync_v2_ptsz)
PER_THREAD(cuMemcpyAtoH_v2, cuMemcpyAtoH_v2_ptds)
PER_THREAD(cuMemcpyAtoHAsync_v2, cuMemcpyAtoHAsync_v2_ptsz)
PER_THREAD(cuMemcpyAtoA_v2, cuMemcpyAtoA_v2_ptds)
PER_THREAD(cuMemcpy2D_v2, cuMemcpy2D_v2_ptds)
PER_THREAD(cuMemcpy2DUnaligned_v2, cuMemcpy2DUnaligned_v2_ptds)
PER_THREAD(cuMemcpy2DAsync_v2, cuMemcpy2DAsync_v2_ptsz)
PER_THREAD(cuMemcpy3D_v2, cuMemcpy3D_v2_ptds)
PER_THREAD(cuMemcpy3DAsync_v2, cuMemcpy3DAsync_v2_ptsz)
PER_THREAD(cuMemcpy3DPeer, cuMemcpy3DPeer_ptds)
PER_THREAD(cuMemcpy3DPeerAsync, cuMemcpy3DPeerAsync_ptsz)
PER_THREAD(cuMemcpyWithAttributesAsync, cuMemcpyWithAttributesAsync_ptsz)
PER_THREAD(cuMemcpy3DWithAttributesAsync, cuMemcpy3DWithAttributesAsync_ptsz)
PER_THREAD(cuMemcpyBatchAsync, cuMemcpyBatchAsync_ptsz)
PER_THREAD(cuMemcpyBatchAsync_v2, cuMemcpyBatchAsync_v2_ptsz)

// Fills.
PER_THREAD(cuMemsetD8_v2, cuMemsetD8_v2_ptds)
PER_THREAD(cuMemsetD16_v2, cuMemsetD16_v2_ptds)
PER_THREAD(cuMemsetD32_v2, cuMemsetD32_v2_ptds)
PER_THREAD(cuMemsetD2D8_v2, cuMemsetD2D8_v2_ptds)
PER_THREAD(cuMemsetD2D16_v2, cuMemsetD2D16_v2_ptds)
PER_THREAD(cuMemsetD2D32_v2, cuMemsetD2D32_v2_ptds)
PER_THREAD(cuMemsetD8Async, cuMemsetD8Async_ptsz)
PER_THREAD(cuMemsetD16Async, cuMemsetD16Async_ptsz)
PER_THREAD(cuMemsetD32Async, cuMemsetD32Async_ptsz)
PER_THREAD(cuMemsetD2D8Async, cuMemsetD2D8Async_ptsz)
PER_THREAD(cuMemsetD2D16Async, cuMemsetD2D16Async_ptsz)
PER_THREAD(cuMemsetD2D32Async, cuMemsetD2D32Async_ptsz)

// Memory.
PER_THREAD(cuMemAllocAsync, cuMemAllocAsync_ptsz)
PER_THREAD(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_ptsz)
PER_THREAD(cuMemFreeAsync, cuMemFreeAsync_ptsz)
PER_THREAD(cuMemPrefetchAsync, cuMemPrefetchAsync_ptsz)
PER_THREAD(cuMemPrefetchAsync_v2, cuMemPrefetchAsync_v2_ptsz)
PER_THREAD(cuMemPrefetchBatchAsync, cuMemPrefetchBatchAsync_ptsz)
PER_THREAD(cuMemDiscardBatchAsync, cuMemDiscardBatchAsync_ptsz)
PER_THREAD(cuMemDiscardAndPrefetchBatchAsync, cuMemDiscardAndPrefetchBatchAsync_ptsz)

// Streams and events.
PER_THREAD(cuStreamGetPriority, cuStreamGetPriority_ptsz)
PER_THREAD(cuStreamGetFlags, cuStreamGetFlags_ptsz)
PER_THREAD(cuStreamGetId, cuStreamGetId_ptsz)
PER_THREAD(cuStreamGetCtx, cuStreamGetCtx_ptsz)
PER_THREAD(cuStreamGetCtx_v2, cuStreamGetCtx_v2_ptsz)
PER_THREAD(cuStreamGetDevice, cuStreamGetDevice_ptsz)
PER_THREAD(cuStreamWaitEvent, cuStreamWaitEvent_ptsz)
PER_THREAD(cuStreamAddCallback, cuStreamAddCallback_ptsz)
PER_THREAD(cuStreamIsCapturing, cuStreamIsCapturing_ptsz)
PER_THREAD(cuStreamBeginCapture, cuStreamBeginCapture_ptsz)
PER_THREAD(cuStreamBeginCapture_v2, cuStreamBeginCapture_v2_ptsz)
PER_THREAD(cuStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph_ptsz)
PER_THREAD(cuStreamEndCapture, cuStreamEndCapture_ptsz)
PER_THREAD(cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_ptsz)
PER_THREAD(cuStreamGetCaptureInfo_v2, cuStreamGetCaptureInfo_v2_ptsz)
PER_THREAD(cuStreamGetCaptureInfo_v3, cuStreamGetCaptureInfo_v3_ptsz)
PER_THREAD(cuStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies_ptsz)
PER_THREAD(cuStreamUpdateCaptureDependencies_v2, cuStreamUpdateCaptureDependencies_v2_ptsz)
PER_THREAD(cuStreamAttachMemAsync, cuStreamAttachMemAsync_ptsz)
PER_THREAD(cuStreamGetAttribute, cuStreamGetAttribute_ptsz)
PER_THREAD(cuStreamSetAttribute, cuStreamSetAttribute_ptsz)
PER_THREAD(cuStreamCopyAttributes, cuStreamCopyAttributes_ptsz)
PER_THREAD(cuStreamWaitValue32, cuStreamWaitValue32_ptsz)
PER_THREAD(cuStreamWaitValue32_v2, cuStreamWaitValue32_v2_ptsz)
PER_THREAD(cuStreamWaitValue64, cuStreamWaitValue64_ptsz)
PER_THREAD(cuStreamWaitValue64_v2, cuStreamWaitValue64_v2_ptsz)
PER_THREAD(cuStreamWriteValue32, cuStreamWriteValue32_ptsz)
PER_THREAD(cuStreamWriteValue32_v2, cuStreamWriteValue32_v2_ptsz)
PER_THREAD(cuStreamWriteValue64, cuStreamWriteValue64_ptsz)
PER_THREAD(cuStreamWriteValue64_v2, cuStreamWriteValue64_v2_ptsz)
PER_THREAD(cuStreamBatchMemOp, cuStreamBatchMemOp_ptsz)
PER_THREAD(cuStreamBatchMemOp_v2, cuStreamBatchMemOp_v2_ptsz)
PER_THREAD(cuStreamQuery, cuStreamQuery_ptsz)
PER_THREAD(cuStreamSynchronize, cuStreamSynchronize_ptsz)
PER_THREAD(cuEventRecord, cuEventRecord_ptsz)
PER_THREAD(cuEventRecordWithFlags, cuEventRecordWithFlags_ptsz)

// Launches.
PER_THREAD(cuLaunchKernel, cuLaunchKernel_ptsz)
PER_THREAD(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz)
PER_THREAD(cuLaunchKernelEx, cuLaunchKernelEx_ptsz)
PER_THREAD(cuLaunchHostFunc, cuLaunchHostFunc_ptsz)
PER_THREAD(cuGraphInstantiateWithParams, cuGraphInstantiateWithParams_ptsz)
PER_THREAD(cuGraphLaunch, cuGraphLaunch_ptsz)
PER_THREAD(cuGraphUpload, cuGraphUpload_ptsz)
