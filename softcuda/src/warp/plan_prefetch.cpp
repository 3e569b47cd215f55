// plan_prefetch.cpp -- computes the step of an address from one iteration, or block, to the next.
#include "warp/plan_prefetch.h"

#include "warp/kernel_plan.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

namespace softcuda::warp {

namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Value;

constexpr std::int64_t kCacheLine = 64;
/// LLVM's numbers of cache levels. If other warps run before the access, the first level would lose
/// other data: rows of a large matrix map to a few of its sets.
constexpr std::uint32_t kFirstLevel = 3, kSecondLevel = 2;
/// The processor itself prefetches shorter steps.
constexpr std::int64_t kShortStep = 1024;
/// A warp's neighbours leave no space in the cache for more lines.
constexpr std::int64_t kMostWarpBytes = 1024;
/// Instead of a loop: from one thread block to the next.
constexpr int kBlocks = -1;

std::int64_t product(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

Step times(Step step, std::int64_t by) {
    step.constant = product(step.constant, by);
    for (Step::Term &term : step.terms)
        term.times = product(term.times, by);
    return step;
}

Step sum(Step a, const Step &b) {
    a.constant = static_cast<std::int64_t>(static_cast<std::uint64_t>(a.constant) +
                                           static_cast<std::uint64_t>(b.constant));
    a.terms.insert(a.terms.end(), b.terms.begin(), b.terms.end());
    return a;
}

bool is_integer(const Instruction &i) { return !ir::is_floating(i.attributes.type); }

bool is_block_index(const Value *value) {
    return value->definition && value->definition->is(Opcode::Special) &&
           value->definition->attributes.special == ir::Special::CtaidX;
}

/// Called only for functions of the coordinates, which have few operations.
bool depends_on_block(const Value *value) {
    return is_block_index(value) ||
           (value->definition &&
            std::ranges::any_of(value->definition->operands, depends_on_block));
}

/// The growth of values in each iteration of a loop, or from block to block.
class Steps {
  public:
    Steps(const KernelPlan &kernel, int loop) : kernel_(kernel), loop_(loop) {}

    /// Empty if it is not known before the iteration begins.
    [[nodiscard]] std::optional<Step> of(const Value *value) const {
        if (loop_ == kBlocks && is_block_index(value))
            return Step{.constant = 1, .terms = {}};
        if (is_invariant(value))
            return Step{};
        const Instruction &i = *value->definition;
        switch (i.opcode) {
        case Opcode::Phi:
            return of_phi(i);
        case Opcode::Add:
        case Opcode::Sub:
            return of_sum(i);
        case Opcode::Convert:
            return is_integer(i) && !ir::is_floating(i.attributes.source_type) ? of(i.operand(0))
                                                                               : std::nullopt;
        case Opcode::Mul:
        case Opcode::MulWide:
        case Opcode::Shl:
            return of_product(i);
        default:
            return std::nullopt;
        }
    }

  private:
    [[nodiscard]] bool is_invariant(const Value *value) const {
        if (loop_ == kBlocks)
            return !depends_on_block(value);
        return value->constant || !value->definition ||
               !kernel_.loops.contains(loop_, value->definition->block);
    }

    [[nodiscard]] bool is_uniform(const Value *value) const {
        return value->constant || kernel_.divergence.of(value).uniform();
    }

    [[nodiscard]] std::optional<Step> of_phi(const Instruction &phi) const {
        const analysis::Loop &loop = kernel_.loops.loops()[static_cast<std::size_t>(loop_)];
        if (phi.block != loop.header || loop.latches.size() != 1)
            return std::nullopt;
        for (std::size_t k = 0; k < phi.blocks.size(); ++k) {
            const Instruction *next = phi.operands[k]->definition;
            if (phi.blocks[k] != loop.latches[0] || !next || !next->is(Opcode::Add) ||
                !is_integer(*next))
                continue;
            for (unsigned side = 0; side < 2; ++side) {
                const Value *by = next->operand(1 - side);
                if (next->operand(side) == phi.result() && is_invariant(by) && is_uniform(by))
                    return Step{.constant = 0, .terms = {{by, 1}}};
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] std::optional<Step> of_sum(const Instruction &i) const {
        if (!is_integer(i))
            return std::nullopt;
        const std::optional<Step> a = of(i.operand(0)), b = of(i.operand(1));
        if (!a || !b)
            return std::nullopt;
        return sum(*a, i.is(Opcode::Add) ? *b : times(*b, -1));
    }

    [[nodiscard]] std::optional<Step> of_product(const Instruction &i) const {
        if (!is_integer(i) || !i.operand(1)->constant)
            return std::nullopt;
        const std::optional<Step> step = of(i.operand(0));
        const std::uint64_t by = i.operand(1)->bits;
        if (!step || (i.is(Opcode::Shl) && by >= 32))
            return std::nullopt;
        return times(*step,
                     static_cast<std::int64_t>(i.is(Opcode::Shl) ? std::uint64_t{1} << by : by));
    }

    const KernelPlan &kernel_;
    int loop_;
};

/// The step as a number, if it is one.
std::optional<std::int64_t> known(const Step &step) {
    Step total{.constant = step.constant, .terms = {}};
    for (const Step::Term &term : step.terms) {
        if (!term.value->constant)
            return std::nullopt;
        const unsigned above = 64 - ir::bits(term.value->type);
        const auto value = static_cast<std::int64_t>(term.value->bits << above) >> above;
        total = sum(total, times({.constant = value, .terms = {}}, term.times));
    }
    return total.constant;
}

/// The cache level of a prefetch and its distance in iterations, which must take as long as a
/// memory access.
struct Lead {
    std::int64_t iterations;
    std::uint32_t level;
};

Lead lead_of(const KernelPlan &kernel, int loop, std::int64_t bytes) {
    std::int64_t length = 0;
    for (const ir::Block *block : kernel.loops.loops()[static_cast<std::size_t>(loop)].blocks) {
        if (kernel.has_regions() && barrier_at_end(block))
            return {1, kSecondLevel}; // all warps run in between
        length += static_cast<std::int64_t>(block->instructions.size());
    }
    // Whole lines arrive at the bandwidth of the memory, and addresses many pages apart map to one
    // set of the first level.
    if (bytes >= 2 * kCacheLine)
        return {std::clamp<std::int64_t>(256 / length, 1, 16), kSecondLevel};
    return {std::clamp<std::int64_t>(128 / length, 1, 8), kFirstLevel};
}

/// Sets the range of bytes that a group's lanes access, relative to the first lane's address.
void set_extent(PrefetchPlan &made, const analysis::Shape &shape, unsigned bytes) {
    for (unsigned lane = 0; lane < shape.group_size(); ++lane) {
        made.first = std::min(made.first, shape.offset(lane));
        made.end = std::max(made.end, shape.offset(lane) + bytes);
    }
}

/// Whether an earlier access of the same kind prefetches about the same lines.
bool is_repeated(const Instruction &access) {
    for (const Instruction *i : access.block->instructions) {
        if (i == &access)
            return false;
        if (i->opcode == access.opcode && i->operand(0) == access.operand(0))
            return true;
    }
    return false;
}

// Blocks with barriers have other work between their accesses to arrays, so neither the hardware
// prefetcher nor out-of-order execution looks far enough ahead.
PrefetchPlan for_next_block(const KernelPlan &kernel, const Instruction &access,
                            PrefetchPlan made) {
    if (!kernel.has_regions() || made.end - made.first > kMostWarpBytes ||
        !kernel.coordinate_functions[access.operand(0)->id] || is_repeated(access))
        return {};
    const std::optional<Step> step = Steps(kernel, kBlocks).of(access.operand(0));
    if (!step || known(*step) == 0)
        return {};
    made.target = PrefetchPlan::Target::Block;
    made.ahead = *step;
    made.for_store = access.is(Opcode::Store);
    made.level = made.for_store ? kFirstLevel : kSecondLevel;
    return made;
}

PrefetchPlan for_iteration(const KernelPlan &kernel, int loop, const Instruction &load,
                           PrefetchPlan made) {
    const std::int64_t bytes = made.end - made.first;
    if (bytes < kCacheLine / 2 || bytes > kMostWarpBytes)
        return {};
    const std::optional<Step> step = Steps(kernel, loop).of(load.operand(0));
    if (!step)
        return {};
    if (const auto number = known(*step); number && std::abs(*number) < kShortStep)
        return {};
    const Lead lead = lead_of(kernel, loop, bytes);
    made.target = PrefetchPlan::Target::Iteration;
    made.ahead = times(*step, lead.iterations);
    made.level = lead.level;
    return made;
}

/// The load in an address of the form base + size * loaded; null if there is none.
const Instruction *index_load(const Value *value) {
    const Instruction *i = value->definition;
    if (!i)
        return nullptr;
    switch (i->opcode) {
    case Opcode::Load:
        return i;
    case Opcode::Add: {
        const Instruction *first = index_load(i->operand(0));
        return first ? first : index_load(i->operand(1));
    }
    case Opcode::Convert:
    case Opcode::Mul:
    case Opcode::MulWide:
    case Opcode::Shl:
        return index_load(i->operand(0));
    default:
        return nullptr;
    }
}

/// Whether the loaded value is stored back plus a constant: the next load continues there.
bool is_advanced(const Instruction &cursor) {
    return std::ranges::any_of(cursor.block->instructions, [&](const Instruction *i) {
        if (!i->is(Opcode::Store) || i->operand(0) != cursor.operand(0) ||
            i->attributes.offset != cursor.attributes.offset)
            return false;
        const Instruction *sum = i->operand(1)->definition;
        return sum && sum->is(Opcode::Add) && sum->operand(0) == cursor.result() &&
               sum->operand(1)->constant;
    });
}

PrefetchPlan at_cursor(const KernelPlan &kernel, const Instruction &store) {
    if (kernel.loops.innermost(store.block) < 0)
        return {};
    const Instruction *cursor = index_load(store.operand(0));
    if (!cursor || cursor->block != store.block || !is_advanced(*cursor))
        return {};
    return {.target = PrefetchPlan::Target::Cursor,
            .ahead = {.constant = kCacheLine, .terms = {}},
            .first = 0,
            .end = 1,
            .for_store = true,
            .level = kFirstLevel};
}

} // namespace

PrefetchPlan plan_prefetch(const KernelPlan &kernel, const Instruction &access,
                           const AccessPlan &plan) {
    const bool is_load = access.is(Opcode::Load);
    if (access.attributes.space == ir::Space::Shared || !(is_load || access.is(Opcode::Store)))
        return {};
    if (plan.full == AccessMethod::Uniform)
        return is_load ? PrefetchPlan{} : at_cursor(kernel, access);
    const bool close = plan.full == AccessMethod::Contiguous || plan.full == AccessMethod::Windowed;
    const analysis::Shape &shape =
        plan.full == AccessMethod::Contiguous ? plan.grouped : plan.shape;
    if (!close || shape.groups > 4)
        return {};
    PrefetchPlan made;
    set_extent(made, shape, plan.lane_bytes());
    const int loop = kernel.loops.innermost(access.block);
    if (loop < 0)
        return for_next_block(kernel, access, made);
    return is_load ? for_iteration(kernel, loop, access, made) : PrefetchPlan{};
}

std::string to_text(const PrefetchPlan &plan) {
    constexpr std::array<const char *, 4> kNames = {"", "next iteration", "next block", "cursor"};
    return kNames.at(static_cast<std::size_t>(plan.target));
}

} // namespace softcuda::warp
