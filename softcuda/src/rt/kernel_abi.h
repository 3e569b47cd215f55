// kernel_abi.h -- the contract between generated code and the runtime that calls it.
//
// A kernel is compiled, for one block shape or for many, into a function that runs a range of
// thread blocks, or one that runs a single warp; which of them depends on its tier:
//
//     Regions          entry(frame, worker, first_block, block_count)
//     Fibers, Lanes    entry(frame, worker, block, warp)    on its own stack; yields to other warps
//                                                           in scu_barrier and scu_yield
//
// `frame` is shared, read-only, by all workers of one launch; `worker` belongs to the calling
// thread alone (Regions), or to one block (Fibers, Lanes). Generated code reads both by the offsets
// of their members, so the order here is part of the key under which objects are cached on disk
// (`kKernelAbiVersion`).
#pragma once

#include "rt/known_ranges.h"

#include <cstddef>
#include <cstdint>

namespace softcuda::rt {

/// Raised whenever a struct in this file or the meaning of a runtime function changes.
inline constexpr uint32_t kKernelAbiVersion = 19;

inline constexpr unsigned kWarpSize = 32;

/// One launch, as generated code sees it.
struct LaunchFrame {
    const std::byte *params;      ///< packed kernel parameters, laid out as PTX lays them out
    const std::uint64_t *symbols; ///< address of each module-level .global/.const variable
    std::uint64_t global_base;    ///< start of the arena that holds all device memory
    std::uint64_t global_size;    ///< its size in bytes; an access outside takes a slow lookup
    std::uint32_t grid[3];        ///< in blocks
    std::uint32_t block[3];       ///< in threads; the shape of code that was compiled for one shape
    std::uint32_t dynamic_shared_bytes; ///< requested at the launch
    std::uint32_t device_ordinal;
    std::uint64_t grid_id;          ///< %gridid
    std::uint64_t grid_workspace;   ///< %envreg1/2: for a grid-wide barrier, else 0
    void *launch;                   ///< the runtime's own record of this launch
    std::uint32_t cluster[3];       ///< in blocks; 1 in each dimension without clusters
    std::uint32_t explicit_cluster; ///< 1: the program named the size of a cluster
    std::uint64_t graph_exec; ///< %current_graph_exec: the graph that kernels can launch, or 0
};

/// One worker thread, as generated code sees it. The windows are reserved address ranges whose
/// unused part is inaccessible. Shared and local addresses are 32-bit offsets into them, so a wrong
/// address faults and cannot access other memory.
struct WorkerState {
    std::byte *shared; ///< the block's shared memory: static variables, then the dynamic part
    /// Local memory: thread t of the block at t * local_bytes_per_thread, unless it is interleaved.
    std::byte *local;
    std::byte *scratch; ///< values that are live across block barriers; scratch_bytes, 64-aligned
    std::uint32_t worker_id;    ///< %smid
    std::uint32_t worker_count; ///< %nsmid
    std::uint64_t block_index; ///< linear index of the block being run, for reports; code stores it
    std::uint32_t barrier_sum; ///< bar.red: the sum over the warps that have arrived
    std::uint32_t
        barrier_result;       ///< bar.red: the sum of the whole block, after all warps have arrived
    std::uint32_t warp_index; ///< the running warp, for reports; code stores it before it may fault
    void *resident; ///< the runtime's record of the block, in the tiers that run warps as fibers
    void *watch;    ///< the block's rt::BlockWatch, if the kernel is checked
    void *counter;  ///< the block's rt::BlockCounter, if the kernel is profiled
    /// The most neighbouring blocks that code with block groups runs together, row by row.
    std::uint32_t group_blocks;
    KnownRanges known;
};

/// For scu_runtime_call: the distance from one operand or result to the next, in bytes.
inline constexpr std::uint32_t kRuntimeCell = 32 * 8;

/// For scu_pause: the work of calls after which other warps run.
inline constexpr std::uint32_t kPause = 256;

/// How a kernel is run (docs/tiers.md).
enum class Tier : std::uint8_t { Regions, Fibers, Lanes };

using KernelEntry = void (*)(const LaunchFrame *, WorkerState *, std::uint64_t first_block,
                             std::uint64_t block_count);
using WarpEntry = void (*)(const LaunchFrame *, WorkerState *, std::uint64_t block,
                           std::uint32_t warp);

/// The condition for which lanes wait at a point of the program, in the lane tier.
enum class PlaceKind : std::uint8_t {
    Plain,   ///< nothing
    Members, ///< the lanes of the member mask: an exchange within the warp
    Barrier, ///< all lanes of the warp, and then other warps
    Wait,    ///< nothing, but the lanes may be waiting for other threads: the head of such a loop
    Call,    ///< their own call of a function, in which each lane runs by itself (rt/lane_calls.h)
};

/// What lanes do when they meet at PlaceKind::Members. Lanes at several places meet if these have
/// the same operation; those at a matrix product at one place only.
enum class Exchange : std::uint8_t {
    Meet,
    ShuffleUp,
    ShuffleDown,
    ShuffleButterfly,
    ShuffleIndex,
    VoteAll,
    VoteAny,
    VoteUniform,
    Ballot,
    MatchAny,
    MatchAll,
    ReduceAdd,
    ReduceAnd,
    ReduceOr,
    ReduceXor,
    ReduceMinUnsigned,
    ReduceMinSigned,
    ReduceMaxUnsigned,
    ReduceMaxSigned,
    Elect,
    Matrix,
};

/// The places of a warp's lanes, in the lane tier. Generated code keeps it on its stack.
struct LaneState {
    std::uint32_t *waiting;        ///< by place: the lanes that are there
    std::uint32_t *since;          ///< by place: the turn in which it was last empty or run
    const std::uint8_t *kinds;     ///< by place: a PlaceKind
    const std::uint8_t *exchanges; ///< by place of PlaceKind::Members: an Exchange
    /// By place: the preemption point that it follows (transform/find_waits.h), 0: none. Of
    /// PlaceKind::Wait: the highest point in the loop.
    const std::uint8_t *points;
    std::uint32_t places;
    std::uint32_t mask; ///< the lanes whose turn it is
    std::uint32_t turn;
    std::uint32_t last_place;
    std::uint32_t rounds;  ///< turns that went backwards
    std::uint32_t waited;  ///< the lanes whose turn it was last at a place of PlaceKind::Wait
    std::uint32_t arrived; ///< at a barrier: the lanes that its arrival also stood for
    std::uint32_t barrier_result;
    std::uint32_t votes; ///< of lanes that wait at a barrier that reduces
    /// Of lanes that wait at PlaceKind::Members those that they name, at PlaceKind::Barrier the
    /// barrier's number.
    std::uint32_t members[kWarpSize];
    /// Lanes whose members have all come: their exchange is done, and they may go on.
    std::uint32_t met;
    std::uint32_t valid; ///< second results of exchanges, a bit for each lane
    /// What each lane brings to an exchange, with the lane and control operands of a shuffle, and
    /// what it gets.
    std::uint64_t sent[kWarpSize];
    std::uint32_t source[kWarpSize];
    std::uint32_t control[kWarpSize];
    std::uint64_t received[kWarpSize];
};

/// The votes of a warp's lanes at a barrier.
enum class BarrierPart : std::uint32_t { Nothing, CountOfYes, AnyYes, AnyNo };

/// The kinds of failures of a kernel.
enum class Fault : std::uint32_t {
    IllegalAddress = 1, ///< no such device memory
    MisalignedAddress,  ///< not a multiple of the access size
    Trap,               ///< `trap` or `brkpt`
    Assert,             ///< __assertfail
    BarrierMismatch,    ///< warps of one block wait at a barrier others cannot reach
    StackOverflow,
    InvalidInstruction,
    NoFunction, ///< a call through a pointer to no function
    NoTexture,  ///< the handle of no texture or surface object
};

/// The access of one lane; passed in a register.
struct LaneForm {
    std::uint16_t bytes; ///< of an element
    std::uint8_t count;  ///< elements
    LaneMemory memory;
};

/// The spaces of which generated code does not know the bounds.
enum class PointerSpace : std::uint32_t { Global, Constant, Parameters };

/// The addresses of a warp's access, stored by generated code for a check.
struct LanePlaces {
    std::int64_t offsets[kWarpSize]; ///< offsets of the lanes from a common base
    std::uint32_t bytes;             ///< accessed by one lane
    AccessSite site;
};

} // namespace softcuda::rt

// Runtime functions that generated code calls by name: plain C, so that the JIT can bind them.
extern "C" {

/// Ends the launch with `fault`; does not return to the kernel. `address` is the address of the
/// fault.
[[noreturn]] void scu_fault(softcuda::rt::WorkerState *, std::uint32_t fault, std::uint64_t address,
                            std::uint32_t lane);

/// Called when `address` is outside the arena: returns if `size` bytes from there may be accessed
/// (rt/known_ranges.h), otherwise faults. `access` is an rt::Access.
void scu_check_address(softcuda::rt::WorkerState *, const softcuda::rt::LaunchFrame *,
                       std::uint64_t address, std::uint32_t size, std::uint32_t access,
                       std::uint32_t lane);

/// As above for the lanes in `mask`, of 32, and keeps the range for the next access at this place.
void scu_check_addresses(softcuda::rt::WorkerState *, const softcuda::rt::LaunchFrame *,
                         const std::uint64_t *addresses, std::uint32_t mask, std::uint32_t size,
                         softcuda::rt::AccessSite site);

/// The same, and reads each address: a fault is then here, where the caller's line is known.
void scu_reach_addresses(softcuda::rt::WorkerState *, const softcuda::rt::LaunchFrame *,
                         const std::uint64_t *addresses, std::uint32_t mask, std::uint32_t size,
                         softcuda::rt::AccessSite site);

/// As above for the lanes in `mask` at base + places.offsets[lane].
void scu_check_places(softcuda::rt::WorkerState *, const softcuda::rt::LaunchFrame *,
                      std::uint64_t base, const softcuda::rt::LanePlaces *places,
                      std::uint32_t mask);

/// The lanes in `mask` whose generic address, of 32, is in `space`, a PointerSpace.
std::uint32_t scu_is_space(softcuda::rt::WorkerState *, const softcuda::rt::LaunchFrame *,
                           const std::uint64_t *addresses, std::uint32_t mask, std::uint32_t space);

/// Loads and stores lane by lane, and checks each address first. `values`: 32 for each element e of
/// `form`, which is at the lane's address + e * element size. Lanes outside `mask` load 0.
void scu_load_lanes(softcuda::rt::WorkerState *, const softcuda::rt::LaunchFrame *,
                    const std::uint64_t *addresses, std::uint32_t mask, softcuda::rt::LaneForm form,
                    std::byte *values);
void scu_store_lanes(softcuda::rt::WorkerState *, const softcuda::rt::LaunchFrame *,
                     const std::uint64_t *addresses, std::uint32_t mask,
                     softcuda::rt::LaneForm form, const std::byte *values);

/// The same, but they overwrite no register save the flags (target/*/preserving_calls.cpp).
void scu_check_places_preserving();
void scu_check_addresses_preserving();
void scu_load_lanes_preserving();
void scu_store_lanes_preserving();
void scu_texture_preserving();

/// CUDA's vprintf for the lanes in `mask`, in lane order. formats/arguments are generic addresses,
/// 32 of each; results (the number of arguments, -1 for a bad format) go to `results`.
void scu_vprintf(softcuda::rt::WorkerState *, const softcuda::rt::LaunchFrame *,
                 const std::uint64_t *formats, const std::uint64_t *arguments, std::uint32_t mask,
                 std::int32_t *results);

/// __assertfail for the first lane in `mask`, of 32: prints CUDA's line and faults.
void scu_assertfail(softcuda::rt::WorkerState *, const softcuda::rt::LaunchFrame *,
                    const std::uint64_t *messages, const std::uint64_t *files,
                    const std::uint32_t *lines, const std::uint64_t *functions, std::uint32_t mask);

/// Device-side malloc and free for each lane in `mask`; 0 if the heap is exhausted.
void scu_malloc(softcuda::rt::WorkerState *, const softcuda::rt::LaunchFrame *,
                const std::uint64_t *sizes, std::uint32_t mask, std::uint64_t *results);
void scu_free(softcuda::rt::WorkerState *, const softcuda::rt::LaunchFrame *,
              const std::uint64_t *pointers, std::uint32_t mask);

// Functions in which the warp of a fiber yields to others. `place` is the point of the program.

/// Waits at barrier `number` of the block until `threads` threads have arrived (0: all of the
/// block; else a multiple of the warp size). Each arrival counts for a whole warp. Returns the sum
/// of all their values of `part`.
std::uint32_t scu_barrier(softcuda::rt::WorkerState *, std::uint32_t number, std::uint32_t threads,
                          std::uint32_t part, const char *place);

/// Arrives like scu_barrier, but does not wait.
void scu_barrier_arrive(softcuda::rt::WorkerState *, std::uint32_t number, std::uint32_t threads,
                        const char *place);

/// Yields to other warps: called in loops that wait for a change of memory.
void scu_yield(softcuda::rt::WorkerState *);

/// Lets other warps run when rt::kPause is reached by the sum of `work`: called after many
/// iterations of a loop whose trip count is not bounded, and in functions that call functions.
void scu_pause(softcuda::rt::WorkerState *, std::uint32_t work);

/// A preemption point: yields to other warps if this point is the current yield point.
void scu_preempt(softcuda::rt::WorkerState *, std::uint32_t point);

/// Chooses the warp's next place and its lanes there; LaneState::places if all lanes have ended.
std::uint32_t scu_next_place(softcuda::rt::WorkerState *, softcuda::rt::LaneState *);

/// scu_barrier for some lanes of a warp whose lanes all wait at barriers: the warp arrives once at
/// each barrier, with the votes of all its lanes. `part` is a BarrierPart.
std::uint32_t scu_lane_barrier(softcuda::rt::WorkerState *, softcuda::rt::LaneState *,
                               std::uint32_t number, std::uint32_t threads, std::uint32_t part,
                               const char *place);
void scu_lane_barrier_arrive(softcuda::rt::WorkerState *, softcuda::rt::LaneState *,
                             std::uint32_t number, std::uint32_t threads, const char *place);

/// A TextureOperation, given as its number, for the lanes in `mask`. `handles` has 32 entries, and
/// so has each array of operands and results, of elements as wide as the instruction's.
void scu_texture(std::uint32_t operation, std::uint32_t mask, const std::uint64_t *handles,
                 const void *const *operands, void *const *results);
/// The rt::SurfaceView (rt/texture.h) of any number: the same during a launch.
const void *scu_surface(std::uint64_t handle) noexcept;

/// A RuntimeOperation for the lanes in `mask`. `cells` holds the operands, then room for the
/// results, kRuntimeCell apart: an array of 32 of each, of elements as wide as they are. `sites`:
/// null, or three softcuda::rt::WatchSite, of the load, the store and the atomic that it may be.
void scu_runtime_call(softcuda::rt::WorkerState *, const softcuda::rt::LaunchFrame *, void *sites,
                      std::uint32_t operation, std::uint32_t mask, std::byte *cells);

/// Nanoseconds since an arbitrary point (%globaltimer), and a yield of the processor (nanosleep).
std::uint64_t scu_globaltimer();
void scu_nanosleep(std::uint32_t nanoseconds);
}
