// launch_test.cpp -- modules, functions, arguments and the checks of a launch.
#include "driver_test.h"

#include <cstring>
#include <fstream>
#include <set>

namespace {

using LaunchTest = DriverTest;

TEST_F(LaunchTest, AddsVectors) {
    constexpr int n = 1000;
    std::vector<float> a(n, 1.5F), b(n), sum(n);
    for (int i = 0; i < n; i++)
        b[static_cast<std::size_t>(i)] = static_cast<float>(i);
    const CUdeviceptr da = allocate(n * 4), db = allocate(n * 4), ds = allocate(n * 4);
    ASSERT_EQ(cuMemcpyHtoD(da, a.data(), n * 4), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyHtoD(db, b.data(), n * 4), CUDA_SUCCESS);
    ASSERT_EQ(launch("add", 8, 128, nullptr, da, db, ds, n), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyDtoH(sum.data(), ds, n * 4), CUDA_SUCCESS);
    for (int i = 0; i < n; i++)
        ASSERT_EQ(sum[static_cast<std::size_t>(i)], 1.5F + static_cast<float>(i));
}

TEST_F(LaunchTest, AcceptsArgumentsInOneBlock) {
    const CUdeviceptr memory = allocate(4);
    struct {
        CUdeviceptr to;
        int value;
    } arguments = {memory, 9};
    std::size_t size = 12;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &arguments, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    CUfunction store = function("store");
    ASSERT_EQ(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra), CUDA_SUCCESS);
    EXPECT_EQ(read_words(memory, 1).front(), 9);
    size = 8; // too few bytes
    EXPECT_EQ(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra),
              CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

TEST_F(LaunchTest, ChecksExtents) {
    CUfunction f = function("needs_32");
    auto with = [&](unsigned gx, unsigned gy, unsigned bx, unsigned by, unsigned bz) {
        return cuLaunchKernel(f, gx, gy, 1, bx, by, bz, 0, nullptr, nullptr, nullptr);
    };
    EXPECT_EQ(with(1, 1, 32, 1, 1), CUDA_SUCCESS);
    EXPECT_EQ(with(1, 1, 64, 1, 1), CUDA_ERROR_INVALID_VALUE); // .reqntid
    EXPECT_EQ(with(0, 1, 32, 1, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(with(1, 65536, 32, 1, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(with(1, 1, 1025, 1, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(with(1, 1, 32, 1, 65), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(with(1, 1, 64, 32, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(launch("small_blocks", 1, 64, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(launch("small_blocks", 1, 65, nullptr), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(LaunchTest, ClustersOfSeveralBlocksAreErrorsInEverySize) {
    const auto with = [&](unsigned x, unsigned y, unsigned z) {
        CUlaunchAttribute attribute{};
        attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        attribute.value.clusterDim = {x, y, z};
        CUlaunchConfig config{};
        config.gridDimX = config.gridDimY = config.gridDimZ = 1;
        config.blockDimX = 32;
        config.blockDimY = config.blockDimZ = 1;
        config.attrs = &attribute;
        config.numAttrs = 1;
        return cuLaunchKernelEx(&config, function("needs_32"), nullptr, nullptr);
    };
    EXPECT_EQ(with(1, 1, 1), CUDA_SUCCESS);
    EXPECT_EQ(with(2, 1, 1), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    EXPECT_EQ(with(0, 1, 1), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    // Products that overflow to 1 and 0 in 32 bits.
    EXPECT_EQ(with(0x10001, 0xffff0001, 1), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    EXPECT_EQ(with(0x10000, 0x10000, 1), CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

TEST_F(LaunchTest, ChecksSharedMemory) {
    const CUdeviceptr wrong = allocate(4);
    CUfunction f = function("use_shared");
    auto with = [&](unsigned shared) {
        CUdeviceptr argument = wrong;
        void *arguments[] = {&argument};
        return cuLaunchKernel(f, 20, 1, 1, 32, 1, 1, shared, nullptr, arguments, nullptr);
    };
    int most = 0;
    ASSERT_EQ(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f),
              CUDA_SUCCESS);
    EXPECT_EQ(most, 47 * 1024); // 48 KB minus 1 KB of static shared memory
    EXPECT_EQ(with(47 * 1024), CUDA_SUCCESS);
    EXPECT_EQ(with(47 * 1024 + 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 98 * 1024),
              CUDA_SUCCESS);
    EXPECT_EQ(with(98 * 1024), CUDA_SUCCESS);
    EXPECT_EQ(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 99 * 1024),
              CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(read_words(wrong, 1).front(), 0);
}

TEST_F(LaunchTest, ProvidesLocalAndScratchMemory) {
    const CUdeviceptr done = allocate(4);
    ASSERT_EQ(launch("use_scratch", 1, 1024, nullptr, done), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(read_words(done, 1).front(), 1);
}

TEST_F(LaunchTest, RunsEachBlockOnce) {
    const CUdeviceptr counter = allocate(4);
    for (const unsigned blocks : {1U, 2U, 3U, 7U, 1000U, 1000003U}) {
        ASSERT_EQ(cuMemsetD32(counter, 0, 1), CUDA_SUCCESS);
        ASSERT_EQ(launch("count", blocks, 32, nullptr, counter), CUDA_SUCCESS);
        EXPECT_EQ(read_words(counter, 1).front(), static_cast<int>(blocks));
    }
}

TEST_F(LaunchTest, UsesAllWorkersAndNumbersThem) {
    int workers = 0;
    ASSERT_EQ(cuDeviceGetAttribute(&workers, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0),
              CUDA_SUCCESS);
    constexpr unsigned blocks = 200;
    const CUdeviceptr slots = allocate(blocks * 4);
    ASSERT_EQ(launch("spread", blocks, 32, nullptr, slots), CUDA_SUCCESS);
    const std::vector<std::int32_t> words = read_words(slots, blocks);
    const std::set<std::int32_t> used(words.begin(), words.end());
    EXPECT_GE(*used.begin(), 1);
    EXPECT_LE(*used.rbegin(), workers);
    EXPECT_EQ(used.size(), static_cast<std::size_t>(workers));
}

TEST_F(LaunchTest, FunctionsReturnTheirAttributes) {
    CUfunction f = function("add");
    const char *name = nullptr;
    ASSERT_EQ(cuFuncGetName(&name, f), CUDA_SUCCESS);
    EXPECT_STREQ(name, "add");
    std::size_t offset = 0, size = 0;
    ASSERT_EQ(cuFuncGetParamInfo(f, 3, &offset, &size), CUDA_SUCCESS);
    EXPECT_EQ(offset, 24U);
    EXPECT_EQ(size, 4U);
    EXPECT_EQ(cuFuncGetParamInfo(f, 4, &offset, &size), CUDA_ERROR_INVALID_VALUE);
    int value = 0;
    ASSERT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, f), CUDA_SUCCESS);
    EXPECT_EQ(value, 32);
    CUmodule owner = nullptr;
    ASSERT_EQ(cuFuncGetModule(&owner, f), CUDA_SUCCESS);
    EXPECT_EQ(owner, module_);
    unsigned count = 0;
    ASSERT_EQ(cuModuleGetFunctionCount(&count, module_), CUDA_SUCCESS);
    std::vector<CUfunction> all(count);
    ASSERT_EQ(cuModuleEnumerateFunctions(all.data(), count, module_), CUDA_SUCCESS);
    EXPECT_EQ(all.front(), f);
}

TEST_F(LaunchTest, VariablesArePlacedInitialisedAndLinked) {
    CUdeviceptr table = 0;
    std::size_t size = 0;
    ASSERT_EQ(cuModuleGetGlobal(&table, &size, module_, "table"), CUDA_SUCCESS);
    EXPECT_EQ(size, 16U);
    EXPECT_EQ(read_words(table, 4), (std::vector<std::int32_t>{10, 20, 30, 0}));
    CUdeviceptr message = 0; // without .visible
    EXPECT_EQ(cuModuleGetGlobal(&message, &size, module_, "message"), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleGetGlobal(&message, &size, module_, "nothing"), CUDA_ERROR_NOT_FOUND);
    const CUdeviceptr out = allocate(4);
    ASSERT_EQ(launch("read_variable", 1, 1, nullptr, out), CUDA_SUCCESS);
    EXPECT_EQ(read_words(out, 1).front(), 20);
    CUmodule second = nullptr;
    ASSERT_EQ(cuModuleLoadData(&second, fake::kImage), CUDA_SUCCESS);
    CUdeviceptr other = 0;
    ASSERT_EQ(cuModuleGetGlobal(&other, &size, second, "table"), CUDA_SUCCESS);
    EXPECT_NE(other, table);
    EXPECT_EQ(cuModuleUnload(second), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleUnload(second), CUDA_ERROR_INVALID_HANDLE);
    std::int32_t word = 0;
    EXPECT_EQ(cuMemcpyDtoH(&word, other, 4), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(LaunchTest, ErrorsOfATextAreInTheLog) {
    char log[256] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
    CUmodule module = nullptr;
    EXPECT_EQ(cuModuleLoadDataEx(&module, "garbage", 2, options, values), CUDA_ERROR_INVALID_PTX);
    EXPECT_STREQ(log, fake::kDiagnostic);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values[1]), std::strlen(log) + 1);

    char small[8] = "";
    values[0] = small;
    values[1] = reinterpret_cast<void *>(sizeof small);
    EXPECT_EQ(cuModuleLoadDataEx(&module, "garbage", 2, options, values), CUDA_ERROR_INVALID_PTX);
    EXPECT_STREQ(small, "kernel.");
}

TEST_F(LaunchTest, CubinsAndUnknownOptionsAreErrors) {
    CUmodule module = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, "\177ELF..."), CUDA_ERROR_NO_BINARY_FOR_GPU);
    EXPECT_EQ(cuModuleLoadData(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
    CUjit_option options[] = {static_cast<CUjit_option>(12345)};
    void *values[] = {nullptr};
    EXPECT_EQ(cuModuleLoadDataEx(&module, fake::kImage, 1, options, values),
              CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuModuleLoad(&module, "/nonexistent/kernel.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
}

TEST_F(LaunchTest, UnknownNamesAndHandles) {
    CUfunction f = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&f, module_, "nope"), CUDA_ERROR_NOT_FOUND);
    EXPECT_EQ(cuModuleGetFunction(&f, reinterpret_cast<CUmodule>(this), "add"),
              CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuLaunchKernel(reinterpret_cast<CUfunction>(this), 1, 1, 1, 1, 1, 1, 0, nullptr,
                             nullptr, nullptr),
              CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(LaunchTest, CodeThatCannotBeCompiledIsAnError) {
    EXPECT_EQ(launch("uncompilable", 1, 32, nullptr), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(last_fault(), "kernel `uncompilable` cannot be compiled: no such feature");
}

TEST_F(LaunchTest, KernelsAreCompiledAtTheSameTime) {
    const CUdeviceptr memory = allocate(4);
    ASSERT_EQ(launch("together_a", 1, 1, nullptr, memory, 1), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
    ASSERT_EQ(launch("together_b", 1, 1, nullptr, memory, 2), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(read_words(memory, 1).front(), 2); // in the order of the launches
}

TEST_F(LaunchTest, KernelsBeginWhileAllThreadsWaitForThem) {
    constexpr int kKernels = 12; // more than there are threads
    const CUdeviceptr flags = allocate(4 * (kKernels + 1));
    ASSERT_EQ(cuMemsetD32(flags, 0, kKernels + 1), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS); // non-blocking streams do not wait for the fill
    CUstream streams[kKernels] = {};
    for (int i = 0; i < kKernels; i++) {
        const CUdeviceptr own = flags + 4 * i;
        ASSERT_EQ(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
        ASSERT_EQ(launch("wait_for", 64, 1, streams[i], own + 4), CUDA_SUCCESS);
        ASSERT_EQ(launch("store", 1, 1, streams[i], own, 1), CUDA_SUCCESS);
    }
    CUstream last = nullptr;
    ASSERT_EQ(cuStreamCreate(&last, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(launch("store", 1, 1, last, flags + 4 * kKernels, 1), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(read_words(flags, kKernels + 1), std::vector<std::int32_t>(kKernels + 1, 1));
}

TEST_F(LaunchTest, AContextEndsWhenItsKernelsAreCompiled) {
    const CUdeviceptr memory = allocate(4);
    ASSERT_EQ(launch("together_a", 1, 1, nullptr, memory, 1), CUDA_SUCCESS);
    ASSERT_EQ(launch("together_b", 1, 1, nullptr, memory, 2), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleUnload(module_), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
}

TEST_F(LaunchTest, ACompilationWithoutMemoryFailsLikeALaunch) {
    const CUdeviceptr memory = allocate(4);
    ASSERT_EQ(launch("short_of_memory", 1, 1, nullptr, memory, 1), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(last_fault(),
              "kernel `short_of_memory` cannot be compiled: there is not enough memory");
    ASSERT_EQ(launch("short_of_memory", 1, 1, nullptr, memory, 3), CUDA_SUCCESS); // tried again
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(read_words(memory, 1).front(), 3);
}

TEST_F(LaunchTest, ConfiguredLaunch) {
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    CUdeviceptr memory = allocate(4);
    int value = 5;
    void *arguments[] = {&memory, &value};
    ASSERT_EQ(cuLaunchKernelEx(&config, function("store"), arguments, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(read_words(memory, 1).front(), 5);
    CUlaunchAttribute cluster{};
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim = {2, 1, 1};
    config.attrs = &cluster;
    config.numAttrs = 1;
    EXPECT_EQ(cuLaunchKernelEx(&config, function("store"), arguments, nullptr),
              CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

// May be newer than the header of the build.
extern "C" CUresult CUDAAPI cuKernelGetParamCount(CUkernel kernel, std::size_t *count);

TEST_F(LaunchTest, LibrariesWorkInEachContext) {
    CUlibrary library = nullptr;
    ASSERT_EQ(cuLibraryLoadData(&library, fake::kImage, nullptr, nullptr, 0, nullptr, nullptr, 0),
              CUDA_SUCCESS);
    CUkernel kernel = nullptr;
    ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "store"), CUDA_SUCCESS);
    EXPECT_EQ(cuLibraryGetKernel(&kernel, library, "nope"), CUDA_ERROR_NOT_FOUND);
    CUlibrary owner = nullptr;
    EXPECT_EQ(cuKernelGetLibrary(&owner, kernel), CUDA_SUCCESS);
    EXPECT_EQ(owner, library);
    EXPECT_EQ(cuKernelGetLibrary(&owner, nullptr), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_L1, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuKernelSetCacheConfig(kernel, static_cast<CUfunc_cache>(9), 0),
              CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_L1, 5),
              CUDA_ERROR_INVALID_DEVICE);
    std::size_t count = 0;
    EXPECT_EQ(cuKernelGetParamCount(kernel, &count), CUDA_SUCCESS);
    EXPECT_EQ(count, 2u);
    EXPECT_EQ(cuKernelGetParamCount(kernel, nullptr), CUDA_ERROR_INVALID_VALUE);
    CUdeviceptr memory = allocate(4);
    int value = 6;
    void *arguments[] = {&memory, &value};
    ASSERT_EQ(cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 1, 1, 1, 0, nullptr,
                             arguments, nullptr),
              CUDA_SUCCESS);
    EXPECT_EQ(read_words(memory, 1).front(), 6);
    CUfunction first = nullptr, second = nullptr;
    ASSERT_EQ(cuKernelGetFunction(&first, kernel), CUDA_SUCCESS);
    ASSERT_EQ(cuKernelGetFunction(&second, kernel), CUDA_SUCCESS);
    EXPECT_EQ(first, second);
    CUdeviceptr table = 0;
    ASSERT_EQ(cuLibraryGetGlobal(&table, nullptr, library, "table"), CUDA_SUCCESS);
    EXPECT_EQ(read_words(table, 1).front(), 10);
    // A reset unloads the module, not the library.
    ASSERT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
    memory = allocate(4);
    value = 7;
    ASSERT_EQ(cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), 1, 1, 1, 1, 1, 1, 0, nullptr,
                             arguments, nullptr),
              CUDA_SUCCESS);
    EXPECT_EQ(read_words(memory, 1).front(), 7);
    ASSERT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
    EXPECT_EQ(cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuKernelGetFunction(&first, kernel), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(LaunchTest, AfterAResetALibraryIsLoadedAgainAlsoIfAGraphHasItsKernel) {
    CUlibrary library = nullptr;
    ASSERT_EQ(cuLibraryLoadData(&library, fake::kImage, nullptr, nullptr, 0, nullptr, nullptr, 0),
              CUDA_SUCCESS);
    CUkernel kernel = nullptr;
    ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "store"), CUDA_SUCCESS);
    CUfunction before = nullptr, after = nullptr;
    ASSERT_EQ(cuKernelGetFunction(&before, kernel), CUDA_SUCCESS);
    CUdeviceptr memory = allocate(4);
    int value = 7;
    void *arguments[] = {&memory, &value};
    CUDA_KERNEL_NODE_PARAMS node = {};
    node.func = before;
    node.gridDimX = node.gridDimY = node.gridDimZ = 1;
    node.blockDimX = node.blockDimY = node.blockDimZ = 1;
    node.kernelParams = arguments;
    CUgraph graph = nullptr;
    CUgraphNode added = nullptr;
    ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphAddKernelNode(&added, graph, nullptr, 0, &node), CUDA_SUCCESS);

    ASSERT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
    CUdeviceptr table = 0;
    ASSERT_EQ(cuLibraryGetGlobal(&table, nullptr, library, "table"), CUDA_SUCCESS);
    EXPECT_EQ(read_words(table, 1).front(), 10);
    ASSERT_EQ(cuKernelGetFunction(&after, kernel), CUDA_SUCCESS);
    EXPECT_NE(after, before);
    EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
    cuGraphDestroy(graph); // its handle may have ended with the context
}

TEST_F(LaunchTest, AfterAResetGraphsOfTheContextAreRefused) {
    CUdeviceptr memory = allocate(4);
    int value = 7;
    void *arguments[] = {&memory, &value};
    CUDA_KERNEL_NODE_PARAMS kernel = {};
    kernel.func = function("store");
    kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1;
    kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
    kernel.kernelParams = arguments;
    CUDA_MEMSET_NODE_PARAMS fill = {};
    fill.dst = memory;
    fill.elementSize = 4;
    fill.width = fill.height = 1;
    CUcontext context = nullptr;
    ASSERT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
    CUgraph graphs[2] = {};
    CUgraphExec instances[2] = {}, late = nullptr;
    CUgraphNode node = nullptr;
    for (CUgraph &graph : graphs)
        ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphAddKernelNode(&node, graphs[0], nullptr, 0, &kernel), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphAddMemsetNode(&node, graphs[1], nullptr, 0, &fill, context), CUDA_SUCCESS);
    for (int i : {0, 1}) {
        ASSERT_EQ(cuGraphInstantiate(&instances[i], graphs[i], 0), CUDA_SUCCESS);
        ASSERT_EQ(cuGraphLaunch(instances[i], nullptr), CUDA_SUCCESS);
    }

    ASSERT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphInstantiate(&late, graphs[0], 0), CUDA_SUCCESS);
    for (CUgraphExec graph : {instances[0], instances[1], late}) {
        EXPECT_EQ(cuGraphLaunch(graph, nullptr), CUDA_ERROR_CONTEXT_IS_DESTROYED);
        EXPECT_EQ(cuGraphExecDestroy(graph), CUDA_SUCCESS);
    }
    for (CUgraph graph : graphs)
        EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS); // no work has failed
}

TEST_F(LaunchTest, OccupancyIsThatOfTheArchitecture) {
    int blocks = 0;
    ASSERT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("add"), 256, 0),
              CUDA_SUCCESS);
    EXPECT_EQ(blocks, 6); // 1536 threads
    ASSERT_EQ(
        cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function("use_shared"), 32, 31 * 1024),
        CUDA_SUCCESS);
    EXPECT_EQ(blocks, 3); // of 33 KB each
    int grid = 0, block = 0;
    ASSERT_EQ(cuOccupancyMaxPotentialBlockSize(&grid, &block, function("add"), nullptr, 0, 0),
              CUDA_SUCCESS);
    EXPECT_EQ(block, 768);
    EXPECT_GE(grid, 1);
    std::size_t bytes = 0;
    ASSERT_EQ(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function("add"), 1, 32),
              CUDA_SUCCESS);
    EXPECT_EQ(bytes, 48U * 1024); // the function's maximum
    CUfunction add = function("add");
    ASSERT_EQ(cuFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64 * 1024),
              CUDA_SUCCESS);
    ASSERT_EQ(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, add, 1, 32), CUDA_SUCCESS);
    EXPECT_EQ(bytes, 64U * 1024);
    ASSERT_EQ(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, add, 4, 32), CUDA_SUCCESS);
    EXPECT_EQ(bytes, 24U * 1024); // a quarter of 100 KB, without the part that each block reserves
}

} // namespace
