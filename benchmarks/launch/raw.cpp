// raw.cpp -- the time of the driver itself: the calls of launch.py in C++, without any layer above.
//
// Prints one line for each measurement: name, microseconds (median of batches).
#include <pycuda/pycuda.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

namespace {

constexpr int kBatches = 15, kCalls = 2000;
constexpr int kShortBatches = 100, kShortCalls = 300; // less than a stream holds

void measure(const char *name, const std::function<void()> &call,
             const std::function<void()> &finish) {
    std::vector<double> times;
    for (int batch = 0; batch < kBatches; ++batch) {
        finish();
        auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < kCalls; ++i)
            call();
        finish();
        std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - start;
        times.push_back(spent.count() / kCalls);
    }
    std::ranges::sort(times);
    std::printf("%s %.3f\n", name, times[kBatches / 2]);
}

/// The time until a call returns, without the device's time: the least of many short batches.
void measure_call(const char *name, const std::function<void()> &call,
                  const std::function<void()> &finish) {
    double least = 1e9;
    for (int batch = 0; batch < kShortBatches; ++batch) {
        finish();
        auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < kShortCalls; ++i)
            call();
        std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - start;
        least = std::min(least, spent.count() / kShortCalls);
    }
    finish();
    std::printf("%s %.3f\n", name, least);
}

int run() {
    pycuda::init();
    pycuda::Device device(0);
    auto context = pycuda::Context::primary(device);
    pycuda::ScopedContext current(context);
    auto compiled =
        pycuda::compile({.source = "__global__ void add(float *a, const float *b, int n)"
                                   "{ int i = threadIdx.x; if (i < n) a[i] += b[i]; }",
                         .device = device.compute_capability(),
                         .target = pycuda::driver().image_kind()});
    auto module = pycuda::Module::load(std::as_bytes(std::span(compiled.image)));
    auto add = module.function("add");
    pycuda::DeviceMemory a(4096), b(4096);
    std::vector<float> host(1024);
    CUdeviceptr pa = a.get(), pb = b.get();
    int n = 32;
    void *parameters[] = {&pa, &pb, &n};
    auto finish = [&] { context.synchronize(); };
    const std::function<void()> launch = [&] {
        pycuda::check(pycuda::driver().cuLaunchKernel.status(add.get(), 1, 1, 1, 32, 1, 1, 0,
                                                             nullptr, parameters, nullptr),
                      "cuLaunchKernel");
    };
    for (int i = 0; i < 20 * kCalls; ++i) // the processor's clock rises under load
        launch();
    measure("launch", launch, finish);
    measure_call("launch,-the-call-alone", launch, finish);
    measure(
        "launch+synchronize",
        [&] {
            launch();
            pycuda::check(pycuda::driver().cuCtxSynchronize.status(), "cuCtxSynchronize");
        },
        finish);
    measure(
        "htod_4k",
        [&] {
            pycuda::check(pycuda::driver().cuMemcpyHtoD.status(pa, host.data(), 4096),
                          "cuMemcpyHtoD");
        },
        finish);
    return 0;
}

} // namespace

int main() {
    try {
        return run();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
