// segment.h -- the shared memory of a communicator: who has joined, and a ring for each pair.
//
//     Head | Rank 0 .. n-1 | ring 0->0, 0->1, ... n-1->n-1
//
// A ring has one writer and one reader. Counters of bytes only grow; their difference is what lies
// in the ring. Every rank has a bell: a word that others count up when they have changed a ring
// that the rank may be waiting for, and a futex on which the rank sleeps.
//
// All of it is valid as zeros, so that it does not matter which rank makes the memory. The name is
// removed when all have joined: nothing is left behind by processes that die.
#pragma once

#include "nccl_api.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace softnccl {

/// A process and when it started: a number alone comes back.
struct ProcessId {
    std::int64_t pid = 0;
    std::uint64_t started = 0;

    static ProcessId own();
    /// False for one that has ended, though nobody may have waited for it yet.
    [[nodiscard]] bool is_alive() const;
};

class Segment {
  public:
    /// Joins the others. Throws Failure where the rank is taken, or the sizes differ.
    Segment(const ncclUniqueId &id, int ranks, int rank);
    ~Segment();
    Segment(const Segment &) = delete;
    Segment &operator=(const Segment &) = delete;

    [[nodiscard]] int ranks() const noexcept { return ranks_; }
    [[nodiscard]] int rank() const noexcept { return rank_; }
    [[nodiscard]] int joined() const noexcept;
    /// To be called when all have joined, or nobody is waited for any more.
    void remove_name() noexcept;

    /// Bytes written to, or read from, a ring: as many as there is room for, or as there are.
    std::size_t write(int to, const void *from, std::size_t bytes) noexcept;
    std::size_t read(int from, void *to, std::size_t bytes) noexcept;
    /// Whether anything lies in the ring from that rank.
    [[nodiscard]] bool has_data(int from) const noexcept;

    /// This rank's bell. A change of a ring after it was read is never missed by sleep().
    [[nodiscard]] std::uint32_t bell() const noexcept;
    /// Sleeps until the bell is another number, a few milliseconds at most.
    void sleep(std::uint32_t heard) const noexcept;
    void ring_all() noexcept;

    /// Why nobody can go on; "" while everybody can. The first reason stays.
    void fail(const std::string &reason) noexcept;
    [[nodiscard]] bool has_failed() const noexcept;
    [[nodiscard]] std::string failure() const;

    /// Notes that this rank will do nothing any more.
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

/// A new id, which no other has.
[[nodiscard]] ncclUniqueId make_unique_id();

} // namespace softnccl
