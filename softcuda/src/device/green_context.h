// green_context.h -- a part of a device's multiprocessors, and the streams that use only this part.
//
// Multiprocessors are threads of the worker pool. A green context has no other state: objects made
// while it is current belong to the device's primary context, and its streams are streams of the
// primary context. The number of multiprocessors of a stream's kernels is limited, not their
// choice.
#pragma once

#include "device/event.h"
#include "device/stream.h"

#include <cstdint>
#include <cuda.h>
#include <memory>
#include <mutex>
#include <vector>

namespace softcuda::device {

class Context;
class Device;

/// Consecutive multiprocessors of a device.
struct MultiprocessorRange {
    int device = 0;
    unsigned first = 0;
    unsigned count = 0;

    [[nodiscard]] bool overlaps(const MultiprocessorRange &other) const noexcept {
        return device == other.device && first < other.first + other.count &&
               other.first < first + count;
    }
};

/// The result of cuDevResourceGenerateDesc: the resources of a future green context.
struct ResourceDescription {
    std::vector<MultiprocessorRange> ranges;
};

/// Retains the device's primary context. Any thread may call any function.
class GreenContext : public std::enable_shared_from_this<GreenContext> {
  public:
    /// `ranges` are ranges of `device`; there is at least one.
    GreenContext(Device &device, std::vector<MultiprocessorRange> ranges);
    ~GreenContext();
    GreenContext(const GreenContext &) = delete;
    GreenContext &operator=(const GreenContext &) = delete;

    [[nodiscard]] Context &context() const noexcept { return context_; }
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    /// The range of all its multiprocessors; only the first range if they are not consecutive.
    [[nodiscard]] MultiprocessorRange range() const noexcept;

    [[nodiscard]] std::shared_ptr<Stream> create_stream(Stream::Kind kind, int priority);
    /// The null stream while this context is current.
    [[nodiscard]] std::shared_ptr<Stream> default_stream();

    /// Records the event after the work of all streams.
    void record(Event &event);
    void hold(const Event &event);

  private:
    [[nodiscard]] std::vector<std::shared_ptr<Stream>> streams();

    Device &device_;
    Context &context_;
    std::uint64_t id_;
    std::vector<MultiprocessorRange> ranges_;
    std::mutex mutex_;
    std::shared_ptr<Stream> default_;
    std::vector<std::weak_ptr<Stream>> streams_;
};

/// As above for the streams of a whole context, or for other streams of it.
void record_all(Context &context, const std::vector<std::shared_ptr<Stream>> &streams,
                Event &event);

} // namespace softcuda::device
