// in_variable.h -- accesses to variables of the module that need no check of their range.
#pragma once

#include "warp/kernel_plan.h"

namespace softcuda::warp {

/// True if every thread accesses memory inside one variable of the module, `bytes` of it, at a
/// multiple of the largest power of two that divides `bytes`:
///
///     taps[3]                  a constant offset
///     taps[i & 15]             an index with known bounds
///
/// Device memory has all variables of a module as long as its kernels run.
[[nodiscard]] bool is_in_variable(const KernelPlan &kernel, const ir::Instruction &access,
                                  unsigned bytes);

} // namespace softcuda::warp
