// thread_operation.h -- executes an instruction for one thread: all instructions except control
// flow, calls, and operations of several threads.
#pragma once

#include "interpret/machine.h"

#include <cstdint>
#include <span>

namespace softcuda::interpret {

/// True for an instruction that execute() runs for one thread.
[[nodiscard]] bool is_own_operation(const ir::Instruction &instruction);

/// Runs it. `depth` is the offset of the function's local variables, `frame_bytes` their size.
/// Throws Stopped for operations that the table of semantics lacks, and for accesses outside
/// memory.
void execute(const ir::Instruction &instruction, Thread &thread, std::uint64_t depth,
             std::uint64_t frame_bytes, std::span<const std::uint64_t> operands,
             std::span<std::uint64_t> results);

/// Bytes of an element, and of all elements of a load, store or atomic.
[[nodiscard]] unsigned element_bytes(const ir::Instruction &access);
[[nodiscard]] unsigned access_bytes(const ir::Instruction &access);

} // namespace softcuda::interpret
