// check_claims.cpp -- shapes, ranges, values by thread, and the plans of accesses.
#include "interpret/check_claims.h"

#include "interpret/outcome.h"
#include "interpret/thread_operation.h"
#include "rt/windows.h"
#include "warp/print_plan.h"

#include <string>

namespace softcuda::interpret {

namespace {

using analysis::Shape;
using ir::Instruction;
using ir::Value;
using warp::AccessMethod;
using warp::AccessPlan;

bool has(std::uint32_t lanes, unsigned lane) { return (lanes >> lane & 1) != 0; }

[[noreturn]] void wrong(const ir::Block *block, const std::string &what) {
    throw Stopped(Stop::Wrong, "basic block " + block->name + ": " + what);
}

std::string number(std::uint64_t value) { return std::to_string(static_cast<std::int64_t>(value)); }

/// The lane from which a group's base is taken: its first active one, else its first one.
unsigned speaker_of(const Shape &shape, unsigned group, std::uint32_t active) {
    const unsigned size = shape.group_size();
    for (unsigned lane = group * size; lane < (group + 1) * size; ++lane)
        if (has(active, lane))
            return lane;
    return group * size;
}

/// The value of a lane by its group's base.
LaneValues by_shape(const Shape &shape, const LaneValues &lanes, std::uint32_t active,
                    unsigned width) {
    LaneValues made{};
    const unsigned size = shape.group_size();
    for (unsigned group = 0; group < shape.groups; ++group) {
        const unsigned speaker = speaker_of(shape, group, active);
        const std::uint64_t base =
            lanes[speaker] - static_cast<std::uint64_t>(shape.offset(speaker));
        for (unsigned lane = group * size; lane < (group + 1) * size; ++lane)
            made[lane] = cut(base + static_cast<std::uint64_t>(shape.offset(lane)), width);
    }
    return made;
}

std::uint64_t element_of(const Instruction &access) { return access_bytes(access); }

} // namespace

Claims::Claims(const warp::KernelPlan &plan)
    : plan_(plan), by_thread_(plan.function.value_count(), nullptr) {
    for (const ir::Block *block : plan.function.blocks)
        for (const Instruction *i : block->instructions)
            for (const Value *result : i->results)
                by_thread_[result->id] = plan.thread_values.of(result);
}

void Claims::check_value(const Value *value, LaneValues &lanes, const ActiveLanes &active) const {
    const Shape &shape = plan_.divergence.of(value);
    const unsigned width = ir::bits(value->type);
    const ir::Block *block = value->definition ? value->definition->block : plan_.function.entry();
    if (shape.known() && !shape.divergent() && !shape.checked) {
        const LaneValues made = by_shape(shape, lanes, active.lanes, width);
        for (unsigned lane = 0; lane < kLanes; ++lane)
            if (has(active.lanes, lane) && lanes[lane] != made[lane])
                wrong(block, ir::to_text(*value) + " is " + number(lanes[lane]) + " in lane " +
                                 std::to_string(lane) + ", but " + number(made[lane]) +
                                 " by its shape: " + warp::to_text(shape));
        lanes = made;
    }
    const analysis::Range &range = plan_.ranges[value->id];
    const auto known = plan_.masks.known.find(value);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        if (!has(active.lanes, lane))
            continue;
        if (width > 1 && width <= 32 && !ir::is_float(value->type)) {
            const unsigned up = 64 - width;
            const std::int64_t read = static_cast<std::int64_t>(lanes[lane] << up) >> up;
            if (read < range.low || read > range.high)
                wrong(block, ir::to_text(*value) + " is " + std::to_string(read) + " in lane " +
                                 std::to_string(lane) + ", outside of its range " +
                                 std::to_string(range.low) + " .. " + std::to_string(range.high));
        }
        if (known != plan_.masks.known.end() &&
            has(known->second.at(active.warp), lane) != ((lanes[lane] & 1) != 0))
            wrong(block,
                  ir::to_text(*value) + " is not what is known of lane " + std::to_string(lane));
        const analysis::PerThread *expected = by_thread_[value->id];
        if (expected && cut(expected->at(active.warp * kLanes + lane), width) != lanes[lane])
            wrong(block, ir::to_text(*value) + " is " + number(lanes[lane]) + " in lane " +
                             std::to_string(lane) + ", not the thread's value " +
                             number(expected->at(active.warp * kLanes + lane)));
    }
}

void Claims::check_places(const Instruction &access, const AccessPlan &made,
                          const LaneValues &addresses, const ActiveLanes &active) const {
    const ir::Space space = access.attributes.space;
    const bool window = space == ir::Space::Shared || space == ir::Space::Local;
    LaneValues offsets{};
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        offsets[lane] = window ? static_cast<std::uint64_t>(
                                     std::int64_t{static_cast<std::int32_t>(addresses[lane])})
                               : addresses[lane];
        offsets[lane] += static_cast<std::uint64_t>(access.attributes.offset);
        if (space == ir::Space::Local) // as the plan's shape has it
            offsets[lane] = static_cast<std::uint64_t>(
                warp::place_in_warp(plan_, static_cast<std::int64_t>(offsets[lane]), lane));
    }
    auto require = [&](const Shape &shape, const char *which) {
        if (!shape.known() || shape.divergent() || made.may_wrap || shape.checked)
            return;
        const LaneValues claimed = by_shape(shape, offsets, active.lanes, 64);
        for (unsigned lane = 0; lane < kLanes; ++lane)
            if (has(active.lanes, lane) && claimed[lane] != offsets[lane])
                wrong(access.block, ir::to_text(access) + ": lane " + std::to_string(lane) +
                                        " accesses " + number(offsets[lane]) + ", not " +
                                        number(claimed[lane]) + " of " + which + ": " +
                                        warp::to_text(made));
    };
    require(made.shape, "the shape");
    if (made.full == AccessMethod::Contiguous || made.full == AccessMethod::Grouped)
        require(made.grouped, "the groups");
    if (!made.may_wrap && !made.shape.checked)
        check_windows(access, made, offsets, active);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        if (!has(active.lanes, lane))
            continue;
        const std::uint64_t unit = element_of(access);
        if (made.check == warp::Check::None && window && (unit & (unit - 1)) == 0 &&
            unit <= (std::uint64_t{1} << analysis::kLocalAlign) && offsets[lane] % unit != 0)
            wrong(access.block, ir::to_text(access) + ": lane " + std::to_string(lane) +
                                    " accesses " + number(offsets[lane]) +
                                    ", but no alignment is checked");
        // The line is that of the first element, `offsets` are those of this access.
        const std::int64_t to_first = made.offset_of(access) - access.attributes.offset;
        if (made.line &&
            static_cast<std::int64_t>(offsets[lane]) + to_first !=
                made.line->start + made.line->step * active.warp + made.shape.offset(lane))
            wrong(access.block, ir::to_text(access) + ": lane " + std::to_string(lane) +
                                    " accesses " + number(offsets[lane]) + ", not on its line");
        const std::uint64_t place = offsets[0] + std::uint64_t{made.lane_bytes()} * lane;
        if (made.contiguous_warps && (*made.contiguous_warps >> active.warp & 1) != 0 &&
            offsets[lane] != place)
            wrong(access.block, ir::to_text(access) + ": lane " + std::to_string(lane) +
                                    " accesses " + number(offsets[lane]) + ", not " +
                                    number(place) + " in a contiguous warp");
    }
}

void Claims::check_windows(const Instruction &access, const AccessPlan &made,
                           const LaneValues &offsets, const ActiveLanes &active) const {
    if (made.windows.empty())
        return;
    const unsigned size = kLanes / static_cast<unsigned>(made.windows.size());
    for (unsigned group = 0; group < made.windows.size(); ++group) {
        const warp::StridedWindow &window = made.windows[group];
        for (unsigned lane = group * size; lane < (group + 1) * size; ++lane) {
            if (!has(active.lanes, lane))
                continue;
            const auto first =
                static_cast<std::int64_t>(offsets[lane]) - made.shape.offset(lane) + window.first;
            const unsigned index = window.index.at(lane % size);
            const std::int64_t place = first + std::int64_t{index} * made.lane_bytes();
            const std::string name = ir::to_text(access) + ": lane " + std::to_string(lane);
            if (index >= window.length || place != static_cast<std::int64_t>(offsets[lane]))
                wrong(access.block, name + " is not where its window has it");
            const std::int64_t end = first + std::int64_t{window.length} * made.lane_bytes();
            const std::uint64_t all = rt::window_end(plan_.function.static_shared_bytes);
            if (made.windows_exist && (first < 0 || end > static_cast<std::int64_t>(all)))
                wrong(access.block, name + " has a window beyond the block's shared memory");
        }
    }
}

void Claims::check_index(const Instruction &access, const warp::IndexedAddress &indexed,
                         const LaneValues &addresses, const LaneValues &pointer,
                         const LaneValues &index, const ActiveLanes &active) const {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        const auto step = std::int64_t{static_cast<std::int32_t>(index[lane])} * indexed.scale;
        if (has(active.lanes, lane) &&
            addresses[lane] != pointer[lane] + static_cast<std::uint64_t>(step))
            wrong(access.block, ir::to_text(access) + ": lane " + std::to_string(lane) +
                                    " is not where its index has it");
        if (has(active.lanes, lane) && indexed.bounds &&
            (step < indexed.bounds->low || step > indexed.bounds->high))
            wrong(access.block, ir::to_text(access) + ": lane " + std::to_string(lane) +
                                    " is not between its bounds");
    }
}

} // namespace softcuda::interpret
