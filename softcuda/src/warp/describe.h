// describe.h -- how the reports of check modes and profiles describe an instruction.
#pragma once

#include "ir/ir.h"
#include "rt/count_abi.h"
#include "rt/watch_abi.h"

#include <optional>

namespace softcuda::warp {

/// Nothing for an operation that is not an instruction of its own on a GPU.
[[nodiscard]] std::optional<rt::InstructionClass> class_of(const ir::Instruction &i);

/// Of a load, store or atomic.
[[nodiscard]] rt::WatchKind kind_of(const ir::Instruction &i);
[[nodiscard]] rt::WatchSpace space_of(ir::Space space);
[[nodiscard]] rt::WatchScope scope_of(ir::Scope scope);
/// Line, kind, space, scope and order; the other members are zero.
[[nodiscard]] rt::WatchSite site_of(const ir::Instruction &i, rt::WatchKind kind);

} // namespace softcuda::warp
