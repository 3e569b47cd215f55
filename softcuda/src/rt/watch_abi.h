// watch_abi.h -- the part of the contract of kernel_abi.h that concerns checked kernels: what they
// tell of, and by which functions.
#pragma once

#include "rt/kernel_abi.h"

namespace softcuda::rt {

/// Where a checked access goes, as far as that is known when it is compiled.
enum class WatchSpace : std::uint32_t { Generic, Global, Shared, Local };
/// What is done there.
enum class WatchKind : std::uint32_t { Load, Store, Atomic, Free, Meeting, Barrier };
/// How far a fence, or an access that synchronises, reaches.
enum class WatchScope : std::uint32_t { Block, Device };

/// A place in the program that is checked; lies in the generated code's data.
struct WatchSite {
    const char *file;  ///< of the source
    const char *array; ///< the variable of shared or local memory that it means; null: not known
    std::uint64_t array_begin, array_end; ///< the variable's bytes, from the window's begin
    std::uint32_t line;
    WatchKind kind;
    WatchSpace space;
    std::uint32_t bytes; ///< of an element
    std::uint32_t count; ///< elements that each lane accesses
    WatchScope scope;
    /// It is atomic, volatile or ordered: others may do so at once. Of meetings and barriers: the
    /// lanes that come are all here.
    std::uint32_t strong;
    std::uint32_t acquire; ///< it orders what comes after it
    std::uint32_t release; ///< and what came before
    std::uint32_t async;   ///< is there when a group of copies has been waited for
    std::uint32_t id;      ///< for who watches; 0 at first
};

/// What checked kernels tell of: bits.
enum WatchNeeds : std::uint32_t {
    kWatchBounds = 1,   ///< accesses that are not within one piece of memory (WatchPiece)
    kWatchWrites = 2,   ///< and those that read bytes nobody has written
    kWatchOrder = 4,    ///< all accesses that may race, and what orders them
    kWatchMeetings = 8, ///< and which lanes come: in the tiers of fibers and lanes
};

/// A run of bytes that are one another's as far as checks know, such as an allocation. Kernels keep
/// one for each site and do not tell of accesses within. Zero at first; who watches fills it in.
struct WatchPiece {
    std::uint64_t begin;
    std::uint64_t places; ///< where accesses of the site's size may begin: bytes from `begin` on
    /// From each byte to one that says whether it has been written (0 or 255). 0: they all have.
    std::uint64_t written;
};

} // namespace softcuda::rt

extern "C" {

/// `piece`: null, or what the kernel keeps for the site.
void scu_watch_access(softcuda::rt::WorkerState *, softcuda::rt::WatchSite *, std::uint32_t mask,
                      const std::uint64_t *addresses, const std::byte *values,
                      softcuda::rt::WatchPiece *piece);
/// The same where lane i accesses `first` + i * `step`.
void scu_watch_row(softcuda::rt::WorkerState *, softcuda::rt::WatchSite *, std::uint32_t mask,
                   std::uint64_t first, std::uint64_t step, const std::byte *values);
/// A thread block begins, in the tier of regions.
void scu_watch_block(softcuda::rt::WorkerState *);
/// The present warp arrives at a barrier of the block, in the tier of regions.
void scu_watch_arrival(softcuda::rt::WorkerState *);
/// Those that have arrived pass it. `all`: that is all of the block's warps, and none has told so.
void scu_watch_pass(softcuda::rt::WorkerState *, std::uint32_t all);
void scu_watch_fence(softcuda::rt::WorkerState *, std::uint32_t scope, std::uint32_t mask);
void scu_watch_meeting(softcuda::rt::WorkerState *, softcuda::rt::WatchSite *, std::uint32_t mask,
                       const std::uint32_t *members, const std::uint32_t *sources);
void scu_watch_copies(softcuda::rt::WorkerState *, std::uint32_t groups_left);
void scu_watch_barrier(softcuda::rt::WorkerState *, softcuda::rt::WatchSite *, std::uint32_t mask);

} // extern "C"
