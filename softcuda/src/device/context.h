// context.h -- a context: what belongs together on one device, and its error state.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cuda.h>
#include <memory>
#include <mutex>
#include <set>

namespace softcuda::device {

class Device;

/// The range of stream priorities; lower numbers go first.
inline constexpr int kLeastPriority = 0;
inline constexpr int kGreatestPriority = -5;

/// A context. It is active from its making until it is torn down; a primary context may become
/// active again. Objects made in it (memory, modules, streams, events) die when it is torn down.
class Context : public std::enable_shared_from_this<Context> {
  public:
    enum class Role { Primary, Created };
    Context(Device &device, unsigned flags, Role role);
    ~Context();

    [[nodiscard]] Device &device() const noexcept { return device_; }
    [[nodiscard]] bool is_primary() const noexcept { return role_ == Role::Primary; }
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    [[nodiscard]] unsigned flags() const noexcept { return flags_; }
    void set_flags(unsigned flags) noexcept { flags_ = flags; }

    [[nodiscard]] bool active() const noexcept { return active_.load(); }
    /// Makes a torn-down context usable again, as new.
    void activate();
    /// Waits for its work, then frees all that belongs to it.
    void tear_down();

    /// The error that each call returns from now on, or CUDA_SUCCESS. After a kernel has failed
    /// there is no telling what else is wrong, so CUDA makes such errors stick.
    [[nodiscard]] CUresult sticky_error() const noexcept {
        return static_cast<CUresult>(sticky_.load(std::memory_order_relaxed));
    }
    /// The first error sticks.
    void set_sticky_error(CUresult result) noexcept;

    /// Waits until all work in all streams is done.
    void synchronize();

    /// CU_LIMIT_*. Throws Error: unsupported limit, invalid value.
    [[nodiscard]] std::size_t limit(CUlimit limit) const;
    void set_limit(CUlimit limit, std::size_t value);

    /// Devices whose memory this context was told it may use.
    void enable_peer(Context &peer);
    void disable_peer(Context &peer);

  private:
    static constexpr std::size_t kLimits = 16;
    void reset_state();

    Device &device_;
    Role role_;
    std::uint64_t id_;
    std::atomic<unsigned> flags_;
    std::atomic<bool> active_{true};
    std::atomic<int> sticky_{CUDA_SUCCESS};
    mutable std::mutex mutex_;
    std::array<std::size_t, kLimits> limits_{};
    std::set<const Context *> peers_;
};

/// The calling thread's stack of contexts; the top one is current.
namespace current_context {

/// The current context, whatever its state, or null.
Context *get() noexcept;

/// The current context, usable. Throws Error: invalid context when there is none, context is
/// destroyed when it is torn down, or its sticky error.
Context &require_usable();

void push(Context &context);
/// Throws Error(invalid context) when the stack is empty.
Context &pop();
/// Replaces the top; null pops it.
void set(Context *context);

} // namespace current_context
} // namespace softcuda::device
