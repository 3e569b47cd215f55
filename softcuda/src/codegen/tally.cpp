// tally.cpp -- finds regions that count, and adds up their tables.
#include "codegen/tally.h"

#include "codegen/warp_emitter.h"

#include <algorithm>
#include <bit>

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

TalliedLanes::TalliedLanes(WarpEmitter &w, const Tally &tally, llvm::Value *offsets)
    : w_(w), tally_(tally) {
    const unsigned bytes = ir::bits(tally.type) / 8;
    const std::uint64_t elements = tally.variable->size / bytes;
    auto everywhere = [&](std::uint64_t number) {
        return llvm::ConstantInt::get(offsets->getType(), number);
    };
    // What lies between two elements is rotated to beyond the last one.
    llvm::Value *distance = w.b.CreateSub(offsets, everywhere(tally.variable->offset));
    llvm::Value *number = w.b.CreateIntrinsic(
        llvm::Intrinsic::fshr, {offsets->getType()},
        {distance, distance, everywhere(static_cast<unsigned>(std::countr_zero(bytes)))});
    all_inside_ = w.b.CreateNot(w.any(w.b.CreateICmpUGT(number, everywhere(elements - 1))));
    bits_ = elements <= 256 ? 8 : 16;
    words_ = w.b.CreateBitCast(w.b.CreateTrunc(number, with_lanes(w.b.getIntNTy(bits_), kLanes)),
                               with_lanes(w.b.getInt64Ty(), kLanes * bits_ / 64));
}

llvm::Value *TalliedLanes::place(unsigned lane) {
    const unsigned bit = lane * bits_;
    // Else LLVM would take each number out of the vector by itself, or shift each one down from
    // where it is, which takes longer than to shift the rest of the word a little.
    if (bit % 64 == 0)
        word_ = unknown(w_.b.CreateExtractElement(words_, bit / 64));
    else if (bit % 16 == 0)
        word_ = unknown(w_.b.CreateLShr(word_, 16));
    llvm::Value *number = w_.b.CreateTrunc(w_.b.CreateLShr(word_, bit % 16), w_.b.getIntNTy(bits_));
    return w_.b.CreateGEP(w_.b.getIntNTy(ir::bits(tally_.type)), table(lane),
                          w_.b.CreateZExt(number, w_.b.getInt64Ty()));
}

llvm::Value *TalliedLanes::unknown(llvm::Value *word) {
    auto *type = llvm::FunctionType::get(word->getType(), {word->getType()}, false);
    return w_.b.CreateCall(llvm::InlineAsm::get(type, "", "=r,0", false), {word});
}

llvm::Value *TalliedLanes::table(unsigned lane) const {
    const unsigned number = lane % kTables;
    const Invariants &known = w_.kernel.invariants;
    return number == 0
               ? w_.b.CreateConstGEP1_64(w_.b.getInt8Ty(), known.shared, tally_.variable->offset)
               : w_.b.CreateConstGEP1_64(w_.b.getInt8Ty(), known.scratch,
                                         tally_.tables + (number - 1) * table_bytes(tally_));
}

} // namespace softcuda::codegen
