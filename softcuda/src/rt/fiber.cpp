// fiber.cpp -- the switch from one stack to another, in assembly language.
#include "rt/fiber.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <pthread.h>

// scu_switch_stack(void **save, void *stack_pointer): pushes the callee-saved registers, stores the
// stack pointer in *save, and returns on the other stack, which has the same layout. Usually both
// sides have called from the same point, at the same call depth, so the processor predicts this
// return and the following ones correctly.
//
// scu_begin_fiber: the return address of a new stack's first switch; calls the body that start()
// left in registers.
#if defined(__x86_64__)
asm(R"(
.text
.p2align 4
.globl scu_switch_stack
.hidden scu_switch_stack
.type scu_switch_stack, @function
scu_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    retq
.size scu_switch_stack, .-scu_switch_stack

.p2align 4
.globl scu_begin_fiber
.hidden scu_begin_fiber
.type scu_begin_fiber, @function
scu_begin_fiber:
    .cfi_startproc
    .cfi_undefined rip
    movq %r12, %rdi
    callq *%r13
    ud2
    .cfi_endproc
.size scu_begin_fiber, .-scu_begin_fiber
)");
#elif defined(__aarch64__)
asm(R"(
.text
.p2align 4
.globl scu_switch_stack
.hidden scu_switch_stack
.type scu_switch_stack, %function
scu_switch_stack:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size scu_switch_stack, .-scu_switch_stack

.p2align 4
.globl scu_begin_fiber
.hidden scu_begin_fiber
.type scu_begin_fiber, %function
scu_begin_fiber:
    .cfi_startproc
    .cfi_undefined x30
    mov x0, x19
    blr x20
    brk #1
    .cfi_endproc
.size scu_begin_fiber, .-scu_begin_fiber
)");
#else
#error "say how this processor switches stacks"
#endif

extern "C" void scu_begin_fiber();

namespace softcuda::rt {
namespace {

#if defined(__x86_64__)
constexpr std::size_t kSavedWords = 7; // r15 r14 r13 r12 rbx rbp, address
constexpr std::size_t kArgumentWord = 3, kBodyWord = 2, kAddressWord = 6;
#elif defined(__aarch64__)
constexpr std::size_t kSavedWords = 20;
constexpr std::size_t kArgumentWord = 0, kBodyWord = 1, kAddressWord = 11;
#endif

#if defined(SOFTCUDA_TSAN_FIBERS)
thread_local void *home_fiber = nullptr; ///< of the thread that adopted its own stack
#endif

#if defined(SOFTCUDA_ASAN_FIBERS)
// The fiber whose entry is being completed: the resumed side notifies the sanitizer, but a new
// fiber runs no code of this file before its body.
struct Entry {
    Fiber::Body body;
    void *argument;
};

void begin_with_sanitizer(void *raw) {
    const Entry entry = *static_cast<Entry *>(raw);
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
    entry.body(entry.argument);
}
#endif

} // namespace

Fiber::~Fiber() {
#if defined(SOFTCUDA_TSAN_FIBERS)
    if (owns_tsan_fiber_)
        __tsan_destroy_fiber(tsan_fiber_);
#endif
}

void Fiber::start(std::byte *stack, std::size_t bytes, Body body, void *argument) noexcept {
    stack_ = stack;
    stack_bytes_ = bytes;
    std::byte *top = stack + bytes;
#if defined(SOFTCUDA_ASAN_FIBERS)
    fake_stack_ = nullptr;
    // Frames of a warp that never returned, as after a fault, have left their marks here.
    constexpr std::size_t kDeepest = std::size_t{256} << 10;
    const std::size_t marked = std::min(bytes, kDeepest);
    __asan_unpoison_memory_region(top - marked, marked);
    top -= sizeof(Entry);
    new (top) Entry{body, argument};
    body = begin_with_sanitizer;
    argument = top;
#endif
#if defined(SOFTCUDA_TSAN_FIBERS)
    if (!owns_tsan_fiber_) {
        tsan_fiber_ = __tsan_create_fiber(0);
        owns_tsan_fiber_ = true;
    }
#endif
    void *words[kSavedWords] = {};
    words[kArgumentWord] = argument;
    words[kBodyWord] = reinterpret_cast<void *>(body);
    words[kAddressWord] = reinterpret_cast<void *>(&scu_begin_fiber);
    top -= kSavedWords * sizeof(void *); // all popped, the stack pointer is a multiple of 16
    std::memcpy(top, words, sizeof words);
    stack_pointer_ = top;
}

void Fiber::adopt_thread() noexcept {
#if defined(SOFTCUDA_ASAN_FIBERS)
    pthread_attr_t attributes;
    void *begin = nullptr;
    std::size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &begin, &size);
        pthread_attr_destroy(&attributes);
    }
    stack_ = static_cast<std::byte *>(begin);
    stack_bytes_ = size;
#endif
#if defined(SOFTCUDA_TSAN_FIBERS)
    tsan_fiber_ = home_fiber = __tsan_get_current_fiber();
#endif
}

void arrive_by_jump([[maybe_unused]] Fiber &from, [[maybe_unused]] Fiber &to) noexcept {
#if defined(SOFTCUDA_ASAN_FIBERS)
    __sanitizer_start_switch_fiber(&from.fake_stack_, to.stack_, to.stack_bytes_);
    __sanitizer_finish_switch_fiber(to.fake_stack_, nullptr, nullptr);
#endif
}

void prepare_jump() noexcept {
#if defined(SOFTCUDA_TSAN_FIBERS)
    if (home_fiber && __tsan_get_current_fiber() != home_fiber)
        __tsan_switch_to_fiber(home_fiber, 0);
#endif
}

} // namespace softcuda::rt
