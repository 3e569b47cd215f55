// switch_stack.cpp -- pushes and pops the callee-saved registers of x86-64.
#include "target/switch_stack.h"

#include <cstring>

// scu_begin_fiber: the return address of a new stack's first switch; calls the body that
// prepare_stack() left in registers.
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

extern "C" void scu_begin_fiber();

namespace softcuda::target {
namespace {

constexpr std::size_t kSavedWords = 7; // r15 r14 r13 r12 rbx rbp, address
constexpr std::size_t kArgumentWord = 3, kBodyWord = 2, kAddressWord = 6;

} // namespace

std::byte *prepare_stack(std::byte *top, void (*body)(void *argument), void *argument) noexcept {
    void *words[kSavedWords] = {};
    words[kArgumentWord] = argument;
    words[kBodyWord] = reinterpret_cast<void *>(body);
    words[kAddressWord] = reinterpret_cast<void *>(&scu_begin_fiber);
    top -= sizeof words; // all popped, the stack pointer is a multiple of 16
    std::memcpy(top, words, sizeof words);
    return top;
}

} // namespace softcuda::target
