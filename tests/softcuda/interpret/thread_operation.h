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

/// The lowest `width` bits; those that a value of a type has.
inline std::uint64_t cut(std::uint64_t value, unsigned width) {
    return width >= 64 ? value : value & ((std::uint64_t{1} << width) - 1);
}
inline std::uint64_t cut(std::uint64_t value, ir::Type type) { return cut(value, ir::bits(type)); }

/// Bytes of an element, and of all elements of a load, store or atomic.
[[nodiscard]] unsigned element_bytes(const ir::Instruction &access);
[[nodiscard]] unsigned access_bytes(const ir::Instruction &access);

} // namespace softcuda::interpret
