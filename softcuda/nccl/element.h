// element.h -- the element types of reductions.
#pragma once

#include "nccl_api.h"

#include <cstddef>

namespace softnccl {

/// Bytes of an element. Throws Failure (invalid argument) for an unknown type.
[[nodiscard]] std::size_t size_of(ncclDataType_t type);
[[nodiscard]] const char *name_of(ncclDataType_t type) noexcept;
[[nodiscard]] const char *name_of(ncclRedOp_t operation) noexcept;
/// Throws Failure (invalid argument) for an unknown operation.
void check_operation(ncclRedOp_t operation);

/// total[i] = total[i] op next[i]. For an average, this computes the sum, and finish_average()
/// divides.
void reduce_into(void *total, const void *next, std::size_t count, ncclDataType_t type,
                 ncclRedOp_t operation);
void finish_average(void *total, std::size_t count, ncclDataType_t type, int ranks);

} // namespace softnccl
