// identity.cpp -- finds devices, and returns their names.
#include "call.h"

#include <cstdio>
#include <cstring>
#include <string>

using namespace softnvml;

namespace {

struct Place {
    unsigned domain = 0, bus = 0, slot = 0;
};

/// Domain, bus and slot of [domain]:bus:device[.function]. Throws Failure for another text.
Place parse_place(const char *text) {
    Place place;
    unsigned function = 0;
    if (std::sscanf(text, "%x:%x:%x.%x", &place.domain, &place.bus, &place.slot, &function) >= 3)
        return place;
    place.domain = 0;
    require(std::sscanf(text, "%x:%x.%x", &place.bus, &place.slot, &function) >= 2);
    return place;
}

Place place_of(const ScuDevice &device) { return parse_place(device.pci_bus_id); }

std::string uuid_text(const CUuuid &uuid) {
    std::string text = "GPU-";
    for (std::size_t i = 0; i < sizeof uuid.bytes; i++) {
        char byte[3];
        std::snprintf(byte, sizeof byte, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text += '-';
        text += byte;
    }
    return text;
}

/// In the notation of NVML or CUDA: the prefix may be missing.
bool is_named(const ScuDevice &device, std::string_view text) {
    constexpr std::size_t kPrefix = 4;
    const std::string uuid = uuid_text(device.uuid);
    return text == uuid || text == std::string_view(uuid).substr(kPrefix);
}

/// Returns the first device for which `is_it` is true. Throws Failure(not found).
template <class Predicate> void find_device(nvmlDevice_t *result, Predicate is_it) {
    const int count = device_count();
    for (int ordinal = 0; ordinal < count; ordinal++) {
        if (is_it(describe(ordinal))) {
            *result = handle_of(ordinal);
            return;
        }
    }
    throw Failure(NVML_ERROR_NOT_FOUND);
}

nvmlReturn_t give_count(unsigned *count) noexcept {
    return initialized([&] {
        require_non_null(count);
        *count = static_cast<unsigned>(device_count());
    });
}

nvmlReturn_t by_index(unsigned index, nvmlDevice_t *device) noexcept {
    return initialized([&] {
        require_non_null(device);
        require(index < static_cast<unsigned>(device_count()));
        *device = handle_of(static_cast<int>(index));
    });
}

nvmlReturn_t by_place(const char *text, nvmlDevice_t *device) noexcept {
    return initialized([&] {
        require_non_null(text, device);
        const Place wanted = parse_place(text);
        find_device(device, [&](const ScuDevice &one) {
            const Place place = place_of(one);
            return place.domain == wanted.domain && place.bus == wanted.bus &&
                   place.slot == wanted.slot;
        });
    });
}

// Vendor and product are 0, because the device is on no bus. The PCI address is the one that the
// driver reports.
nvmlReturn_t give_place(nvmlDevice_t device, nvmlPciInfo_t *info) noexcept {
    return with_device(device, [&](const ScuDevice &one) {
        require_non_null(info);
        const Place place = place_of(one);
        *info = {};
        info->domain = place.domain;
        info->bus = place.bus;
        info->device = place.slot;
        std::snprintf(info->busId, sizeof info->busId, "%08X:%02X:%02X.0", place.domain, place.bus,
                      place.slot);
        give_text(one.pci_bus_id, info->busIdLegacy, sizeof info->busIdLegacy);
    });
}

} // namespace

NVML_EXPORT nvmlDeviceGetCount(unsigned *count) { return give_count(count); }
NVML_EXPORT nvmlDeviceGetCount_v2(unsigned *count) { return give_count(count); }

NVML_EXPORT nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t *device) {
    return by_index(index, device);
}
NVML_EXPORT nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device) {
    return by_index(index, device);
}

NVML_EXPORT nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device) {
    return initialized([&] {
        require_non_null(uuid, device);
        find_device(device, [&](const ScuDevice &one) { return is_named(one, uuid); });
    });
}

NVML_EXPORT nvmlDeviceGetHandleByUUIDV(const nvmlUUID_v1_t *uuid, nvmlDevice_t *device) {
    return initialized([&] {
        require_non_null(device);
        require_version(uuid, 1);
        require(uuid->type == NVML_UUID_TYPE_ASCII || uuid->type == NVML_UUID_TYPE_BINARY);
        find_device(device, [&](const ScuDevice &one) {
            if (uuid->type == NVML_UUID_TYPE_BINARY)
                return std::memcmp(uuid->value.bytes, one.uuid.bytes, sizeof one.uuid.bytes) == 0;
            const std::size_t length = strnlen(uuid->value.str, sizeof uuid->value.str);
            return is_named(one, std::string_view(uuid->value.str, length));
        });
    });
}

NVML_EXPORT nvmlDeviceGetHandleByPciBusId(const char *text, nvmlDevice_t *device) {
    return by_place(text, device);
}
NVML_EXPORT nvmlDeviceGetHandleByPciBusId_v2(const char *text, nvmlDevice_t *device) {
    return by_place(text, device);
}

NVML_EXPORT nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned length) {
    return with_device(device, [&](const ScuDevice &one) { give_text(one.name, name, length); });
}

NVML_EXPORT nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned length) {
    return with_device(device,
                       [&](const ScuDevice &one) { give_text(uuid_text(one.uuid), uuid, length); });
}

NVML_EXPORT nvmlDeviceGetIndex(nvmlDevice_t device, unsigned *index) {
    return initialized([&] {
        require_non_null(index);
        *index = static_cast<unsigned>(ordinal_of(device));
    });
}

NVML_EXPORT nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned *number) {
    return nvmlDeviceGetIndex(device, number);
}

NVML_EXPORT nvmlDeviceGetBoardId(nvmlDevice_t device, unsigned *board) {
    return with_device(device, [&](const ScuDevice &one) {
        require_non_null(board);
        *board = place_of(one).bus << 8;
    });
}

NVML_EXPORT nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t *info) {
    return give_place(device, info);
}
NVML_EXPORT nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t *info) {
    return give_place(device, info);
}
NVML_EXPORT nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *info) {
    return give_place(device, info);
}

NVML_EXPORT nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_v1_t *info) {
    return guarded([&] {
        require_initialized();
        require_version(info, 1);
        nvmlPciInfo_t plain;
        const nvmlReturn_t result = give_place(device, &plain);
        require(result == NVML_SUCCESS, result);
        const unsigned version = info->version;
        *info = {};
        info->version = version;
        info->domain = plain.domain;
        info->bus = plain.bus;
        info->device = plain.device;
        std::memcpy(info->busId, plain.busId, sizeof info->busId);
    });
}
