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

/// A set of multiprocessors of a device. A plain value.
class SmResource {
  public:
    /// All multiprocessors of the device.
    static SmResource of(const Device &device);
    /// All multiprocessors that the context may use; for a green context, those that it owns.
    static SmResource of(const Context &context);

    /// The number of multiprocessors.
    unsigned count() const noexcept { return resource_.sm.smCount; }

    /// Splits the set into disjoint groups of at least `least` multiprocessors: as many groups as
    /// possible, or at most `most_groups` if this is not 0. The device rounds the size of a group
    /// up.
    SmPartition split(unsigned least, unsigned most_groups = 0) const;

    /// The driver's description of the set.
    const CUdevResource &get() const noexcept { return resource_; }

  private:
    CUdevResource resource_{};
};

/// The result of SmResource::split().
struct SmPartition {
    std::vector<SmResource> groups; ///< the disjoint sets
    SmResource remaining;           ///< multiprocessors in no group; may be empty
};

/// Owns a green context and keeps the device's primary context alive, which it needs. Must outlive
/// the streams that it created, and all copies of context().
class GreenContext {
  public:
    /// Creates the context on the multiprocessors of `resource`. Throws Error.
    GreenContext(const Device &device, const SmResource &resource);
    GreenContext(const GreenContext &) = delete;
    GreenContext &operator=(const GreenContext &) = delete;
    ~GreenContext();

    /// The handle.
    CUgreenCtx get() const noexcept { return handle_; }
    /// This context as a Context, which can be made current. Becomes invalid with this object.
    const Context &context() const noexcept { return context_; }
    /// The multiprocessors of this context. Throws Error.
    SmResource resource() const { return SmResource::of(context_); }
    /// Creates a stream whose kernels run on the multiprocessors of this context. The stream does
    /// not wait for the default stream.
    Stream create_stream(int priority = 0) const;

  private:
    Context primary_;
    CUgreenCtx handle_;
    Context context_;
};

} // namespace pycuda
