// launch_test.cpp -- kernels and variables of a registered program.
#include "cudart_test.h"

#include <atomic>
#include <dlfcn.h>
#include <thread>

namespace {

using LaunchTest = CudartTest;

TEST_F(LaunchTest, AKernelReadsItsProgramsVariables) {
    const int table[] = {10, 20, 30, 40};
    ASSERT_OK(cudaMemcpyToSymbol(table_shadow, table, 16, 0, cudaMemcpyHostToDevice));
    int *values = make({1, 2, 3, 4, 5});
    ASSERT_OK(add(values, 5, 100));
    EXPECT_EQ(read(values, 5), (std::vector<int>{118, 129, 140, 151, 122}));
    int back = 0;
    ASSERT_OK(cudaMemcpyFromSymbol(&back, table_shadow, 4, 8, cudaMemcpyDeviceToHost));
    EXPECT_EQ(back, 30);
    void *address = nullptr;
    std::size_t size = 0;
    EXPECT_OK(cudaGetSymbolAddress(&address, table_shadow));
    EXPECT_OK(cudaGetSymbolSize(&size, table_shadow));
    EXPECT_EQ(size, 16U);
    EXPECT_EQ(cudaMemcpyToSymbol(table_shadow, table, 16, 4, cudaMemcpyHostToDevice),
              cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpyToSymbol(table_shadow, table, 16, 0, cudaMemcpyDeviceToHost),
              cudaErrorInvalidMemcpyDirection);
}

TEST_F(LaunchTest, ManagedVariablesAreTheHostsToo) {
    ASSERT_EQ(__cudaInitModule(handle_), 1);
    ASSERT_NE(managed_pointer, nullptr);
    EXPECT_EQ(*managed_pointer, 7);
    *managed_pointer = 1000;
    int *values = make({0});
    ASSERT_OK(add(values, 1, 1));
    EXPECT_EQ(read(values, 1), std::vector<int>{1001});
    std::size_t size = 0;
    EXPECT_OK(cudaGetSymbolSize(&size, managed_pointer));
    EXPECT_EQ(size, 4U);
    ASSERT_OK(cudaDeviceReset());
    EXPECT_EQ(*managed_pointer, 7); // a reset restores the initial value
}

TEST_F(LaunchTest, LaunchConfigurationsAreAStack) {
    EXPECT_EQ(__cudaPushCallConfiguration({1, 2, 3}, {4, 5, 6}, 7, nullptr), 0U);
    EXPECT_EQ(__cudaPushCallConfiguration({9, 1, 1}, {1, 1, 1}, 0, cudaStreamPerThread), 0U);
    dim3 grid;
    dim3 block;
    std::size_t bytes = 0;
    cudaStream_t stream = nullptr;
    ASSERT_OK(__cudaPopCallConfiguration(&grid, &block, &bytes, &stream));
    EXPECT_EQ(grid.x, 9U);
    EXPECT_EQ(stream, cudaStreamPerThread);
    ASSERT_OK(__cudaPopCallConfiguration(&grid, &block, &bytes, &stream));
    EXPECT_EQ(grid.z, 3U);
    EXPECT_EQ(block.y, 5U);
    EXPECT_EQ(bytes, 7U);
    EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &bytes, &stream),
              cudaErrorMissingConfiguration);
}

TEST_F(LaunchTest, ImpossibleLaunchesAreNamed) {
    int *values = make({0});
    int n = 1;
    void *arguments[] = {&values, &n, &n};
    EXPECT_EQ(cudaLaunchKernel(&add_stub, {1, 1, 1}, {2048, 1, 1}, arguments, 0, nullptr),
              cudaErrorInvalidConfiguration);
    EXPECT_EQ(cudaLaunchKernel(&add_stub, {0, 1, 1}, {1, 1, 1}, arguments, 0, nullptr),
              cudaErrorInvalidConfiguration);
    const std::size_t too_many = (std::size_t{1} << 32) + 16;
    EXPECT_EQ(cudaLaunchKernel(&add_stub, {1, 1, 1}, {1, 1, 1}, arguments, too_many, nullptr),
              cudaErrorInvalidValue);
    EXPECT_EQ(cudaLaunchKernel(&wait_stub, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr),
              cudaErrorInvalidDeviceFunction);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
}

TEST_F(LaunchTest, MachineCodeAloneIsAnError) {
    static const unsigned char cubin[] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0};
    static char stub;
    Wrapper wrapper;
    wrapper.code = cubin;
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &stub, nullptr, "f", -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
    testing::internal::CaptureStderr();
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(cudaLaunchKernel(&stub, {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr),
                  cudaErrorNoKernelImageForDevice);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("-gencode arch=compute_XX,code=compute_XX"), std::string::npos) << said;
    EXPECT_EQ(said.find("refused"), said.rfind("refused")) << "said twice: " << said;
    __cudaUnregisterFatBinary(handle);
}

/// The output of nvcc -rdc=true: a wrapper of version 2 with a list of parts that call each other.
TEST_F(LaunchTest, PartsOfAProgramAreLinked) {
    static const char *const caller = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 result) seven();
.visible .entry store(.param .u64 to) {
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [to];
    cvta.to.global.u64 %rd2, %rd1;
    { .param .b32 result; call.uni (result), seven; ld.param.b32 %r1, [result]; }
    st.global.u32 [%rd2], %r1;
    ret;
}
)";
    static const char *const callee = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .func (.param .b32 result) seven() {
    .reg .b32 %r<2>;
    mov.u32 %r1, 7;
    st.param.b32 [result], %r1;
    ret;
}
)";
    static char stub;
    const void *parts[] = {caller, callee, nullptr};
    const std::uint64_t nothing[] = {0x00100001ba55ed50, 0}; // a fat binary without entries
    Wrapper wrapper;
    wrapper.version = 2;
    wrapper.code = nothing;
    wrapper.file = parts;
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &stub, nullptr, "store", -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
    int *to = make({0});
    void *arguments[] = {&to};
    EXPECT_OK(cudaLaunchKernel(&stub, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr));
    EXPECT_EQ(read(to, 1), std::vector<int>{7});
    __cudaUnregisterFatBinary(handle);
}

TEST_F(LaunchTest, FunctionsDescribeThemselves) {
    cudaFuncAttributes attributes{};
    ASSERT_OK(cudaFuncGetAttributes(&attributes, &add_stub));
    EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
    EXPECT_EQ(attributes.ptxVersion, 70); // CUB chooses its kernels by this number
    EXPECT_GT(attributes.binaryVersion, 0);
    const char *name = nullptr;
    ASSERT_OK(cudaFuncGetName(&name, &add_stub));
    EXPECT_STREQ(name, "add");
    std::size_t offset = 0;
    std::size_t size = 0;
    ASSERT_OK(cudaFuncGetParamInfo(&add_stub, 2, &offset, &size));
    EXPECT_EQ(offset, 12U);
    EXPECT_EQ(size, 4U);
    int blocks = 0;
    EXPECT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &add_stub, 128, 0));
    EXPECT_GT(blocks, 0);
    EXPECT_OK(cudaFuncSetAttribute(&add_stub, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024));
    cudaFunction_t function = nullptr;
    cudaKernel_t kernel = nullptr;
    ASSERT_OK(cudaGetFuncBySymbol(&function, &add_stub));
    ASSERT_OK(cudaGetKernel(&kernel, &add_stub));
    int *values = make({5});
    int n = 1;
    void *arguments[] = {&values, &n, &n};
    EXPECT_OK(cudaLaunchKernel(function, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr));
    EXPECT_OK(cudaLaunchKernel(kernel, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr));
    EXPECT_EQ(read(values, 1), std::vector<int>{5 + 2 * 8});
}

TEST_F(LaunchTest, ThreadsLaunchTogether) {
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&, t] {
            if (cudaSetDevice(t % 2) != cudaSuccess)
                wrong++;
            int *values = make({t, t});
            for (int i = 0; i < 50; i++)
                if (add(values, 2, 1, cudaStreamPerThread) != cudaSuccess)
                    wrong++;
            if (cudaStreamSynchronize(cudaStreamPerThread) != cudaSuccess)
                wrong++;
            if (read(values, 2) != std::vector<int>{t + 50 * 8, t + 50 * 8})
                wrong++;
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(wrong, 0);
    ASSERT_OK(cudaSetDevice(1));
    ASSERT_OK(cudaDeviceReset());
    ASSERT_OK(cudaSetDevice(0));
}

/// The functions that programs use if they are compiled with --default-stream per-thread.
TEST_F(LaunchTest, ANullStreamMayBeThePerThreadStream) {
    const auto launch =
        reinterpret_cast<decltype(&cudaLaunchKernel)>(dlsym(RTLD_DEFAULT, "cudaLaunchKernel_ptsz"));
    const auto get_id =
        reinterpret_cast<decltype(&cudaStreamGetId)>(dlsym(RTLD_DEFAULT, "cudaStreamGetId_ptsz"));
    const auto copy =
        reinterpret_cast<decltype(&cudaMemcpy)>(dlsym(RTLD_DEFAULT, "cudaMemcpy_ptds"));
    ASSERT_TRUE(launch && get_id && copy);
    unsigned long long own = 0;
    unsigned long long null = 0;
    unsigned long long legacy = 0;
    ASSERT_OK(cudaStreamGetId(cudaStreamPerThread, &own));
    ASSERT_OK(get_id(nullptr, &null));
    ASSERT_OK(cudaStreamGetId(nullptr, &legacy));
    EXPECT_EQ(null, own);
    EXPECT_NE(null, legacy);
    int *values = make({1});
    int n = 1;
    void *arguments[] = {&values, &n, &n};
    ASSERT_OK(launch(&add_stub, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr));
    int result = 0;
    ASSERT_OK(copy(&result, values, 4, cudaMemcpyDeviceToHost));
    EXPECT_EQ(result, 9);
}

TEST_F(LaunchTest, HostFunctionsRunInOrder) {
    int *values = make({1});
    ASSERT_OK(add(values, 1, 1, cudaStreamPerThread));
    int seen = 0;
    ASSERT_OK(cudaLaunchHostFunc(
        cudaStreamPerThread, [](void *data) { *static_cast<int *>(data) = 42; }, &seen));
    ASSERT_OK(cudaStreamAddCallback(
        cudaStreamPerThread,
        [](cudaStream_t, cudaError_t error, void *data) {
            *static_cast<int *>(data) += error == cudaSuccess;
        },
        &seen, 0));
    ASSERT_OK(cudaStreamSynchronize(cudaStreamPerThread));
    EXPECT_EQ(seen, 43);
}

TEST_F(LaunchTest, AttributesOfLaunchesArrive) {
    int *values = make({1});
    int n = 1;
    void *arguments[] = {&values, &n, &n};
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = {1, 1, 1};
    config.blockDim = {1, 1, 1};
    config.attrs = &attribute;
    config.numAttrs = 1;
    EXPECT_OK(cudaLaunchKernelExC(&config, &add_stub, arguments));
    EXPECT_OK(cudaLaunchCooperativeKernel(&add_stub, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr));
    EXPECT_EQ(read(values, 1), std::vector<int>{17});
    EXPECT_EQ(cudaLaunchKernelExC(nullptr, &add_stub, arguments), cudaErrorInvalidValue);
}

} // namespace
