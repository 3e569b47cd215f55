// faults.cpp -- the registers and the page fault's error code in a signal's context.
#include "target/faults.h"

namespace softcuda::target {

std::uint64_t program_counter(const ucontext_t &context) noexcept {
    return static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
}

std::uint64_t stack_pointer(const ucontext_t &context) noexcept {
    return static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_RSP]);
}

std::uint64_t return_register(const ucontext_t &) noexcept { return 0; }

Access faulting_access(const ucontext_t &context) noexcept {
    constexpr long kPageFaultByWrite = 2;
    return context.uc_mcontext.gregs[REG_ERR] & kPageFaultByWrite ? Access::Write : Access::Read;
}

const std::uint64_t longest_call = 6;

__attribute__((no_sanitize("address", "thread"))) bool is_behind_call(std::uint64_t code) noexcept {
    const auto *end = reinterpret_cast<const std::uint8_t *>(code);
    constexpr std::uint8_t kNear = 0xe8, kIndirect = 0xff;
    // ff /2: a register, or memory with a displacement of 0, 8 or 32 bits.
    const auto is_indirect = [&](int bytes) {
        return end[-bytes] == kIndirect && (end[1 - bytes] >> 3 & 7) == 2;
    };
    return end[-5] == kNear || is_indirect(2) || is_indirect(3) || is_indirect(6);
}

} // namespace softcuda::target
