// properties.h -- the properties of a device, in the layout of any version of CUDA.
#pragma once

#include "device.h"

#include <cstring>
#include <type_traits>

namespace softcudart {

/// Fills the members that `Properties` has; the others are zero. Throws Failure(invalid device).
template <class Properties> void fill_properties(Properties &properties, int device) {
    require_device(device);
    std::memset(&properties, 0, sizeof properties);
    check(cuDeviceGetName(properties.name, sizeof properties.name, device));
    CUuuid uuid;
    check(cuDeviceGetUuid(&uuid, device));
    static_assert(sizeof uuid == sizeof properties.uuid);
    std::memcpy(&properties.uuid, &uuid, sizeof uuid);
    check(cuDeviceTotalMem(&properties.totalGlobalMem, device));
#define CUDART_PROPERTY(field, attribute)                                                          \
    if constexpr (requires { properties.field; })                                                  \
        properties.field = static_cast<std::remove_reference_t<decltype((properties.field))>>(     \
            attribute_of(device, CU_DEVICE_ATTRIBUTE_##attribute));
#include "properties.def"
}

} // namespace softcudart
