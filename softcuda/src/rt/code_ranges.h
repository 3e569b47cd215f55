// code_ranges.h -- which addresses hold generated code.
//
// A running kernel can be left at any instruction of generated code, since that owns nothing, but
// not inside the functions that it calls. The signal that stops a kernel asks here where it came
// in.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softcuda::rt {

/// Announces machine code before it first runs. May be called by any thread.
void register_code(const void *begin, std::size_t bytes);

/// Forgets the range that starts at `begin`; nothing may run in it any more.
void unregister_code(const void *begin) noexcept;

/// Takes no lock: for signal handlers.
bool is_generated_code(std::uint64_t address) noexcept;

} // namespace softcuda::rt
