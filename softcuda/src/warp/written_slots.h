// written_slots.h -- the pointers, among a kernel's parameters, through which the kernel writes.
//
// The other pointers are to memory that the kernel only reads, if they are to other allocations:
// the check mode `race` finds this out at the launch (check/unwritten_memory.h).
#pragma once

#include "ir/ir.h"

#include <cstdint>
#include <optional>

namespace softcuda::warp {

/// A slot is 8 bytes of the parameters. Pointers in later slots are unknown.
inline constexpr std::uint32_t kSlotBytes = 8, kSlots = 63;
inline constexpr std::uint64_t kAllSlots = ~std::uint64_t{0};

/// The slot of the one parameter from which the address is computed, by adding numbers to it. The
/// parameter may also be such a number if the address is computed from a pointer in memory: a
/// caller tests whether its value is the address of an allocation.
[[nodiscard]] std::optional<std::uint32_t> parameter_slot(const ir::Function &kernel,
                                                          const ir::Value &address);

/// The slots of the pointers through which the kernel writes to global memory, one bit each.
/// kAllSlots if it may write through any other pointer.
[[nodiscard]] std::uint64_t written_slots(const ir::Function &kernel);

} // namespace softcuda::warp
