// emit_prefetch.cpp -- finds the step of an address from one iteration, or block, to the next.

#include "codegen/prefetch.h"

#include <algorithm>
#include <cstdlib>

namespace softcuda::codegen {

namespace {

using ir::Opcode;

constexpr std::int64_t kLine = 64;
/// LLVM's words for where to. What other warps come before would push out of the first level what
/// it holds now: rows of a large matrix meet in a few of its sets.
constexpr std::uint32_t kFirstLevel = 3, kSecondLevel = 2;
/// Shorter steps are followed by the processor itself.
constexpr std::int64_t kShortStep = 1024;

/// More lines than a warp's neighbours leave room for are not asked for.
constexpr std::int64_t kMostBytes = 1024;
/// In the place of a loop: from one thread block to the next.
constexpr int kBlocks = -1;

/// How much a value grows in each iteration of a loop: an i64, or null if that is not known before
/// the iteration begins.
class Step {
  public:
    Step(WarpEmitter &w, int loop) : w_(w), loop_(loop) {}

    llvm::Value *of(const ir::Value *value) {
        if (loop_ == kBlocks && is_block_index(value))
            return w_.i64(1);
        if (is_invariant(value))
            return w_.i64(0);
        const ir::Instruction &i = *value->definition;
        switch (i.opcode) {
        case Opcode::Phi:
            return of_phi(i);
        case Opcode::Add:
        case Opcode::Sub:
            return of_sum(i);
        case Opcode::Convert:
            return is_integer(i) && !ir::is_floating(i.attributes.source_type) ? of(i.operand(0))
                                                                               : nullptr;
        case Opcode::Mul:
        case Opcode::MulWide:
        case Opcode::Shl:
            return of_product(i);
        default:
            return nullptr;
        }
    }

  private:
    bool is_invariant(const ir::Value *value) const {
        if (loop_ == kBlocks)
            return !depends_on_block(value);
        return value->constant || !value->definition ||
               !w_.kernel.plan.loops.contains(loop_, value->definition->block);
    }

    static bool is_block_index(const ir::Value *value) {
        return value->definition && value->definition->is(Opcode::Special) &&
               value->definition->attributes.special == ir::Special::CtaidX;
    }

    /// Only asked of functions of the coordinates, which are made of few operations.
    static bool depends_on_block(const ir::Value *value) {
        return is_block_index(value) ||
               (value->definition &&
                std::ranges::any_of(value->definition->operands, [](const ir::Value *operand) {
                    return depends_on_block(operand);
                }));
    }

    static bool is_integer(const ir::Instruction &i) { return !ir::is_floating(i.attributes.type); }

    llvm::Value *of_phi(const ir::Instruction &phi) {
        const analysis::Loop &loop = w_.kernel.plan.loops.loops()[static_cast<std::size_t>(loop_)];
        if (phi.block != loop.header || loop.latches.size() != 1)
            return nullptr;
        for (std::size_t k = 0; k < phi.blocks.size(); ++k) {
            const ir::Instruction *next = phi.operands[k]->definition;
            if (phi.blocks[k] != loop.latches[0] || !next || !next->is(Opcode::Add) ||
                !is_integer(*next))
                continue;
            for (unsigned side = 0; side < 2; ++side) {
                const ir::Value *by = next->operand(1 - side);
                if (next->operand(side) == phi.result() && is_invariant(by) &&
                    w_.shape(by).uniform())
                    return w_.b.CreateSExt(w_.scalar(by), w_.b.getInt64Ty());
            }
        }
        return nullptr;
    }

    llvm::Value *of_sum(const ir::Instruction &i) {
        if (!is_integer(i))
            return nullptr;
        llvm::Value *a = of(i.operand(0)), *b = of(i.operand(1));
        if (!a || !b)
            return nullptr;
        return i.is(Opcode::Add) ? w_.b.CreateAdd(a, b) : w_.b.CreateSub(a, b);
    }

    llvm::Value *of_product(const ir::Instruction &i) {
        if (!is_integer(i) || !i.operand(1)->constant)
            return nullptr;
        llvm::Value *step = of(i.operand(0));
        const std::uint64_t by = i.operand(1)->bits;
        if (!step || (i.is(Opcode::Shl) && by >= 32))
            return nullptr;
        return i.is(Opcode::Shl) ? w_.b.CreateShl(step, by) : w_.b.CreateMul(step, w_.i64(by));
    }

    WarpEmitter &w_;
    int loop_;
};

/// Where to ask for what a loop will load, and how many iterations ahead: enough to take as long as
/// memory does.
struct Lead {
    std::uint64_t iterations;
    std::uint32_t level;
};

Lead lead_of(const WarpEmitter &w, int loop, std::int64_t bytes) {
    std::size_t length = 0;
    for (const ir::Block *block :
         w.kernel.plan.loops.loops()[static_cast<std::size_t>(loop)].blocks) {
        if (w.kernel.is_barrier_end(block))
            return {1, kSecondLevel}; // all warps come between
        length += block->instructions.size();
    }
    // Lines that are read whole come in at the pace of the memory, and places that many pages apart
    // meet in one set of the first level.
    if (bytes >= 2 * kLine)
        return {std::clamp<std::size_t>(256 / length, 1, 16), kSecondLevel};
    return {std::clamp<std::size_t>(128 / length, 1, 8), kFirstLevel};
}

/// The bytes that a group's lanes access, from the first lane's place on.
struct Extent {
    std::int64_t low = 0, high = 0;
};

Extent extent_of(const Address &address) {
    const analysis::Shape &shape = address.lanes.shape;
    Extent extent;
    for (unsigned lane = 0; lane < shape.group_size(); ++lane) {
        extent.low = std::min(extent.low, shape.offset(lane));
        extent.high = std::max(extent.high, shape.offset(lane) + address.bytes);
    }
    return extent;
}

void emit_lines(WarpEmitter &w, const Address &address, const Extent &extent, llvm::Value *ahead,
                ir::Opcode access, std::uint32_t level) {
    for (unsigned group = 0; group < address.lanes.shape.groups; ++group)
        for (std::int64_t line = extent.low; line < extent.high; line += kLine) {
            llvm::Value *at =
                w.b.CreateGEP(w.b.getInt8Ty(), group_pointer(w, address, group),
                              w.b.CreateAdd(ahead, w.i64(static_cast<std::uint64_t>(line))));
            w.b.CreateIntrinsic(llvm::Intrinsic::prefetch, {w.b.getPtrTy()},
                                {at, w.i32(access == Opcode::Store), w.i32(level), w.i32(1)});
        }
}

/// Whether an earlier access of the same kind has asked for about the same lines.
bool is_repeated(const ir::Instruction &access) {
    for (const ir::Instruction *i : access.block->instructions) {
        if (i == &access)
            return false;
        if (i->opcode == access.opcode && i->operand(0) == access.operand(0))
            return true;
    }
    return false;
}

// Blocks that have barriers do other things between their accesses to arrays, so that neither the
// processor nor the instructions in flight look far enough ahead.
void emit_for_next_block(WarpEmitter &w, const ir::Instruction &access, const Address &address) {
    const Extent extent = extent_of(address);
    if (!w.kernel.has_regions() || extent.high - extent.low > kMostBytes ||
        !w.kernel.plan.coordinate_functions[access.operand(0)->id] || is_repeated(access))
        return;
    llvm::Value *step = Step(w, kBlocks).of(access.operand(0));
    if (!step || step == w.i64(0))
        return;
    emit_lines(w, address, extent, step, access.opcode,
               access.is(Opcode::Store) ? kFirstLevel : kSecondLevel);
}

void emit_for_iteration(WarpEmitter &w, int loop, const ir::Instruction &load,
                        const Address &address) {
    const Extent extent = extent_of(address);
    if (extent.high - extent.low < kLine / 2 || extent.high - extent.low > kMostBytes)
        return;
    llvm::Value *step = Step(w, loop).of(load.operand(0));
    if (!step)
        return;
    if (auto *known = llvm::dyn_cast<llvm::ConstantInt>(step);
        known && std::abs(known->getSExtValue()) < kShortStep)
        return;
    const Lead lead = lead_of(w, loop, extent.high - extent.low);
    emit_lines(w, address, extent, w.b.CreateMul(step, w.i64(lead.iterations)), Opcode::Load,
               lead.level);
}

/// The load that an address is reckoned from: base + size * loaded; null if there is none.
const ir::Instruction *index_load(const ir::Value *value) {
    const ir::Instruction *i = value->definition;
    if (!i)
        return nullptr;
    switch (i->opcode) {
    case Opcode::Load:
        return i;
    case Opcode::Add: {
        const ir::Instruction *first = index_load(i->operand(0));
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

/// Whether what was loaded is put back larger by a constant: the next to load it goes on from
/// there.
bool is_advanced(const ir::Instruction &cursor) {
    return std::ranges::any_of(cursor.block->instructions, [&](const ir::Instruction *i) {
        if (!i->is(Opcode::Store) || i->operand(0) != cursor.operand(0) ||
            i->attributes.offset != cursor.attributes.offset)
            return false;
        const ir::Instruction *sum = i->operand(1)->definition;
        return sum && sum->is(Opcode::Add) && sum->operand(0) == cursor.result() &&
               sum->operand(1)->constant;
    });
}

} // namespace

void emit_prefetch_at_cursor(WarpEmitter &w, const ir::Instruction &store, const Address &address) {
    if (address.window || w.kernel.plan.loops.innermost(store.block) < 0)
        return;
    const ir::Instruction *cursor = index_load(store.operand(0));
    if (cursor && cursor->block == store.block && is_advanced(*cursor))
        emit_lines(w, address, {0, 1}, w.i64(kLine), Opcode::Store, kFirstLevel);
}

void emit_prefetch(WarpEmitter &w, const ir::Instruction &access, const Address &address) {
    if (address.window || address.lanes.shape.groups > 4 || address.lanes.shape.checked)
        return;
    const int loop = w.kernel.plan.loops.innermost(access.block);
    if (loop < 0)
        emit_for_next_block(w, access, address);
    else if (access.is(Opcode::Load))
        emit_for_iteration(w, loop, access, address);
}

} // namespace softcuda::codegen
