// thread_operation.h -- what an instruction does for one thread alone: everything but control flow,
// calls, and what threads do together.
#pragma once

#include "interpret/machine.h"

#include <cstdint>
#include <span>

namespace softcuda::interpret {

/// True for an instruction that execute() runs for one thread.
[[nodiscard]] bool is_own_operation(const ir::Instruction &instruction);

/// Runs it. `depth` is where the function's local variables begin, `frame_bytes` their size.
/// Throws Stopped for what the table of semantics lacks, and for accesses outside of all memory.
void execute(const ir::Instruction &instruction, Thread &thread, std::uint64_t depth,
             std::uint64_t frame_bytes, std::span<const std::uint64_t> operands,
             std::span<std::uint64_t> results);

/// Bytes of an element, and of all elements of a load, store or atomic.
[[nodiscard]] unsigned element_bytes(const ir::Instruction &access);
[[nodiscard]] unsigned access_bytes(const ir::Instruction &access);

} // namespace softcuda::interpret
