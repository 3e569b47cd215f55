// emit_prefetch.cpp -- finds the step of an address from one iteration to the next.

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

/// How much a value grows in each iteration of a loop: an i64, or null if that is not known before
/// the iteration begins.
class Step {
  public:
    Step(WarpEmitter &w, int loop) : w_(w), loop_(loop) {}

    llvm::Value *of(const ir::Value *value) {
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
        return value->constant || !value->definition ||
               !w_.kernel.plan.loops.contains(loop_, value->definition->block);
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

/// How many iterations ahead: enough to take as long as memory does.
std::uint64_t distance(const WarpEmitter &w, int loop) {
    std::size_t length = 0;
    for (const ir::Block *block :
         w.kernel.plan.loops.loops()[static_cast<std::size_t>(loop)].blocks) {
        if (w.kernel.is_barrier_end(block))
            return 1; // all warps come between
        length += block->instructions.size();
    }
    return std::clamp<std::size_t>(128 / length, 1, 8);
}

} // namespace

void emit_prefetch(WarpEmitter &w, const ir::Instruction &load, const Address &address) {
    const int loop = w.kernel.plan.loops.innermost(load.block);
    const unsigned groups = address.lanes.shape.groups;
    const std::int64_t bytes = std::int64_t{address.bytes} * address.lanes.shape.group_size();
    if (loop < 0 || address.window || groups > 4 || bytes < kLine / 2)
        return;
    llvm::Value *step = Step(w, loop).of(load.operand(0));
    if (!step)
        return;
    if (auto *known = llvm::dyn_cast<llvm::ConstantInt>(step);
        known && std::abs(known->getSExtValue()) < kShortStep)
        return;
    const std::uint64_t iterations = distance(w, loop);
    llvm::Value *ahead = w.b.CreateMul(step, w.i64(iterations));
    for (unsigned group = 0; group < groups; ++group)
        for (std::int64_t line = 0; line < bytes; line += kLine) {
            llvm::Value *at =
                w.b.CreateGEP(w.b.getInt8Ty(), group_pointer(w, address, group),
                              w.b.CreateAdd(ahead, w.i64(static_cast<std::uint64_t>(line))));
            w.b.CreateIntrinsic(
                llvm::Intrinsic::prefetch, {w.b.getPtrTy()},
                {at, w.i32(0), w.i32(iterations == 1 ? kSecondLevel : kFirstLevel), w.i32(1)});
        }
}

} // namespace softcuda::codegen
