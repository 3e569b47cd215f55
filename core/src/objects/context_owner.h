// context_owner.h -- what the copies of a Context share.
#pragma once

#include <pycuda/context.h>

#include <atomic>

namespace pycuda::detail {

/// Holds a context as long as any Context or object in it lives.
struct ContextOwner {
    enum class Hold {
        Primary,  // released at the end
        Own,      // destroyed at the end, or when detached
        Borrowed, // someone else's
    };

    ContextOwner(CUcontext handle, CUdevice device, Hold hold) noexcept
        : handle(handle), device(device), hold(hold) {}
    ~ContextOwner();
    ContextOwner(const ContextOwner &) = delete;
    ContextOwner &operator=(const ContextOwner &) = delete;

    /// Gives the context back to the driver, once.
    CUresult give_back() noexcept;

    const CUcontext handle;
    const CUdevice device;
    const Hold hold;
    std::atomic<bool> attached{true};
    std::atomic<bool> gone{false}; // given back: nothing can be done in it any more
};

} // namespace pycuda::detail
