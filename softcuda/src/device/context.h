// context.h -- a context: the objects of a program on one device, and their error state.
#pragma once

#include "device/command.h"
#include "device/print_buffer.h"
#include "device/stream.h"
#include "rt/grid.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <cuda.h>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

struct ScuFault;

namespace softcuda::device {

class Device;
class GreenContext;

/// The range of stream priorities; a lower number means a higher priority.
inline constexpr int kLeastPriority = 0;
inline constexpr int kGreatestPriority = -5;

/// A context. It is active from its creation until it is torn down; a primary context may become
/// active again. The objects of a context (memory, modules, streams, events) are destroyed when it
/// is torn down.
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
    /// How often the context was torn down: its memory and modules are those of one life.
    [[nodiscard]] std::uint64_t life() const noexcept { return life_.load(); }
    /// Makes a torn-down context usable again, with the initial state.
    void activate();

    enum class Pending { Finish, Drop };
    /// Waits for the context's work, or drops it, then frees all objects of the context.
    void tear_down(Pending pending);
    /// Tears down a context that is not primary, and invalidates its handle. The object stays until
    /// the process ends, because streams, events and modules that others hold refer to it. Throws
    /// Error(invalid context) if another thread has destroyed it.
    static void destroy(const std::shared_ptr<Context> &context);

    /// The error that each later call returns, or CUDA_SUCCESS. After a kernel has failed, other
    /// data may be wrong too, so CUDA makes such errors permanent.
    [[nodiscard]] CUresult sticky_error() const noexcept {
        return static_cast<CUresult>(sticky_.load(std::memory_order_acquire));
    }
    /// Makes `result` the sticky error and prints `text`, the description of the failure, on
    /// stderr, unless there is an earlier error. The text is readable before the error is visible.
    void fail(CUresult result, const ScuFault *fault) noexcept;
    /// An error that only the next synchronising call returns.
    void set_passing_error(CUresult result) noexcept { passing_ = result; }
    /// Throws the sticky error or the passing error, if there is one.
    void throw_error();

    /// Waits until all work in all streams, or in one stream, is done; writes the output of
    /// kernels; throws the context's error, if any.
    void synchronize();
    void synchronize(const Stream &stream);
    /// As synchronize(), but without the errors: for calls that free objects that running kernels
    /// may use. Throws Error(not ready) if the client stops the wait, as synchronize() does.
    void wait_for_all(HostNotified notified = HostNotified::Yes);
    void collect_output() { printed_.flush(); }

    /// Stops running kernels, and drops kernels that wait in streams. Other commands are completed.
    void interrupt();
    /// The number of interrupts: a launch from before the latest interrupt is dropped.
    [[nodiscard]] std::uint64_t interrupts() const noexcept { return interrupts_.load(); }

    [[nodiscard]] StreamSet &streams() noexcept { return streams_; }
    [[nodiscard]] const StreamSet &streams() const noexcept { return streams_; }
    [[nodiscard]] std::shared_ptr<Stream> legacy_stream() const;
    /// The calling thread's per-thread default stream.
    [[nodiscard]] std::shared_ptr<Stream> per_thread_stream();

    [[nodiscard]] std::uint64_t next_grid_id() noexcept { return next_grid_id_++; }
    [[nodiscard]] PrintBuffer &printed() noexcept { return printed_; }

    /// malloc() and free() of kernels, within CU_LIMIT_MALLOC_HEAP_SIZE. 0, or false, on failure.
    [[nodiscard]] std::uint64_t heap_allocate(std::uint64_t bytes) noexcept;
    [[nodiscard]] bool heap_release(std::uint64_t address) noexcept;

    /// CU_LIMIT_*. Throws Error: unsupported limit, invalid value.
    [[nodiscard]] std::size_t limit(CUlimit limit) const;
    void set_limit(CUlimit limit, std::size_t value);

    /// Devices whose memory this context may access (cuCtxEnablePeerAccess).
    void enable_peer(Context &peer);
    void disable_peer(Context &peer);

  private:
    static constexpr std::size_t kLimits = 16;
    struct ThreadStreams;
    void reset_state();
    void make_streams();
    void remove_thread_stream(); ///< the calling thread's, if it has one
    void remove_objects();

    Device &device_;
    Role role_;
    std::uint64_t id_;
    std::atomic<unsigned> flags_;
    std::atomic<bool> active_{true};
    std::atomic<std::uint64_t> life_{0};
    std::atomic<int> sticky_{CUDA_SUCCESS};
    std::atomic<int> passing_{CUDA_SUCCESS};
    std::atomic<std::uint64_t> interrupts_{0};
    std::atomic<std::uint64_t> next_grid_id_{1};
    PrintBuffer printed_;
    StreamSet streams_;
    std::shared_ptr<Stream> legacy_;

    std::mutex failing_; ///< locked until the text of the first failure is stored
    mutable std::mutex mutex_;
    std::map<std::thread::id, std::shared_ptr<Stream>> per_thread_;
    std::uint64_t heap_used_ = 0;
    std::array<std::size_t, kLimits> limits_{};
    std::set<const Context *> peers_;
};

/// The calling thread's stack of contexts; the top one is current.
namespace current_context {

/// The current context in any state, or null.
Context *get() noexcept;

/// The current context, if it is usable. Throws Error: invalid context if there is none, context is
/// destroyed if it was torn down, or its sticky error.
Context &require_usable();

/// The current green context, or null.
GreenContext *green() noexcept;

void push(Context &context, std::shared_ptr<GreenContext> green = nullptr);
/// Throws Error(invalid context) if the stack is empty.
Context &pop();
/// Replaces the top of the stack; null pops it.
void set(Context *context, std::shared_ptr<GreenContext> green = nullptr);

} // namespace current_context
} // namespace softcuda::device
