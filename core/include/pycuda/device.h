// device.h -- a device of the driver, and its properties.
#pragma once

#include <pycuda/compute_capability.h>

#include <cuda.h>

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace pycuda {

/// A device of the driver. A plain value: copy it freely.
class Device {
  public:
    /// The device with this number, from 0.
    explicit Device(int ordinal);
    /// The device at this PCI bus address, "0000:01:00.0".
    explicit Device(const std::string &pci_bus_id);
    /// The device with this handle of the driver. Does not check the handle.
    static Device from_handle(CUdevice handle) noexcept { return Device(Handle{handle}); }

    /// The number of devices.
    static int count();

    /// The driver's handle.
    CUdevice get() const noexcept { return handle_; }
    /// As the driver reports it: "NVIDIA H200".
    std::string name() const;
    /// The PCI bus address, "0000:01:00.0".
    std::string pci_bus_id() const;
    /// Identifies the device across processes and restarts.
    std::array<std::byte, 16> uuid() const;
    /// Such as 9.0.
    ComputeCapability compute_capability() const;
    /// In bytes.
    std::size_t total_memory() const;

    /// The value of an attribute. Throws Error if the driver does not know the attribute.
    int attribute(CUdevice_attribute attribute) const;
    /// Empty if the driver does not know the attribute.
    std::optional<int> attribute_if_known(CUdevice_attribute attribute) const;

    /// Whether kernels of this device can access memory of `peer` (Context::enable_peer_access()).
    bool can_access_peer(const Device &peer) const;

    /// Equal if both are the same device of the driver.
    bool operator==(const Device &) const = default;

  private:
    struct Handle {
        CUdevice value;
    };
    explicit Device(Handle handle) noexcept : handle_(handle.value) {}
    CUdevice handle_;
};

} // namespace pycuda

template <> struct std::hash<pycuda::Device> {
    std::size_t operator()(const pycuda::Device &device) const noexcept {
        return std::hash<int>{}(device.get());
    }
};
