// kernel_services.h -- what a running kernel asks of the layer above: memory, output, a heap.
#pragma once

#include "support/device_call.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace softcuda::rt {

/// Who calls the CUDA runtime in device code.
struct DeviceCaller {
    std::uint64_t block = 0;
    std::uint32_t thread = 0; ///< in its block
};

/// What the call returns, and what it writes for its caller.
struct DeviceReply {
    std::uint64_t result = 0;
    std::uint64_t address = 0; ///< where `bytes` go; 0: nowhere
    std::size_t bytes = 0;
    std::array<std::byte, 144> content{}; ///< as large as a cudaFuncAttributes
};

/// LaunchFrame::launch of each kernel launch points to one. Called from several threads at a time.
class KernelServices {
  public:
    virtual ~KernelServices() = default;

    /// Whether kernels may use these bytes outside the arena.
    [[nodiscard]] virtual bool is_registered(std::uint64_t address, std::uint64_t bytes) = 0;

    /// Takes what a thread of block `block` printed.
    virtual void print(std::uint64_t block, std::string_view text) = 0;

    /// malloc() and free() of kernels. allocate() returns 0 when the heap is exhausted; release()
    /// false for what did not come from allocate().
    [[nodiscard]] virtual std::uint64_t allocate(std::uint64_t bytes) = 0;
    [[nodiscard]] virtual bool release(std::uint64_t address) = 0;

    /// A call of the CUDA runtime in device code; `words` are its arguments.
    [[nodiscard]] virtual DeviceReply call_runtime(DeviceCall call, const DeviceCaller &caller,
                                                   std::span<const std::uint64_t> words) = 0;
};

} // namespace softcuda::rt
