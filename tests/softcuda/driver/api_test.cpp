// api_test.cpp -- initialisation, devices, contexts and entry points.
#include "driver_test.h"

#include <cstring>
#include <set>
#include <thread>

namespace {

using ApiTest = DriverTest;

TEST_F(ApiTest, VersionAndErrors) {
    int version = 0;
    ASSERT_EQ(cuDriverGetVersion(&version), CUDA_SUCCESS);
    EXPECT_EQ(version, 13050);
    EXPECT_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
    const char *text = nullptr;
    ASSERT_EQ(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text), CUDA_SUCCESS);
    EXPECT_STREQ(text, "CUDA_ERROR_OUT_OF_MEMORY");
    ASSERT_EQ(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text), CUDA_SUCCESS);
    EXPECT_STREQ(text, "out of memory");
    EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(123456), &text), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(text, nullptr);
    EXPECT_STREQ(scuImageKind(), "ptx");
}

TEST_F(ApiTest, TheDeviceDescribesItself) {
    CUdevice device = -1;
    ASSERT_EQ(cuDeviceGet(&device, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuDeviceGet(&device, 99), CUDA_ERROR_INVALID_DEVICE);
    char name[128];
    ASSERT_EQ(cuDeviceGetName(name, sizeof name, 0), CUDA_SUCCESS);
    EXPECT_EQ(std::strncmp(name, "softcuda (", 10), 0);
    ASSERT_EQ(cuDeviceGetName(name, 5, 0), CUDA_SUCCESS);
    EXPECT_STREQ(name, "soft");
    int value = 0;
    ASSERT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0), CUDA_SUCCESS);
    EXPECT_EQ(value, 32);
    EXPECT_EQ(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(0), 0),
              CUDA_ERROR_INVALID_VALUE);
    for (int i = 1; i < CU_DEVICE_ATTRIBUTE_MAX; i++)
        EXPECT_EQ(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(i), 0),
                  CUDA_SUCCESS);
    char bus[32];
    ASSERT_EQ(cuDeviceGetPCIBusId(bus, sizeof bus, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuDeviceGetByPCIBusId(&device, bus), CUDA_SUCCESS);
    EXPECT_EQ(device, 0);
}

TEST_F(ApiTest, PrimaryContextIsCounted) {
    CUcontext again = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&again, 0), CUDA_SUCCESS);
    EXPECT_EQ(again, context_);
    ASSERT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    unsigned flags = 0;
    int active = 0;
    ASSERT_EQ(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
    EXPECT_EQ(active, 1);
    const CUdeviceptr memory = allocate(8);
    ASSERT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    ASSERT_EQ(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
    EXPECT_EQ(active, 0);
    EXPECT_EQ(cuMemFree(memory), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&again, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE); // freed with the context
    EXPECT_EQ(cuCtxDestroy(again), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(ApiTest, ContextsStack) {
    CUcontext created = nullptr, current = nullptr;
#if CUDA_VERSION >= 13000
    ASSERT_EQ(cuCtxCreate(&created, nullptr, 0, 0), CUDA_SUCCESS);
#else
    ASSERT_EQ(cuCtxCreate(&created, 0, 0), CUDA_SUCCESS);
#endif
    ASSERT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, created);
    ASSERT_EQ(cuCtxPopCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, created);
    ASSERT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, context_);
    ASSERT_EQ(cuCtxPushCurrent(created), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxDestroy(created), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, context_);
    EXPECT_EQ(cuCtxPushCurrent(created), CUDA_ERROR_INVALID_CONTEXT);
    ASSERT_EQ(cuCtxPopCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxPopCurrent(&current), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
}

TEST_F(ApiTest, CurrentContextIsPerThread) {
    std::thread([&] {
        CUcontext current = context_;
        EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
        EXPECT_EQ(current, nullptr);
        CUdeviceptr memory = 0;
        EXPECT_EQ(cuMemAlloc(&memory, 4), CUDA_ERROR_INVALID_CONTEXT);
        EXPECT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
        EXPECT_EQ(cuMemAlloc(&memory, 4), CUDA_SUCCESS);
    }).join();
}

TEST_F(ApiTest, LimitsAreStored) {
    std::size_t value = 0;
    ASSERT_EQ(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE), CUDA_SUCCESS);
    EXPECT_EQ(value, std::size_t{8} << 20);
    ASSERT_EQ(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE), CUDA_SUCCESS);
    EXPECT_EQ(value, 4096U);
    EXPECT_EQ(cuCtxGetLimit(&value, static_cast<CUlimit>(99)), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ApiTest, EntryPointsDependOnTheVersion) {
    void *old_form = nullptr, *new_form = nullptr, *newer = nullptr;
    CUdriverProcAddressQueryResult status{};
    ASSERT_EQ(cuGetProcAddress("cuCtxCreate", &old_form, 11030, 0, &status), CUDA_SUCCESS);
    EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
    ASSERT_EQ(cuGetProcAddress("cuCtxCreate", &new_form, 11040, 0, &status), CUDA_SUCCESS);
    ASSERT_EQ(cuGetProcAddress("cuCtxCreate", &newer, 99000, 0, &status), CUDA_SUCCESS);
    EXPECT_NE(old_form, new_form);
    EXPECT_NE(new_form, newer);
    void *none = this;
    ASSERT_EQ(cuGetProcAddress("cuMemAlloc", &none, 1000, 0, &status), CUDA_SUCCESS);
    EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    EXPECT_EQ(none, nullptr);
    ASSERT_EQ(cuGetProcAddress("cuNoSuchThing", &none, 12000, 0, &status), CUDA_SUCCESS);
    EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    EXPECT_EQ(cuGetProcAddress("cuMemAlloc", &none, 12000, 64, &status), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ApiTest, EveryRowOfTheTableIsAnEntryPoint) {
    struct Row {
        const char *name;
        const char *symbol;
        int version;
        cuuint64_t flags;
    };
    static const Row rows[] = {
#define PYCUDA_FUNCTION(name, symbol, version) {#name, #symbol, version, 0},
#define PYCUDA_EXPORT PYCUDA_FUNCTION
#define PYCUDA_PER_THREAD(name, symbol, version)                                                   \
    {#name, #symbol, version, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM},
#include "abi/driver.def"
    };
    std::set<void *> found;
    for (const Row &row : rows) {
        void *function = nullptr;
        CUdriverProcAddressQueryResult status{};
        EXPECT_EQ(cuGetProcAddress(row.name, &function, row.version, row.flags, &status),
                  CUDA_SUCCESS);
        EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
        EXPECT_NE(function, nullptr) << row.symbol;
        EXPECT_TRUE(found.insert(function).second) << row.symbol << " is another's form";
    }
}

TEST_F(ApiTest, PerThreadStreamFlagReturnsItsForms) {
    void *plain = nullptr, *per_thread = nullptr, *older = nullptr;
    constexpr auto kFlag = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    ASSERT_EQ(cuGetProcAddress("cuStreamGetId", &plain, 12000, 0, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuGetProcAddress("cuStreamGetId", &per_thread, 12000, kFlag, nullptr), CUDA_SUCCESS);
    EXPECT_NE(plain, per_thread);
    using GetId = CUresult (*)(CUstream, unsigned long long *);
    unsigned long long legacy = 0, own = 0, explicitly_own = 0;
    ASSERT_EQ(reinterpret_cast<GetId>(plain)(nullptr, &legacy), CUDA_SUCCESS);
    ASSERT_EQ(reinterpret_cast<GetId>(per_thread)(nullptr, &own), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamGetId(CU_STREAM_PER_THREAD, &explicitly_own), CUDA_SUCCESS);
    EXPECT_NE(legacy, own);
    EXPECT_EQ(own, explicitly_own);
    // Functions without a stream, and older versions, have only the plain form.
    ASSERT_EQ(cuGetProcAddress("cuMemAlloc", &plain, 12000, 0, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuGetProcAddress("cuMemAlloc", &per_thread, 12000, kFlag, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(plain, per_thread);
    ASSERT_EQ(cuGetProcAddress("cuStreamQuery", &plain, 4000, 0, nullptr), CUDA_SUCCESS);
    ASSERT_EQ(cuGetProcAddress("cuStreamQuery", &older, 4000, kFlag, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(plain, older);
}

TEST_F(ApiTest, AtomicsOfTheProcessor) {
    const CUatomicOperation operations[] = {CU_ATOMIC_OPERATION_INTEGER_ADD,
                                            CU_ATOMIC_OPERATION_CAS, CU_ATOMIC_OPERATION_FLOAT_MIN};
    unsigned found[3] = {};
    ASSERT_EQ(cuDeviceGetHostAtomicCapabilities(found, operations, 3, 0), CUDA_SUCCESS);
    EXPECT_TRUE(found[0] & CU_ATOMIC_CAPABILITY_SCALAR_64);
    EXPECT_FALSE(found[0] & CU_ATOMIC_CAPABILITY_SCALAR_128);
    EXPECT_TRUE(found[1] & CU_ATOMIC_CAPABILITY_SCALAR_128);
    EXPECT_EQ(found[2], 0U);
    EXPECT_EQ(cuDeviceGetHostAtomicCapabilities(found, operations, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuDeviceGetHostAtomicCapabilities(found, operations, 3, 99),
              CUDA_ERROR_INVALID_DEVICE);
    EXPECT_EQ(cuDeviceGetP2PAtomicCapabilities(found, operations, 3, 0, 0),
              CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(ApiTest, BatchesOfHintsAreChecked) {
    CUdeviceptr ranges[2] = {};
    for (CUdeviceptr &range : ranges)
        ASSERT_EQ(cuMemAllocManaged(&range, 64, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    std::size_t sizes[] = {64, 64}, first[] = {0, 1};
    CUmemLocation places[2] = {{.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                               {.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0}};
    auto prefetch = [&](std::size_t count, std::size_t place_count) {
        return cuMemPrefetchBatchAsync(ranges, sizes, count, places, first, place_count, 0,
                                       nullptr);
    };
    EXPECT_EQ(prefetch(2, 2), CUDA_SUCCESS);
    EXPECT_EQ(prefetch(1, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(prefetch(2, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemDiscardBatchAsync(ranges, sizes, 2, 0, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuMemDiscardAndPrefetchBatchAsync(ranges, sizes, 2, places, first, 1, 0, nullptr),
              CUDA_SUCCESS);
    ranges[1] = 64;
    EXPECT_EQ(prefetch(2, 2), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemDiscardBatchAsync(ranges, sizes, 2, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ApiTest, SettingsOfCoreFilesAreStored) {
    bool value = true;
    std::size_t bytes = sizeof value;
    ASSERT_EQ(cuCoredumpGetAttributeGlobal(CU_COREDUMP_ENABLE_ON_EXCEPTION, &value, &bytes),
              CUDA_SUCCESS);
    EXPECT_FALSE(value);
    value = true;
    EXPECT_EQ(cuCoredumpSetAttributeGlobal(CU_COREDUMP_ENABLE_ON_EXCEPTION, &value, &bytes),
              CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(cuCoredumpSetAttributeGlobal(CU_COREDUMP_LIGHTWEIGHT, &value, &bytes), CUDA_SUCCESS);
    char text[1024] = "core.of.all", mine[] = "core.of.mine";
    bytes = 11; // without the final zero
    ASSERT_EQ(cuCoredumpSetAttributeGlobal(CU_COREDUMP_FILE, text, &bytes), CUDA_SUCCESS);
    bytes = sizeof mine;
    ASSERT_EQ(cuCoredumpSetAttribute(CU_COREDUMP_FILE, mine, &bytes), CUDA_SUCCESS);
    bytes = sizeof text;
    ASSERT_EQ(cuCoredumpGetAttribute(CU_COREDUMP_FILE, text, &bytes), CUDA_SUCCESS);
    EXPECT_STREQ(text, "core.of.mine");
    ASSERT_EQ(cuCoredumpGetAttributeGlobal(CU_COREDUMP_FILE, text, &bytes), CUDA_SUCCESS);
    EXPECT_STREQ(text, "core.of.all");
    bytes = 3;
    EXPECT_EQ(cuCoredumpGetAttribute(CU_COREDUMP_FILE, text, &bytes), CUDA_ERROR_INVALID_VALUE);
    ASSERT_EQ(cuCoredumpGetAttribute(CU_COREDUMP_FILE, nullptr, &bytes), CUDA_SUCCESS);
    EXPECT_EQ(bytes, 1024U);
    EXPECT_EQ(cuCoredumpGetAttribute(CUcoredumpSettings(99), text, &bytes),
              CUDA_ERROR_INVALID_VALUE);
}

} // namespace
