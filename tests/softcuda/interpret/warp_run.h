// warp_run.h -- the execution of one warp through a plan.
#pragma once

#include "interpret/barriers.h"
#include "interpret/check_claims.h"
#include "interpret/lane_positions.h"
#include "interpret/run_warps.h"

#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace softcuda::interpret {

/// A plan with data that is derived from it once for all warps.
struct CheckedPlan {
    const warp::KernelPlan *plan = nullptr;
    Claims claims;
    std::vector<bool> partly_undefined; ///< by Value::id: a phi that some edge leaves as it is

    explicit CheckedPlan(const warp::KernelPlan &of);
};
using CheckedPlans = std::map<const warp::KernelPlan *, CheckedPlan>;

/// The state that the warps of a block share in addition to memory: values that are stored once for
/// all warps. Values that warps store in a region are available in the next region.
struct BlockValues {
    std::map<std::uint32_t, LaneValues> now, next; ///< by Value::id
    void publish();
};

/// The state that a warp loses at a barrier between regions.
struct WarpMemory {
    std::vector<LaneValues> values;                  ///< by Value::id
    std::vector<bool> lost;                          ///< by Value::id
    std::vector<std::optional<std::uint32_t>> masks; ///< by Block::id
    std::vector<std::uint32_t> arrivals;             ///< by Block::id
};

class WarpRun {
  public:
    enum class Status { Ready, AtBarrier, Ended };

    WarpRun(const WarpProgram &program, const CheckedPlans &plans, Launch &launch,
            BlockMemory &memory, BlockValues &shared, unsigned warp);

    /// Runs until the warp waits or ends, until it gives way at some preemption point, or until
    /// `left` instructions are over.
    void run(std::uint64_t &left);
    /// Ends the wait at a barrier. In the tier of regions, the warp enters the region after the
    /// barrier.
    void pass(const Barriers::Passed &passed);
    /// For a warp that skips a region without effect: it continues in the region that the other
    /// warps have reached.
    void follow(const WarpRun &other);

    [[nodiscard]] Status status() const { return status_; }
    [[nodiscard]] const Arrival &arrival() const { return arrival_; }
    /// At a barrier at which it does not wait.
    [[nodiscard]] bool arrives_only() const { return barrier_->is(ir::Opcode::BarrierArrive); }
    [[nodiscard]] unsigned region() const { return region_; }
    [[nodiscard]] std::uint32_t active() const { return active_; }

  private:
    struct Frame {
        const CheckedPlan *checked = nullptr;
        const ir::Block *block = nullptr;
        std::size_t next = 0; ///< instruction
        std::uint32_t lanes = 0, active = 0;
        std::uint64_t depth = 0; ///< the offset of the function's local variables
        std::uint64_t taken = 0; ///< the largest end of a lane's allocas
        WarpMemory now, kept;
        /// Values of this basic block or place that code does not keep for others, by Value::id.
        std::vector<std::uint32_t> here;
        std::vector<LaneValues> results; ///< of a function
        std::uint32_t ended = 0;         ///< lanes that have ended in it
        // In the tier lanes:
        std::optional<LanePositions> positions;
        const warp::Place *place = nullptr;

        [[nodiscard]] const warp::KernelPlan &plan() const { return *checked->plan; }
    };

    [[nodiscard]] Frame &frame() { return frames_.back(); }
    [[nodiscard]] ActiveLanes here() { return {frame().lanes, warp_}; }
    [[noreturn]] void wrong(const std::string &what);

    void start(const CheckedPlan &checked, std::uint32_t active, std::uint64_t depth);
    void step();
    void enter(const ir::Block *block);
    void start_waiting(const ir::Block *block);
    std::uint32_t arrive(const ir::Block *block);
    void leave();
    void leave_together(const warp::BlockFlow &flow);
    std::vector<std::uint32_t> lanes_by_successor();
    std::vector<std::uint32_t> take_edges(const warp::BlockFlow &flow);
    std::size_t common_successor();
    using Copies = std::vector<std::pair<const warp::Join *, LaneValues>>;
    Copies read_edge(const warp::Edge &edge, std::uint32_t lanes);
    void take(const warp::Edge &edge, std::uint32_t lanes, const Copies &copies);
    void check_phis(const ir::Block *block);
    void forget_here();
    void finish();

    // lane_run.cpp
    void next_place();
    void wait_at_next_place();
    void leave_place();
    void pass_barrier(const ir::Instruction &barrier);

    LaneValues read(const ir::Value *value);
    LaneValues compute_again(const ir::Value *value);
    void define(const ir::Instruction &i, std::vector<LaneValues> results);
    void run_own(const ir::Instruction &i);
    void run_exchange(const ir::Instruction &i);
    void run_barrier(const ir::Instruction &i);
    void call(const ir::Instruction &i);
    void store_results(const ir::Instruction &end);

    [[nodiscard]] WarpMemory empty(const warp::KernelPlan &plan, bool lost) const;
    void keep(const warp::RegionEnd &end);
    void enter_region();

    const WarpProgram &program_;
    const CheckedPlans &plans_;
    Launch &launch_;
    BlockMemory &memory_;
    BlockValues &shared_;
    unsigned warp_;
    std::uint32_t active_ = 0;
    std::vector<Frame> frames_;
    Status status_ = Status::Ready;
    Arrival arrival_;
    const ir::Instruction *barrier_ = nullptr; ///< at which it waits
    unsigned region_ = 0;
    std::mt19937 random_;
    bool yields_ = false;
};

} // namespace softcuda::interpret
