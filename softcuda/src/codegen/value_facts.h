// value_facts.h -- what is known of a float's bits from where it comes.
#pragma once

#include "ir/ir.h"

namespace softcuda::codegen {

/// True where `value` (f32) is certainly no denormal: .ftz need not look at it again.
[[nodiscard]] bool is_never_denormal(const ir::Value &value);

/// True where `value` may be a NaN that an operation made, rather than bits that were loaded or
/// moved. Such NaNs are NVIDIA's on hardware and the processor's own here.
[[nodiscard]] bool may_be_new_nan(const ir::Value &value);

} // namespace softcuda::codegen
