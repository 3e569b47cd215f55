// check_call.h -- checks a call against the signature of the callee.
#pragma once

#include "ptx/check_operand.h"

namespace softcuda::ptx {

/// Checks a call's callee, results and arguments against the function or prototype.
std::optional<Mismatch> check_call(const Module &module, const Function &function,
                                   const Instruction &call);

} // namespace softcuda::ptx
