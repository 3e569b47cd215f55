// barriers.h -- the numbered barriers of one block, at which its warps wait for each other.
#pragma once

#include "ir/ir.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace softcuda::interpret {

/// What the lanes of a warp bring to a barrier.
struct Arrival {
    std::uint32_t number = 0;
    std::uint32_t threads = 0; ///< that the barrier is for; 0: the whole block
    unsigned warp = 0;
    std::uint32_t lanes = 0;             ///< that have come
    std::uint32_t voters = 0, votes = 0; ///< of a reducing barrier; votes: those that say yes
};

/// What threads bring is gathered by warp, for an arrival counts for a warp as a whole.
class Barriers {
  public:
    explicit Barriers(unsigned warps) : live_(warps, 0) {}

    void set_live(unsigned warp, std::uint32_t lanes) { live_[warp] = lanes; }
    void arrive(const Arrival &arrival);

    /// What a reducing barrier gives.
    struct Passed {
        std::uint32_t number = 0;
        unsigned voters = 0, yes = 0; ///< lanes
    };
    /// Opens a barrier for which all have come, or returns nothing.
    [[nodiscard]] std::optional<Passed> open_one();

    [[nodiscard]] static std::uint64_t result(const ir::Instruction &barrier, const Passed &passed);

  private:
    struct Waiting {
        std::uint32_t threads = 0;
        std::vector<std::uint32_t> lanes, voters, votes; ///< by warp
    };
    [[nodiscard]] bool is_complete(const Waiting &waiting) const;

    std::vector<std::uint32_t> live_; ///< by warp: the lanes that have not ended
    std::map<std::uint32_t, Waiting> waiting_;
};

} // namespace softcuda::interpret
