// launch_latency.cpp -- the time of a launch, a copy and an event in softcuda's runtime, in
// microseconds.
//
// The kernels are C++ functions (tests/softcuda/driver/fake_program.cpp), so that only the driver
// is measured. Each line is the median of many rounds; results are checked.
#include "fake_program.h"

#include <cuda.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void check(CUresult result, const char *what) {
    if (result == CUDA_SUCCESS)
        return;
    const char *name = "?";
    cuGetErrorName(result, &name);
    std::fprintf(stderr, "%s: %s\n", what, name);
    std::exit(1);
}

#define CHECK(call) check(call, #call)

/// The median time of one of `repeats` calls of `body`, over `rounds` rounds. Microseconds.
template <class Body> double median(int rounds, int repeats, Body &&body) {
    std::vector<double> times;
    for (int round = 0; round < rounds; round++) {
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < repeats; i++)
            body();
        const std::chrono::duration<double, std::micro> time =
            std::chrono::steady_clock::now() - begin;
        times.push_back(time.count() / repeats);
    }
    std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
    return times[static_cast<std::size_t>(rounds) / 2];
}

void report(const char *what, double microseconds) {
    std::printf("%-56s %9.3f us\n", what, microseconds);
}

CUfunction function(CUmodule module, const char *name) {
    CUfunction result = nullptr;
    CHECK(cuModuleGetFunction(&result, module, name));
    return result;
}

std::int32_t word_at(CUdeviceptr address) {
    std::int32_t word = 0;
    CHECK(cuMemcpyDtoH(&word, address, 4));
    return word;
}

void launch(CUfunction function, unsigned blocks, CUstream stream, void **arguments) {
    CHECK(cuLaunchKernel(function, blocks, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr));
}

void measure_launches(CUmodule module, CUstream stream, const char *name) {
    CUdeviceptr memory = 0;
    CHECK(cuMemAlloc(&memory, 4));
    int value = 0;
    void *arguments[] = {&memory, &value};
    CUfunction store = function(module, "store");
    std::printf("%s\n", name);
    report("  launch of one small block", median(200, 100, [&] {
               value++;
               launch(store, 1, stream, arguments);
           }));
    report("  the same and cuStreamSynchronize", median(200, 100, [&] {
               value++;
               launch(store, 1, stream, arguments);
               CHECK(cuStreamSynchronize(stream));
           }));
    if (word_at(memory) != value)
        check(CUDA_ERROR_UNKNOWN, "the last launch's value");

    CHECK(cuMemsetD32(memory, 0, 1));
    CUfunction count = function(module, "count"); // declared to have a loop: runs in the pool
    int launches = 0;
    report("  one block with a loop, and cuStreamSynchronize", median(200, 20, [&] {
               launches++;
               launch(count, 1, stream, arguments);
               CHECK(cuStreamSynchronize(stream));
           }));
    report("  launch of one block with a loop, of 20 in a row",
           median(100, 1, [&] {
               for (int i = 0; i < 20; i++)
                   launch(count, 1, stream, arguments);
               launches += 20;
               CHECK(cuStreamSynchronize(stream));
           }) / 20);
    if (word_at(memory) != launches)
        check(CUDA_ERROR_UNKNOWN, "the number of blocks run");
    CHECK(cuMemFree(memory));
}

void measure_rest() {
    std::printf("other calls\n");
    std::vector<char> host(4096);
    CUdeviceptr memory = 0;
    CHECK(cuMemAlloc(&memory, 4096));
    report("  cuMemcpyHtoD of 4 KB",
           median(200, 100, [&] { CHECK(cuMemcpyHtoD(memory, host.data(), 4096)); }));
    report("  cuMemcpyDtoH of 4 KB",
           median(200, 100, [&] { CHECK(cuMemcpyDtoH(host.data(), memory, 4096)); }));
    CUevent event = nullptr;
    CHECK(cuEventCreate(&event, CU_EVENT_DEFAULT));
    report("  cuEventRecord and cuEventSynchronize", median(200, 100, [&] {
               CHECK(cuEventRecord(event, nullptr));
               CHECK(cuEventSynchronize(event));
           }));
    report("  cuMemAlloc and cuMemFree of 4 KB", median(100, 20, [&] {
               CUdeviceptr other = 0;
               CHECK(cuMemAlloc(&other, 4096));
               CHECK(cuMemFree(other));
           }));
    CHECK(cuEventDestroy(event));
    CHECK(cuMemFree(memory));
}

} // namespace

int main() {
    CHECK(cuInit(0));
    CUcontext context = nullptr;
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CUmodule module = nullptr;
    CHECK(cuModuleLoadData(&module, fake::kImage));
    CUstream stream = nullptr;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    measure_launches(module, nullptr, "legacy default stream");
    measure_launches(module, stream, "non-blocking stream");
    measure_rest();
    CHECK(cuDevicePrimaryCtxRelease(0));
    return 0;
}
