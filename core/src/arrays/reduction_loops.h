// reduction_loops.h -- what one thread of a reduction kernel does.
#pragma once

#include "arrays/reduction_source.h"

#include <string>

namespace pycuda {

/// The arrays that a kernel goes over: inputs and mask, or the states of a launch before.
int walker_count(const ReductionVariant &variant);
std::string walker_name(const ReductionVariant &variant, int walker);
std::string walker_type(const ReductionVariant &variant, int walker);

/// Whether elements are joined as groups, by array_group(), and their states then.
bool is_grouped(const ReductionVariant &variant) noexcept;

/// From begin to end in the steps of the thread's team; what it comes to is `total`.
std::string thread_loop(const ReductionVariant &variant);

} // namespace pycuda
