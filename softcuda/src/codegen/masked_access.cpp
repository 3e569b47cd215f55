// masked_access.cpp -- masked accesses, or an access to the whole row if all lanes are active.
//
// Some processors mask accesses of every width, some those of 32 and 64 bits, some none. For the
// others LLVM emits a branch for each of the thirty-two lanes. And masked stores are slow on the
// second kind (target/vector_facts.h). But nearly always all lanes are active:
//
//     all of them       one access
//     some              the processor's masked store, or otherwise a loop over the active lanes,
//                       through a copy of the row on the stack; a load takes the whole row if it
//                       is in one page, because an active lane accesses that page, too
#include "codegen/masked_access.h"

#include "codegen/answer.h"

namespace softcuda::codegen {

namespace {

/// Pages of all systems are multiples of it.
constexpr std::uint64_t kLeastPage = 4096;

bool is_masked_by_processor(const WarpEmitter &w, const Row &row) {
    const target::Masks masks = w.kernel.code.target.facts().masks;
    return w.mask_is_full() || masks == target::Masks::All ||
           (masks == target::Masks::Words && row.bytes >= 4);
}

/// The mask of the row's lanes, with one bit for each element.
llvm::Value *element_mask(WarpEmitter &w, const Row &row) {
    llvm::SmallVector<int, 4 * kLanes> lanes;
    for (unsigned e = 0; e < row.size * row.count; ++e)
        lanes.push_back(static_cast<int>(row.first + e / row.count));
    return w.b.CreateShuffleVector(w.mask(), lanes);
}

/// Whether a masked access would be one of the whole row. LLVM's inst-combine finds that, too, but
/// does not run for huge kernels.
bool is_whole(const WarpEmitter &w, const llvm::Value *elements) {
    const auto *constant = llvm::dyn_cast<llvm::Constant>(elements);
    return w.mask_is_full() && constant && constant->isAllOnesValue();
}

/// The row's active lanes, lowest bit first, as an i32.
llvm::Value *active_bits(WarpEmitter &w, const Row &row) {
    llvm::Value *bits = w.b.CreateLShr(w.mask_bits(), row.first);
    return w.b.CreateAnd(bits, ~0u >> (kLanes - row.size));
}

/// Whether some lane of the row is known not to be active.
bool lacks_lanes(const WarpEmitter &w, const Row &row) {
    return row.size == kLanes && w.mask_is_partial();
}

/// Copies the active lanes' elements between two rows.
void copy_active(WarpEmitter &w, const Row &row, llvm::Value *bits, llvm::Value *from,
                 llvm::Value *to) {
    llvm::Type *lane_type = w.b.getIntNTy(row.bytes * row.count * 8);
    w.for_each_lane(bits, [&](llvm::Value *lane) {
        llvm::Value *place = w.b.CreateZExt(lane, w.b.getInt64Ty());
        llvm::Value *lane_value =
            w.b.CreateAlignedLoad(lane_type, w.b.CreateGEP(lane_type, from, place), llvm::Align(1));
        w.b.CreateAlignedStore(lane_value, w.b.CreateGEP(lane_type, to, place), llvm::Align(1));
    });
}

/// Whether some lane is active and the whole row is in one page.
llvm::Value *is_in_active_page(WarpEmitter &w, const Row &row, llvm::Value *bits) {
    const std::uint64_t last = std::uint64_t{row.bytes} * row.count * row.size - 1;
    llvm::Value *first = w.b.CreatePtrToInt(row.pointer, w.b.getInt64Ty());
    llvm::Value *place = w.b.CreateAnd(first, w.i64(kLeastPage - 1));
    return w.b.CreateAnd(w.b.CreateICmpULE(place, w.i64(kLeastPage - 1 - last)),
                         w.b.CreateICmpNE(bits, w.i32(0)));
}

/// In the page of an active lane, all lanes may load. An active lane loads first, so that a fault
/// is at its address.
llvm::Value *load_some(WarpEmitter &w, const Row &row, llvm::Value *bits) {
    llvm::Constant *zeros = llvm::Constant::getNullValue(row.type());
    const Values loaded = either(
        w, is_in_active_page(w, row, bits),
        [&] {
            llvm::Value *lane =
                w.b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, w.b.getTrue());
            llvm::Type *lane_type = w.b.getIntNTy(row.bytes * row.count * 8);
            llvm::Value *place = w.b.CreateZExt(lane, w.b.getInt64Ty());
            w.b.CreateAlignedLoad(lane_type, w.b.CreateGEP(lane_type, row.pointer, place),
                                  llvm::Align(1), /*isVolatile=*/true);
            llvm::Value *all = w.b.CreateAlignedLoad(row.type(), row.pointer, llvm::Align(1));
            return Values{w.b.CreateSelect(element_mask(w, row), all, zeros)};
        },
        [&] {
            llvm::Value *copy = w.kernel.frame.call_slot(row.type());
            w.b.CreateStore(zeros, copy);
            copy_active(w, row, bits, row.pointer, copy);
            return Values{w.b.CreateLoad(row.type(), copy)};
        });
    return loaded.front();
}

/// Branches to the block for rows with all lanes active, or to the other block.
struct Ways {
    Ways(WarpEmitter &w, const Row &row)
        : whole(w.new_block("row")), some(w.new_block("some")), after(w.new_block("accessed")),
          bits(active_bits(w, row)) {
        w.b.CreateCondBr(w.b.CreateICmpEQ(bits, w.i32(~0u >> (kLanes - row.size))), whole, some);
    }
    llvm::BasicBlock *whole, *some, *after;
    llvm::Value *bits;
};

} // namespace

llvm::Value *load_row(WarpEmitter &w, const Row &row) {
    llvm::Constant *zeros = llvm::Constant::getNullValue(row.type());
    if (is_masked_by_processor(w, row)) {
        llvm::Value *elements = element_mask(w, row);
        if (is_whole(w, elements))
            return w.b.CreateAlignedLoad(row.type(), row.pointer, llvm::Align(1));
        return w.b.CreateMaskedLoad(row.type(), row.pointer, llvm::Align(1), elements, zeros);
    }
    if (lacks_lanes(w, row))
        return load_some(w, row, active_bits(w, row));
    const Ways ways(w, row);
    w.b.SetInsertPoint(ways.whole);
    llvm::Value *all = w.b.CreateAlignedLoad(row.type(), row.pointer, llvm::Align(1));
    w.b.CreateBr(ways.after);
    w.b.SetInsertPoint(ways.some);
    llvm::Value *loaded = load_some(w, row, ways.bits);
    llvm::BasicBlock *some_end = w.b.GetInsertBlock();
    w.b.CreateBr(ways.after);
    w.b.SetInsertPoint(ways.after);
    llvm::PHINode *joined = w.b.CreatePHI(row.type(), 2);
    joined->addIncoming(all, ways.whole);
    joined->addIncoming(loaded, some_end);
    return joined;
}

void store_row(WarpEmitter &w, const Row &row, llvm::Value *all) {
    auto masked = [&] {
        llvm::Value *elements = element_mask(w, row);
        if (is_whole(w, elements))
            w.b.CreateAlignedStore(all, row.pointer, llvm::Align(1));
        else
            w.b.CreateMaskedStore(all, row.pointer, llvm::Align(1), elements);
    };
    if (w.mask_is_full() || w.kernel.code.target.facts().masks_all())
        return masked();
    const auto store_some = [&](llvm::Value *bits) {
        if (is_masked_by_processor(w, row))
            return masked();
        llvm::Value *copy = w.kernel.frame.call_slot(row.type());
        w.b.CreateStore(all, copy);
        copy_active(w, row, bits, copy, row.pointer);
    };
    if (lacks_lanes(w, row))
        return store_some(active_bits(w, row));
    const Ways ways(w, row);
    w.b.SetInsertPoint(ways.whole);
    w.b.CreateAlignedStore(all, row.pointer, llvm::Align(1));
    w.b.CreateBr(ways.after);
    w.b.SetInsertPoint(ways.some);
    store_some(ways.bits);
    w.b.CreateBr(ways.after);
    w.b.SetInsertPoint(ways.after);
}

Values load_elements(WarpEmitter &w, const Row &row) {
    llvm::Value *all = load_row(w, row);
    if (row.count == 1)
        return {all};
    Values values;
    for (unsigned e = 0; e < row.count; ++e) {
        llvm::SmallVector<int, kLanes> lanes;
        for (unsigned l = 0; l < row.size; ++l)
            lanes.push_back(static_cast<int>(l * row.count + e));
        values.push_back(w.b.CreateShuffleVector(all, lanes));
    }
    return values;
}

void store_elements(WarpEmitter &w, const Row &row, llvm::ArrayRef<llvm::Value *> values) {
    if (row.count == 1)
        return store_row(w, row, values[0]);
    llvm::SmallVector<int, 4 * kLanes> lanes;
    for (unsigned l = 0; l < row.size; ++l)
        for (unsigned e = 0; e < row.count; ++e)
            lanes.push_back(static_cast<int>(e * row.size + l));
    store_row(w, row, w.b.CreateShuffleVector(concatenate(w.b, values), lanes));
}

} // namespace softcuda::codegen
