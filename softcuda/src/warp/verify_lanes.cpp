// verify_lanes.cpp -- checks that places cover the kernel, and that each leads to the next.
#include "ir/dominators.h"
#include "ir/exchange.h"
#include "warp/kernel_plan.h"
#include "warp/lane_plan.h"

namespace softcuda::warp {

namespace {

using ir::Block;
using ir::Instruction;
using rt::PlaceKind;

class LaneVerifier {
  public:
    explicit LaneVerifier(const KernelPlan &plan) : plan_(plan), places_(plan.lanes.places) {}

    std::vector<std::string> run() {
        if (!plan_.masks.independent_lanes) {
            if (!places_.empty())
                wrong_.emplace_back("the plan has places, but lanes run together");
            return std::move(wrong_);
        }
        std::size_t number = 0;
        for (const Block *block : ir::reverse_postorder(plan_.function))
            number = check_block(block, number);
        if (number != places_.size())
            wrong_.emplace_back("the plan has places that belong to no basic block");
        for (number = 0; number < places_.size() && wrong_.empty(); ++number) {
            check_wait(number);
            check_next(number);
        }
        return std::move(wrong_);
    }

  private:
    void require(bool holds, std::size_t number, const std::string &what) {
        if (!holds)
            wrong_.push_back("place " + std::to_string(number) + ": " + what);
    }

    /// Checks that the places from `number` on cover the block, and returns the next number.
    std::size_t check_block(const Block *block, std::size_t number) {
        require(plan_.lanes.of_block.at(block->id) == number, number,
                "is not the entry of " + block->name);
        std::uint32_t covered = 0;
        for (; number < places_.size() && places_[number].block == block; ++number) {
            require(places_[number].first == covered, number, "omits instructions or repeats them");
            covered = places_[number].end;
        }
        require(covered == block->instructions.size(), number - 1,
                "is the last place of " + block->name + ", but does not end with its terminator");
        return number;
    }

    void check_wait(std::size_t number) {
        const Place &place = places_[number];
        for (std::uint32_t n = place.first; n < place.end; ++n) {
            const Instruction &i = *place.block->instructions[n];
            const bool waits = n == place.first && place.awaited();
            const bool apart = i.is(ir::Opcode::Call) && plan_.makes_calls_apart();
            require((ir::waits_for_lanes(i) || apart) == waits, number,
                    waits ? "has nothing to wait for"
                          : "does not wait at an exchange, a barrier or a call");
        }
        const int loop = plan_.loops.innermost(place.block);
        const bool heads =
            place.first == 0 && loop != -1 &&
            plan_.loops.loops()[static_cast<std::size_t>(loop)].header == place.block;
        require((place.kind == PlaceKind::Wait) ==
                    (heads && plan_.waits.loops[static_cast<std::size_t>(loop)]),
                number, "is not where lanes rest that wait for other threads");
        const Instruction *awaited = place.awaited();
        if (!awaited)
            return;
        require(awaited->is(ir::Opcode::Call) == place.is_call(), number,
                "has another kind than its instruction");
        if (place.is_call())
            return;
        const bool barrier = ir::is_block_barrier(*awaited);
        require(barrier == (place.kind == PlaceKind::Barrier), number,
                "has another kind than its instruction");
        require(place.named == (barrier ? ir::barrier_number(*awaited) : ir::members_of(*awaited)),
                number, "names another value than the instruction");
        require(barrier || place.exchange == exchange_of(*awaited), number,
                "has another exchange than its instruction");
    }

    void check_next(std::size_t number) {
        const Place &place = places_[number];
        if (!place.ends_block())
            return require(place.next.size() == 1 && place.next[0] == number + 1, number,
                           "does not continue at the next place of its basic block");
        const std::vector<Edge> &edges = plan_.masks.of(place.block).edges;
        require(place.next.size() == edges.size(), number, "has lanes without a next place");
        for (std::size_t n = 0; n < edges.size() && n < place.next.size(); ++n)
            require(place.next[n] == plan_.lanes.of_block[edges[n].to->id], number,
                    "has no edge to " + edges[n].to->name);
    }

    const KernelPlan &plan_;
    const std::vector<Place> &places_;
    std::vector<std::string> wrong_;
};

} // namespace

std::vector<std::string> verify_lanes(const KernelPlan &plan) { return LaneVerifier(plan).run(); }

} // namespace softcuda::warp
