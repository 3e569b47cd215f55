// kernel_services.h -- what a running kernel asks of the layer above: memory, output, a heap.
#pragma once

#include <cstdint>
#include <string_view>

namespace softcuda::rt {

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
};

} // namespace softcuda::rt
