// staging.h -- host data as kernel arguments: copied in before the launch, out after it.
//
//     launch(doublify, {.block = {4, 4}}, InOut(a));   // a: any contiguous range of the host
#pragma once

#include <pycuda/copy.h>
#include <pycuda/memory.h>

#include <cstddef>
#include <optional>
#include <ranges>
#include <span>

namespace pycuda {

/// Host data and its copy on the device, for one or several launches. The host data must outlive
/// it.
class StagedArgument {
  public:
    enum class Direction { In, Out, InOut };

    /// Allocates and copies nothing yet.
    StagedArgument(Direction direction, void *host, std::size_t bytes) noexcept
        : direction_(direction), host_(host), bytes_(bytes) {}

    /// The device memory. The first call allocates it in the current context.
    const DeviceMemory &device();
    /// Which copies a launch makes.
    Direction direction() const noexcept { return direction_; }
    /// The host data.
    void *host() const noexcept { return host_; }
    /// The size of the host data in bytes.
    std::size_t size() const noexcept { return bytes_; }

    /// Copies the data to the device, as work of the launch's stream.
    void before_launch(StreamRef stream);
    /// Copies the results to the host. Call it when the launch's stream is done.
    void after_launch(const KeepWaiting &keep_waiting = {});

  private:
    Direction direction_;
    void *host_;
    std::size_t bytes_;
    std::optional<DeviceMemory> memory_;
};

/// The kernel reads the data: copied in before the launch.
template <std::ranges::contiguous_range Range> StagedArgument In(const Range &range) {
    std::span bytes = std::as_bytes(std::span(range));
    return {StagedArgument::Direction::In, const_cast<std::byte *>(bytes.data()), bytes.size()};
}
/// The kernel writes all of the data: copied out after the launch.
template <std::ranges::contiguous_range Range> StagedArgument Out(Range &range) {
    std::span bytes = std::as_writable_bytes(std::span(range));
    return {StagedArgument::Direction::Out, bytes.data(), bytes.size()};
}
/// The kernel reads and writes the data: copied in and out.
template <std::ranges::contiguous_range Range> StagedArgument InOut(Range &range) {
    std::span bytes = std::as_writable_bytes(std::span(range));
    return {StagedArgument::Direction::InOut, bytes.data(), bytes.size()};
}

} // namespace pycuda
