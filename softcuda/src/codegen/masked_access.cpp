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

#include <bit>

namespace softcuda::codegen {

namespace {

/// Pages of all systems are multiples of it.
constexpr std::uint64_t kLeastPage = 4096;

bool is_masked_by_processor(const WarpEmitter &w, const Row &row) {
    const target::Masks masks = w.kernel.code.target.facts().masks;
    return masks == target::Masks::All || (masks == target::Masks::Words && row.bytes >= 4);
}

/// Elements of a row that are accessed under one mask, the row from `first` on. LLVM has no good
/// code for masks of 96 elements, so a row of three elements for each lane has three parts.
struct Part {
    unsigned first, size;
};

llvm::SmallVector<Part, 3> parts_of(const Row &row) {
    if (std::has_single_bit(row.count))
        return {{0, row.size * row.count}};
    llvm::SmallVector<Part, 3> parts;
    for (unsigned p = 0; p < row.count; ++p)
        parts.push_back({p * row.size, row.size});
    return parts;
}

/// Whether masks of a row's elements are made of the lanes' mask in few instructions.
bool has_quick_mask(const Row &row) { return std::has_single_bit(row.count); }

/// The mask of the lanes of a part, with one bit for each element.
llvm::Value *element_mask(WarpEmitter &w, const Row &row, const Part &part) {
    llvm::SmallVector<int, 4 * kLanes> lanes;
    for (unsigned e = part.first; e < part.first + part.size; ++e)
        lanes.push_back(static_cast<int>(row.first + e / row.count));
    return w.b.CreateShuffleVector(w.mask(), lanes);
}

llvm::Value *part_pointer(WarpEmitter &w, const Row &row, const Part &part) {
    return w.b.CreateConstGEP1_64(w.b.getInt8Ty(), row.pointer,
                                  std::uint64_t{part.first} * row.bytes);
}

/// The active lanes' elements of `all`, or of memory; the others are zero.
template <typename Masked> llvm::Value *in_parts(WarpEmitter &w, const Row &row, Masked masked) {
    llvm::SmallVector<llvm::Value *, 3> parts;
    for (const Part &part : parts_of(row)) {
        llvm::Type *type = with_lanes(row.element, part.size);
        parts.push_back(
            masked(part, element_mask(w, row, part), llvm::Constant::getNullValue(type)));
    }
    return concatenate(w.b, parts);
}

llvm::Value *load_masked(WarpEmitter &w, const Row &row) {
    return in_parts(w, row, [&](const Part &part, llvm::Value *mask, llvm::Constant *zeros) {
        return w.b.CreateMaskedLoad(zeros->getType(), part_pointer(w, row, part), llvm::Align(1),
                                    mask, zeros);
    });
}

void store_masked(WarpEmitter &w, const Row &row, llvm::Value *all) {
    for (const Part &part : parts_of(row))
        w.b.CreateMaskedStore(lane_range(w.b, all, part.first, part.size),
                              part_pointer(w, row, part), llvm::Align(1),
                              element_mask(w, row, part));
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

/// All of a lane's elements as one number.
llvm::Type *lane_type(const WarpEmitter &w, const Row &row) {
    return w.b.getIntNTy(row.bytes * row.count * 8);
}

/// Of a lane, by its number in the row, an i32. A number of 24 bits takes more than 3 bytes in an
/// array of LLVM, so the array is one of bytes.
llvm::Value *lane_place(WarpEmitter &w, const Row &row, llvm::Value *start, llvm::Value *lane) {
    llvm::Type *bytes = llvm::ArrayType::get(w.b.getInt8Ty(), row.bytes * row.count);
    return w.b.CreateGEP(bytes, start, w.b.CreateZExt(lane, w.b.getInt64Ty()));
}

/// Copies the active lanes' elements between two rows.
void copy_active(WarpEmitter &w, const Row &row, llvm::Value *bits, llvm::Value *from,
                 llvm::Value *to) {
    w.for_each_lane(bits, [&](llvm::Value *lane) {
        llvm::Value *lane_value = w.b.CreateAlignedLoad(
            lane_type(w, row), lane_place(w, row, from, lane), llvm::Align(1));
        w.b.CreateAlignedStore(lane_value, lane_place(w, row, to, lane), llvm::Align(1));
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
            w.b.CreateAlignedLoad(lane_type(w, row), lane_place(w, row, row.pointer, lane),
                                  llvm::Align(1), /*isVolatile=*/true);
            llvm::Value *all = w.b.CreateAlignedLoad(row.type(), row.pointer, llvm::Align(1));
            return Values{
                in_parts(w, row, [&](const Part &part, llvm::Value *mask, llvm::Constant *none) {
                    return w.b.CreateSelect(mask, lane_range(w.b, all, part.first, part.size),
                                            none);
                })};
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

/// `finish` makes the results of the loaded row. It follows each load directly: LLVM has good code
/// for the permutations of a loaded row, and keeps results in registers better than rows.
template <typename Finish> Values load_and(WarpEmitter &w, const Row &row, Finish finish) {
    const auto load_whole = [&] {
        return finish(w.b.CreateAlignedLoad(row.type(), row.pointer, llvm::Align(1)));
    };
    if (w.mask_is_full())
        return load_whole();
    const bool is_masked = is_masked_by_processor(w, row);
    if (is_masked && has_quick_mask(row))
        return finish(load_masked(w, row));
    const auto load_rest = [&](llvm::Value *bits) {
        return finish(is_masked ? load_masked(w, row) : load_some(w, row, bits));
    };
    if (lacks_lanes(w, row))
        return load_rest(active_bits(w, row));
    const Ways ways(w, row);
    w.b.SetInsertPoint(ways.whole);
    const Values whole = load_whole();
    w.b.CreateBr(ways.after);
    w.b.SetInsertPoint(ways.some);
    const Values some = load_rest(ways.bits);
    llvm::BasicBlock *some_end = w.b.GetInsertBlock();
    w.b.CreateBr(ways.after);
    w.b.SetInsertPoint(ways.after);
    return join(w, whole, ways.whole, some, some_end);
}

/// Stores the row that `make` returns.
template <typename Make> void make_and_store(WarpEmitter &w, const Row &row, Make make) {
    const auto store_whole = [&] { w.b.CreateAlignedStore(make(), row.pointer, llvm::Align(1)); };
    if (w.mask_is_full())
        return store_whole();
    if (w.kernel.code.target.facts().masks_all() && has_quick_mask(row))
        return store_masked(w, row, make());
    const auto store_some = [&](llvm::Value *bits) {
        if (is_masked_by_processor(w, row))
            return store_masked(w, row, make());
        llvm::Value *copy = w.kernel.frame.call_slot(row.type());
        w.b.CreateStore(make(), copy);
        copy_active(w, row, bits, copy, row.pointer);
    };
    if (lacks_lanes(w, row))
        return store_some(active_bits(w, row));
    const Ways ways(w, row);
    w.b.SetInsertPoint(ways.whole);
    store_whole();
    w.b.CreateBr(ways.after);
    w.b.SetInsertPoint(ways.some);
    store_some(ways.bits);
    w.b.CreateBr(ways.after);
    w.b.SetInsertPoint(ways.after);
}

} // namespace

llvm::Value *load_row(WarpEmitter &w, const Row &row) {
    return load_and(w, row, [](llvm::Value *all) { return Values{all}; }).front();
}

void store_row(WarpEmitter &w, const Row &row, llvm::Value *all) {
    make_and_store(w, row, [&] { return all; });
}

Values load_elements(WarpEmitter &w, const Row &row) {
    return load_and(w, row, [&](llvm::Value *all) {
        if (row.count == 1)
            return Values{all};
        Values values;
        for (unsigned e = 0; e < row.count; ++e) {
            llvm::SmallVector<int, kLanes> lanes;
            for (unsigned l = 0; l < row.size; ++l)
                lanes.push_back(static_cast<int>(l * row.count + e));
            values.push_back(w.b.CreateShuffleVector(all, lanes));
        }
        return values;
    });
}

void store_elements(WarpEmitter &w, const Row &row, llvm::ArrayRef<llvm::Value *> values) {
    make_and_store(w, row, [&] {
        if (row.count == 1)
            return values[0];
        llvm::SmallVector<int, 4 * kLanes> lanes;
        for (unsigned l = 0; l < row.size; ++l)
            for (unsigned e = 0; e < row.count; ++e)
                lanes.push_back(static_cast<int>(e * row.size + l));
        return w.b.CreateShuffleVector(concatenate(w.b, values), lanes);
    });
}

} // namespace softcuda::codegen
