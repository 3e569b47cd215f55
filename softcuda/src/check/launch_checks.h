// launch_checks.h -- the checks of one launch, and the data that outlives the launch.
#pragma once

#include "check/finding.h"
#include "check/marked_memory.h"
#include "check/stream_races.h"
#include "check/thread_order.h"
#include "check/unwritten_memory.h"
#include "check/written_bytes.h"
#include "rt/watch.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace softcuda::check {

inline constexpr const char *kLaunchesOverlap =
    "the second launch may begin before the first one has ended (programmatic dependent launch), "
    "and the thread has not waited for its end";

/// The questions of the checks to the owner of the memory.
class MemoryMap {
  public:
    struct Piece {
        std::uint64_t begin = 0, end = 0;
        bool knows_writes = false; ///< all writes to it are observed
        bool stays = true;         ///< kernels cannot free it
    };
    virtual ~MemoryMap() = default;
    /// The allocation that contains `address`, or the pool's block in the allocation.
    [[nodiscard]] virtual std::optional<Piece> find(std::uint64_t address) = 0;
    /// A description of the address, which says whether the memory was freed or returned to its
    /// pool.
    [[nodiscard]] virtual std::string describe(std::uint64_t address) = 0;
    /// The range of addresses of device memory.
    [[nodiscard]] virtual Addresses device_memory() = 0;
};

/// The data that is kept from launch to launch.
struct Memory {
    MarkedMemory marks;
    ReadWords reads;
    WrittenMemory written;
    static Memory &of_process();
};

/// A copy of a site that remains valid after its code was unloaded.
struct SiteText {
    std::string file, array;
    std::uint32_t line = 0;
    rt::WatchKind kind{};
};
std::uint32_t give_number(rt::WatchSite &site);
/// Numbers the site. Any thread.
inline std::uint32_t number_of(rt::WatchSite &site) {
    const std::uint32_t known = std::atomic_ref(site.id).load(std::memory_order_relaxed);
    return known != 0 ? known : give_number(site);
}
[[nodiscard]] SiteText text_of(std::uint32_t number);
/// "variable `s`"; empty if the site's array is unknown.
[[nodiscard]] std::string variable_of(std::uint32_t number);

[[nodiscard]] FoundAccess access_of(std::uint32_t site, std::uint32_t block, std::uint32_t thread,
                                    std::uint64_t bytes, const std::array<std::uint32_t, 3> &grid,
                                    const std::array<std::uint32_t, 3> &shape);

inline constexpr const char *kStreamsAreNotOrdered =
    "the two are in different streams, or nodes of a graph, and no event, wait or edge orders them";

class LaunchChecks final : public rt::LaunchWatch {
  public:
    /// `memory` must outlive it.
    LaunchChecks(unsigned modes, const std::string &kernel, const rt::LaunchFrame &frame,
                 std::uint64_t shared_bytes, std::uint64_t local_bytes, MemoryMap &memory);

    rt::BlockWatch *begin(rt::WorkerState &state) noexcept override;
    void end(rt::BlockWatch *block) noexcept override;

    /// Marks for a block's shared memory: reused from earlier blocks, or new.
    [[nodiscard]] MarkedWindow take_marks();
    void give_back(MarkedWindow &&marks) noexcept;

    /// Increments the count of a known finding; false if the finding is new.
    [[nodiscard]] bool is_known(Kind kind, std::uint32_t first, std::uint32_t second);
    [[nodiscard]] FoundAccess access(std::uint32_t site, std::uint32_t block, std::uint32_t thread,
                                     std::uint64_t bytes) const;
    void tell(Kind kind, std::uint32_t first, std::uint32_t second, Finding finding);
    /// Sets the order of the launch among the commands of all streams. Call it before the launch
    /// starts; only the first call has an effect. `programmatic`: the launch may begin when the one
    /// before it in the stream allows this.
    void place(const CommandOrder &order, bool programmatic);
    /// Whether it may have begun before the launch before it has ended.
    [[nodiscard]] bool begins_early() const noexcept { return begins_early_; }
    /// A thread allows the next launch to begin. `early`: it has not waited for the launch before.
    void launch_dependents(bool early) noexcept;
    /// The order; null if unknown.
    [[nodiscard]] const Accessor *accessor() const noexcept { return accessor_.get(); }
    /// The accessor of an earlier launch that is not ordered with this one; null if the launches
    /// are ordered. `early`: not ordered before the begin of this one.
    [[nodiscard]] std::shared_ptr<const Accessor> unordered(std::uint32_t run, bool early);
    /// Records that threads of both launches have synchronised through memory.
    void learn(std::uint32_t run);
    /// Adds the findings of the launch to the list of all findings. Call it when the launch is
    /// over.
    void finish();

    const unsigned modes;
    const std::string kernel;
    const rt::LaunchFrame &frame;
    const std::uint64_t shared_bytes, local_bytes;
    const std::uint32_t run; ///< a number of this launch
    MemoryMap &memory;
    SyncPlaces places;
    const SyncPlace earlier_grid; ///< known to warps that have waited for the launch before
    UnwrittenMemory unwritten_memory;
    rt::ReadRecord read_record; ///< for the kernel's code

  private:
    std::mutex mutex_;
    std::vector<MarkedWindow> spare_marks_;
    std::shared_ptr<const Accessor> accessor_;
    bool begins_early_ = false;
    using ByRun = std::unordered_map<std::uint32_t, std::shared_ptr<const Accessor>>;
    std::array<ByRun, 2> unordered_; ///< also for warps that are early
    std::unordered_map<std::uint64_t, Finding>
        found_; ///< an entry without a kernel is not reported yet
};

/// A number that no other launch has.
[[nodiscard]] std::uint32_t next_run() noexcept;

} // namespace softcuda::check
