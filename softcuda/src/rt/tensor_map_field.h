// tensor_map_field.h -- kernels that change tensor maps: tensormap.replace.
#pragma once

#include "rt/lane_caller.h"
#include "support/tensor_map.h"

#include <cstdint>

namespace softcuda::rt {

/// Changes one member of the tensor map at `address`. Ends the launch if there is no tensor map. An
/// invalid number makes the map unusable.
void replace_field(const LaneCaller &lane, const TensorMapField &field, std::uint64_t address,
                   std::uint64_t value);

} // namespace softcuda::rt
