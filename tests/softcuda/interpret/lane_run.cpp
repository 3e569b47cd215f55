// lane_run.cpp -- a warp whose lanes are at separate places, according to the plan of lanes.
#include "interpret/outcome.h"
#include "interpret/warp_run.h"
#include "ir/exchange.h"

#include <bit>

namespace softcuda::interpret {

using ir::Instruction;
using ir::Opcode;
using ir::Value;
using warp::Place;

void WarpRun::next_place() {
    Frame &f = frame();
    forget_here();
    const std::optional<LanePositions::Turn> turn = f.positions->next();
    if (!turn)
        return finish();
    f.place = &f.plan().lanes.places[turn->place];
    f.block = f.place->block;
    f.next = f.place->first;
    f.lanes = turn->lanes;
    if (f.next == 0)
        check_phis(f.block);
}

void WarpRun::wait_at_next_place() {
    Frame &f = frame();
    const std::uint32_t number = f.place->next.front();
    const Place &place = f.plan().lanes.places[number];
    if (!place.awaited()) {
        f.positions->go_to(number, f.lanes);
        return next_place();
    }
    const Instruction &awaited = *place.awaited();
    if (!place.exchange || place.exchange == rt::Exchange::Matrix || place.is_call())
        refuse(awaited);
    LaneValues named{};
    named.fill(~std::uint32_t{0});
    if (place.named)
        named = read(place.named);
    std::vector<LaneValues> operands;
    for (const Value *operand : awaited.operands)
        operands.push_back(read(operand));
    f.positions->wait_at(number, f.lanes, named, operands);
    next_place();
}

void WarpRun::leave_place() {
    Frame &f = frame();
    const warp::BlockFlow &flow = f.plan().masks.of(f.block);
    const Instruction &end = *f.block->terminator();
    if (end.is(Opcode::Return))
        store_results(end);
    if (end.is(Opcode::Exit))
        f.ended |= f.lanes;
    const std::vector<std::uint32_t> taken = take_edges(flow);
    for (std::size_t n = 0; n < taken.size(); ++n)
        f.positions->go_to(f.place->next.at(n), taken[n]);
    next_place();
}

/// The warp arrives once for all lanes at barriers of one number, and these pass it place by place.
void WarpRun::pass_barrier(const Instruction &i) {
    Frame &f = frame();
    const auto first = static_cast<unsigned>(std::countr_zero(f.lanes));
    const auto number = static_cast<std::uint32_t>(read(ir::barrier_number(i))[first]);
    const std::uint32_t came = f.positions->arrive(number, f.lanes);
    if (came == 0) {
        if (i.results.empty())
            return;
        LaneValues result{};
        result.fill(Barriers::result(i, f.positions->passed));
        return define(i, {result});
    }
    const Value *threads = ir::barrier_threads(i);
    const bool reduces = i.is(Opcode::BarrierReduce);
    arrival_ = {.number = number,
                .threads = threads ? static_cast<std::uint32_t>(read(threads)[first]) : 0,
                .warp = warp_,
                .lanes = active_,
                .voters = reduces ? came : 0,
                .votes = reduces ? f.positions->votes(came) : 0};
    barrier_ = &i;
    status_ = Status::AtBarrier;
}

} // namespace softcuda::interpret
