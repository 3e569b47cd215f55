// watch_abi.h -- the part of kernel_abi.h for checked kernels: the events that they report, and the
// functions that they call.
#pragma once

#include "rt/kernel_abi.h"

namespace softcuda::rt {

/// The state space of a checked access, as known at compile time.
enum class WatchSpace : std::uint32_t { Generic, Global, Shared, Local };
/// The kind of the access.
enum class WatchKind : std::uint32_t { Load, Store, Atomic, Free, Meeting, Barrier };
/// The scope of a fence or of a synchronising access, from narrow to wide.
enum class WatchScope : std::uint32_t { Block, Cluster, Device };

/// A site: a checked point of the program. Stored in the data of the generated code.
struct WatchSite {
    const char *file;                     ///< of the source
    const char *array;                    ///< the variable in shared or local memory; null: unknown
    std::uint64_t array_begin, array_end; ///< the range of the variable in the window
    /// The slots of the kernel's parameters with the pointers through which the kernel writes, one
    /// bit each; all bits: unknown. A slot is 8 bytes of the parameters.
    std::uint64_t written_slots;
    std::uint32_t line;
    WatchKind kind;
    WatchSpace space;
    std::uint32_t bytes; ///< of an element
    std::uint32_t count; ///< elements for each lane
    /// The elements up to the last one that the program uses. A compiler may load more elements
    /// than the program has: three adjacent words as four.
    std::uint32_t used;
    /// Of a load: the bytes of a lane that the program computes with, one bit each. Other bytes are
    /// only copied.
    std::uint32_t computed;
    WatchScope scope;
    /// For accesses: atomic, volatile or ordered, so concurrent accesses of this kind are allowed.
    /// For exchanges and barriers: all lanes of the warp take part.
    std::uint32_t strong;
    std::uint32_t scoped;  ///< a strong access that is not volatile: atomic, relaxed, acquire ...
    std::uint32_t acquire; ///< the access has acquire semantics
    std::uint32_t release; ///< the access has release semantics
    std::uint32_t async;   ///< the access completes when the warp has waited for a group of copies
    /// Of a plain load: 1 + the slot of the pointer through which it reads; 0: unknown.
    std::uint32_t read_slot;
    std::uint32_t id; ///< a number for the watch; 0 at first
};

/// The events that checked kernels report, as bits.
enum WatchNeeds : std::uint32_t {
    kWatchBounds = 1, ///< accesses that are not inside one piece of memory (WatchPiece)
    kWatchWrites = 2, ///< also reads of unwritten bytes
    kWatchOrder = 4,  ///< all accesses that may race, and the operations that order them
    kWatchMeetings =
        8, ///< also the lanes that take part in exchanges: in the tiers of fibers and lanes
};

/// A range of memory in which all accesses are valid, such as an allocation. Kernels keep one for
/// each site, and do not report accesses inside it. Zero at first; the watch fills it in. If a
/// kernel reports the order of its accesses: memory that the launch does not write, for reads.
struct WatchPiece {
    std::uint64_t begin;
    std::uint64_t places; ///< the number of valid first addresses of an access of the site's size,
                          ///< from `begin` on
    /// The distance from each byte to its flag, which is 255 if the byte was written, else 0. A
    /// distance of 0: all bytes were written. For the order of accesses: the address of the
    /// launch's ReadRecord.
    std::uint64_t written;
};

/// Where a launch records its reads of memory that it does not write (check/unwritten_memory.h).
/// The WatchPiece of such a read has the address of this record in `written`.
struct ReadRecord {
    /// The address of the entry of the line of 128 bytes at address 0, if there were one; entries
    /// are ReadEntry. 0: the reads are not recorded.
    std::uint64_t entries;
    std::uint64_t whole;   ///< ReadEntry::words if the launch has read all words of the line
    std::uint64_t several; ///< the address of a byte; not 0: report all reads
};
/// The latest launch that has read words of a line of 128 bytes, and one of its threads.
struct ReadEntry {
    std::uint64_t words;  ///< the number of the launch, and in the low half one bit for each word
    std::uint64_t reader; ///< block, site, warp and lane: 32, 22, 5 and 5 bits
};

} // namespace softcuda::rt

extern "C" {

/// `piece`: null, or the kernel's cache for the site.
void scu_watch_access(softcuda::rt::WorkerState *, softcuda::rt::WatchSite *, std::uint32_t mask,
                      const std::uint64_t *addresses, const std::byte *values,
                      softcuda::rt::WatchPiece *piece);
/// As above if lane i accesses `first` + i * `step`.
void scu_watch_row(softcuda::rt::WorkerState *, softcuda::rt::WatchSite *, std::uint32_t mask,
                   std::uint64_t first, std::uint64_t step, const std::byte *values,
                   softcuda::rt::WatchPiece *piece);
/// As scu_texture (kernel_abi.h), in a kernel that reports the order of its accesses. `sites`: of
/// loads, stores and atomics.
void scu_watch_texture(softcuda::rt::WorkerState *, softcuda::rt::WatchSite *sites,
                       std::uint32_t operation, std::uint32_t mask, const std::uint64_t *handles,
                       const void *const *operands, void *const *results);
/// A thread block begins, in the tier of regions.
void scu_watch_block(softcuda::rt::WorkerState *);
/// The current warp arrives at a barrier of the block, in the tier of regions.
void scu_watch_arrival(softcuda::rt::WorkerState *);
/// The arrived warps pass the barrier. `all`: all warps of the block pass it, and none has reported
/// its arrival.
void scu_watch_pass(softcuda::rt::WorkerState *, std::uint32_t all);
void scu_watch_fence(softcuda::rt::WorkerState *, std::uint32_t scope, std::uint32_t mask);
void scu_watch_meeting(softcuda::rt::WorkerState *, softcuda::rt::WatchSite *, std::uint32_t mask,
                       const std::uint32_t *members, const std::uint32_t *sources);
void scu_watch_copies(softcuda::rt::WorkerState *, std::uint32_t groups_left, std::uint32_t mask);
void scu_watch_barrier(softcuda::rt::WorkerState *, softcuda::rt::WatchSite *, std::uint32_t mask);

} // extern "C"
