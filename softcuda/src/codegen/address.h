// address.h -- where an access goes: host addresses of the lanes, by groups and offsets.
#pragma once

#include "codegen/warp_emitter.h"
#include "warp/access_plan.h"

namespace softcuda::codegen {

/// The addresses that the lanes of a warp access, in the host's address space.
struct Address {
    Lanes lanes;                   ///< i64
    bool needs_check;              ///< may be anywhere: compare with the arena before the access
    unsigned bytes;                ///< that one lane accesses
    unsigned alignment = 1;        ///< shared, local: to be asked for before the access
    llvm::Value *window = nullptr; ///< what `lanes` count from, a pointer; null: from zero
    // Of divergent lanes, if they are that: `window` and `scale` times a signed <32 x i32>.
    llvm::Value *index = nullptr;
    unsigned scale = 0;
};

/// The address operand of a load, store or atomic plus its offset attribute, as its plan says.
[[nodiscard]] Address find_address(WarpEmitter &w, const ir::Instruction &i,
                                   const warp::AccessPlan &plan);

/// The same address by first lanes of the groups in which its plan accesses it.
[[nodiscard]] Address in_groups(WarpEmitter &w, const Address &address,
                                const warp::AccessPlan &plan);

/// i1: the lanes that matter are at lane 0's place plus their number times the access's size.
[[nodiscard]] llvm::Value *turns_out_contiguous(WarpEmitter &w, const Address &address);
/// The same address by lane 0's, where it has turned out so.
[[nodiscard]] Address as_contiguous(WarpEmitter &w, const Address &address);

/// <32 x i64>: the exact address of each lane.
[[nodiscard]] llvm::Value *all_addresses(WarpEmitter &w, const Address &address);

/// <32 x ptr>, in the form that hardware gathers want: offsets from one pointer where possible.
[[nodiscard]] llvm::Value *all_pointers(WarpEmitter &w, const Address &address);

/// The active lanes, if it is known now which they are and how far apart their places lie, and they
/// are a few; else none. Accesses to single ones are quicker than the processor's gathers and
/// scatters, and what they store can be loaded at once.
inline constexpr unsigned kFewLanes = 8;
using FewLanes = llvm::SmallVector<unsigned, kFewLanes>;
[[nodiscard]] FewLanes few_lanes(WarpEmitter &w, const Address &address);
/// The place of one of them, `extra` bytes on.
[[nodiscard]] llvm::Value *lane_pointer(WarpEmitter &w, const Address &address, unsigned lane,
                                        std::int64_t extra);

/// i1: some group's first lane is out of the arena or misaligned; in shared and local memory some
/// lane is misaligned. Groups without active lanes may raise it in vain. Null where no check is
/// needed.
[[nodiscard]] llvm::Value *is_suspect(WarpEmitter &w, const Address &address);

/// Makes sure that the lanes in `mask` may access their places, or ends the launch. The builder is
/// behind the check afterwards. `access` is an rt::Access.
void check_address(WarpEmitter &w, const Address &address, unsigned access);

/// Calls a runtime function that has a form which preserves all registers (rt/kernel_abi.h), by
/// that form if there is one for the processor.
llvm::CallInst *call_rarely(WarpEmitter &w, const std::string &function,
                            llvm::ArrayRef<llvm::Value *> arguments);

/// A pointer to the place of the first lane of group `group`.
[[nodiscard]] llvm::Value *group_pointer(WarpEmitter &w, const Address &address, unsigned group);

} // namespace softcuda::codegen
