// launch_checks.h -- the checks of one launch, and what outlives it.
#pragma once

#include "check/finding.h"
#include "check/marked_memory.h"
#include "check/stream_races.h"
#include "check/thread_order.h"
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

/// What the checks ask of the memory's owner.
class MemoryMap {
  public:
    struct Piece {
        std::uint64_t begin = 0, end = 0;
        bool knows_writes = false; ///< all that writes to it is seen
        bool stays = true;         ///< no kernel frees it
    };
    virtual ~MemoryMap() = default;
    /// The allocation, or the pool's block in it, that `address` is in.
    [[nodiscard]] virtual std::optional<Piece> find(std::uint64_t address) = 0;
    /// Where it is, in words, and whether it was freed, or is of a block that went back to its
    /// pool.
    [[nodiscard]] virtual std::string describe(std::uint64_t address) = 0;
};

/// What is kept from launch to launch.
struct Memory {
    MarkedMemory marks;
    WrittenMemory written;
    static Memory &of_process();
};

/// A site that stays known when its code is gone.
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
/// "variable `s`", or nothing where the site does not say which.
[[nodiscard]] std::string variable_of(std::uint32_t number);

[[nodiscard]] FoundAccess access_of(std::uint32_t site, std::uint32_t block, std::uint32_t thread,
                                    std::uint64_t bytes, const std::array<std::uint32_t, 3> &grid,
                                    const std::array<std::uint32_t, 3> &shape);

inline constexpr const char *kStreamsAreNotOrdered =
    "the two are in different streams, and neither an event nor a wait orders them";

class LaunchChecks final : public rt::LaunchWatch {
  public:
    /// `memory` must outlive it.
    LaunchChecks(unsigned modes, std::string kernel, const rt::LaunchFrame &frame,
                 std::uint64_t shared_bytes, std::uint64_t local_bytes, MemoryMap &memory);

    rt::BlockWatch *begin(rt::WorkerState &state) noexcept override;
    void end(rt::BlockWatch *block) noexcept override;

    /// Marks for a block's shared memory, of earlier blocks or none.
    [[nodiscard]] MarkedWindow take_marks();
    void give_back(MarkedWindow &&marks) noexcept;

    /// Counts a finding up that was told before: false the first time.
    [[nodiscard]] bool is_known(Kind kind, std::uint32_t first, std::uint32_t second);
    [[nodiscard]] FoundAccess access(std::uint32_t site, std::uint32_t block, std::uint32_t thread,
                                     std::uint64_t bytes) const;
    void tell(Kind kind, std::uint32_t first, std::uint32_t second, Finding finding);
    /// The place of the launch among the commands of all streams; before it starts. What is said
    /// again is not heard.
    void place(const CommandOrder &order);
    /// Null: it is not known.
    [[nodiscard]] const Accessor *accessor() const noexcept { return accessor_.get(); }
    /// Of an earlier launch that nothing orders with this one. Null: there is an order.
    [[nodiscard]] std::shared_ptr<const Accessor> unordered(std::uint32_t run);
    /// The threads of the two have synchronised by memory.
    void learn(std::uint32_t run);
    /// Adds what was told to the list of all findings; when the launch is over.
    void finish();

    const unsigned modes;
    const std::string kernel;
    const rt::LaunchFrame &frame;
    const std::uint64_t shared_bytes, local_bytes;
    const std::uint32_t run; ///< a number of this launch
    MemoryMap &memory;
    SyncPlaces places;

  private:
    std::mutex mutex_;
    std::vector<MarkedWindow> spare_marks_;
    std::shared_ptr<const Accessor> accessor_;
    std::unordered_map<std::uint32_t, std::shared_ptr<const Accessor>> unordered_; ///< by run
    std::unordered_map<std::uint64_t, Finding> told_; ///< without a kernel: not told yet
};

/// A number that no other launch has.
[[nodiscard]] std::uint32_t next_run() noexcept;

} // namespace softcuda::check
