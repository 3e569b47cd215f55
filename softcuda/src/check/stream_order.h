// stream_order.h -- the order of the commands of all streams: a happens-before relation.
//
// Each stream counts its commands. A command has a vector clock: for each stream, the number up to
// which that stream's commands are ordered before it. The clock is the maximum of the clocks of the
// commands that it waits for (see device/timeline.h) and of the host's clock when it was enqueued.
// The host's clock includes a command, and the command's clock, after the host has waited for the
// command or a query has found it done. All threads of the host share one clock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace softcuda::check {

/// A node of one launch of a graph. Only edges order the nodes, although the driver runs them one
/// after the other in one stream.
struct GraphPlace {
    /// By node of the graph: the nodes that its edges order before it, directly or not.
    using Before = std::vector<std::vector<bool>>;
    /// Adds the nodes before each node's predecessors; `after` has earlier nodes only.
    [[nodiscard]] static Before before_of(const std::vector<std::vector<std::size_t>> &after);

    std::shared_ptr<const GraphPlace> parent; ///< the node that is this graph; null: none
    std::shared_ptr<const Before> before;     ///< of this launch alone: its identity
    std::size_t node = 0;

    [[nodiscard]] bool comes_after(const GraphPlace &earlier) const;
    /// Whether the two are nodes of one launch of a graph, so that comes_after() has the order.
    [[nodiscard]] bool is_beside(const GraphPlace &other) const;
};

/// While it exists, the commands that this thread puts into streams are the node's.
class GraphPlaceScope {
  public:
    /// `before`: of this launch; null if races are not checked.
    GraphPlaceScope(const std::shared_ptr<const GraphPlace::Before> &before, std::size_t node);
    /// The commands are of `place`, which present() was when the node began; null: of no node.
    explicit GraphPlaceScope(std::shared_ptr<const GraphPlace> place);
    ~GraphPlaceScope();
    GraphPlaceScope(const GraphPlaceScope &) = delete;
    GraphPlaceScope &operator=(const GraphPlaceScope &) = delete;
    /// The thread's present place; null: none.
    [[nodiscard]] static const std::shared_ptr<const GraphPlace> &present() noexcept;

  private:
    std::shared_ptr<const GraphPlace> outer_;
};

class CommandOrder {
  public:
    /// The number of streams that are distinguished. With more streams, some share a number, and
    /// their commands count as ordered.
    static constexpr unsigned kStreams = 64;

    CommandOrder(std::uint32_t stream, std::uint32_t number)
        : stream_(stream), number_(number), place_(GraphPlaceScope::present()) {}

    /// Records that the command `earlier` is done before this one starts.
    void follow(const CommandOrder &earlier) noexcept;
    [[nodiscard]] bool comes_after(const CommandOrder &earlier) const noexcept {
        if (place_ && earlier.place_ && place_->is_beside(*earlier.place_))
            return place_->comes_after(*earlier.place_);
        return earlier.number_ <= (earlier.stream_ == stream_ ? number_ : known_[earlier.stream_]);
    }

    // Programmatic dependent launch: the kernel before may still run when this one begins.
    /// Whether `earlier` is the command directly before this one in its stream.
    [[nodiscard]] bool is_next_after(const CommandOrder &earlier) const noexcept {
        return earlier.stream_ == stream_ && earlier.number_ + 1 == number_;
    }
    [[nodiscard]] std::uint32_t stream() const noexcept { return stream_; }
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    /// The number of the stream's commands that the host knew to be done when this one was
    /// enqueued.
    [[nodiscard]] std::uint32_t done_before() const noexcept { return done_before_; }
    /// As comes_after(), if only the first `begun_after` commands of the stream are done when this
    /// one begins.
    [[nodiscard]] bool comes_after(const CommandOrder &earlier,
                                   std::uint32_t begun_after) const noexcept {
        return earlier.stream_ == stream_ && !place_ ? earlier.number_ <= begun_after
                                                     : comes_after(earlier);
    }

    // The host's clock. Any thread may call.
    void order_before_host() const noexcept;
    void ask_host() noexcept;

  private:
    using Numbers = std::array<std::uint32_t, kStreams>;
    static void join(Numbers &into, const Numbers &from) noexcept;
    struct Host;
    static Host &host();

    friend class CommandCounter;
    std::uint32_t stream_, number_;
    std::uint32_t done_before_ = 0;
    std::shared_ptr<const GraphPlace> place_; ///< null: it is no node of a graph
    Numbers known_{};
};

/// Numbers the commands of one stream.
class CommandCounter {
  public:
    CommandCounter() = default;
    CommandCounter(const CommandCounter &) = delete;
    CommandCounter &operator=(const CommandCounter &) = delete;
    ~CommandCounter();

    /// The clock of the stream's next command, which includes the host's clock. Null if races are
    /// not checked. Throws std::bad_alloc.
    [[nodiscard]] std::unique_ptr<CommandOrder> next();

    /// Whether commands of several streams, or nodes of a graph, have been numbered. Otherwise all
    /// commands are ordered.
    [[nodiscard]] static bool several_streams() noexcept {
        return several_.load(std::memory_order_relaxed);
    }
    /// Commands of one stream overlap: from now on, several_streams() is true.
    static void note_overlap() noexcept { several_ = true; }
    /// The address of the byte with this answer, for the code of kernels.
    [[nodiscard]] static std::uint64_t several_streams_flag() noexcept {
        static_assert(sizeof several_ == 1);
        return reinterpret_cast<std::uint64_t>(&several_);
    }

  private:
    static inline std::atomic<bool> several_{false};
    static constexpr std::uint32_t kNone = ~0u;
    std::uint32_t stream_ = kNone;
};

} // namespace softcuda::check
