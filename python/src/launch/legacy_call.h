// legacy_call.h -- launches as in CUDA 3: block, parameters and launch are separate calls.
#pragma once

#include "support/bindings.h"

#include <pycuda/launch.h>

#include <cstddef>
#include <vector>

namespace pycuda::python {

/// The settings for the next launch.
struct LegacyLaunch {
    Dim3 block = {};
    unsigned shared_bytes = 0;
    std::vector<std::byte> parameters;
};

/// The methods set_block_shape, param_seti ... launch_grid_async, each with and without a leading
/// underscore. The table ends with an empty row.
const PyMethodDef *legacy_methods();

} // namespace pycuda::python
