// switch_stack.cpp -- stores and loads the callee-saved registers of AArch64.
#include "target/switch_stack.h"

#include <cstring>

// scu_begin_fiber: the return address of a new stack's first switch; calls the body that
// prepare_stack() left in registers.
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

extern "C" void scu_begin_fiber();

namespace softcuda::target {
namespace {

constexpr std::size_t kSavedWords = 20; // x19 to x30, d8 to d15
constexpr std::size_t kArgumentWord = 0, kBodyWord = 1, kAddressWord = 11;

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
