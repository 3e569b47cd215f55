// batch.cpp -- many copies, or hints, in one call. The order of copies is left open, and kept here.
#include "api/call.h"
#include "api/default_stream.h"

#include <cuda.h>

using namespace softcuda;

namespace {

CUresult copy_all(const CUdeviceptr *to, const CUdeviceptr *from, const std::size_t *sizes,
                  std::size_t count, std::size_t *failed, CUstream stream) {
    if (failed)
        *failed = SIZE_MAX;
    // The legacy stream takes no batches.
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

/// Hints about ranges of memory, which change no result here.
CUresult take_hints(const CUdeviceptr *ranges, const std::size_t *sizes, std::size_t count,
                    unsigned long long flags) {
    return api::with_system([&](device::System &system) {
        api::require_non_null(ranges, sizes);
        device::require(count > 0 && flags == 0, CUDA_ERROR_INVALID_VALUE);
        for (std::size_t i = 0; i < count; i++)
            device::require(sizes[i] > 0 && system.memory().contains(ranges[i], sizes[i]),
                            CUDA_ERROR_INVALID_VALUE);
    });
}

/// The places that ranges are to be at: `first[k]` is the range from which on places[k] holds.
CUresult check_places(const CUmemLocation *places, const std::size_t *first, std::size_t count,
                      std::size_t ranges) {
    if (!places || !first || count == 0 || count > ranges || first[0] != 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 1; i < count; i++)
        if (first[i] <= first[i - 1] || first[i] >= ranges)
            return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

} // namespace

CUresult cuMemPrefetchBatchAsync(CUdeviceptr *ranges, std::size_t *sizes, std::size_t count,
                                 CUmemLocation *places, std::size_t *first, std::size_t place_count,
                                 unsigned long long flags, CUstream) {
    const CUresult result = check_places(places, first, place_count, count);
    return result == CUDA_SUCCESS ? take_hints(ranges, sizes, count, flags) : result;
}

// What is discarded may have any value: also that which it had.
CUresult cuMemDiscardBatchAsync(CUdeviceptr *ranges, std::size_t *sizes, std::size_t count,
                                unsigned long long flags, CUstream) {
    return take_hints(ranges, sizes, count, flags);
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *ranges, std::size_t *sizes,
                                           std::size_t count, CUmemLocation *places,
                                           std::size_t *first, std::size_t place_count,
                                           unsigned long long flags, CUstream stream) {
    return cuMemPrefetchBatchAsync(ranges, sizes, count, places, first, place_count, flags, stream);
}

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
