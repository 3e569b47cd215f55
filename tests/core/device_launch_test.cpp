// device_launch_test.cpp -- the six steps of the tutorials, and launches that fail.
#include "device_fixture.h"

#include <chrono>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

namespace pycuda {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class DeviceLaunch : public OnDevice {};

constexpr const char *doublify_source = R"(
__global__ void doublify(float *a) { a[threadIdx.x + threadIdx.y * 4] *= 2; }
__global__ void multiply_them(float *dest, float *a, float *b)
{
    const int i = threadIdx.x;
    dest[i] = a[i] * b[i];
}
)";

std::vector<float> ramp(std::size_t count) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 0.5f);
    return values;
}

TEST_F(DeviceLaunch, CopiesInLaunchesAndCopiesOut) {
    Function doublify = compile_module(doublify_source).function("doublify");
    std::vector<float> a = ramp(16);
    DeviceMemory on_device = to_device(a);
    launch(doublify, {.block = {4, 4}}, on_device);
    std::vector<float> doubled(16);
    copy(doubled, on_device);
    for (std::size_t i = 0; i < a.size(); ++i)
        EXPECT_EQ(doubled[i], 2 * a[i]);
}

TEST_F(DeviceLaunch, StagesHostData) {
    Module module = compile_module(doublify_source);
    std::vector<float> a = ramp(400);
    std::vector<float> b = ramp(400);
    std::vector<float> dest(400);
    launch(module.function("multiply_them"), {.block = {400}}, Out(dest), In(a), In(b));
    for (std::size_t i = 0; i < a.size(); ++i)
        ASSERT_EQ(dest[i], a[i] * b[i]);

    std::vector<float> twice = ramp(16);
    Stream stream(CU_STREAM_NON_BLOCKING);
    launch(module.function("doublify"), {.block = {4, 4}, .stream = stream}, InOut(twice));
    EXPECT_EQ(twice[15], 31.0f);
}

TEST_F(DeviceLaunch, DriverReturnsTheLayout) {
    Function function = compile_module(R"(
struct Triple { double x; char c; };
__global__ void mixed(char a, float4 b, short c, Triple d, double *out)
{
    out[0] = a; out[1] = b.w; out[2] = c; out[3] = d.x; out[4] = d.c;
})")
                            .function("mixed");
    const ParameterLayout &layout = function.layout();
    ASSERT_EQ(layout.count(), 5u);
    EXPECT_EQ(layout[1].offset, 16u);
    EXPECT_EQ(layout[3].size, 16u);
    EXPECT_EQ(layout.block_size(), 64u);

    struct alignas(16) Float4 {
        float x, y, z, w;
    };
    struct Triple {
        double x;
        char c;
    };
    std::vector<double> out(5);
    launch(function, {}, char{1}, Float4{0, 0, 0, 2}, short{3}, Triple{4, 5}, Out(out));
    EXPECT_EQ(out, (std::vector<double>{1, 2, 3, 4, 5}));
}

TEST_F(DeviceLaunch, ComputesPi) {
    constexpr int steps = 100'000;
    Function term = compile_module(R"(
__global__ void term(double *sum, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const double x = (i + 0.5) / n;
    if (i < n)
        sum[i] = 4.0 / (1.0 + x * x) / n;
})")
                        .function("term");
    std::vector<double> terms(steps);
    launch(term, {.grid = {(steps + 255) / 256}, .block = {256}}, Out(terms), steps);
    EXPECT_NEAR(std::accumulate(terms.begin(), terms.end(), 0.0), std::numbers::pi, 1e-9);
}

TEST_F(DeviceLaunch, FindsGlobalVariables) {
    Module module = compile_module(R"(
__constant__ int factors[4];
__global__ void scale(int *x) { x[threadIdx.x] *= factors[threadIdx.x]; }
)");
    AddressRange factors = module.global("factors");
    ASSERT_EQ(factors.size, 16u);
    const std::vector<int> values = {1, 2, 3, 4};
    copy_to_device(factors.base, values.data(), factors.size);
    std::vector<int> x(4, 10);
    launch(module.function("scale"), {.block = {4}}, InOut(x));
    EXPECT_EQ(x, (std::vector<int>{10, 20, 30, 40}));
    EXPECT_THAT(message_of([&] { module.global("vectors"); }),
                HasSubstr("no global variable \"vectors\" in the module"));
}

TEST_F(DeviceLaunch, UnknownKernelListsTheOthers) {
    Module module = compile_module(doublify_source);
    EXPECT_THAT(message_of([&] { module.function("triplify"); }),
                AllOf(HasSubstr("no kernel \"triplify\" in the module"),
                      HasSubstr("which has: doublify, multiply_them")));
}

TEST_F(DeviceLaunch, CxxNamesAreExplained) {
    const std::string source = "__global__ void f(float *x, int n) { x[n] = 1; }";
    CompileResult compiled = compile({.source = source,
                                      .device = device_.compute_capability(),
                                      .target = driver().image_kind(),
                                      .linkage = Linkage::Cxx});
    Module module = Module::load(std::as_bytes(std::span(compiled.image)));
    module.describe_from_source(source);
    EXPECT_THAT(message_of([&] { module.function("f"); }),
                HasSubstr("; _Z1fPfi is the C++ name of \"f\""));
    EXPECT_EQ(module.function("_Z1fPfi").layout().type(0), "float *");
}

TEST_F(DeviceLaunch, LimitsAreNamed) {
    Function doublify = compile_module(doublify_source).function("doublify");
    DeviceMemory memory(64);
    EXPECT_THAT(message_of([&] { launch(doublify, {.block = {2048}}, memory); }),
                HasSubstr("kernel 'doublify': block (2048, 1, 1): x is 2048, the device's limit is "
                          "1024"));
    EXPECT_THAT(message_of([&] { launch(doublify, {.block = {64, 64}}, memory); }),
                HasSubstr("has 4096 threads, the limit of the device is 1024"));
    EXPECT_THAT(
        message_of([&] { launch(doublify, {.block = {1}, .shared_bytes = 1u << 30}, memory); }),
        HasSubstr("bytes of dynamic shared memory"));
    launch(doublify, {.block = {4, 4}}, memory); // the context is still usable
    context_.synchronize();
}

TEST_F(DeviceLaunch, BadCodeIsExplained) {
    std::string text = message_of([] {
        std::string_view ptx = ".version 7.0\n.target sm_75\n.address_size 64\nnonsense;\n";
        Module::load(std::as_bytes(std::span(ptx)));
    });
    EXPECT_THAT(text, AllOf(HasSubstr("cuModuleLoadDataEx failed: "), HasSubstr("4")));
}

TEST_F(DeviceLaunch, AttributesOfAKernel) {
    Function function = compile_module(R"(
__global__ void tile(float *x) {
    __shared__ float buffer[64];
    buffer[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = buffer[63 - threadIdx.x];
})")
                            .function("tile");
    EXPECT_EQ(function.attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 256);
    EXPECT_GE(function.attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 64);
    std::vector<float> x = ramp(64);
    launch(function, {.block = {64}}, InOut(x));
    EXPECT_EQ(x[0], 63.5f);
}

// Each of these breaks the context, so it runs in a separate process.
using DeviceFault = DeviceLaunch;

TEST_F(DeviceFault, InvalidWriteIsAnErrorAndTheExitIsClean) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            Function wild = compile_module("__global__ void wild(int *x) { x[1ll << 40] = 1; }")
                                .function("wild");
            DeviceMemory memory(64);
            MemoryPool pool = MemoryPool::device();
            PooledMemory pooled = pool.allocate(64);
            launch(wild, {}, memory);
            std::string text = message_of([&] { context_.synchronize(); });
            std::fprintf(stderr, "%s\n", text.c_str());
            std::exit(0); // runs destructors of static objects, but not of this function's
        },
        testing::ExitedWithCode(0), "an illegal memory access was encountered");
}

TEST_F(DeviceFault, EndlessKernelCanBeInterrupted) {
    if (!driver().extensions().scuCtxInterrupt)
        GTEST_SKIP() << "this driver cannot end a running kernel";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            Function endless = compile_module(R"(
__global__ void endless(volatile int *x) { while (x[0] == 0) { } })")
                                   .function("endless");
            DeviceMemory memory(64);
            fill<std::uint8_t>(memory.get(), 0, 64);
            launch(endless, {}, memory);
            int questions = 0;
            std::string text = message_of<Interrupted>(
                [&] { context_.synchronize([&] { return ++questions < 5; }); });
            std::fprintf(stderr, "%s\n", text.c_str());
            std::exit(0);
        },
        testing::ExitedWithCode(0), "interrupted");
}

} // namespace
} // namespace pycuda
