// barriers.h -- the numbered barriers of one block, at which its warps wait for each other.
#pragma once

#include "ir/ir.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace softcuda::interpret {

/// The arrival of a warp's lanes at a barrier.
struct Arrival {
    std::uint32_t number = 0;
    std::uint32_t threads = 0; ///< threads of the barrier; 0: the whole block
    unsigned warp = 0;
    std::uint32_t lanes = 0; ///< lanes that have arrived
    std::uint32_t voters = 0,
                  votes = 0; ///< for a reducing barrier; votes: lanes whose predicate is true
};

/// Arrivals are collected by warp, because an arrival counts for the whole warp.
class Barriers {
  public:
    explicit Barriers(unsigned warps) : live_(warps, 0) {}

    void set_live(unsigned warp, std::uint32_t lanes) { live_[warp] = lanes; }
    void arrive(const Arrival &arrival);

    /// The result of a reducing barrier.
    struct Passed {
        std::uint32_t number = 0;
        unsigned voters = 0, yes = 0; ///< lanes
    };
    /// Completes a barrier at which all threads have arrived; empty if there is none.
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
