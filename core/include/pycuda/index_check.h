// index_check.h -- indices that a program or a function knows to be in bounds.
#pragma once

#include <pycuda/array.h>

#include <cstdint>

namespace pycuda {

/// Says that the elements of a new array of int32 or int64 are at least `low` and less than `high`,
/// after the launch of the kernel that writes them. Until work that may change them uses the
/// memory, a call with these indices does not wait for a check if the axis contains the bounds.
void note_bounds(const Array &indices, std::int64_t low, std::int64_t high);

} // namespace pycuda
