// clone.h -- a copy of a function, for passes for one launch shape.
#pragma once

#include "ir/ir.h"

#include <memory>

namespace softcuda::ir {

/// Equal to `function` and independent of it. Basic blocks and values are numbered.
[[nodiscard]] std::unique_ptr<Function> clone(const Function &function);

} // namespace softcuda::ir
