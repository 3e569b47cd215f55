// tensor_copy.h -- copies of boxes between a tensor in global memory and shared memory.
//
// A copy is complete when the function returns. A load counts the bytes of the whole box, with
// those outside the tensor, once at the mbarrier of each destination.
#pragma once

#include "rt/lane_caller.h"
#include "support/bulk_copy.h"
#include "support/tensor_map.h"

#include <array>
#include <cstdint>

namespace softcuda::rt {

struct TensorPlace {
    std::uint64_t map = 0; ///< generic address of a TensorMap
    std::array<std::int32_t, TensorMap::kMostDimensions> begin{}; ///< of the box, in elements
};

/// BulkForm::count is the number of dimensions that the instruction names. `mask`: of blocks by
/// rank, where the form has one.
void load_box(const LaneCaller &lane, const BulkForm &form, const TensorPlace &place,
              std::uint64_t to, std::uint64_t barrier, std::uint32_t mask);
/// Stores a box, or combines it with the old contents; nothing outside the tensor is written.
void store_box(const LaneCaller &lane, const BulkForm &form, const TensorPlace &place,
               std::uint64_t from);

} // namespace softcuda::rt
