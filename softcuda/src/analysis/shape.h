// shape.h -- how a value varies over the lanes of a warp, and where control flow diverges.
//
// A warp's 32 lanes are divided into equal groups. In a group, a value is a *base*, which is the
// value of the group's first lane, plus a constant offset for each lane. This description includes
// several known classes:
//
//     groups  offsets           lanes                             called
//     1       none              b b b b b b b b                   uniform
//     1       0 4 8 12 ...      b b+4 b+8 b+12 ...                affine, contiguous for floats
//     1       0 1 .. 15 0 1 ..  threadIdx.x of a 16-wide block    a pattern
//     2       none              b0 b0 ... b1 b1 ...               row * width in a 16-wide block
//     2       0 1 .. 15         b0 b0+1 ... b1 b1+1 ...           row * width + column
//     32      none              anything                          divergent
//
// Generated code computes only the bases (a scalar, or a short vector) and adds the offsets if an
// operation needs all lanes; a memory access whose offsets are contiguous is one vector load a
// group.
#pragma once

#include "analysis/cfg.h"
#include "analysis/range.h"
#include "ir/ir.h"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace softcuda::analysis {

inline constexpr unsigned kLanes = 32;

/// The known alignment of local addresses: the local memory of a thread, and the part of a called
/// function, start at multiples of 2^4 bytes.
inline constexpr std::uint8_t kLocalAlign = 4;

/// Offsets of the lanes from the first lane of their group, modulo 2^64.
using LanePattern = std::array<std::int64_t, kLanes>;

struct Shape {
    std::uint8_t groups = 0; ///< 1 2 4 8 16 32; 0: not yet reached by a value
    /// For integers: the base of every group is a multiple of 2^align; 64 if it is known to be 0.
    std::uint8_t align = 0;
    /// The offsets are valid unless the value wrapped when it was widened, or a quotient changed
    /// within a group, which code tests at run time. Never true for 32 groups, whose bases are the
    /// lanes.
    bool checked = false;
    /// Of a checked value: lanes of a division, or computed from them. If the quotient changes
    /// within a group, the lanes differ from the pattern by any number; lanes that wrapped when
    /// they were widened differ by multiples of 2^32.
    bool divided = false;
    const LanePattern *offsets = nullptr; ///< null: all zero

    [[nodiscard]] bool known() const { return groups != 0; }
    [[nodiscard]] bool uniform() const { return groups == 1 && !offsets && !checked; }
    [[nodiscard]] bool divergent() const { return groups == kLanes; }
    [[nodiscard]] unsigned group_size() const { return kLanes / groups; }
    [[nodiscard]] std::int64_t offset(unsigned lane) const {
        return offsets ? (*offsets)[lane] : 0;
    }
    friend bool operator==(const Shape &, const Shape &) = default;
};

/// Stores each distinct pattern once, so that equal patterns have equal addresses.
class PatternTable {
  public:
    /// Null for the pattern that is zero everywhere.
    const LanePattern *intern(const LanePattern &pattern);

  private:
    std::map<LanePattern, LanePattern> patterns_;
};

/// The value with more, smaller groups.
[[nodiscard]] Shape refine(const Shape &shape, unsigned groups, PatternTable &patterns);
/// The value with groups so small that all offsets are zero.
[[nodiscard]] Shape flatten(const Shape &shape, PatternTable &patterns);

/// Result of the analysis for one function and launch shape.
struct Divergence {
    std::vector<Shape> shapes;          ///< by Value::id
    std::vector<bool> divergent_branch; ///< by Block::id: its lanes may branch to different targets
    std::vector<bool>
        divergent_join; ///< lanes may come from different predecessors at the same time
    std::vector<bool> divergent_loop; ///< by loop: lanes may leave in different iterations
    PatternTable patterns;

    [[nodiscard]] const Shape &of(const ir::Value *value) const { return shapes[value->id]; }
};

/// Whether the lanes of a warp run the program together or independently. If independently, every
/// value that is not a pure function of the launch and the lane may differ between lanes.
enum class LaneOrder { Together, Independent };

/// `ranges` is the result of find_ranges() for the function.
[[nodiscard]] Divergence find_divergence(const ir::Function &function, const LaunchShape &launch,
                                         const std::vector<Range> &ranges, const LoopForest &loops,
                                         const DominatorTree &post_dominators,
                                         LaneOrder order = LaneOrder::Together);

} // namespace softcuda::analysis
