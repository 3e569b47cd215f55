// batch.cpp -- many copies in one call. CUDA leaves their order undefined; here it is kept.
#include "api/call.h"
#include "api/default_stream.h"

#include <cuda.h>

using namespace softcuda;

namespace {

CUresult copy_all(const CUdeviceptr *to, const CUdeviceptr *from, const std::size_t *sizes,
                  std::size_t count, std::size_t *failed, CUstream stream) {
    if (failed)
        *failed = SIZE_MAX;
    // The legacy stream does not support batches.
    const bool is_legacy = !stream && !api::PerThreadDefaultStream::active();
    if (count == 0 || !to || !from || !sizes || is_legacy)
        return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < count; i++) {
        const CUresult result = cuMemcpyAsync(to[i], from[i], sizes[i], stream);
        if (result == CUDA_SUCCESS)
            continue;
        if (failed)
            *failed = i;
        return result;
    }
    return CUDA_SUCCESS;
}

} // namespace

#undef cuMemcpyBatchAsync
SCU_EXPORT CUresult CUDAAPI cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from,
                                               std::size_t *sizes, std::size_t count,
                                               CUmemcpyAttributes *, std::size_t *, std::size_t,
                                               std::size_t *failed, CUstream stream) {
    return copy_all(to, from, sizes, count, failed, stream);
}

SCU_EXPORT CUresult CUDAAPI cuMemcpyBatchAsync_v2(CUdeviceptr *to, CUdeviceptr *from,
                                                  std::size_t *sizes, std::size_t count,
                                                  CUmemcpyAttributes *, std::size_t *, std::size_t,
                                                  CUstream stream) {
    return copy_all(to, from, sizes, count, nullptr, stream);
}
