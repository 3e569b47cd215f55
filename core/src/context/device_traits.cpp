// device_traits.cpp -- asks the driver about a device, once.
#include <pycuda/device_traits.h>

#include <pycuda/driver_calls.h>

namespace pycuda {

DeviceTraits::DeviceTraits(const Device &device)
    : capability(device.compute_capability()),
      processors(device.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)),
      shared_bytes(static_cast<std::size_t>(
          device.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN))),
      has_bulk_copies(capability >= ComputeCapability{9, 0}) {}

bool runs_on_host() { return loaded_image_kind() == ImageKind::Ptx; }

} // namespace pycuda
