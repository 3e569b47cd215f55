// forward_runtime.cpp -- libcudart_static.a: the runtime API, forwarded to libcudart.so at the
// first call.
//
// A compiler links programs with the static CUDA runtime by default. With this archive instead of
// NVIDIA's, the program still contains no runtime. Each function of cudart.def is a jump through
// its own record:
//
//     cudaMalloc:  jmp *record.function       a record: { function, "cudaMalloc" }
//
// At first the record points to find_function(), which opens libcudart.so by its name and stores
// the function's address in the record. The program has no dependency on the library. If the loader
// does not find the library, the functions return cudaErrorInsufficientDriver, as on a machine
// without a driver. All names are hidden: a shared object that contains the archive exports none of
// them.
//
// The file does not use the C++ library, because C programs are linked with the archive as well.
// NVIDIA's headers must not be included here: these functions have no parameters.
#include <dlfcn.h>

#define LIBRARY_NAMED(major) "libcudart.so." #major
#define LIBRARY_OF(major) LIBRARY_NAMED(major)

namespace {

constexpr const char *library_name = LIBRARY_OF(CUDART_MAJOR);

struct Record {
    void *function;
    const char *name;
};

using ErrorFunction = int (*)();

struct ChannelDesc {
    int x, y, z, w, kind;
};

// Numbers of cudaError_t.
constexpr long insufficient_driver = 35;
constexpr long call_requires_newer_driver = 36;

long refuse() { return insufficient_driver; }
long refuse_newer_function() { return call_requires_newer_driver; }
const char *error_name() { return "cudaErrorInsufficientDriver"; }
const char *error_string() {
    return "the CUDA runtime, " LIBRARY_OF(
        CUDART_MAJOR) ", was not found; softcuda-exec starts a program with softcuda's";
}
ChannelDesc channel_desc(int x, int y, int z, int w, int kind) { return {x, y, z, w, kind}; }

bool equal(const char *one, const char *other) {
    for (; *one && *one == *other; one++)
        other++;
    return *one == *other;
}

/// The replacement of a function if there is no library.
void *substitute(const char *name) {
    if (equal(name, "cudaGetErrorName"))
        return reinterpret_cast<void *>(error_name);
    if (equal(name, "cudaGetErrorString"))
        return reinterpret_cast<void *>(error_string);
    if (equal(name, "cudaCreateChannelDesc"))
        return reinterpret_cast<void *>(channel_desc);
    return reinterpret_cast<void *>(refuse);
}

} // namespace

extern "C" {

/// The address of a function of libcudart.so, or of its replacement.
__attribute__((visibility("hidden"))) void *softcudart_find_function(Record *record);

/// A function has returned an error to this program or shared object.
__attribute__((visibility("hidden"))) int softcudart_note_error(int error);

} // extern "C"

namespace {

Record shared_peek{nullptr, "cudaPeekAtLastError"};
Record shared_get{nullptr, "cudaGetLastError"};
__thread int last_error;

int call(Record &record) {
    void *function = __atomic_load_n(&record.function, __ATOMIC_ACQUIRE);
    if (!function)
        function = softcudart_find_function(&record);
    return reinterpret_cast<ErrorFunction>(function)();
}

} // namespace

// libcudart.so decides which errors are stored.
int softcudart_note_error(int error) {
    if (call(shared_peek) == error)
        last_error = error;
    return error;
}

extern "C" __attribute__((visibility("hidden"))) int cudaPeekAtLastError() { return last_error; }

// An error of the context stays the last one.
extern "C" __attribute__((visibility("hidden"))) int cudaGetLastError() {
    const int error = last_error;
    if (error != 0) {
        call(shared_get);
        if (call(shared_peek) != error)
            last_error = 0;
    }
    return error;
}

/// Called by first_call below. Two threads may call it at the same time: both find the same
/// function.
void *softcudart_find_function(Record *record) {
    void *function = nullptr;
    if (void *library = dlopen(library_name, RTLD_LAZY | RTLD_LOCAL)) {
        function = dlsym(library, record->name);
        if (!function) // a function of a newer CUDA than the library's
            function = reinterpret_cast<void *>(refuse_newer_function);
    } else {
        function = substitute(record->name);
    }
    __atomic_store_n(&record->function, function, __ATOMIC_RELEASE);
    return function;
}

// The macros jump_to and call_of.
#include "jumps.h" // of the processor

asm(R"(
    .macro  forward name
    .set    .Lreturns_error, 1
    .irp    other, __cudaInitModule, __cudaRegisterFatBinary, __cudaRegisterFatBinaryEnd
    .ifc    \name, \other
    .set    .Lreturns_error, 0
    .endif
    .endr
    .irp    other, __cudaRegisterFunction, __cudaRegisterHostVar, __cudaRegisterManagedVar
    .ifc    \name, \other
    .set    .Lreturns_error, 0
    .endif
    .endr
    .irp    other, __cudaRegisterUnifiedTable, __cudaRegisterVar, __cudaUnregisterFatBinary
    .ifc    \name, \other
    .set    .Lreturns_error, 0
    .endif
    .endr
    .irp    other, cudaCreateChannelDesc, cudaGetErrorName, cudaGetErrorString
    .ifc    \name, \other
    .set    .Lreturns_error, 0
    .endif
    .endr
    .ifnc   \name, cudaGetLastError
    .ifnc   \name, cudaPeekAtLastError
    .if     .Lreturns_error
    call_of \name
    .else
    jump_to \name
    .endif
    .endif
    .endif
    .endm
)");

#define CUDART_FUNCTION(name) asm("forward " #name);
#if CUDART_MAJOR == 12
#define CUDART_FUNCTION_12(name) CUDART_FUNCTION(name)
#else
#define CUDART_FUNCTION_13(name) CUDART_FUNCTION(name)
#define CUDART_PER_THREAD_13(plain, name) CUDART_FUNCTION(name)
#endif
#define CUDART_PER_THREAD(plain, name) CUDART_FUNCTION(name)
#include "cudart.def"
