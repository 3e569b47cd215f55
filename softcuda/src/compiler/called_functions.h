// called_functions.h -- the functions of a module that a kernel needs.
#pragma once

#include "ir/ir.h"

#include <cstdint>
#include <set>

namespace softcuda::compiler {

/// All that `kernel` calls, directly or not, as indices into Module::functions.
[[nodiscard]] std::set<std::uint32_t> called_functions(const ir::Module &module,
                                                       const ir::Function &kernel);

/// The work that a kernel's code and the functions that it calls can start.
struct Launches {
    bool kernels = false, graphs = false;
};
[[nodiscard]] Launches launches_of(const ir::Module &module, const ir::Function &kernel);

/// Sets Function::called_bytes of each kernel. Local variables have their places.
void count_call_memory(ir::Module &module);

} // namespace softcuda::compiler
