// function.cpp -- attributes of kernels, occupancy, and libraries that a program loads.
#include "device.h"
#include "launch_config.h"
#include "older_api.h"
#include "program.h"

namespace softcudart {
namespace {

int function_attribute(CUfunction function, CUfunction_attribute attribute) {
    int value = 0;
    check(cuFuncGetAttribute(&value, attribute, function));
    return value;
}

} // namespace
} // namespace softcudart

using namespace softcudart;

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *result, const void *symbol) {
    return with_context([&] {
        require_non_null(result);
        const CUfunction function = function_of(symbol);
        const auto get = [&](CUfunction_attribute attribute) {
            return function_attribute(function, attribute);
        };
        cudaFuncAttributes made{};
        made.sharedSizeBytes = static_cast<std::size_t>(get(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
        made.constSizeBytes = static_cast<std::size_t>(get(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES));
        made.localSizeBytes = static_cast<std::size_t>(get(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
        made.maxThreadsPerBlock = get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
        made.numRegs = get(CU_FUNC_ATTRIBUTE_NUM_REGS);
        made.ptxVersion = get(CU_FUNC_ATTRIBUTE_PTX_VERSION);
        made.binaryVersion = get(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
        made.cacheModeCA = get(CU_FUNC_ATTRIBUTE_CACHE_MODE_CA);
        made.maxDynamicSharedSizeBytes = get(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
        made.preferredShmemCarveout = get(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
        made.clusterDimMustBeSet = get(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET);
        made.requiredClusterWidth = get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
        made.requiredClusterHeight = get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
        made.requiredClusterDepth = get(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
        made.clusterSchedulingPolicyPreference =
            get(CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
        made.nonPortableClusterSizeAllowed =
            get(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
        *result = made;
    });
}

cudaError_t cudaFuncSetAttribute(const void *symbol, cudaFuncAttribute attribute, int value) {
    return with_context([&] {
        check(cuFuncSetAttribute(function_of(symbol), static_cast<CUfunction_attribute>(attribute),
                                 value));
    });
}

cudaError_t cudaFuncSetCacheConfig(const void *symbol, cudaFuncCache config) {
    return with_context([&] {
        check(cuFuncSetCacheConfig(function_of(symbol), static_cast<CUfunc_cache>(config)));
    });
}

cudaError_t cudaFuncSetSharedMemConfig(const void *symbol, cudaSharedMemConfig config) {
    return with_context([&] {
        function_of(symbol); // banks have had one width since Maxwell, so the hint has no effect
        require(config >= cudaSharedMemBankSizeDefault && config <= cudaSharedMemBankSizeEightByte);
    });
}

cudaError_t cudaFuncGetName(const char **name, const void *symbol) {
    return with_context([&] { check(cuFuncGetName(name, function_of(symbol))); });
}

cudaError_t cudaFuncGetParamInfo(const void *symbol, std::size_t index, std::size_t *offset,
                                 std::size_t *size) {
    return with_context(
        [&] { check(cuFuncGetParamInfo(function_of(symbol), index, offset, size)); });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *symbol,
                                                          int block_size,
                                                          std::size_t shared_bytes) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, symbol, block_size,
                                                                  shared_bytes, 0);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *symbol,
                                                                   int block_size,
                                                                   std::size_t shared_bytes,
                                                                   unsigned int flags) {
    return with_context([&] {
        check(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            blocks, function_of(symbol), block_size, shared_bytes, flags));
    });
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t *bytes, const void *symbol,
                                                      int blocks, int block_size) {
    return with_context([&] {
        check(cuOccupancyAvailableDynamicSMemPerBlock(bytes, function_of(symbol), blocks,
                                                      block_size));
    });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *symbol,
                                                 const cudaLaunchConfig_t *config) {
    return with_context([&] {
        require_non_null(config);
        const CUlaunchConfig same = driver_config(*config);
        check(cuOccupancyMaxPotentialClusterSize(size, function_of(symbol), &same));
    });
}

cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *symbol,
                                           const cudaLaunchConfig_t *config) {
    return with_context([&] {
        require_non_null(config);
        const CUlaunchConfig same = driver_config(*config);
        check(cuOccupancyMaxActiveClusters(clusters, function_of(symbol), &same));
    });
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, cudaJitOption *options,
                                void **values, unsigned int count,
                                cudaLibraryOption *library_options, void **library_values,
                                unsigned int library_count) {
    return with_driver([&] {
        check(cuLibraryLoadData(as<CUlibrary *>(library), code, as<CUjit_option *>(options), values,
                                count, as<CUlibraryOption *>(library_options), library_values,
                                library_count));
    });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path,
                                    cudaJitOption *options, void **values, unsigned int count,
                                    cudaLibraryOption *library_options, void **library_values,
                                    unsigned int library_count) {
    return with_driver([&] {
        check(cuLibraryLoadFromFile(as<CUlibrary *>(library), path, as<CUjit_option *>(options),
                                    values, count, as<CUlibraryOption *>(library_options),
                                    library_values, library_count));
    });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
    return forward<cuLibraryUnload>(as<CUlibrary>(library));
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name) {
    return forward<cuLibraryGetKernel>(as<CUkernel *>(kernel), as<CUlibrary>(library), name);
}

cudaError_t cudaLibraryGetGlobal(void **address, std::size_t *bytes, cudaLibrary_t library,
                                 const char *name) {
    return forward<cuLibraryGetGlobal>(as<CUdeviceptr *>(address), bytes, as<CUlibrary>(library),
                                       name);
}

cudaError_t cudaLibraryGetManaged(void **address, std::size_t *bytes, cudaLibrary_t library,
                                  const char *name) {
    return forward<cuLibraryGetManaged>(as<CUdeviceptr *>(address), bytes, as<CUlibrary>(library),
                                        name);
}

cudaError_t cudaLibraryGetUnifiedFunction(void **function, cudaLibrary_t library,
                                          const char *symbol) {
    return forward<cuLibraryGetUnifiedFunction>(function, as<CUlibrary>(library), symbol);
}

cudaError_t cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t library) {
    return forward<cuLibraryGetKernelCount>(count, as<CUlibrary>(library));
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int count,
                                        cudaLibrary_t library) {
    return forward<cuLibraryEnumerateKernels>(as<CUkernel *>(kernels), count,
                                              as<CUlibrary>(library));
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                            int value, int device) {
    return with_context([&] {
        require_device(device);
        check(cuKernelSetAttribute(static_cast<CUfunction_attribute>(attribute), value,
                                   as<CUkernel>(kernel), device));
    });
}
