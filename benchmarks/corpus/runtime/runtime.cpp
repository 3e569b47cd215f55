// runtime.cpp -- the corpus' runtime API over a driver library, which CORPUS_DRIVER names.
//
// CORPUS_IMAGE is the program's PTX or cubin. CORPUS_SYMBOLS has the program's symbols in the
// format of `nm`: a kernel's address in the host's program determines its name in the image. With
// CORPUS_TIMES the runtime writes the launches and seconds of each kernel to that file at the end;
// then it waits for every launch.
#include "cuda_runtime.h"

#include <chrono>
#include <dlfcn.h>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace corpus {
namespace {

using Clock = std::chrono::steady_clock;
using Pointer = unsigned long long;

const char *setting(const char *name) {
    const char *value = getenv(name);
    if (!value) {
        fprintf(stderr, "%s is not set\n", name);
        exit(2);
    }
    return value;
}

struct Driver {
    void *library = dlopen(setting("CORPUS_DRIVER"), RTLD_NOW);
    void *module = nullptr;
    std::map<Pointer, std::string> names;
    std::map<const void *, void *> functions;
    std::map<std::string, std::pair<long, double>> times;
    const char *times_file = getenv("CORPUS_TIMES");

    template <class... A> void call(const char *name, A... arguments) {
        auto *function = (int (*)(A...))dlsym(library, name);
        if (!function)
            fail(name, -1);
        if (int result = function(arguments...))
            fail(name, result);
    }

    Driver() {
        if (!library)
            fail(dlerror(), 0);
        int device = 0;
        void *context = nullptr;
        call("cuInit", 0u);
        call("cuDeviceGet", &device, 0);
        call("cuDevicePrimaryCtxRetain", &context, device);
        call("cuCtxSetCurrent", context);
        call("cuModuleLoad", &module, setting("CORPUS_IMAGE"));
        std::ifstream symbols(setting("CORPUS_SYMBOLS"));
        for (std::string line; std::getline(symbols, line);) {
            std::istringstream words(line);
            std::string address, type, name;
            if (words >> address >> type >> name)
                names[std::stoull(address, nullptr, 16)] = name;
        }
    }

    ~Driver() {
        if (!times_file)
            return;
        std::ofstream file(times_file);
        for (auto &[name, time] : times)
            file << name << ' ' << time.first << ' ' << time.second << '\n';
    }

    const std::string &name_of(const void *address) {
        auto found = names.find((Pointer)address);
        if (found == names.end())
            fail("a symbol without a name", 0);
        return found->second;
    }
};

Driver &driver() {
    static Driver driver;
    return driver;
}

} // namespace

void fail(const char *call, int result) {
    fprintf(stderr, "corpus: %s failed with %d\n", call, result);
    _Exit(3);
}

void *allocate(size_t bytes) {
    Pointer pointer = 0;
    driver().call("cuMemAlloc_v2", &pointer, bytes ? bytes : size_t(1));
    return (void *)pointer;
}

void release(void *pointer) {
    if (pointer)
        driver().call("cuMemFree_v2", (Pointer)pointer);
}

void copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    if (bytes == 0)
        return;
    if (kind == cudaMemcpyHostToDevice)
        driver().call("cuMemcpyHtoD_v2", (Pointer)to, from, bytes);
    else if (kind == cudaMemcpyDeviceToHost)
        driver().call("cuMemcpyDtoH_v2", to, (Pointer)from, bytes);
    else if (kind == cudaMemcpyDeviceToDevice)
        driver().call("cuMemcpyDtoD_v2", (Pointer)to, (Pointer)from, bytes);
    else
        driver().call("cuMemcpy", (Pointer)to, (Pointer)from, bytes);
}

void set(void *pointer, int byte, size_t bytes) {
    if (bytes)
        driver().call("cuMemsetD8_v2", (Pointer)pointer, (unsigned char)byte, bytes);
}

void *symbol_address(const void *symbol) {
    Pointer pointer = 0;
    size_t bytes = 0;
    driver().call("cuModuleGetGlobal_v2", &pointer, &bytes, driver().module,
                  driver().name_of(symbol).c_str());
    return (void *)pointer;
}

void launch(const void *kernel, dim3 grid, dim3 block, size_t shared, void **arguments) {
    Driver &d = driver();
    void *&function = d.functions[kernel];
    if (!function)
        d.call("cuModuleGetFunction", &function, d.module, d.name_of(kernel).c_str());
    auto start = Clock::now();
    d.call("cuLaunchKernel", function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
           (unsigned)shared, (void *)nullptr, arguments, (void **)nullptr);
    if (!d.times_file)
        return;
    synchronize();
    auto &[count, seconds] = d.times[d.name_of(kernel)];
    if (count++ > 0) // the first launch compiles
        seconds += std::chrono::duration<double>(Clock::now() - start).count();
}

void synchronize() { driver().call("cuCtxSynchronize"); }

cudaEvent_t make_event() { return (cudaEvent_t) new Clock::time_point; }

void record(cudaEvent_t event) {
    synchronize();
    *(Clock::time_point *)event = Clock::now();
}

float milliseconds(cudaEvent_t from, cudaEvent_t to) {
    auto time = *(Clock::time_point *)to - *(Clock::time_point *)from;
    return std::chrono::duration<float, std::milli>(time).count();
}

} // namespace corpus
