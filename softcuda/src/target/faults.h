// faults.h -- what a signal handler reads from the state of the interrupted thread.
#pragma once

#include <cstdint>
#include <ucontext.h>

namespace softcuda::target {

/// What the access that faulted would have done.
enum class Access : std::uint8_t { Unknown, Read, Write };

[[nodiscard]] std::uint64_t program_counter(const ucontext_t &context) noexcept;
[[nodiscard]] std::uint64_t stack_pointer(const ucontext_t &context) noexcept;
/// Where a call has put the return address, if this is a register: that of the interrupted function
/// until it calls another one. 0 if calls put it on the stack.
[[nodiscard]] std::uint64_t return_register(const ucontext_t &context) noexcept;
/// Of a page fault.
[[nodiscard]] Access faulting_access(const ucontext_t &context) noexcept;

/// The length of the longest call instruction.
extern const std::uint64_t longest_call;
/// Whether a call instruction ends at `code`. The `longest_call` bytes before it are readable.
[[nodiscard]] bool is_behind_call(std::uint64_t code) noexcept;

} // namespace softcuda::target
