// faults.cpp -- the registers and the syndrome of an exception in a signal's context.
#include "target/faults.h"

#include <cstring>

namespace softcuda::target {
namespace {

/// The syndrome register of the exception (ESR_EL1), 0 if the kernel did not record it: a record
/// in the list behind the general registers.
std::uint64_t syndrome_of(const ucontext_t &context) noexcept {
    const unsigned char *record = context.uc_mcontext.__reserved;
    const unsigned char *end = record + sizeof context.uc_mcontext.__reserved;
    constexpr std::uint32_t kSyndrome = 0x45535201; // ESR_MAGIC of <asm/sigcontext.h>
    while (record + 16 <= end) {
        std::uint32_t head[2]; // the kind, and the size in bytes
        std::memcpy(head, record, sizeof head);
        if (head[0] == 0 || head[1] < sizeof head)
            break;
        if (head[0] == kSyndrome) {
            std::uint64_t syndrome = 0;
            std::memcpy(&syndrome, record + sizeof head, sizeof syndrome);
            return syndrome;
        }
        record += head[1];
    }
    return 0;
}

/// Whether the instruction belongs to an atomic operation: an exclusive load or store, a compare
/// and swap, or one of the other instructions of FEAT_LSE.
bool is_atomic(std::uint32_t instruction) noexcept {
    const bool is_exclusive = (instruction & 0x3f800000) == 0x08000000;
    const bool is_swap = (instruction & 0x3fa00000) == 0x08a00000;
    const bool is_ldapr = (instruction & 0x3ffffc00) == 0x38bfc000;
    const bool is_operation = (instruction & 0x3f200c00) == 0x38200000 && !is_ldapr;
    return is_exclusive || is_swap || is_operation;
}

/// Bit 22 of a load or store: set for a load, in most encodings.
Access access_of(std::uint32_t instruction) noexcept {
    if ((instruction & 0x0a000000) != 0x08000000)
        return Access::Unknown; // no load or store
    if ((instruction & 0x3a000000) == 0x38000000) {
        // One register: opc is zero for stores; for vectors opc 2 stores 16 bytes.
        const std::uint32_t opc = instruction >> 22 & 3;
        const bool is_vector = (instruction & 0x04000000) != 0;
        return opc == 0 || (is_vector && opc == 2) ? Access::Write : Access::Read;
    }
    return (instruction & 0x00400000) != 0 ? Access::Read : Access::Write;
}

} // namespace

std::uint64_t program_counter(const ucontext_t &context) noexcept { return context.uc_mcontext.pc; }

std::uint64_t stack_pointer(const ucontext_t &context) noexcept { return context.uc_mcontext.sp; }

std::uint64_t return_register(const ucontext_t &context) noexcept {
    return context.uc_mcontext.regs[30];
}

Access faulting_access(const ucontext_t &context) noexcept {
    // The instruction was fetched, so it can be read.
    std::uint32_t instruction = 0;
    std::memcpy(&instruction, reinterpret_cast<const void *>(context.uc_mcontext.pc),
                sizeof instruction);
    if (is_atomic(instruction))
        return Access::Write; // the load of the pair faults first
    // Class 0x24: a data abort of a lower level. Bit 6: a write. Emulators do not record this.
    const std::uint64_t syndrome = syndrome_of(context);
    if (syndrome >> 26 == 0x24)
        return syndrome & 0x40 ? Access::Write : Access::Read;
    return syndrome == 0 ? access_of(instruction) : Access::Unknown;
}

const std::uint64_t longest_call = 4;

__attribute__((no_sanitize("address", "thread"))) bool is_behind_call(std::uint64_t code) noexcept {
    const std::uint32_t word = *reinterpret_cast<const volatile std::uint32_t *>(code - 4);
    return (word & 0xfc000000) == 0x94000000 || (word & 0xfffffc1f) == 0xd63f0000; // bl, blr
}

} // namespace softcuda::target
