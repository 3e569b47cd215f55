// jumps.h -- the jumps of libcudart_static.a to libcudart.so, for AArch64.
#pragma once

// A call arrives here with the record's address in x16 and the caller's arguments in their
// registers, which are saved while the function is searched.
asm(R"(
    .pushsection .text
    .p2align 4
    .type   .Lfirst_call, %function
.Lfirst_call:
    .cfi_startproc
    sub     sp, sp, #224
    .cfi_def_cfa_offset 224
    stp     x29, x30, [sp]
    .cfi_offset x29, -224
    .cfi_offset x30, -216
    mov     x29, sp
    stp     x0, x1, [sp, #16]
    stp     x2, x3, [sp, #32]
    stp     x4, x5, [sp, #48]
    stp     x6, x7, [sp, #64]
    str     x8, [sp, #80]
    stp     q0, q1, [sp, #96]
    stp     q2, q3, [sp, #128]
    stp     q4, q5, [sp, #160]
    stp     q6, q7, [sp, #192]
    mov     x0, x16
    bl      softcudart_find_function
    mov     x16, x0
    ldp     q0, q1, [sp, #96]
    ldp     q2, q3, [sp, #128]
    ldp     q4, q5, [sp, #160]
    ldp     q6, q7, [sp, #192]
    ldp     x0, x1, [sp, #16]
    ldp     x2, x3, [sp, #32]
    ldp     x4, x5, [sp, #48]
    ldp     x6, x7, [sp, #64]
    ldr     x8, [sp, #80]
    ldp     x29, x30, [sp]
    add     sp, sp, #224
    .cfi_def_cfa_offset 0
    br      x16
    .cfi_endproc
    .size   .Lfirst_call, . - .Lfirst_call
    .popsection

    .macro  begin_function name
    .pushsection .text
    .globl  \name
    .hidden \name
    .type   \name, %function
    .p2align 4
\name:
    .cfi_startproc
    hint    #34
    .endm

    .macro  end_function name
.Lfirst_\name:
    hint    #34
    adrp    x16, .Lrecord_\name
    add     x16, x16, #:lo12:.Lrecord_\name
    b       .Lfirst_call
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

    .macro  load_function name
    adrp    x16, .Lrecord_\name
    ldr     x16, [x16, #:lo12:.Lrecord_\name]
    .endm

    .macro  jump_to name
    begin_function \name
    load_function \name
    br      x16
    end_function \name
    .endm

    # Up to eight words of arguments are on the stack.
    .macro  call_of name
    begin_function \name
    sub     sp, sp, #80
    .cfi_def_cfa_offset 80
    stp     x29, x30, [sp, #64]
    .cfi_offset x29, -16
    .cfi_offset x30, -8
    add     x29, sp, #64
    ldp     x16, x17, [sp, #80]
    stp     x16, x17, [sp]
    ldp     x16, x17, [sp, #96]
    stp     x16, x17, [sp, #16]
    ldp     x16, x17, [sp, #112]
    stp     x16, x17, [sp, #32]
    ldp     x16, x17, [sp, #128]
    stp     x16, x17, [sp, #48]
    load_function \name
    blr     x16
    ldp     x29, x30, [sp, #64]
    add     sp, sp, #80
    .cfi_def_cfa_offset 0
    cbnz    w0, 1f
    ret
1:  b       softcudart_note_error
    end_function \name
    .endm
)");
