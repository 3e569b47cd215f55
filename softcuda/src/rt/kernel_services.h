// kernel_services.h -- the services of the layer above for a running kernel: memory, output, a
// heap.
#pragma once

#include "rt/known_ranges.h"
#include "support/device_call.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace softcuda::rt {

/// The caller of the CUDA runtime in device code.
struct DeviceCaller {
    std::uint64_t block = 0;
    std::uint32_t thread = 0; ///< in its block
};

/// The result of the call, and the data that it writes for its caller.
struct DeviceReply {
    std::uint64_t result = 0;
    std::uint64_t address = 0; ///< the destination of `bytes`; 0: none
    std::size_t bytes = 0;
    std::array<std::byte, 144> content{}; ///< as large as a cudaFuncAttributes
    std::uint64_t unreadable = 0;         ///< if not 0: the call read this address, which faults
};

/// LaunchFrame::launch of each kernel launch points to one. Called from several threads at a time.
class KernelServices {
  public:
    virtual ~KernelServices() = default;

    /// The registered memory outside the arena that contains this address; empty: none.
    [[nodiscard]] virtual KnownRange registered_range(std::uint64_t address) = 0;

    /// The kernel's parameters, which threads may read through a generic address.
    [[nodiscard]] virtual std::span<const std::byte> parameter_block() const noexcept = 0;
    /// Whether a .const variable of a loaded module is at this address.
    [[nodiscard]] virtual bool is_constant(std::uint64_t address) = 0;

    /// Receives the output of a thread of block `block`.
    virtual void print(std::uint64_t block, std::string_view text) = 0;

    /// malloc() and free() of kernels. allocate() returns 0 if the heap is exhausted. release()
    /// returns false for an address that is not from allocate().
    [[nodiscard]] virtual std::uint64_t allocate(std::uint64_t bytes) = 0;
    [[nodiscard]] virtual bool release(std::uint64_t address) = 0;

    /// A call of the CUDA runtime in device code; `words` are its arguments.
    [[nodiscard]] virtual DeviceReply call_runtime(DeviceCall call, const DeviceCaller &caller,
                                                   std::span<const std::uint64_t> words) = 0;
};

} // namespace softcuda::rt
