// device_runtime.h -- the CUDA runtime for the threads of one grid: kernels that launch kernels.
//
// Calls of device code are recorded while the grid runs. They are executed when the grid's threads
// have ended, in private streams. CUDA does not guarantee an earlier begin:
//
//     block 0:  k1<<<..>>>   k2<<<..>>>        block 0's null stream  k1 -> k2 --+
//     block 1:  k3<<<.., s>>>                  s                      k3 --------+--> tail launches
//               k4<<<.., FireAndForget>>>      a new stream           k4 --------+    one by one
//
// The grid is complete when this work is complete, so later work of the host sees the results of
// the children. A child's own children belong to the child.
#pragma once

#include "device/copy.h"
#include "device/device_errors.h"
#include "device/event.h"
#include "device/launch.h"
#include "rt/kernel_services.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace softcuda::device {

/// Any thread may call call(); the other functions are for the launch.
class DeviceRuntime {
  public:
    /// For a grid of `module`, which `keep` keeps alive. `environment`: of the graph in which it
    /// is, or null.
    DeviceRuntime(Context &context, Module &module, std::shared_ptr<const void> keep,
                  std::shared_ptr<GraphEnvironment> environment);
    DeviceRuntime(const DeviceRuntime &) = delete;
    ~DeviceRuntime();

    [[nodiscard]] rt::DeviceReply call(DeviceCall call, const rt::DeviceCaller &caller,
                                       std::span<const std::uint64_t> words) noexcept;

    /// Starts the recorded work, children first; calls `then` once when all work is done. `ticket`
    /// belongs to the launch: see LaunchTicket.
    void run(const LaunchTicket &ticket, std::function<void()> then);

  private:
    using Words = std::span<const std::uint64_t>;
    using Step = std::function<void(const LaunchTicket &)>;
    struct Launch {
        Function *function = nullptr;
        LaunchRequest request;
    };

    rt::DeviceReply answer(DeviceCall call, const rt::DeviceCaller &caller, Words words);

    // Launches.
    [[nodiscard]] std::uint64_t make_buffer(std::size_t bytes);
    [[nodiscard]] Launch checked_launch(std::uint64_t function, Words grid, Words block,
                                        std::uint64_t shared_bytes) const;
    [[nodiscard]] std::uint64_t make_launch(Words words);
    void launch_made(std::uint64_t buffer, std::uint64_t stream, const rt::DeviceCaller &caller);
    void enqueue_launch(const Launch &launch, std::uint64_t buffer, std::uint64_t stream,
                        const rt::DeviceCaller &caller);

    // Streams, events, copies.
    [[nodiscard]] std::shared_ptr<Stream> find_stream(std::uint64_t handle,
                                                      const rt::DeviceCaller &caller);
    [[nodiscard]] std::shared_ptr<Event> find_event(std::uint64_t handle) const;
    [[nodiscard]] rt::DeviceReply make_stream(Words words);
    [[nodiscard]] rt::DeviceReply make_event(Words words);
    void copy(const Copy &wanted, std::uint64_t kind, std::uint64_t stream,
              const rt::DeviceCaller &caller);
    void fill(const Copy::End &to, std::uint64_t value, std::array<std::uint64_t, 3> extent,
              std::uint64_t stream, const rt::DeviceCaller &caller);
    void add(Step step);

    // Queries.
    [[nodiscard]] rt::DeviceReply attributes_of(Words words) const;
    [[nodiscard]] rt::DeviceReply occupancy(Words words) const;
    [[nodiscard]] std::uint64_t text(const char *content);
    [[nodiscard]] Function &find_function(std::uint64_t address) const;
    DeviceError &last_error(const rt::DeviceCaller &caller);

    void run_list(const std::vector<Step> &list, const LaunchTicket &ticket) noexcept;
    void after_all(std::function<void()> then);

    Context &context_;
    Module &module_;
    std::shared_ptr<const void> keep_;
    std::shared_ptr<GraphEnvironment> environment_;

    std::mutex mutex_; ///< protects all members below while threads of the grid make calls
    std::vector<Step> children_, tails_;
    std::vector<std::shared_ptr<Stream>> used_; ///< all streams of children
    std::shared_ptr<Stream> tail_;
    std::map<std::uint64_t, std::shared_ptr<Stream>> null_streams_; ///< by block
    std::map<std::uint64_t, std::shared_ptr<Stream>> streams_;      ///< by handle
    std::map<std::uint64_t, std::shared_ptr<Event>> events_;        ///< by handle
    std::map<std::uint64_t, Launch>
        launches_; ///< launches whose parameters are being written, by buffer
    std::map<std::uint64_t, std::size_t> buffers_; ///< bytes of each
    std::vector<std::uint64_t> chunks_;            ///< device memory for buffers and texts
    std::uint64_t chunk_next_ = 0, chunk_end_ = 0;
    std::map<const char *, std::uint64_t> texts_;
    std::map<std::pair<std::uint64_t, std::uint32_t>, DeviceError> last_errors_;
    std::uint64_t next_handle_;
};

} // namespace softcuda::device
