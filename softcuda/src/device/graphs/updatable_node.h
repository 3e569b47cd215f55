// updatable_node.h -- kernel nodes of graphs that kernels change, between their launches or before
// the node of a running graph.
#pragma once

#include "device/launch.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cuda.h>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace softcuda::device {

struct KernelWork;

/// The state of such a node. Belongs to its node and to the one GraphExec that CUDA permits. Any
/// thread may call any function.
class UpdatableNode {
  public:
    static std::shared_ptr<UpdatableNode> make();
    /// Null if no node has that handle.
    [[nodiscard]] static std::shared_ptr<UpdatableNode> find(std::uint64_t handle);
    UpdatableNode(const UpdatableNode &) = delete;
    ~UpdatableNode();

    [[nodiscard]] CUgraphDeviceNode handle() noexcept {
        return reinterpret_cast<CUgraphDeviceNode>(this);
    }

    /// For the first GraphExec. Throws Error(not supported) if there was one.
    void instantiate(const KernelWork &work);
    /// New values from the client.
    void assign(const KernelWork &work);
    void set_enabled(bool enabled);
    /// Kernels may change the node from now on.
    void upload();

    [[nodiscard]] std::size_t parameter_bytes() const;

    // For kernels. Each returns false for values that CUDA refuses, and before upload().
    [[nodiscard]] bool change_parameter(std::uint64_t offset, std::span<const std::byte> value);
    [[nodiscard]] bool change_grid(const std::array<std::uint32_t, 3> &grid);
    [[nodiscard]] bool change_enabled(bool enabled);

    /// Puts the node into a stream. Its values are read when it is reached.
    static void enqueue(Stream &stream, const KernelWork &work, GraphEnvironment *environment);

    /// The work with the present values; false if the node is disabled.
    [[nodiscard]] bool read(KernelWork &work) const;

  private:
    UpdatableNode() = default;

    mutable std::mutex mutex_;
    bool instantiated_ = false, uploaded_ = false, enabled_ = true;
    std::array<std::uint32_t, 3> grid_{};
    std::vector<std::byte> parameters_;
};

} // namespace softcuda::device
