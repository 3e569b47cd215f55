// column_writer.cpp -- keeps the values of stores by columns, and writes the columns.
#include "codegen/column_writer.h"

#include "codegen/answer.h"
#include "codegen/lane_access.h"
#include "warp/column_stores.h"

namespace softcuda::codegen {

llvm::Value *shares_cache_sets(WarpEmitter &w, const Address &address) {
    // 32 lines in at most 4 of 64 sets; a set has 8 to 12 lines.
    constexpr std::uint64_t kApart = 1024;
    llvm::Value *all = address.index ? address.index : all_addresses(w, address);
    llvm::Value *second = w.b.CreateExtractElement(all, std::uint64_t{1});
    llvm::Value *step = w.b.CreateSub(second, w.b.CreateExtractElement(all, std::uint64_t{0}));
    if (address.index)
        step = w.b.CreateMul(step, w.i32(address.scale));
    step = w.b.CreateFreeze(w.b.CreateAnd(step, kApart - 1)); // the lanes may be inactive
    return w.b.CreateICmpEQ(step, llvm::Constant::getNullValue(step->getType()));
}

std::vector<const warp::AccessPlan *> ColumnWriter::stores_of(unsigned region) const {
    std::vector<const warp::AccessPlan *> stores;
    for (const ir::Block *block : kernel_.plan.function.blocks)
        if (kernel_.plan.regions[region].blocks[block->id])
            for (const ir::Instruction *i : block->instructions)
                if (const auto found = kernel_.plan.accesses.find(i);
                    found != kernel_.plan.accesses.end() && found->second.row_step != 0)
                    stores.push_back(&found->second);
    return stores;
}

ColumnWriter::Kept &ColumnWriter::kept(const warp::AccessPlan &store) {
    const auto [place, is_new] = kept_.try_emplace(&store);
    if (is_new) {
        llvm::IRBuilder<> &b = kernel_.builder;
        const unsigned warps = kernel_.plan.launch.warps();
        const auto array = [&](llvm::Type *type, const char *name) {
            return kernel_.frame.stack_slot(llvm::ArrayType::get(type, warps), name);
        };
        llvm::Type *element = b.getIntNTy(store.bytes * 8);
        place->second = {.places = array(with_lanes(b.getInt64Ty(), kLanes), "places"),
                         .values = array(with_lanes(element, kLanes), "values"),
                         .masks = array(b.getInt32Ty(), "masks"),
                         .element = element};
    }
    return place->second;
}

void ColumnWriter::keep(WarpEmitter &w, const warp::AccessPlan &store, const Address &address,
                        llvm::Value *values) {
    const Kept &arrays = kept(store);
    llvm::Type *type = with_lanes(arrays.element, kLanes);
    const auto of_warp = [&](llvm::AllocaInst *array) {
        llvm::Type *part = array->getAllocatedType()->getArrayElementType();
        return w.b.CreateInBoundsGEP(part, array, w.warp);
    };
    w.b.CreateStore(all_addresses(w, address), of_warp(arrays.places));
    w.b.CreateStore(w.b.CreateBitCast(values, type), of_warp(arrays.values));
    w.b.CreateStore(w.mask_bits(), of_warp(arrays.masks));
}

void ColumnWriter::emit_start(unsigned region) {
    for (const warp::AccessPlan *store : stores_of(region)) {
        llvm::AllocaInst *masks = kept(*store).masks;
        kernel_.builder.CreateStore(llvm::Constant::getNullValue(masks->getAllocatedType()), masks);
    }
}

void ColumnWriter::emit_end(unsigned region) {
    WarpEmitter w(kernel_, region, kernel_.builder.getInt32(0), kernel_.all_lanes_active());
    for (const warp::AccessPlan *store : stores_of(region))
        write(w, kept(*store), store->row_step);
}

// A round writes some steps of one part of the rows. If the columns of a round are not adjacent,
// all values are written again, one by one.
void ColumnWriter::write(WarpEmitter &w, const Kept &arrays, std::int64_t row_step) {
    auto &b = w.b;
    const unsigned warps = kernel_.plan.launch.warps();
    llvm::Type *all = llvm::FixedVectorType::get(b.getInt32Ty(), warps);
    llvm::Value *masks = b.CreateAlignedLoad(all, arrays.masks, llvm::Align(4));
    llvm::BasicBlock *some = w.new_block("columns"), *round = w.new_block("round");
    llvm::BasicBlock *whole = w.new_block("adjacent"), *singly = w.new_block("singly");
    llvm::BasicBlock *written = w.new_block("written");
    b.CreateCondBr(b.CreateICmpNE(b.CreateOrReduce(masks), w.i32(0)), some, written);
    b.SetInsertPoint(some);
    b.CreateCondBr(b.CreateICmpEQ(b.CreateAndReduce(masks), w.i32(~0u)), round, singly);
    b.SetInsertPoint(round);
    llvm::PHINode *number = b.CreatePHI(b.getInt32Ty(), 2, "number");
    number->addIncoming(w.i32(0), some);
    llvm::Value *first_row = first_of_round(w, number);
    b.CreateCondBr(are_adjacent(w, arrays, first_row, row_step), whole, singly);
    b.SetInsertPoint(whole);
    write_columns(w, arrays, first_row, row_step);
    llvm::Value *next = b.CreateAdd(number, w.i32(1));
    number->addIncoming(next, whole);
    const warp::BlockRows rows(kernel_.plan);
    const unsigned rounds = rows.parts * rows.steps / rows.at_once;
    b.CreateCondBr(b.CreateICmpULT(next, w.i32(rounds)), round, written);
    b.SetInsertPoint(singly);
    write_singly(w, arrays);
    b.CreateBr(written);
    b.SetInsertPoint(written);
}

// The number of a round's first lane in the arrays.
llvm::Value *ColumnWriter::first_of_round(WarpEmitter &w, llvm::Value *round) {
    const warp::BlockRows rows(kernel_.plan);
    llvm::Value *part = w.b.CreateURem(round, w.i32(rows.parts));
    llvm::Value *step =
        w.b.CreateMul(w.b.CreateUDiv(round, w.i32(rows.parts)), w.i32(rows.at_once));
    llvm::Value *row = w.b.CreateAdd(w.b.CreateMul(step, w.i32(rows.parts)), part);
    return w.b.CreateMul(row, w.i32(rows.lanes));
}

// A vector of the lanes whose columns are adjacent `step` rows after those of step 0. If a warp has
// several rows, it consists of rows that are as many steps apart as there are steps:
//
//     16 x 8 threads    warp 0 = rows 0, 1    warp 1 = rows 2, 3    warp 2 = 4, 5    warp 3 = 6, 7
//     4 steps           rows 0, 4             rows 1, 5             rows 2, 6        rows 3, 7
llvm::Value *ColumnWriter::row(WarpEmitter &w, llvm::Value *array, llvm::Type *element,
                               llvm::Value *first_row, unsigned step) {
    const warp::BlockRows rows(kernel_.plan);
    llvm::Value *start = w.b.CreateInBoundsGEP(element, array, first_row);
    llvm::SmallVector<llvm::Value *, 4> pieces;
    for (unsigned first = 0; first < kLanes; first += rows.lanes) {
        const unsigned number = (first / rows.lanes * rows.steps + step) * rows.parts;
        llvm::Value *at = w.b.CreateConstInBoundsGEP1_64(element, start, number * rows.lanes);
        pieces.push_back(w.b.CreateAlignedLoad(with_lanes(element, rows.lanes), at,
                                               llvm::Align(element->getScalarSizeInBits() / 8)));
    }
    return concatenate(w.b, pieces);
}

llvm::Value *ColumnWriter::are_adjacent(WarpEmitter &w, const Kept &arrays, llvm::Value *first_row,
                                        std::int64_t row_step) {
    llvm::Type *wide = w.b.getInt64Ty();
    llvm::Value *first = row(w, arrays.places, wide, first_row, 0);
    llvm::Value *differs = llvm::Constant::getNullValue(first->getType());
    for (unsigned step = 1; step < warp::BlockRows(kernel_.plan).at_once; ++step) {
        llvm::Value *distance =
            llvm::ConstantInt::getSigned(first->getType(), row_step * std::int64_t{step});
        llvm::Value *other = row(w, arrays.places, wide, first_row, step);
        differs = w.b.CreateOr(differs, w.b.CreateXor(w.b.CreateAdd(first, distance), other));
    }
    llvm::Value *zeros = llvm::Constant::getNullValue(first->getType());
    return w.b.CreateNot(w.any(w.b.CreateICmpNE(differs, zeros)));
}

void ColumnWriter::write_columns(WarpEmitter &w, const Kept &arrays, llvm::Value *first_row,
                                 std::int64_t row_step) {
    const unsigned count = warp::BlockRows(kernel_.plan).at_once, last = count - 1;
    Values values;
    for (unsigned step = 0; step < count; ++step)
        values.push_back(
            row(w, arrays.values, arrays.element, first_row, row_step > 0 ? step : last - step));
    store_columns(w, row(w, arrays.places, w.b.getInt64Ty(), first_row, row_step > 0 ? 0 : last),
                  values);
}

// In the order of the warps, and of their lanes.
void ColumnWriter::write_singly(WarpEmitter &w, const Kept &arrays) {
    auto &b = w.b;
    llvm::BasicBlock *before = b.GetInsertBlock(), *loop = w.new_block("kept.warp");
    llvm::BasicBlock *after = w.new_block("kept.done");
    b.CreateBr(loop);
    b.SetInsertPoint(loop);
    llvm::PHINode *warp = b.CreatePHI(b.getInt32Ty(), 2, "kept");
    warp->addIncoming(w.i32(0), before);
    llvm::Value *bits =
        b.CreateLoad(b.getInt32Ty(), b.CreateInBoundsGEP(b.getInt32Ty(), arrays.masks, warp));
    w.for_each_lane(bits, [&](llvm::Value *lane) {
        llvm::Value *number = b.CreateAdd(b.CreateMul(warp, w.i32(kLanes)), lane);
        llvm::Value *at = b.CreateLoad(b.getInt64Ty(),
                                       b.CreateInBoundsGEP(b.getInt64Ty(), arrays.places, number));
        llvm::Value *value = b.CreateLoad(
            arrays.element, b.CreateInBoundsGEP(arrays.element, arrays.values, number));
        b.CreateAlignedStore(value, b.CreateIntToPtr(at, b.getPtrTy()), llvm::Align(1));
    });
    llvm::Value *next = b.CreateAdd(warp, w.i32(1));
    warp->addIncoming(next, b.GetInsertBlock());
    b.CreateCondBr(b.CreateICmpULT(next, w.i32(kernel_.plan.launch.warps())), loop, after);
    b.SetInsertPoint(after);
}

} // namespace softcuda::codegen
