// access_plan.h -- how a warp accesses memory: decided once for each access, only from shapes.
//
//     uniform       all lanes access one place        one scalar access
//     contiguous    a group's lanes, adjacent places  one vector access a group, under the mask
//     grouped       a few groups, one place each      a few scalar loads; of loads only
//     windowed      places close together             some wide accesses and permutations
//     scattered     offsets from a base known now     a gather or scatter with constant offsets
//     tested        anything                          contiguous if that turns out, packed if the
//                                                     active lanes store without gaps, else a
//                                                     gather
//
// A vector access of PTX (.v2, .v4) is one access with several elements for each lane. Code
// generation executes the plans without further decisions of this kind.
#pragma once

#include "analysis/shape.h"
#include "analysis/thread_values.h"
#include "ir/ir.h"
#include "warp/find_indices.h"
#include "warp/plan_prefetch.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace softcuda::warp {

struct KernelPlan;

/// The properties of the processor on which plans depend.
struct Machine {
    bool permutes_words = true;  ///< any permutation of the words of a register
    unsigned vector_bits = 256;  ///< of the largest register
    bool fast_gather = false;    ///< a gather takes less time than a load for each lane
    bool cheap_masks = false;    ///< an access under a mask costs no more than one of all lanes
    bool narrow_windows = false; ///< rt/windows.h
};

enum class AccessMethod : std::uint8_t {
    Uniform,
    Contiguous,
    Grouped,
    Windowed,
    Scattered,
    Tested
};

/// The test before an access.
enum class Check : std::uint8_t {
    None,      ///< known to be valid, or memory that faults by itself
    Alignment, ///< whether the address is a multiple of AccessPlan::alignment
    Range,     ///< whether the address is in the arena of device memory, and aligned
};

/// The offsets of a group's lanes: the address of lane i is base + first + index[i] * bytes.
///
///     x[2 * lane]     a . b . c . d .     length 2 * lanes - 1
///     x[lane ^ 1]     b a d c             length lanes
struct StridedWindow {
    std::int64_t first = 0; ///< bytes
    unsigned length = 0;    ///< elements, including gaps
    std::vector<unsigned> index;
};

/// Offsets of the first lanes of a block's warps: start + step * warp.
struct WarpLine {
    std::int64_t start = 0, step = 0;
};

struct AccessPlan {
    unsigned bytes = 0; ///< of an element
    unsigned count = 1; ///< elements that each lane accesses
    /// Accesses of adjacent elements that this access makes, too (warp/join_loads.h): all of them,
    /// this one included, in the order of their addresses. Empty: none.
    std::vector<const ir::Instruction *> joined;
    const ir::Instruction *joined_by = nullptr; ///< the access that makes this one; null: none

    /// The shape of the address, and its shape with as few groups as make it contiguous or grouped.
    analysis::Shape shape, grouped;
    AccessMethod full = AccessMethod::Tested;   ///< if all lanes are active
    AccessMethod masked = AccessMethod::Tested; ///< with any other mask
    bool may_wrap =
        false; ///< the shape is valid unless an index has wrapped, which is tested at run time

    Check check = Check::None;
    unsigned alignment = 1; ///< bytes; tested before the access if it is more than 1

    std::vector<StridedWindow> windows; ///< one for each of shape's groups; empty: none
    bool windows_exist = false; ///< known that all of them are inside the kernel's variables
    IndexedAddress indexed;
    /// Of a tested access, by warp of a block: whether its lanes are contiguous, if thread indices
    /// decide it.
    std::optional<std::uint32_t> contiguous_warps;
    /// For shared memory: the offsets of the first lanes, if they are a linear function of the
    /// warp's number.
    std::optional<WarpLine> line;
    PrefetchPlan prefetch;
    /// Of a store by columns (warp/column_stores.h): the bytes from a row of threads to the next
    /// one. 0: not such a store.
    std::int64_t row_step = 0;
    /// Of shared and local memory in a kernel that reports its accesses: the variable that the
    /// address is computed from, if there is exactly one.
    const ir::LocalVariable *variable = nullptr;

    [[nodiscard]] AccessMethod method(bool mask_is_full) const {
        return mask_is_full ? full : masked;
    }
    [[nodiscard]] unsigned lane_bytes() const { return bytes * count; }
    /// Joined bytes or halves of lanes without a pattern: each lane accesses words of 4 bytes.
    [[nodiscard]] bool is_in_words() const {
        return !joined.empty() && bytes < 4 && full != AccessMethod::Contiguous;
    }
    /// Bytes whose alignment is required.
    [[nodiscard]] unsigned checked_bytes() const { return joined.empty() ? lane_bytes() : bytes; }
    /// Bytes from the address operand of `access`, which has this plan, to the first element.
    [[nodiscard]] std::int64_t offset_of(const ir::Instruction &access) const {
        return (joined.empty() ? access : *joined.front()).attributes.offset;
    }
};

/// Whether all lanes of a group access addresses near that of the first lane. Then limiting an
/// offset to a narrow window (rt/windows.h) is correct for all of them.
[[nodiscard]] bool is_near_first_lane(const analysis::Shape &shape);

/// The place of byte `offset` of a lane's local memory, from the begin of its warp's memory.
[[nodiscard]] std::int64_t place_in_warp(const KernelPlan &kernel, std::int64_t offset,
                                         unsigned lane);

/// True if offsets of this shape, plus `extra` bytes, keep their shape in local memory that is
/// interleaved in pieces of `granule` bytes: the lanes differ by whole pieces.
[[nodiscard]] bool keeps_shape(const analysis::Shape &shape, std::int64_t extra,
                               std::int64_t granule);

/// True if the lanes of each group access adjacent places of `bytes` each.
[[nodiscard]] bool is_contiguous(const analysis::Shape &shape, unsigned bytes);

/// True if the access is to static shared memory, and known to be valid, in every thread of the
/// block.
[[nodiscard]] bool is_in_static_memory(const KernelPlan &kernel, const ir::Instruction &access);

using AccessPlans = std::map<const ir::Instruction *, AccessPlan>;

/// Plans every load, store and atomic of the function. All other analyses have run.
void plan_accesses(KernelPlan &plan);

[[nodiscard]] std::string_view text(AccessMethod method);
/// `contiguous, 2 groups, check range`: the kind of the access, its groups, and its check. A window
/// is its first byte and its length in elements, and `proved` if it needs no check at run time.
[[nodiscard]] std::string to_text(const AccessPlan &plan);

} // namespace softcuda::warp
