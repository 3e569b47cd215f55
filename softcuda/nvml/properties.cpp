// properties.cpp -- properties of a device, and states that never change.
#include "call.h"

using namespace softnvml;

namespace {

constexpr unsigned kUnknownArchitecture = 0xffffffff;

/// NVIDIA's number of the GPU generation with a compute capability.
unsigned generation_of(int architecture) {
    switch (architecture) {
    case 75:
        return 6; // Turing
    case 80:
    case 86:
    case 87:
        return 7; // Ampere
    case 89:
        return 8; // Ada
    case 90:
        return 9; // Hopper
    default:
        return kUnknownArchitecture;
    }
}

nvmlReturn_t give_attributes(nvmlDevice_t device, nvmlDeviceAttributes_t *attributes) noexcept {
    return with_device(device, [&](const ScuDevice &one) {
        require_non_null(attributes);
        *attributes = {};
        attributes->multiprocessorCount = one.multiprocessors;
        attributes->sharedCopyEngineCount = 2; // as CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT
        attributes->memorySizeMB = one.memory_bytes >> 20;
    });
}

constexpr int kDisabled = 0, kNone = 0, kUnknown = 0;

} // namespace

NVML_EXPORT nvmlDeviceGetArchitecture(nvmlDevice_t device, unsigned *generation) {
    return with_device(device, [&](const ScuDevice &one) {
        require_non_null(generation);
        *generation = generation_of(one.architecture);
    });
}

NVML_EXPORT nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor) {
    return with_device(device, [&](const ScuDevice &one) {
        require_non_null(major, minor);
        *major = one.architecture / 10;
        *minor = one.architecture % 10;
    });
}

NVML_EXPORT nvmlDeviceGetAttributes(nvmlDevice_t device, nvmlDeviceAttributes_t *attributes) {
    return give_attributes(device, attributes);
}
NVML_EXPORT nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t *attributes) {
    return give_attributes(device, attributes);
}

NVML_EXPORT nvmlDeviceGetBrand(nvmlDevice_t device, int *brand) {
    return give(device, brand, kUnknown);
}
NVML_EXPORT nvmlDeviceGetBusType(nvmlDevice_t device, unsigned *type) {
    return give(device, type, kUnknown);
}
/// Any number of processes may use the device.
NVML_EXPORT nvmlDeviceGetComputeMode(nvmlDevice_t device, int *mode) {
    return give(device, mode, CU_COMPUTEMODE_DEFAULT);
}
/// The driver unloads when the last process that uses the device ends.
NVML_EXPORT nvmlDeviceGetPersistenceMode(nvmlDevice_t device, int *mode) {
    return give(device, mode, kDisabled);
}
NVML_EXPORT nvmlDeviceGetDisplayMode(nvmlDevice_t device, int *mode) {
    return give(device, mode, kDisabled);
}
NVML_EXPORT nvmlDeviceGetDisplayActive(nvmlDevice_t device, int *active) {
    return give(device, active, kDisabled);
}
NVML_EXPORT nvmlDeviceGetAccountingMode(nvmlDevice_t device, int *mode) {
    return give(device, mode, kDisabled);
}
NVML_EXPORT nvmlDeviceGetVirtualizationMode(nvmlDevice_t device, int *mode) {
    return give(device, mode, kNone);
}
NVML_EXPORT nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device, unsigned *multiple) {
    return give(device, multiple, 0);
}
NVML_EXPORT nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned *is_mig) {
    return give(device, is_mig, 0);
}
NVML_EXPORT nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned *count) {
    return give(device, count, 0);
}

NVML_EXPORT nvmlDeviceGetNumFans(nvmlDevice_t device, unsigned *count) {
    return give(device, count, 0);
}
NVML_EXPORT nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long *types) {
    return give(device, types, kNone);
}

NVML_EXPORT nvmlDeviceGetCapabilities(nvmlDevice_t device, nvmlDeviceCapabilities_v1_t *result) {
    return with_device(device, [&](const ScuDevice &) {
        require_version(result, 1);
        result->capMask = kNone;
    });
}

NVML_EXPORT nvmlDeviceGetAddressingMode(nvmlDevice_t device, nvmlDeviceAddressingMode_v1_t *mode) {
    return with_device(device, [&](const ScuDevice &) {
        require_version(mode, 1);
        mode->value = kNone;
    });
}

NVML_EXPORT nvmlGpmQueryDeviceSupport(nvmlDevice_t device, nvmlGpmSupport_t *support) {
    return with_device(device, [&](const ScuDevice &) {
        require_non_null(support);
        require(support->version == 1, NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
        support->isSupportedDevice = 0;
    });
}
