// device_test.cpp -- devices, errors, memory and queries about pointers.
#include "cudart_test.h"

#include <cuda.h>
#include <dlfcn.h>

#include <cstring>
#include <thread>

namespace {

using DeviceTest = CudartTest;

TEST_F(DeviceTest, ErrorsAreStoredForEachThread) {
    EXPECT_OK(cudaPeekAtLastError());
    EXPECT_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
    std::thread([] { EXPECT_OK(cudaGetLastError()); }).join();
    EXPECT_OK(cudaDeviceSynchronize()); // a success does not reset the error
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
    EXPECT_OK(cudaGetLastError());
}

TEST_F(DeviceTest, EveryErrorHasANameAndAText) {
    EXPECT_STREQ(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
    EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
    EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidConfiguration),
                 "invalid configuration argument");
    EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code");
    EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(12345)), "unrecognized error code");
    struct {
        int code;
        const char *name;
    } const rows[] = {
#define CUDART_ERROR(name, code, text) {code, #name},
#include "softcuda/cudart/errors.def"
    };
    for (const auto &row : rows) {
        const auto error = static_cast<cudaError_t>(row.code);
        EXPECT_STREQ(cudaGetErrorName(error), row.name);
        EXPECT_STRNE(cudaGetErrorString(error), "unrecognized error code") << row.name;
    }
}

TEST_F(DeviceTest, ThePropertiesAreTheAttributes) {
    int count = 0;
    ASSERT_OK(cudaGetDeviceCount(&count));
    ASSERT_EQ(count, 2);
    cudaDeviceProp properties;
    std::memset(&properties, 0xff, sizeof properties);
    ASSERT_OK(cudaGetDeviceProperties(&properties, 0));
    EXPECT_EQ(properties.warpSize, 32);
    EXPECT_EQ(properties.maxThreadsPerBlock, 1024);
    EXPECT_EQ(properties.reserved[0], 0);
    int value = 0;
    ASSERT_OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxGridDimX, 0));
    EXPECT_EQ(properties.maxGridSize[0], value);
    ASSERT_OK(cudaDeviceGetAttribute(&value, cudaDevAttrHostNumaId, 0));
    EXPECT_EQ(properties.hostNumaId, value);
    EXPECT_EQ(cudaGetDeviceProperties(&properties, 2), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaGetDeviceProperties(nullptr, 0), cudaErrorInvalidValue);
    EXPECT_EQ(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(5000), 0),
              cudaErrorInvalidValue);
    int chosen = -1;
    EXPECT_OK(cudaChooseDevice(&chosen, &properties));
    EXPECT_EQ(chosen, 0);
}

TEST_F(DeviceTest, AThreadBeginsWithTheFirstDevice) {
    ASSERT_OK(cudaSetDevice(1));
    int device = -1;
    ASSERT_OK(cudaGetDevice(&device));
    EXPECT_EQ(device, 1);
    std::thread([] {
        int own = -1;
        EXPECT_OK(cudaGetDevice(&own));
        EXPECT_EQ(own, 0);
        void *memory = nullptr;
        EXPECT_OK(cudaMalloc(&memory, 64));
        cudaPointerAttributes attributes;
        EXPECT_OK(cudaPointerGetAttributes(&attributes, memory));
        EXPECT_EQ(attributes.device, 0);
    }).join();
    ASSERT_OK(cudaSetDevice(0));
}

TEST_F(DeviceTest, AContextOfTheDriverApiIsTheDevice) {
    CUcontext context = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 1), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxPushCurrent(context), CUDA_SUCCESS);
    int device = -1;
    EXPECT_OK(cudaGetDevice(&device));
    EXPECT_EQ(device, 1);
    ASSERT_EQ(cuCtxPopCurrent(&context), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
    EXPECT_OK(cudaGetDevice(&device));
    EXPECT_EQ(device, 0);
}

TEST_F(DeviceTest, PointersAreOfFourKinds) {
    void *device = nullptr;
    void *managed = nullptr;
    void *host = nullptr;
    int local = 0;
    ASSERT_OK(cudaMalloc(&device, 64));
    ASSERT_OK(cudaMallocManaged(&managed, 64, cudaMemAttachGlobal));
    ASSERT_OK(cudaHostAlloc(&host, 64, cudaHostAllocMapped));
    const auto type_of = [](const void *pointer) {
        cudaPointerAttributes attributes;
        EXPECT_OK(cudaPointerGetAttributes(&attributes, pointer));
        return attributes.type;
    };
    EXPECT_EQ(type_of(device), cudaMemoryTypeDevice);
    EXPECT_EQ(type_of(managed), cudaMemoryTypeManaged);
    EXPECT_EQ(type_of(host), cudaMemoryTypeHost);
    EXPECT_EQ(type_of(&local), cudaMemoryTypeUnregistered);
    EXPECT_OK(cudaFree(device));
    EXPECT_OK(cudaFree(managed));
    EXPECT_OK(cudaFreeHost(host));
    EXPECT_EQ(cudaFree(device), cudaErrorInvalidValue);
    EXPECT_OK(cudaFree(nullptr));
    EXPECT_OK(cudaFreeHost(nullptr));
}

TEST_F(DeviceTest, NothingIsAllocatedForNoBytes) {
    void *memory = &memory;
    EXPECT_OK(cudaMalloc(&memory, 0));
    EXPECT_EQ(memory, nullptr);
    std::size_t pitch = 1;
    EXPECT_OK(cudaMallocPitch(&memory, &pitch, 0, 5));
    EXPECT_EQ(memory, nullptr);
    EXPECT_EQ(cudaMalloc(nullptr, 5), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMalloc(&memory, std::size_t{1} << 60), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
}

TEST_F(DeviceTest, PoolsAndStreamsAllocateMemory) {
    cudaStream_t stream = nullptr;
    ASSERT_OK(cudaStreamCreate(&stream));
    void *memory = nullptr;
    ASSERT_OK(cudaMallocAsync(&memory, 4096, stream));
    ASSERT_OK(cudaMemsetAsync(memory, 0x5a, 4096, stream));
    unsigned char byte = 0;
    ASSERT_OK(cudaMemcpyAsync(&byte, static_cast<char *>(memory) + 4095, 1, cudaMemcpyDeviceToHost,
                              stream));
    ASSERT_OK(cudaFreeAsync(memory, stream));
    ASSERT_OK(cudaStreamSynchronize(stream));
    EXPECT_EQ(byte, 0x5a);
    cudaMemPool_t pool = nullptr;
    ASSERT_OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    std::uint64_t high = 0;
    EXPECT_OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
    EXPECT_GE(high, 4096U);
    EXPECT_OK(cudaStreamDestroy(stream));
}

TEST_F(DeviceTest, PeersCopyToEachOther) {
    int can = 0;
    ASSERT_OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    int *here = make({1, 2, 3});
    ASSERT_OK(cudaSetDevice(1));
    int *there = make({0, 0, 0});
    ASSERT_OK(cudaMemcpyPeer(there, 1, here, 0, 12));
    EXPECT_EQ(read(there, 3), (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(cudaMemcpyPeer(there, 1, here, 7, 12), cudaErrorInvalidDevice);
    if (can) {
        EXPECT_OK(cudaDeviceEnablePeerAccess(0, 0));
        EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessAlreadyEnabled);
        EXPECT_OK(cudaDeviceDisablePeerAccess(0));
    }
    ASSERT_OK(cudaSetDevice(0));
}

TEST_F(DeviceTest, EventsMeasureAndAreReady) {
    cudaEvent_t start = nullptr;
    cudaEvent_t end = nullptr;
    ASSERT_OK(cudaEventCreate(&start));
    ASSERT_OK(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
    ASSERT_OK(cudaEventRecord(start, nullptr));
    ASSERT_OK(cudaEventRecord(end, nullptr));
    ASSERT_OK(cudaEventSynchronize(end));
    float milliseconds = -1;
    EXPECT_OK(cudaEventElapsedTime(&milliseconds, start, end));
    EXPECT_GE(milliseconds, 0);
    EXPECT_OK(cudaEventQuery(end));
    EXPECT_OK(cudaEventDestroy(start));
    EXPECT_EQ(cudaEventQuery(start), cudaErrorInvalidResourceHandle);
    EXPECT_OK(cudaEventDestroy(end));
}

TEST_F(DeviceTest, TheDriversFunctionsHaveNames) {
    void *function = nullptr;
    cudaDriverEntryPointQueryResult status{};
    ASSERT_OK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 12000, cudaEnableDefault,
                                               &status));
    EXPECT_EQ(status, cudaDriverEntryPointSuccess);
    EXPECT_EQ(function, reinterpret_cast<void *>(&cuMemAlloc));
    ASSERT_OK(cudaGetDriverEntryPointByVersion("cuNothing", &function, 12000, cudaEnableDefault,
                                               &status));
    EXPECT_EQ(status, cudaDriverEntryPointSymbolNotFound);
    EXPECT_EQ(function, nullptr);
}

TEST_F(DeviceTest, UnsupportedFunctionsAreErrors) {
    EXPECT_EQ(cudaDestroyExternalMemory(nullptr), cudaErrorNotSupported);
    EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

/// Random bits as each handle must give an error, not a crash.
TEST_F(DeviceTest, ForeignHandlesAreErrors) {
    const auto foreign = reinterpret_cast<void *>(std::uintptr_t{0x1234567});
    EXPECT_NE(cudaStreamSynchronize(static_cast<cudaStream_t>(foreign)), cudaSuccess);
    EXPECT_NE(cudaEventRecord(static_cast<cudaEvent_t>(foreign), nullptr), cudaSuccess);
    EXPECT_NE(cudaGraphLaunch(static_cast<cudaGraphExec_t>(foreign), nullptr), cudaSuccess);
    EXPECT_NE(cudaFreeArray(static_cast<cudaArray_t>(foreign)), cudaSuccess);
    EXPECT_NE(cudaMemPoolDestroy(static_cast<cudaMemPool_t>(foreign)), cudaSuccess);
    EXPECT_NE(cudaLibraryUnload(static_cast<cudaLibrary_t>(foreign)), cudaSuccess);
    EXPECT_NE(cudaDestroyTextureObject(0x1234567), cudaSuccess);
    cudaFuncAttributes attributes;
    EXPECT_EQ(cudaFuncGetAttributes(&attributes, foreign), cudaErrorInvalidDeviceFunction);
    EXPECT_EQ(cudaLaunchKernel(foreign, {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr),
              cudaErrorInvalidDeviceFunction);
    int value = 0;
    EXPECT_EQ(cudaMemcpyFromSymbol(&value, foreign, 4, 0, cudaMemcpyDeviceToHost),
              cudaErrorInvalidSymbol);
}

} // namespace
