// preserving_calls.cpp -- runtime functions for callers that keep all of their registers.
//
// Generated code asks for a look at suspicious addresses, or for an access lane by lane, in the
// middle of its hot loops, and hardly ever does. A usual call would let every vector register be
// overwritten, so that the caller had to be compiled with saves and reloads around each such place,
// and values would be in memory meanwhile. These save all registers themselves.

// XSAVE's standard layout ends at 2688 bytes with the AVX-512 state; parts that the processor does
// not have, or the system has not switched on, it leaves out. 0xe6: SSE, AVX, mask registers, the
// upper halves of zmm0-15, zmm16-31 (Intel SDM volume 1, chapter 13). The header at 512 has to be
// zero at first.
__asm__(R"(
    .macro scu_preserving function
    .globl \function\()_preserving
    .hidden \function\()_preserving
    .type \function\()_preserving, @function
    .p2align 4
\function\()_preserving:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    pushq %rax
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    subq $2752, %rsp
    andq $-64, %rsp
    xorl %eax, %eax
    movq %rax, 512(%rsp)
    movq %rax, 520(%rsp)
    movq %rax, 528(%rsp)
    movq %rax, 536(%rsp)
    movq %rax, 544(%rsp)
    movq %rax, 552(%rsp)
    movq %rax, 560(%rsp)
    movq %rax, 568(%rsp)
    movl $0xe6, %eax
    xorl %edx, %edx
    xsave64 (%rsp)
    movq -24(%rbp), %rdx
    call \function@PLT
    movl $0xe6, %eax
    xorl %edx, %edx
    xrstor64 (%rsp)
    leaq -72(%rbp), %rsp
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rdi
    popq %rsi
    popq %rdx
    popq %rcx
    popq %rax
    popq %rbp
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size \function\()_preserving, . - \function\()_preserving
    .endm

    .text
    scu_preserving scu_check_places
    scu_preserving scu_check_addresses
    scu_preserving scu_load_lanes
    scu_preserving scu_store_lanes
    scu_preserving scu_texture
    .purgem scu_preserving
)");
