// fuzz_runtime.cpp -- calls functions of the runtime API with arguments that libFuzzer's bytes
// select, from two threads at once, as fuzz_driver.cpp does for the driver API.
//
// The rows of cudart.def list the functions, and NVIDIA's header has their types. Each pointer
// without a type is null, device memory (freed or not), memory of the caller, or the stub of a
// kernel or variable. Functions that write to such a pointer whatever it is get memory of the
// caller only.
#include "fuzz_runtime_arguments.h"

#include <initializer_list>
#include <string_view>

// A second form of each function, which has another result. A function that the header does not
// declare has only this form.
#define CUDART_FUNCTION(name) fuzz::Undeclared name(fuzz::Undeclared);
#define CUDART_FUNCTION_13 CUDART_FUNCTION
#include "cudart/cudart.def"
#undef CUDART_FUNCTION
#undef CUDART_FUNCTION_13

// The symbols, without their types.
#define CUDART_FUNCTION(name) extern "C" void fuzz_symbol_##name() __asm__(#name);
#define CUDART_FUNCTION_13 CUDART_FUNCTION
#define CUDART_PER_THREAD(plain, name) CUDART_FUNCTION(name)
#define CUDART_PER_THREAD_13(plain, name) CUDART_FUNCTION(name)
#include "cudart/cudart.def"
#undef CUDART_FUNCTION
#undef CUDART_FUNCTION_13

extern "C" {
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, cudaStream_t);
cudaError_t __cudaPopCallConfiguration(dim3 *, dim3 *, std::size_t *, void *);
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, std::size_t, cudaStream_t);
cudaError_t __cudaGetKernel(cudaKernel_t *, const void *);
char __cudaInitModule(void **);
}

using namespace fuzz;

namespace {

using Names = std::initializer_list<std::string_view>;

constexpr bool contains(Names names, std::string_view name) {
    for (const std::string_view one : names)
        if (name == one)
            return true;
    return false;
}

/// Functions that read or write memory of the caller at each pointer without a type.
constexpr bool takes_caller_memory(std::string_view name) {
    return contains({"cudaMemPoolGetAttribute", "cudaMemPoolSetAttribute",
                     "cudaDeviceGetGraphMemAttribute", "cudaDeviceSetGraphMemAttribute",
                     "cudaMemRangeGetAttribute", "cudaMemPoolExportToShareableHandle",
                     "cudaMemPoolImportFromShareableHandle", "__cudaPopCallConfiguration"},
                    name);
}

/// Functions that write the address of memory to a void **.
constexpr bool gives_memory(std::string_view name) {
    return contains({"cudaMalloc", "cudaMallocAsync", "cudaMallocFromPoolAsync", "cudaMallocHost",
                     "cudaMallocManaged", "cudaMallocPitch", "cudaHostAlloc",
                     "cudaHostGetDevicePointer", "cudaGetSymbolAddress", "cudaIpcOpenMemHandle",
                     "cudaMemPoolImportPointer", "cudaLibraryGetGlobal", "cudaLibraryGetManaged"},
                    name);
}

/// Functions that wait for ever, call what an argument points to, or read code.
constexpr bool is_left_out(std::string_view name) {
    return contains(
        {"cudaLogsRegisterCallback", "cudaLibraryLoadData", "cudaDeviceRegisterAsyncNotification",
         "__cudaRegisterFatBinary", "__cudaRegisterFatBinaryEnd", "__cudaRegisterFunction",
         "__cudaRegisterHostVar", "__cudaRegisterManagedVar", "__cudaRegisterUnifiedTable",
         "__cudaRegisterVar", "__cudaUnregisterFatBinary", "__cudaInitModule"},
        name);
}

// The type of a declared function is deduced from a result that the second form does not have. The
// better conversion of the second argument prefers a declared function.
#define FUZZ_CALLER_WITH(Result)                                                                   \
    template <bool caller_memory, bool memory_result, class... Types>                              \
    Caller caller_of(Result (*)(Types...), int) {                                                  \
        using Arguments = RuntimeArguments<caller_memory, memory_result>;                          \
        return &CallOf<Arguments, Result (*)(Types...)>::call;                                     \
    }
FUZZ_CALLER_WITH(cudaError_t)
FUZZ_CALLER_WITH(const char *)
FUZZ_CALLER_WITH(cudaChannelFormatDesc)
FUZZ_CALLER_WITH(unsigned)
template <bool, bool> Caller caller_of(Undeclared (*)(Undeclared), long) { return nullptr; }

void add(std::vector<Target> &targets, const char *name, void (*symbol)(), Caller call) {
    if (call && !is_left_out(name))
        targets.push_back({name, reinterpret_cast<void *>(symbol), call});
}

const std::vector<Target> &targets() {
    static const std::vector<Target> all = [] {
        std::vector<Target> made;
#define CUDART_CALLER(name) caller_of<takes_caller_memory(#name), gives_memory(#name)>(&::name, 0)
#define CUDART_FUNCTION(name) add(made, #name, &fuzz_symbol_##name, CUDART_CALLER(name));
#define CUDART_FUNCTION_13 CUDART_FUNCTION
#define CUDART_PER_THREAD(plain, name) add(made, #name, &fuzz_symbol_##name, CUDART_CALLER(plain));
#define CUDART_PER_THREAD_13 CUDART_PER_THREAD
#include "cudart/cudart.def"
        return made;
    }();
    return all;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    static const Program program;
    Handles handles;
    program.add_to(handles);
    call_from_two_threads(targets(), handles, {data, size});
    cudaGetLastError();
    handles.tear_down();
    return 0;
}
