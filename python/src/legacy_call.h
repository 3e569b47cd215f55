// legacy_call.h -- launching as CUDA 3 did: block, parameters and launch in separate calls.
#pragma once

#include "bindings.h"

#include <pycuda/launch.h>

#include <cstddef>
#include <vector>

namespace pycuda::python {

/// What the calls before a launch have set.
struct LegacyLaunch {
    Dim3 block = {};
    unsigned shared_bytes = 0;
    std::vector<std::byte> parameters;
};

/// The methods set_block_shape, param_seti ... launch_grid_async, each with and without a leading
/// underscore; ends with an empty row.
const PyMethodDef *legacy_methods();

} // namespace pycuda::python
