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

// A call arrives here with the record's address in r11 and the caller's arguments in their
// registers, which are saved while the function is searched.
asm(R"(
    .pushsection .text
    .p2align 4
    .type   .Lfirst_call, @function
.Lfirst_call:
    .cfi_startproc
    pushq   %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq    %rsp, %rbp
    .cfi_def_cfa_register %rbp
    pushq   %rdi
    pushq   %rsi
    pushq   %rdx
    pushq   %rcx
    pushq   %r8
    pushq   %r9
    pushq   %rax
    pushq   %r10
    subq    $128, %rsp
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
    movups  %xmm\n, 16 * \n(%rsp)
    .endr
    movq    %r11, %rdi
    call    softcudart_find_function
    movq    %rax, %r11
    .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
    movups  16 * \n(%rsp), %xmm\n
    .endr
    addq    $128, %rsp
    popq    %r10
    popq    %rax
    popq    %r9
    popq    %r8
    popq    %rcx
    popq    %rdx
    popq    %rsi
    popq    %rdi
    popq    %rbp
    .cfi_def_cfa %rsp, 8
    jmp     *%r11
    .cfi_endproc
    .size   .Lfirst_call, . - .Lfirst_call
    .popsection

    .macro  begin_function name
    .pushsection .text
    .globl  \name
    .hidden \name
    .type   \name, @function
    .p2align 4
\name:
    .cfi_startproc
    endbr64
    .endm

    .macro  end_function name
.Lfirst_\name:
    endbr64
    leaq    .Lrecord_\name(%rip), %r11
    jmp     .Lfirst_call
    .cfi_endproc
    .size   \name, . - \name
    .popsection
    .pushsection .rodata.str1.1, "aMS", @progbits, 1
.Lname_\name:
    .asciz  "\name"
    .popsection
    .pushsection .data.rel.local, "aw"
    .p2align 3
.Lrecord_\name:
    .quad   .Lfirst_\name, .Lname_\name
    .popsection
    .endm

    .macro  jump_to name
    begin_function \name
    jmp     *.Lrecord_\name(%rip)
    end_function \name
    .endm

    # Up to eight words of arguments are on the stack: two structures of cudaMemset3D are seven.
    .macro  call_of name
    begin_function \name
    pushq   %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq    %rsp, %rbp
    .cfi_def_cfa_register %rbp
    .irp    offset, 72, 64, 56, 48, 40, 32, 24, 16
    pushq   \offset(%rbp)
    .endr
    call    *.Lrecord_\name(%rip)
    leave
    .cfi_def_cfa %rsp, 8
    testl   %eax, %eax
    jnz     1f
    ret
1:  movl    %eax, %edi
    jmp     softcudart_note_error
    end_function \name
    .endm

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
