// device.cpp -- device management and primary contexts.
#include "api/call.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>

using namespace softcuda;
using device::Device;

namespace {

/// Copies `text` to a client's buffer of `length` characters, truncated if necessary.
void copy_text(const std::string &text, char *buffer, int length) {
    api::require_non_null(buffer);
    device::require(length > 0, CUDA_ERROR_INVALID_VALUE);
    const std::size_t count =
        std::min<std::size_t>(text.size(), static_cast<std::size_t>(length) - 1);
    std::memcpy(buffer, text.data(), count);
    buffer[count] = '\0';
}

/// Whether `text` names `device` in one of the forms that CUDA accepts:
/// [domain]:bus:device[.function].
bool is_pci_bus_id(const char *text, const Device &device) {
    unsigned domain = 0, bus = 0, slot = 0;
    if (std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3) {
        domain = 0;
        if (std::sscanf(text, "%x:%x", &bus, &slot) != 2)
            return false;
    }
    return domain == 0 && slot == 0 && bus == static_cast<unsigned>(device.ordinal()) + 1;
}

} // namespace

CUresult cuDeviceGet(CUdevice *result, int ordinal) {
    return api::with_device<api::InCapture::Permitted>(ordinal, [&](Device &device) {
        api::require_non_null(result);
        *result = device.ordinal();
    });
}

CUresult cuDeviceGetCount(int *count) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &system) {
        device::refuse_in_host_function();
        api::require_non_null(count);
        *count = system.device_count();
    });
}

CUresult cuDeviceGetName(char *name, int length, CUdevice ordinal) {
    return api::with_device<api::InCapture::Permitted>(
        ordinal, [&](Device &device) { copy_text(device.name(), name, length); });
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice ordinal) {
    return api::with_device<api::InCapture::Permitted>(ordinal, [&](Device &device) {
        api::require_non_null(uuid);
        *uuid = device.uuid();
    });
}

#undef cuDeviceGetUuid
SCU_EXPORT CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice ordinal) {
    return cuDeviceGetUuid_v2(uuid, ordinal);
}

CUresult cuDeviceTotalMem(std::size_t *bytes, CUdevice ordinal) {
    return api::with_device<api::InCapture::Permitted>(ordinal, [&](Device &device) {
        api::require_non_null(bytes);
        *bytes = device.total_memory();
    });
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice ordinal) {
    return api::with_device<api::InCapture::Permitted>(ordinal, [&](Device &device) {
        api::require_non_null(value);
        const std::optional<int> result = device.attribute(attribute);
        device::require(result.has_value(), CUDA_ERROR_INVALID_VALUE);
        *value = *result;
    });
}

CUresult cuDeviceGetByPCIBusId(CUdevice *result, const char *id) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &system) {
        api::require_non_null(result, id);
        for (int ordinal = 0; ordinal < system.device_count(); ordinal++) {
            if (is_pci_bus_id(id, system.device(ordinal))) {
                *result = ordinal;
                return;
            }
        }
        throw device::Error(CUDA_ERROR_INVALID_DEVICE);
    });
}

CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice ordinal) {
    return api::with_device<api::InCapture::Permitted>(
        ordinal, [&](Device &device) { copy_text(device.pci_bus_id(), id, length); });
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice first, CUdevice second) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &system) {
        api::require_non_null(can);
        *can = &system.device(first) != &system.device(second) ? 1 : 0;
    });
}

namespace {

/// The processor's atomic operations, which are the same for all kinds of memory:
/// CUatomicOperationCapability.
unsigned atomic_capabilities(CUatomicOperation operation) {
    constexpr unsigned kBoth = CU_ATOMIC_CAPABILITY_SCALAR_32 | CU_ATOMIC_CAPABILITY_SCALAR_64;
    constexpr unsigned kNumbers = CU_ATOMIC_CAPABILITY_SIGNED | CU_ATOMIC_CAPABILITY_UNSIGNED;
    switch (operation) {
    case CU_ATOMIC_OPERATION_INTEGER_ADD:
    case CU_ATOMIC_OPERATION_INTEGER_MIN:
    case CU_ATOMIC_OPERATION_INTEGER_MAX:
        return kNumbers | CU_ATOMIC_CAPABILITY_REDUCTION | kBoth;
    case CU_ATOMIC_OPERATION_INTEGER_INCREMENT:
    case CU_ATOMIC_OPERATION_INTEGER_DECREMENT:
        return CU_ATOMIC_CAPABILITY_UNSIGNED | CU_ATOMIC_CAPABILITY_REDUCTION |
               CU_ATOMIC_CAPABILITY_SCALAR_32;
    case CU_ATOMIC_OPERATION_AND:
    case CU_ATOMIC_OPERATION_OR:
    case CU_ATOMIC_OPERATION_XOR:
        return CU_ATOMIC_CAPABILITY_REDUCTION | kBoth;
    case CU_ATOMIC_OPERATION_EXCHANGE:
    case CU_ATOMIC_OPERATION_CAS:
        return kBoth | CU_ATOMIC_CAPABILITY_SCALAR_128;
    case CU_ATOMIC_OPERATION_FLOAT_ADD:
        return CU_ATOMIC_CAPABILITY_REDUCTION | kBoth;
    default: // PTX has no float min and max for memory
        return 0;
    }
}

void give_capabilities(unsigned *capabilities, const CUatomicOperation *operations,
                       unsigned count) {
    api::require_non_null(capabilities, operations);
    device::require(count > 0, CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < count; i++) {
        device::require(operations[i] >= 0 && operations[i] < CU_ATOMIC_OPERATION_MAX,
                        CUDA_ERROR_INVALID_VALUE);
        capabilities[i] = atomic_capabilities(operations[i]);
    }
}

} // namespace

CUresult cuDeviceGetHostAtomicCapabilities(unsigned *capabilities,
                                           const CUatomicOperation *operations, unsigned count,
                                           CUdevice ordinal) {
    return api::with_device<api::InCapture::Permitted>(
        ordinal, [&](device::Device &) { give_capabilities(capabilities, operations, count); });
}

CUresult cuDeviceGetP2PAtomicCapabilities(unsigned *capabilities,
                                          const CUatomicOperation *operations, unsigned count,
                                          CUdevice source, CUdevice destination) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &system) {
        device::require(&system.device(source) != &system.device(destination),
                        CUDA_ERROR_INVALID_DEVICE);
        give_capabilities(capabilities, operations, count);
    });
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice source,
                                 CUdevice destination) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &system) {
        api::require_non_null(value);
        device::require(&system.device(source) != &system.device(destination),
                        CUDA_ERROR_INVALID_DEVICE);
        switch (attribute) {
        case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
            *value = 0;
            return;
        case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
        case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
            *value = 1;
            return;
        case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_ACCESS_SUPPORTED:
            *value = 0;
            return;
        default:
            throw device::Error(CUDA_ERROR_INVALID_VALUE);
        }
    });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *result, CUdevice ordinal) {
    return api::with_device<api::InCapture::Permitted>(ordinal, [&](Device &device) {
        api::require_non_null(result);
        *result = reinterpret_cast<CUcontext>(&device.retain_primary());
    });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice ordinal) {
    return api::with_device<api::InCapture::Permitted>(
        ordinal, [](Device &device) { device.release_primary(); });
}

CUresult cuDevicePrimaryCtxReset(CUdevice ordinal) {
    return api::with_device<api::InCapture::Permitted>(
        ordinal, [](Device &device) { device.reset_primary(); });
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice ordinal, unsigned int flags) {
    return api::with_device<api::InCapture::Permitted>(ordinal, [&](Device &device) {
        device::require((flags & ~unsigned{CU_CTX_FLAGS_MASK}) == 0, CUDA_ERROR_INVALID_VALUE);
        device.set_primary_flags(flags);
    });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned int *flags, int *active) {
    return api::with_device<api::InCapture::Permitted>(ordinal, [&](Device &device) {
        api::require_non_null(flags, active);
        *flags = device.primary_flags();
        *active = device.primary_active() ? 1 : 0;
    });
}

#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
#undef cuDevicePrimaryCtxSetFlags
SCU_EXPORT CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice ordinal) {
    return cuDevicePrimaryCtxRelease_v2(ordinal);
}
SCU_EXPORT CUresult CUDAAPI cuDevicePrimaryCtxReset(CUdevice ordinal) {
    return cuDevicePrimaryCtxReset_v2(ordinal);
}
SCU_EXPORT CUresult CUDAAPI cuDevicePrimaryCtxSetFlags(CUdevice ordinal, unsigned int flags) {
    return cuDevicePrimaryCtxSetFlags_v2(ordinal, flags);
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice ordinal) {
    return api::with_device<api::InCapture::Permitted>(ordinal, [&](Device &device) {
        api::require_non_null(major, minor);
        *major = device.architecture() / 10;
        *minor = device.architecture() % 10;
    });
}

CUresult cuDeviceGetProperties(CUdevprop *properties, CUdevice ordinal) {
    return api::with_device<api::InCapture::Permitted>(ordinal, [&](Device &device) {
        api::require_non_null(properties);
        const device::DeviceLimits &limits = device.limits();
        *properties = CUdevprop{
            .maxThreadsPerBlock = static_cast<int>(limits.threads_per_block),
            .maxThreadsDim = {1024, 1024, 64},
            .maxGridSize = {INT_MAX, 65535, 65535},
            .sharedMemPerBlock = static_cast<int>(limits.shared_per_block),
            .totalConstantMemory = 65536,
            .SIMDWidth = 32,
            .memPitch = INT_MAX,
            .regsPerBlock = static_cast<int>(limits.registers_per_block),
            .clockRate = *device.attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
            .textureAlign = *device.attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT),
        };
    });
}
