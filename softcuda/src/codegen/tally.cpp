// tally.cpp -- finds regions that count, and adds up their tables.
#include "codegen/tally.h"

#include "codegen/warp_emitter.h"

#include <algorithm>

namespace softcuda::codegen {

namespace {

using ir::Opcode;
using ir::Space;

constexpr std::uint64_t kMostBytes = 4096; ///< of a table: all of them stay in the first level
constexpr unsigned kMostAddends = 8;

/// Whether a block's other threads can tell what it does to shared memory: not by accesses to other
/// spaces.
bool leaves_shared_alone(const ir::Instruction &i) {
    const ir::OpcodeInfo &facts = ir::info(i.opcode);
    if (!facts.reads && !facts.writes)
        return true;
    if (ir::is_block_barrier(i)) // the region's end
        return true;
    switch (i.opcode) {
    case Opcode::Load:
    case Opcode::Store:
    case Opcode::Atomic:
    case Opcode::Reduce:
        return i.attributes.space == Space::Global || i.attributes.space == Space::Constant ||
               i.attributes.space == Space::Local || i.attributes.space == Space::Param;
    default:
        return false;
    }
}

/// The shared variable that an address is in as long as its other parts are small; null: unknown.
const ir::LocalVariable *base_variable(const ir::Function &function, const ir::Value *address) {
    const ir::LocalVariable *variable = nullptr;
    std::vector<const ir::Value *> parts{address};
    for (std::size_t k = 0; k < parts.size() && parts.size() <= kMostAddends; ++k) {
        const ir::Instruction *i = parts[k]->definition;
        if (!i)
            continue;
        if (i->is(Opcode::Add)) {
            parts.insert(parts.end(), i->operands.begin(), i->operands.end());
        } else if (i->is(Opcode::SymbolAddress) && i->attributes.space == Space::Shared) {
            if (variable || i->attributes.offset != 0)
                return nullptr;
            variable = &function.variables.at(i->attributes.symbol);
        }
    }
    return variable;
}

bool is_count(const ir::Instruction &i) {
    return i.is(Opcode::Reduce) && i.attributes.space == Space::Shared &&
           i.attributes.atomic == ir::AtomicOp::Add && !ir::is_floating(i.attributes.type) &&
           (ir::bits(i.attributes.type) == 32 || ir::bits(i.attributes.type) == 64);
}

std::optional<Tally> find_tally(const KernelPlan &plan, const std::vector<bool> &blocks) {
    Tally tally{.variable = nullptr, .type = ir::Scalar::None, .tables = 0};
    bool in_loop = false;
    for (const ir::Block *block : plan.function.blocks) {
        if (!blocks[block->id])
            continue;
        for (const ir::Instruction *i : block->instructions) {
            if (leaves_shared_alone(*i))
                continue;
            if (!is_count(*i) || plan.divergence.of(i->operand(0)).uniform())
                return std::nullopt;
            const ir::LocalVariable *variable = base_variable(plan.function, i->operand(0));
            if (!variable || (tally.variable && tally.variable != variable) ||
                (tally.variable && ir::bits(tally.type) != ir::bits(i->attributes.type)))
                return std::nullopt;
            tally.variable = variable;
            tally.type = i->attributes.type;
            in_loop |= plan.loops.innermost(block) >= 0;
        }
    }
    const std::uint64_t bytes = tally.variable ? ir::bits(tally.type) / 8 : 1;
    // What a launch gives the size of, `extern __shared__`, has none here.
    if (!in_loop || tally.variable->size == 0 || tally.variable->size > kMostBytes ||
        tally.variable->size % bytes != 0 || tally.variable->offset % bytes != 0)
        return std::nullopt;
    return tally;
}

std::uint64_t table_bytes(const Tally &tally) { return (tally.variable->size + 63) / 64 * 64; }

} // namespace

const Tally *Tallies::find(unsigned region, const std::vector<bool> &blocks) {
    auto [it, added] = found_.try_emplace(region);
    std::optional<Tally> &tally = it->second;
    if (added) {
        tally = find_tally(kernel_.plan, blocks);
        if (tally)
            tally->tables = kernel_.reserve_scratch(table_bytes(*tally) * (kTables - 1));
    }
    return tally ? &*tally : nullptr;
}

void Tallies::emit_end(unsigned region) {
    auto found = found_.find(region);
    if (found == found_.end() || !found->second)
        return;
    const Tally &tally = *found->second;
    llvm::IRBuilder<> &b = kernel_.builder;
    llvm::Type *type = b.getIntNTy(ir::bits(tally.type)), *wide = b.getInt64Ty();
    const std::uint64_t bytes = ir::bits(tally.type) / 8, size = tally.variable->size;
    // Whole vectors where the table is made of them.
    const std::uint64_t step = size % 64 == 0 ? 64 : bytes;
    if (step > bytes)
        type = with_lanes(type, static_cast<unsigned>(step / bytes));
    llvm::BasicBlock *before = b.GetInsertBlock();
    llvm::BasicBlock *loop =
        llvm::BasicBlock::Create(kernel_.context, "add.up", before->getParent());
    llvm::BasicBlock *after =
        llvm::BasicBlock::Create(kernel_.context, "added.up", before->getParent());
    b.CreateBr(loop);
    b.SetInsertPoint(loop);
    llvm::PHINode *at = b.CreatePHI(wide, 2);
    at->addIncoming(b.getInt64(0), before);
    auto place = [&](llvm::Value *start, std::uint64_t offset) {
        return b.CreateGEP(b.getInt8Ty(), start, b.CreateAdd(at, b.getInt64(offset)));
    };
    const llvm::Align align(bytes);
    llvm::Value *total = place(kernel_.invariants.shared, tally.variable->offset);
    llvm::Value *sum = b.CreateAlignedLoad(type, total, align);
    for (unsigned table = 0; table + 1 < kTables; ++table) {
        llvm::Value *part =
            place(kernel_.invariants.scratch, tally.tables + table * table_bytes(tally));
        sum = b.CreateAdd(sum, b.CreateAlignedLoad(type, part, align));
        b.CreateAlignedStore(llvm::Constant::getNullValue(type), part, align);
    }
    b.CreateAlignedStore(sum, total, align);
    llvm::Value *next = b.CreateAdd(at, b.getInt64(step));
    at->addIncoming(next, loop);
    b.CreateCondBr(b.CreateICmpULT(next, b.getInt64(size)), loop, after);
    b.SetInsertPoint(after);
}

void Tallies::emit_start() {
    llvm::IRBuilder<> &b = kernel_.builder;
    for (const auto &[region, tally] : found_)
        if (tally)
            b.CreateMemSet(
                b.CreateConstGEP1_64(b.getInt8Ty(), kernel_.invariants.scratch, tally->tables),
                b.getInt8(0), table_bytes(*tally) * (kTables - 1), llvm::Align(64));
}

llvm::Value *all_in_variable(WarpEmitter &w, const Tally &tally, llvm::Value *offsets) {
    const std::uint64_t last = tally.variable->size - ir::bits(tally.type) / 8;
    auto everywhere = [&](std::uint64_t number) {
        return llvm::ConstantInt::get(offsets->getType(), number);
    };
    llvm::Value *distance = w.b.CreateSub(offsets, everywhere(tally.variable->offset));
    return w.b.CreateNot(w.any(w.b.CreateICmpUGT(distance, everywhere(last))));
}

llvm::Value *table_of_lane(WarpEmitter &w, const Tally &tally, unsigned lane) {
    const unsigned table = lane % kTables;
    if (table == 0)
        return w.kernel.invariants.shared;
    const auto offset = static_cast<std::int64_t>(tally.tables + (table - 1) * table_bytes(tally)) -
                        static_cast<std::int64_t>(tally.variable->offset);
    return w.b.CreateGEP(w.b.getInt8Ty(), w.kernel.invariants.scratch,
                         llvm::ConstantInt::getSigned(w.b.getInt64Ty(), offset));
}

} // namespace softcuda::codegen
