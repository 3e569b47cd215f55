// green_context.h -- a context that owns a part of a device's multiprocessors.
//
//     SmPartition parts = SmResource::of(device).split(16, 1);
//     GreenContext small(device, parts.groups[0]);
//     Stream stream = small.create_stream();       // its kernels run on those multiprocessors
#pragma once

#include <pycuda/context.h>
#include <pycuda/device.h>
#include <pycuda/stream.h>

#include <cuda.h>

#include <vector>

namespace pycuda {

struct SmPartition;

/// Some multiprocessors of a device. A plain value.
class SmResource {
  public:
    /// All that the device has.
    static SmResource of(const Device &device);
    /// All that the context may use: of a green context, its own.
    static SmResource of(const Context &context);

    /// How many multiprocessors.
    unsigned count() const noexcept { return resource_.sm.smCount; }

    /// Groups of at least `least` multiprocessors each, which share none: as many as there can be,
    /// or at most `most_groups`. The device rounds the size of a group up.
    SmPartition split(unsigned least, unsigned most_groups = 0) const;

    const CUdevResource &get() const noexcept { return resource_; }

  private:
    CUdevResource resource_{};
};

struct SmPartition {
    std::vector<SmResource> groups;
    SmResource remaining; ///< what is in no group; its count may be 0
};

/// Owns a green context and keeps the device's primary context, which it stands on. Must outlive
/// the streams that are made of it, and all copies of context().
class GreenContext {
  public:
    GreenContext(const Device &device, const SmResource &resource);
    GreenContext(const GreenContext &) = delete;
    GreenContext &operator=(const GreenContext &) = delete;
    ~GreenContext();

    CUgreenCtx get() const noexcept { return handle_; }
    /// The same as a context that can be made current. It ends with this object.
    const Context &context() const noexcept { return context_; }
    SmResource resource() const { return SmResource::of(context_); }
    /// A stream whose kernels run on its multiprocessors. Never waits for the default stream.
    Stream create_stream(int priority = 0) const;

  private:
    Context primary_;
    CUgreenCtx handle_;
    Context context_;
};

} // namespace pycuda
