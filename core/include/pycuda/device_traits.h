// device_traits.h -- the facts about a device by which algorithms are chosen.
#pragma once

#include <pycuda/compute_capability.h>
#include <pycuda/device.h>

#include <cstddef>

namespace pycuda {

/// The facts about a device by which algorithms are chosen. Speed may depend on them, results do
/// not. Each ArrayContext has one. No other code asks which device or driver there is.
struct DeviceTraits {
    /// Reads the attributes of the device. Throws Error.
    explicit DeviceTraits(const Device &device);

    ComputeCapability capability; ///< of the device
    int processors;               ///< multiprocessors
    std::size_t shared_bytes;     ///< of shared memory that one block can have
    bool has_bulk_copies;         ///< cp.async.bulk between global and shared memory
};

/// Whether all devices of the driver are software: threads are lanes of the host's processor, which
/// reads the arrays by itself, and there is no GPU for NVIDIA's libraries and displays.
bool runs_on_host();

} // namespace pycuda
