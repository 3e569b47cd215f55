// tensor_map_field.h -- kernels that change tensor maps: tensormap.replace.
#pragma once

#include "rt/lane_caller.h"
#include "support/tensor_map.h"

#include <cstdint>

namespace softcuda::rt {

/// Changes one member of the tensor map at `address`. Ends the launch where there is no tensor map.
/// A number that no map may have makes the map one that cannot be used.
void replace_field(const LaneCaller &lane, const TensorMapField &field, std::uint64_t address,
                   std::uint64_t value);

} // namespace softcuda::rt
