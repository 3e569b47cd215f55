// run_threads.h -- the reference: each thread of a launch by itself, over the IR before any pass
// for a launch shape.
#pragma once

#include "interpret/machine.h"
#include "interpret/outcome.h"

namespace softcuda::interpret {

/// Runs all threads of the launch. Threads take turns, so they can wait for each other; exchanges
/// within a warp wait for their members. The stores of the kernel are in `launch.memory`.
[[nodiscard]] Outcome run_threads(const ir::Module &module, const ir::Function &kernel,
                                  Launch &launch);

} // namespace softcuda::interpret
