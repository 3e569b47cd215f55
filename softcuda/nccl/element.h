// element.h -- the numbers that are reduced.
#pragma once

#include "nccl_api.h"

#include <cstddef>

namespace softnccl {

/// Bytes of an element. Throws Failure (invalid argument) for a type that there is none of.
[[nodiscard]] std::size_t size_of(ncclDataType_t type);
[[nodiscard]] const char *name_of(ncclDataType_t type) noexcept;
[[nodiscard]] const char *name_of(ncclRedOp_t operation) noexcept;
/// Throws Failure (invalid argument) for an operation that there is none of.
void check_operation(ncclRedOp_t operation);

/// total[i] = total[i] op next[i]. An average is summed here and divided by finish_average().
void reduce_into(void *total, const void *next, std::size_t count, ncclDataType_t type,
                 ncclRedOp_t operation);
void finish_average(void *total, std::size_t count, ncclDataType_t type, int ranks);

} // namespace softnccl
