// address_range.h -- the memory around an address of any context.
#pragma once

#include <pycuda/memory.h>

#include <optional>

namespace pycuda::detail {

/// The allocation that contains an address, or nothing. cuMemGetAddressRange() knows the memory of
/// the current context alone.
[[nodiscard]] std::optional<AddressRange> find_address_range(CUdeviceptr address);

} // namespace pycuda::detail
