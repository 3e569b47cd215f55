// segment.h -- the shared memory of a communicator: the ranks that have joined, and a ring buffer
// for each pair.
//
//     Head | Rank 0 .. n-1 | ring 0->0, 0->1, ... n-1->n-1
//
// A ring has one writer and one reader. Counters of bytes only grow; their difference is the number
// of bytes in the ring. Every rank has a bell: a counter that others increment after they have
// changed a ring for which the rank may be waiting, and a futex on which the rank sleeps.
//
// Zeros are a valid state, so any rank may create the memory. The name is removed after all ranks
// have joined, so no file remains if a process crashes.
#pragma once

#include "nccl_api.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace softnccl {

/// A process number and the process's start time, because process numbers are reused.
struct ProcessId {
    std::int64_t pid = 0;
    std::uint64_t started = 0;

    static ProcessId own();
    /// False for a process that has ended, even if its parent has not waited for it.
    [[nodiscard]] bool is_alive() const;
};

class Segment {
  public:
    /// Joins the communicator. Throws Failure if the rank is taken, or if the sizes differ.
    Segment(const ncclUniqueId &id, int ranks, int rank);
    ~Segment();
    Segment(const Segment &) = delete;
    Segment &operator=(const Segment &) = delete;

    [[nodiscard]] int ranks() const noexcept { return ranks_; }
    [[nodiscard]] int rank() const noexcept { return rank_; }
    [[nodiscard]] int joined() const noexcept;
    /// Call it when all ranks have joined, or when no rank waits any more.
    void remove_name() noexcept;

    /// Writes bytes to a ring or reads them from a ring: as many as fit, or as are available.
    std::size_t write(int to, const void *from, std::size_t bytes) noexcept;
    std::size_t read(int from, void *to, std::size_t bytes) noexcept;
    /// Whether the ring from that rank contains bytes.
    [[nodiscard]] bool has_data(int from) const noexcept;

    /// This rank's bell. sleep() does not miss a change of a ring after the bell was read.
    [[nodiscard]] std::uint32_t bell() const noexcept;
    /// Sleeps until the bell differs from `heard`, a few milliseconds at most.
    void sleep(std::uint32_t heard) const noexcept;
    void ring_all() noexcept;

    /// The reason why no rank can continue; "" if there is none. The first reason is kept.
    void fail(const std::string &reason) noexcept;
    [[nodiscard]] bool has_failed() const noexcept;
    [[nodiscard]] std::string failure() const;

    /// Records that this rank makes no more calls.
    void leave() noexcept;
    [[nodiscard]] bool has_left(int rank) const noexcept;
    [[nodiscard]] bool is_alive(int rank) const;
    [[nodiscard]] std::int64_t process_of(int rank) const noexcept;

  private:
    struct Head;
    struct Rank;
    struct Ring;
    [[nodiscard]] Head &head() const noexcept;
    [[nodiscard]] Rank &of_rank(int rank) const noexcept;
    [[nodiscard]] Ring &ring(int from, int to) const noexcept;
    void ring_bell(int rank) const noexcept;

    std::string name_;
    int ranks_, rank_;
    std::size_t capacity_, bytes_;
    std::byte *memory_ = nullptr;
};

/// A new, unique id.
[[nodiscard]] ncclUniqueId make_unique_id();

} // namespace softnccl
