// device.cpp -- queries the driver about a device.
#include <pycuda/device.h>

#include <pycuda/driver.h>

#include <cstring>

namespace pycuda {
namespace {

CUdevice device_by_ordinal(int ordinal) {
    CUdevice handle = 0;
    check(driver().cuDeviceGet.status(&handle, ordinal), "cuDeviceGet", [&] {
        int count = 0;
        if (driver().cuDeviceGetCount.status(&count) != CUDA_SUCCESS)
            return "device " + std::to_string(ordinal);
        std::string text = "device " + std::to_string(ordinal) + " of " + std::to_string(count);
        if (ordinal >= count && driver().extensions().scuDescribeDevice != nullptr)
            text += "; SOFTCUDA_DEVICES=" + std::to_string(ordinal + 1) +
                    " in the environment gives softcuda that many";
        return text;
    });
    return handle;
}

CUdevice device_by_pci_bus_id(const std::string &id) {
    CUdevice handle = 0;
    check(driver().cuDeviceGetByPCIBusId.status(&handle, id.c_str()), "cuDeviceGetByPCIBusId", [&] {
        const bool is_number = !id.empty() && id.find_first_not_of("0123456789") == id.npos;
        return "\"" + id + "\", expected a place on the bus such as \"0000:01:00.0\"" +
               (is_number ? "; a device's number is an int: Device(" + id + ")" : "");
    });
    return handle;
}

} // namespace

Device::Device(int ordinal) : handle_(device_by_ordinal(ordinal)) {}

Device::Device(const std::string &pci_bus_id) : handle_(device_by_pci_bus_id(pci_bus_id)) {}

int Device::count() { return driver().cuDeviceGetCount.value(); }

std::string Device::name() const {
    char name[256] = "";
    driver().cuDeviceGetName(name, sizeof name, handle_);
    return name;
}

std::string Device::pci_bus_id() const {
    char id[32] = "";
    driver().cuDeviceGetPCIBusId(id, sizeof id, handle_);
    return id;
}

std::array<std::byte, 16> Device::uuid() const {
    const CUuuid uuid = driver().cuDeviceGetUuid.value(handle_);
    std::array<std::byte, 16> bytes;
    static_assert(sizeof uuid.bytes == sizeof bytes);
    std::memcpy(bytes.data(), uuid.bytes, sizeof bytes);
    return bytes;
}

ComputeCapability Device::compute_capability() const {
    return {attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)};
}

std::size_t Device::total_memory() const { return driver().cuDeviceTotalMem.value(handle_); }

int Device::attribute(CUdevice_attribute attribute) const {
    int value = 0;
    check(driver().cuDeviceGetAttribute.status(&value, attribute, handle_), "cuDeviceGetAttribute",
          [&] { return "attribute " + std::to_string(static_cast<int>(attribute)); });
    return value;
}

std::optional<int> Device::attribute_if_known(CUdevice_attribute attribute) const {
    int value = 0;
    if (driver().cuDeviceGetAttribute.status(&value, attribute, handle_) != CUDA_SUCCESS)
        return std::nullopt;
    return value;
}

bool Device::can_access_peer(const Device &peer) const {
    const int can = driver().cuDeviceCanAccessPeer.value(handle_, peer.get());
    return can != 0;
}

} // namespace pycuda
