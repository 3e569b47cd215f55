// code_ranges.h -- the address ranges of generated code.
//
// A running kernel can be aborted at any instruction of generated code, because generated code owns
// no resources, but not inside the functions that it calls. The signal handler that stops a kernel
// uses these ranges to test where the signal arrived.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softcuda::rt {

/// Adds a range of machine code before it first runs. Any thread may call.
void register_code(const void *begin, std::size_t bytes);

/// Removes the range that starts at `begin`; no thread may run its code any more.
void unregister_code(const void *begin) noexcept;

/// Takes no lock: for signal handlers.
bool is_generated_code(std::uint64_t address) noexcept;

} // namespace softcuda::rt
