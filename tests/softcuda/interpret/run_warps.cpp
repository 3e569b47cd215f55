// run_warps.cpp -- the warps of all blocks, in the order of their tier.
//
// In regions, all warps of a block run up to their next barriers, then all pass them. In the other
// tiers they take turns and meet at numbered barriers. All blocks of the grid are resident.
#include "interpret/run_warps.h"

#include "interpret/warp_run.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <memory>

namespace softcuda::interpret {

namespace {

constexpr std::uint64_t kWarpTurn = 100;                 ///< instructions
constexpr std::uint64_t kMostWarpInstructions = 1 << 20; ///< of the whole launch

class BlockOfWarps {
  public:
    BlockOfWarps(const WarpProgram &program, const CheckedPlans &plans, Launch &launch,
                 std::uint64_t index)
        : plan_(*program.kernel), whole_warps_(launch.threads() % kLanes == 0),
          memory_(launch, plan_.function, index, plan_.local_stride), barriers_(launch.warps()) {
        for (unsigned warp = 0; warp < launch.warps(); ++warp) {
            warps_.emplace_back(program, plans, launch, memory_, values_, warp);
            barriers_.set_live(warp, warps_.back().active());
        }
    }

    /// False if no warp could run.
    bool take_turns(std::uint64_t &left) {
        return plan_.has_regions() ? run_regions(left) : run_fibers(left);
    }

    [[nodiscard]] bool ended() const {
        return std::ranges::all_of(
            warps_, [](const WarpRun &warp) { return warp.status() == WarpRun::Status::Ended; });
    }

  private:
    bool has_effect(std::size_t warp, unsigned region) const {
        return !whole_warps_ || (plan_.regions[region].active_warps >> warp & 1) != 0;
    }

    /// All warps to their next barriers, and past these.
    bool run_regions(std::uint64_t &left) {
        Barriers::Passed passed;
        std::vector<unsigned> starts;
        for (const WarpRun &warp : warps_)
            starts.push_back(warp.region());
        for (std::size_t n = 0; n < warps_.size(); ++n) {
            WarpRun &warp = warps_[n];
            if (warp.status() != WarpRun::Status::Ready || !has_effect(n, starts[n]))
                continue;
            while (warp.status() == WarpRun::Status::Ready) {
                run(warp, left);
            }
            if (warp.status() != WarpRun::Status::AtBarrier)
                continue;
            passed.voters += static_cast<unsigned>(std::popcount(warp.arrival().voters));
            passed.yes += static_cast<unsigned>(std::popcount(warp.arrival().votes));
        }
        for (std::size_t n = 0; n < warps_.size(); ++n)
            if (warps_[n].status() == WarpRun::Status::Ready)
                follow_others(n, starts);
        values_.publish();
        for (WarpRun &warp : warps_)
            if (warp.status() == WarpRun::Status::AtBarrier)
                warp.pass(passed);
        return true;
    }

    void follow_others(std::size_t idle, const std::vector<unsigned> &starts) {
        for (std::size_t n = 0; n < warps_.size(); ++n)
            if (starts[n] == starts[idle] && has_effect(n, starts[n]))
                return warps_[idle].follow(warps_[n]);
        throw Stopped(Stop::Wrong,
                      "no warp runs region " + std::to_string(starts[idle]) + " that has to");
    }

    bool run_fibers(std::uint64_t &left) {
        bool ran = false;
        for (std::size_t n = 0; n < warps_.size(); ++n) {
            WarpRun &warp = warps_[n];
            if (warp.status() != WarpRun::Status::Ready)
                continue;
            ran = true;
            run(warp, left);
            if (warp.status() == WarpRun::Status::AtBarrier) {
                barriers_.arrive(warp.arrival());
                if (warp.arrives_only())
                    warp.pass({});
            }
            if (warp.status() == WarpRun::Status::Ended)
                barriers_.set_live(static_cast<unsigned>(n), 0);
        }
        while (const auto passed = barriers_.open_one()) {
            ran = true;
            for (WarpRun &warp : warps_)
                if (warp.status() == WarpRun::Status::AtBarrier &&
                    warp.arrival().number == passed->number)
                    warp.pass(*passed);
        }
        return ran;
    }

    static void run(WarpRun &warp, std::uint64_t &left) {
        if (left == 0)
            refuse("more instructions than the interpreter's limit");
        std::uint64_t turn = std::min(left, kWarpTurn);
        left -= turn;
        warp.run(turn);
        left += turn;
    }

    const warp::KernelPlan &plan_;
    bool whole_warps_; ///< of others, all run all regions
    BlockMemory memory_;
    BlockValues values_;
    Barriers barriers_;
    std::deque<WarpRun> warps_;
};

void run_blocks(const WarpProgram &program, Launch &launch) {
    CheckedPlans plans;
    plans.try_emplace(program.kernel, *program.kernel);
    for (const auto &[number, plan] : program.functions)
        plans.try_emplace(plan, *plan);
    std::vector<std::unique_ptr<BlockOfWarps>> blocks;
    for (std::uint64_t index = 0; index < launch.blocks(); ++index)
        blocks.push_back(std::make_unique<BlockOfWarps>(program, plans, launch, index));
    std::uint64_t left = kMostWarpInstructions;
    while (!blocks.empty()) {
        bool ran = false;
        for (const auto &block : blocks)
            ran |= block->take_turns(left);
        if (!ran)
            throw Stopped(Stop::Faulted, "all warps wait for each other");
        std::erase_if(blocks, [](const auto &block) { return block->ended(); });
    }
}

} // namespace

Outcome run_warps(const WarpProgram &program, Launch &launch) {
    try {
        run_blocks(program, launch);
    } catch (const Stopped &stopped) {
        return Outcome::of(stopped);
    }
    return {};
}

} // namespace softcuda::interpret
