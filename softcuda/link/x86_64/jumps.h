// jumps.h -- the jumps of libcudart_static.a to libcudart.so, for x86-64.
#pragma once

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
)");
