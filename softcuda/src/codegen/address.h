// address.h -- host addresses of the lanes of an access, by groups and offsets.
#pragma once

#include "codegen/warp_emitter.h"
#include "rt/known_ranges.h"
#include "warp/access_plan.h"

#include <cstdint>
#include <optional>

namespace softcuda::codegen {

/// The addresses that the lanes of a warp access, in the host's address space.
struct Address {
    Lanes lanes;                   ///< i64
    bool needs_check;              ///< may be any address: compare with the arena before the access
    unsigned bytes;                ///< that one lane accesses
    unsigned checked_bytes;        ///< a power of two is the alignment that is checked
    unsigned alignment = 1;        ///< shared, local: to be checked before the access
    llvm::Value *window = nullptr; ///< base of `lanes`, a pointer; null: zero
    // For divergent lanes with such addresses: `window` and `scale` times a signed <32 x i32>.
    llvm::Value *index = nullptr;
    unsigned scale = 0;
    std::optional<analysis::Range> bounds = {};         ///< warp::IndexedAddress
    std::optional<std::uint32_t> contiguous_warps = {}; ///< warp::AccessPlan
    bool generic = false;                               ///< may be in shared memory
};

/// The address operand of a load, store or atomic plus its offset attribute, in the form of its
/// plan.
[[nodiscard]] Address find_address(WarpEmitter &w, const ir::Instruction &i,
                                   const warp::AccessPlan &plan);

/// The same address without its pattern, for lanes whose quotients differ (Shape::divided).
[[nodiscard]] Address in_exact_lanes(WarpEmitter &w, const ir::Instruction &i,
                                     const warp::AccessPlan &plan, const Address &address);

/// The same address as first lanes of the groups in which its plan accesses it.
[[nodiscard]] Address in_groups(WarpEmitter &w, const Address &address,
                                const warp::AccessPlan &plan);

/// i1: the relevant lanes are at lane 0's address plus their number times the access's size.
[[nodiscard]] llvm::Value *turns_out_contiguous(WarpEmitter &w, const Address &address);
/// The same address from lane 0's, if the test above was true.
[[nodiscard]] Address as_contiguous(WarpEmitter &w, const Address &address);

/// <32 x i64>: the exact address of each lane.
[[nodiscard]] llvm::Value *all_addresses(WarpEmitter &w, const Address &address);

/// <32 x ptr>, in the form for hardware gathers: offsets from one pointer if possible.
[[nodiscard]] llvm::Value *all_pointers(WarpEmitter &w, const Address &address);

/// The active lanes, if they and the distances between their addresses are known at compile time;
/// otherwise none. Accesses to single lanes are faster than the processor's gathers and scatters,
/// and their stores can be loaded at once. If the processor gathers fast, or the code must be
/// short: only up to eight lanes.
using FewLanes = llvm::SmallVector<unsigned, kLanes>;
[[nodiscard]] FewLanes few_lanes(WarpEmitter &w, const Address &address);
/// The address of one of them, plus `extra` bytes.
[[nodiscard]] llvm::Value *lane_pointer(WarpEmitter &w, const Address &address, unsigned lane,
                                        std::int64_t extra);

/// i1: some group's first lane is outside the arena or misaligned; in shared and local memory some
/// lane is misaligned. Groups without active lanes may cause a false alarm. Null if no check is
/// needed.
[[nodiscard]] llvm::Value *is_suspect(WarpEmitter &w, const Address &address);

/// Checks that the lanes in `mask` may access their addresses, or ends the launch. Afterwards the
/// builder is after the check.
void check_address(WarpEmitter &w, const Address &address, rt::Access access);
/// The same for a suspect address.
void check_suspect(WarpEmitter &w, const Address &address, rt::Access access);
/// The same by one call, in code that must be short, before a function accesses the memory.
/// `places`: a pointer to the 32 addresses.
void check_by_call(WarpEmitter &w, const Address &address, rt::Access access, llvm::Value *places);

/// Calls a runtime function that has a variant that preserves all registers (rt/kernel_abi.h), with
/// this variant if the processor has one.
llvm::CallInst *call_rarely(WarpEmitter &w, const std::string &function,
                            llvm::ArrayRef<llvm::Value *> arguments);

/// Calls a runtime function as any other function.
llvm::CallInst *call_often(WarpEmitter &w, const std::string &function,
                           llvm::ArrayRef<llvm::Value *> arguments);

/// A pointer to the address of the first lane of group `group`.
[[nodiscard]] llvm::Value *group_pointer(WarpEmitter &w, const Address &address, unsigned group);

} // namespace softcuda::codegen
