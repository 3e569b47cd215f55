// preserving_calls.cpp -- runtime functions for callers that keep all of their registers.
//
// target/x86_64/preserving_calls.cpp says why. The caller knows that x16, x17, x30 and the flags
// are lost: the linker's stubs use the first two, and the call itself writes x30. A called function
// keeps x19 to x29 and the lower halves of v8 to v15.

__asm__(R"(
    .macro scu_preserving function
    .globl \function\()_preserving
    .hidden \function\()_preserving
    .type \function\()_preserving, %function
    .p2align 4
\function\()_preserving:
    .cfi_startproc
    sub sp, sp, #688
    .cfi_def_cfa_offset 688
    stp x29, x30, [sp]
    .cfi_offset x29, -688
    .cfi_offset x30, -680
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    stp x8, x9, [sp, #80]
    stp x10, x11, [sp, #96]
    stp x12, x13, [sp, #112]
    stp x14, x15, [sp, #128]
    str x18, [sp, #144]
    stp q0, q1, [sp, #160]
    stp q2, q3, [sp, #192]
    stp q4, q5, [sp, #224]
    stp q6, q7, [sp, #256]
    stp q8, q9, [sp, #288]
    stp q10, q11, [sp, #320]
    stp q12, q13, [sp, #352]
    stp q14, q15, [sp, #384]
    stp q16, q17, [sp, #416]
    stp q18, q19, [sp, #448]
    stp q20, q21, [sp, #480]
    stp q22, q23, [sp, #512]
    stp q24, q25, [sp, #544]
    stp q26, q27, [sp, #576]
    stp q28, q29, [sp, #608]
    stp q30, q31, [sp, #640]
    bl \function
    ldp q0, q1, [sp, #160]
    ldp q2, q3, [sp, #192]
    ldp q4, q5, [sp, #224]
    ldp q6, q7, [sp, #256]
    ldp q8, q9, [sp, #288]
    ldp q10, q11, [sp, #320]
    ldp q12, q13, [sp, #352]
    ldp q14, q15, [sp, #384]
    ldp q16, q17, [sp, #416]
    ldp q18, q19, [sp, #448]
    ldp q20, q21, [sp, #480]
    ldp q22, q23, [sp, #512]
    ldp q24, q25, [sp, #544]
    ldp q26, q27, [sp, #576]
    ldp q28, q29, [sp, #608]
    ldp q30, q31, [sp, #640]
    ldp x0, x1, [sp, #16]
    ldp x2, x3, [sp, #32]
    ldp x4, x5, [sp, #48]
    ldp x6, x7, [sp, #64]
    ldp x8, x9, [sp, #80]
    ldp x10, x11, [sp, #96]
    ldp x12, x13, [sp, #112]
    ldp x14, x15, [sp, #128]
    ldr x18, [sp, #144]
    ldp x29, x30, [sp]
    add sp, sp, #688
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
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
