// print_plan.cpp -- prints the results of the analyses.
#include "warp/print_plan.h"

#include "ir/print.h"
#include "warp/surface_rows.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <map>

namespace softcuda::warp {

namespace {

using analysis::kLanes;
using analysis::Loop;
using analysis::Shape;
using ir::Block;
using ir::Function;
using ir::Instruction;
using ir::Value;

constexpr std::size_t kCommentColumn = 40;

using BlockFact = std::function<std::string(const Block &)>;
using InstructionFact = std::function<std::string(const Instruction &)>;

std::string with_comment(std::string line, const std::string &comment) {
    if (comment.empty())
        return line + "\n";
    if (line.size() < kCommentColumn)
        line.resize(kCommentColumn, ' ');
    return line + " ; " + comment + "\n";
}

/// The blocks, with a comment after each name and each instruction for which there is one.
std::string annotate(const Function &function, const BlockFact &of_block,
                     const InstructionFact &of_instruction) {
    std::string out;
    for (const Block *block : function.blocks) {
        out += with_comment(block->name + ":", of_block(*block));
        for (const Instruction *i : block->instructions)
            out += with_comment("  " + ir::to_text(*i), of_instruction(*i));
    }
    return out;
}

std::string annotate_values(const Function &function,
                            const std::function<std::string(const Value &)> &fact) {
    return annotate(
        function, [](const Block &) { return std::string(); },
        [&](const Instruction &i) {
            std::string facts;
            for (const Value *result : i.results)
                facts += (facts.empty() ? "" : " | ") + fact(*result);
            return facts;
        });
}

std::string join(const std::vector<std::string> &words, const char *between = ", ") {
    std::string out;
    for (const std::string &word : words)
        out += (out.empty() ? "" : between) + word;
    return out;
}

template <typename Blocks> std::string names(const Blocks &blocks) {
    std::vector<std::string> words;
    for (const Block *block : blocks)
        words.push_back(block ? block->name : "(none)");
    return join(words, " ");
}

std::string name_or_none(const Block *block) { return block ? block->name : "none"; }

std::string instruction_or_none(const Instruction *i) {
    return i ? ir::to_text(*i) + " in " + i->block->name : "none";
}

/// The step if each lane's offset is its number in the group times one step.
std::optional<std::int64_t> step_of(const Shape &shape) {
    const std::int64_t step = shape.offset(1);
    for (unsigned lane = 0; lane < kLanes; ++lane)
        if (shape.offset(lane) != step * static_cast<std::int64_t>(lane % shape.group_size()))
            return std::nullopt;
    return step;
}

std::string lanes_text(const Shape &shape) {
    if (!shape.known())
        return "unknown";
    if (shape.divergent())
        return "divergent";
    if (shape.uniform())
        return "uniform";
    const std::string groups = shape.groups == 1 ? "" : std::to_string(shape.groups) + " groups";
    if (!shape.offsets)
        return groups;
    const std::string start = groups.empty() ? "" : groups + ", ";
    if (const auto step = step_of(shape))
        return start + "step " + std::to_string(*step);
    std::string offsets = start + "offsets";
    for (unsigned lane = 0; lane < kLanes; ++lane)
        offsets += ' ' + std::to_string(shape.offset(lane));
    return offsets;
}

} // namespace

std::string to_text(const Shape &shape) {
    std::string text = lanes_text(shape);
    if (shape.align >= 64)
        text += ", first lane 0";
    else if (shape.align > 0)
        text += ", multiple of " + std::to_string(std::uint64_t{1} << shape.align);
    if (shape.divided)
        return text + ", unless a quotient changes";
    return text + (shape.checked ? ", unless wrapped" : "");
}

std::string print_dominators(const KernelPlan &plan) {
    std::string out;
    for (const Block *block : plan.function.blocks)
        out += with_comment(block->name + ":",
                            "dominator " + name_or_none(plan.dominators.parent(block)) +
                                ", post-dominator " +
                                name_or_none(plan.post_dominators.parent(block)));
    return out;
}

std::string print_loops(const KernelPlan &plan) {
    std::string out = plan.loops.reducible() ? "" : "a loop has several entries\n";
    for (const Loop &loop : plan.loops.loops())
        out += "loop " + loop.header->name + ": blocks " + names(loop.blocks) + ", exits " +
               names(loop.exits) +
               (loop.parent == -1
                    ? ""
                    : ", inside " +
                          plan.loops.loops()[static_cast<std::size_t>(loop.parent)].header->name) +
               "\n";
    return out;
}

std::string print_ranges(const KernelPlan &plan) {
    return annotate_values(plan.function, [&](const Value &value) {
        const analysis::Range &range = plan.ranges[value.id];
        return range == analysis::Range{}
                   ? "-"
                   : std::to_string(range.low) + " .. " + std::to_string(range.high);
    });
}

std::string print_divergence(const KernelPlan &plan) {
    return annotate(
        plan.function,
        [&](const Block &block) {
            std::vector<std::string> facts;
            if (plan.divergence.divergent_join[block.id])
                facts.emplace_back("divergent join");
            const int loop = plan.loops.innermost(&block);
            if (loop != -1 && plan.loops.loops()[loop].header == &block)
                facts.emplace_back(plan.divergence.divergent_loop[loop] ? "divergent loop"
                                                                        : "uniform loop");
            return join(facts);
        },
        [&](const Instruction &i) {
            return std::string(&i == i.block->terminator() &&
                                       plan.divergence.divergent_branch[i.block->id]
                                   ? "divergent branch"
                                   : "");
        });
}

std::string print_shapes(const KernelPlan &plan) {
    return annotate_values(plan.function,
                           [&](const Value &value) { return to_text(plan.divergence.of(&value)); });
}

std::string print_schedule(const KernelPlan &plan) {
    std::string out;
    for (const Block *block : plan.schedule.order) {
        const transform::BlockPlan &here = plan.schedule.of(block);
        std::vector<std::string> facts{
            here.mask_owner == block ? "own mask" : "mask of " + name_or_none(here.mask_owner)};
        if (here.guarded)
            facts.emplace_back("guarded");
        if (here.waited)
            facts.emplace_back("waited");
        if (!here.pending.empty())
            facts.push_back("pending " + names(here.pending));
        facts.push_back("next " + names(here.next));
        if (here.dominator)
            facts.push_back("after " + here.dominator->name);
        out += with_comment(block->name + ":", join(facts));
    }
    if (plan.schedule.divergent_barrier)
        out += "divergent barrier: " + instruction_or_none(plan.schedule.divergent_barrier) + "\n";
    if (plan.schedule.split_barrier)
        out += "split barrier: " + instruction_or_none(plan.schedule.split_barrier) + "\n";
    return out;
}

std::string print_loop_ends(const KernelPlan &plan) {
    std::string out;
    for (std::size_t loop = 0; loop < plan.loop_ends.size(); ++loop) {
        const transform::LoopEnd &end = plan.loop_ends[loop];
        out += "loop " + plan.loops.loops()[loop].header->name + ": " +
               std::string(transform::text(end.proof)) + "\n";
        for (const Instruction *signal : end.signals)
            out += "  for " + instruction_or_none(signal) + "\n";
    }
    return out;
}

std::string print_waits(const KernelPlan &plan) {
    std::string out;
    for (std::size_t loop = 0; loop < plan.loops.loops().size(); ++loop)
        out += "loop " + plan.loops.loops()[loop].header->name +
               (plan.waits.loops[loop] ? ": waits" : ": ends by itself") + "\n";
    out += "waits for another thread: " + instruction_or_none(plan.waits.cause) + "\n";
    out += "waits for another lane: " + instruction_or_none(plan.waits.lane_cause) + "\n";
    std::map<std::uint32_t, const Instruction *> points;
    for (const auto &[instruction, number] : plan.waits.preemption_points)
        points.emplace(number, instruction);
    for (const auto &[number, instruction] : points)
        out += "preemption point " + std::to_string(number) + ": after " +
               instruction_or_none(instruction) + "\n";
    return out;
}

std::string print_coordinates(const KernelPlan &plan) {
    return annotate_values(plan.function, [&](const Value &value) {
        return std::string(plan.coordinate_functions[value.id] ? "coordinate" : "-");
    });
}

std::string print_used_bytes(const KernelPlan &plan) {
    std::string out;
    for (const Block *block : plan.function.blocks)
        for (const Instruction *i : block->instructions)
            for (const Value *result : i->results)
                if (i->is(ir::Opcode::Load) && !plan.used_bytes.empty())
                    out += ir::to_text(*result) + ": " +
                           std::to_string(plan.used_bytes[result->id]) + "\n";
    return out;
}

std::string print_float_bits(const KernelPlan &plan) {
    return annotate_values(plan.function, [&](const Value &value) -> std::string {
        if (!ir::is_float(value.type))
            return "-";
        const bool normal = plan.float_bits.never_denormal(value);
        return std::string(normal ? "never denormal" : "any number") +
               (plan.float_bits.may_be_new_nan(value)      ? ", may be a new NaN"
                : plan.float_bits.is_made_canonical(value) ? ", a NaN is canonical at once"
                                                           : "");
    });
}

std::string print_split_exchange(const KernelPlan &plan) {
    return "split exchange: " + instruction_or_none(plan.split_exchange) + "\n";
}

std::string print_tier(const KernelPlan &plan) {
    std::string words = std::string(plan.function.kernel ? "kernel `" : "function `") +
                        plan.function.name + "`: " + std::string(text(plan.tier.tier)) + ", " +
                        plan.tier.reason;
    if (plan.tier.cause)
        words += " (" + plan.place(*plan.tier.cause) + ")";
    return words;
}

std::string print_outliving(const KernelPlan &plan) {
    return annotate_values(plan.function, [&](const Value &value) {
        return std::string(plan.outlives_block[value.id] ? "outlives its block" : "-");
    });
}

std::string print_local_memory(const KernelPlan &plan) {
    return "own variables: " + std::to_string(plan.frame_bytes) +
           " bytes, with the call stack: " + std::to_string(plan.local_stride) + " bytes" +
           (plan.takes_memory ? ", has an alloca" : "") +
           (plan.calls_accesses     ? ", calls accesses"
            : plan.wants_short_code ? ", wants short code"
                                    : "") +
           (plan.calls_atomics ? ", calls atomics" : "") + "\n";
}

namespace {

std::string hexadecimal(std::uint32_t bits) {
    std::array<char, 16> digits{};
    std::snprintf(digits.data(), digits.size(), "0x%08x", bits);
    return digits.data();
}

std::string to_text(const LanesByWarp &lanes) {
    if (const auto equal = in_all_warps(lanes))
        return "lanes " + hexadecimal(*equal);
    std::string out = "lanes by warp";
    for (std::uint32_t bits : lanes)
        out += ' ' + hexadecimal(bits);
    return out;
}

} // namespace

std::string print_reaching_threads(const KernelPlan &plan) {
    std::string out;
    for (const ir::Block *block : plan.function.blocks)
        out += block->name + ": " + to_text(plan.reaching_threads[block->id]) + "\n";
    return out;
}

std::string to_text(const BlockMask &mask) {
    std::string out;
    switch (mask.from) {
    case BlockMask::From::Active:
        out = "active";
        break;
    case BlockMask::From::Known:
        out = to_text(mask.lanes);
        break;
    case BlockMask::From::Owner:
        out = "mask of " + name_or_none(mask.owner);
        break;
    case BlockMask::From::Arrivals:
        out = mask.lanes.empty() ? "arrivals" : "arrivals, " + to_text(mask.lanes);
        break;
    }
    out += mask.clears ? ", clears" : mask.collects ? ", collects" : "";
    return mask.guarded ? out + ", skip to " + (mask.skip_to ? mask.skip_to->name : "the end")
                        : out;
}

namespace {

std::string edge_text(const BlockFlow &flow, const Edge &edge) {
    std::string out = "  edge " + edge.to->name;
    if (flow.parts) {
        out += " of successors";
        for (unsigned i : edge.successors)
            out += ' ' + std::to_string(i);
    }
    constexpr std::array<const char *, 3> kArrive = {"", ", set", ", add"};
    out += kArrive.at(static_cast<std::size_t>(edge.arrive));
    if (edge.next)
        out += ", next " + edge.next->name;
    constexpr std::array<const char *, 3> kJoin = {"set", "blend", "keep"};
    for (const Join &join : edge.joins) {
        out += "\n    " + ir::to_text(*join.phi) + ": ";
        out += kJoin.at(static_cast<std::size_t>(join.write));
        if (join.write != Join::Write::Keep)
            out += ' ' + ir::to_text(*join.value);
    }
    return out + "\n";
}

} // namespace

std::string print_masks(const KernelPlan &plan) {
    std::string out = plan.masks.independent_lanes ? "independent lanes\n" : "";
    for (const auto *block : plan.schedule.order)
        for (const Instruction *i : block->instructions) {
            if (i->results.size() != 1 || !plan.masks.known.contains(i->result()))
                continue;
            out +=
                ir::to_text(*i->result()) + ": " + to_text(plan.masks.known.at(i->result())) + "\n";
        }
    for (const Block *block : plan.schedule.order) {
        const BlockFlow &flow = plan.masks.of(block);
        out += block->name + ": " + to_text(flow.mask) +
               (flow.next ? ", next " + flow.next->name : "") + "\n";
        for (const Block *waiting : flow.starts)
            out += "  starts " + waiting->name + "\n";
        for (const Edge &edge : flow.edges)
            out += edge_text(flow, edge);
    }
    return out;
}

std::string print_lockstep(const KernelPlan &plan) {
    if (!plan.lockstep.holds)
        return "no lockstep\n";
    return "lockstep\n" + annotate_values(plan.function, [&](const Value &value) {
               return std::string(
                   plan.lockstep.same[value.id] ? "equal for all threads of the block" : "-");
           });
}

std::string print_access_plans(const KernelPlan &plan) {
    return annotate(
        plan.function, [](const Block &) { return std::string(); },
        [&](const Instruction &i) {
            if (const unsigned groups = surface_groups(plan, i); groups != 0)
                return "row of a surface" +
                       (groups == 1 ? "" : ", " + std::to_string(groups) + " groups");
            auto found = plan.accesses.find(&i);
            return found == plan.accesses.end() ? std::string() : to_text(found->second);
        });
}

} // namespace softcuda::warp
