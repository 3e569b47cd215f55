// privatized_tables.cpp -- tables for variables in which a region counts.
#include "codegen/privatized_tables.h"

#include "codegen/warp_emitter.h"

#include <algorithm>
#include <bit>

namespace softcuda::codegen {

namespace {

std::uint64_t table_bytes(const PrivateTables &tables) {
    return (tables.variable->size + 63) / 64 * 64;
}

} // namespace

const PrivateTables *PrivatizedTables::find(unsigned region) {
    const std::optional<warp::CountedVariable> &counted = kernel_.plan.regions[region].counted;
    if (!counted)
        return nullptr;
    auto [it, added] = made_.try_emplace(region);
    PrivateTables &tables = it->second;
    if (added) {
        tables = {.variable = counted->variable, .type = counted->type, .tables = 0};
        tables.tables = kernel_.scratch.reserve(table_bytes(tables) * (kTables - 1));
    }
    return &tables;
}

void PrivatizedTables::emit_end(unsigned region) {
    const auto found = made_.find(region);
    if (found == made_.end())
        return;
    const PrivateTables &tables = found->second;
    llvm::IRBuilder<> &b = kernel_.builder;
    llvm::Type *type = b.getIntNTy(ir::bits(tables.type)), *wide = b.getInt64Ty();
    const std::uint64_t bytes = ir::bits(tables.type) / 8, size = tables.variable->size;
    // Whole vectors if the table's size is a multiple of theirs.
    const std::uint64_t step = size % 64 == 0 ? 64 : bytes;
    if (step > bytes)
        type = with_lanes(type, static_cast<unsigned>(step / bytes));
    llvm::BasicBlock *before = b.GetInsertBlock();
    llvm::BasicBlock *loop =
        llvm::BasicBlock::Create(kernel_.code.context, "add.up", before->getParent());
    llvm::BasicBlock *after =
        llvm::BasicBlock::Create(kernel_.code.context, "added.up", before->getParent());
    b.CreateBr(loop);
    b.SetInsertPoint(loop);
    llvm::PHINode *at = b.CreatePHI(wide, 2);
    at->addIncoming(b.getInt64(0), before);
    auto place = [&](llvm::Value *start, std::uint64_t offset) {
        return b.CreateGEP(b.getInt8Ty(), start, b.CreateAdd(at, b.getInt64(offset)));
    };
    const llvm::Align align(bytes);
    llvm::Value *total = place(kernel_.frame.invariants.shared, tables.variable->offset);
    llvm::Value *sum = b.CreateAlignedLoad(type, total, align);
    for (unsigned table = 0; table + 1 < kTables; ++table) {
        llvm::Value *part =
            place(kernel_.frame.invariants.scratch, tables.tables + table * table_bytes(tables));
        sum = b.CreateAdd(sum, b.CreateAlignedLoad(type, part, align));
        b.CreateAlignedStore(llvm::Constant::getNullValue(type), part, align);
    }
    b.CreateAlignedStore(sum, total, align);
    llvm::Value *next = b.CreateAdd(at, b.getInt64(step));
    at->addIncoming(next, loop);
    b.CreateCondBr(b.CreateICmpULT(next, b.getInt64(size)), loop, after);
    b.SetInsertPoint(after);
}

void PrivatizedTables::emit_start() {
    llvm::IRBuilder<> &b = kernel_.builder;
    for (const auto &[region, tables] : made_)
        b.CreateMemSet(
            b.CreateConstGEP1_64(b.getInt8Ty(), kernel_.frame.invariants.scratch, tables.tables),
            b.getInt8(0), table_bytes(tables) * (kTables - 1), llvm::Align(64));
}

PrivatizedLanes::PrivatizedLanes(WarpEmitter &w, const PrivateTables &tables, llvm::Value *offsets)
    : w_(w), tables_(tables) {
    const unsigned bytes = ir::bits(tables.type) / 8;
    const std::uint64_t elements = tables.variable->size / bytes;
    auto everywhere = [&](std::uint64_t number) {
        return llvm::ConstantInt::get(offsets->getType(), number);
    };
    // Offsets between two elements are rotated to numbers beyond the last one.
    llvm::Value *distance = w.b.CreateSub(offsets, everywhere(tables.variable->offset));
    llvm::Value *number = w.b.CreateIntrinsic(
        llvm::Intrinsic::fshr, {offsets->getType()},
        {distance, distance, everywhere(static_cast<unsigned>(std::countr_zero(bytes)))});
    all_inside_ = w.b.CreateNot(w.any(w.b.CreateICmpUGT(number, everywhere(elements - 1))));
    bits_ = elements <= 256 ? 8 : 16;
    words_ = w.b.CreateBitCast(w.b.CreateTrunc(number, with_lanes(w.b.getIntNTy(bits_), kLanes)),
                               with_lanes(w.b.getInt64Ty(), kLanes * bits_ / 64));
}

llvm::Value *PrivatizedLanes::place(unsigned lane) {
    const unsigned bit = lane * bits_;
    // Otherwise LLVM would extract each number from the vector separately, or shift each one down
    // from its position, which is slower than shifting the rest of the word by a small count.
    if (bit % 64 == 0)
        word_ = unknown(w_.b.CreateExtractElement(words_, bit / 64));
    else if (bit % 16 == 0)
        word_ = unknown(w_.b.CreateLShr(word_, 16));
    llvm::Value *number = w_.b.CreateTrunc(w_.b.CreateLShr(word_, bit % 16), w_.b.getIntNTy(bits_));
    return w_.b.CreateGEP(w_.b.getIntNTy(ir::bits(tables_.type)), table(lane),
                          w_.b.CreateZExt(number, w_.b.getInt64Ty()));
}

llvm::Value *PrivatizedLanes::unknown(llvm::Value *word) {
    auto *type = llvm::FunctionType::get(word->getType(), {word->getType()}, false);
    return w_.b.CreateCall(llvm::InlineAsm::get(type, "", "=r,0", false), {word});
}

llvm::Value *PrivatizedLanes::table(unsigned lane) const {
    const unsigned number = lane % kTables;
    const Invariants &known = w_.kernel.frame.invariants;
    return number == 0
               ? w_.b.CreateConstGEP1_64(w_.b.getInt8Ty(), known.shared, tables_.variable->offset)
               : w_.b.CreateConstGEP1_64(w_.b.getInt8Ty(), known.scratch,
                                         tables_.tables + (number - 1) * table_bytes(tables_));
}

} // namespace softcuda::codegen
