// watched_access.cpp -- the tests before a kernel reports an access.
#include "codegen/watched_access.h"

#include "codegen/lane_access.h"
#include "codegen/masked_access.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace softcuda::codegen {
namespace {

/// The lanes' addresses: bases of groups, and the offsets of the lanes from them. Exact.
struct Span {
    llvm::Value *bases; ///< <groups x i64>, or one i64
    std::int64_t first = 0, last = 0;
    bool by_lanes = false; ///< a base for each lane
};

llvm::Value *splat(WarpEmitter &w, llvm::Value *value, llvm::Type *like) {
    const auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(like);
    return vector ? w.b.CreateVectorSplat(vector->getNumElements(), value) : value;
}

Span span_of(WarpEmitter &w, const Lanes &lanes) {
    const analysis::Shape &shape = lanes.shape;
    if (shape.checked || shape.groups == kLanes)
        return {.bases = all_lanes(w.b, lanes), .by_lanes = true};
    Span span{.bases = lanes.base};
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        span.first = std::min(span.first, shape.offset(lane));
        span.last = std::max(span.last, shape.offset(lane));
    }
    return span;
}

/// i1: some lane's address, counted from `begin`, is not one of the first `places`.
llvm::Value *leaves(WarpEmitter &w, const Span &span, llvm::Value *begin, llvm::Value *places) {
    llvm::Type *type = span.bases->getType();
    llvm::Value *limit = splat(w, places, type);
    const auto outside = [&](std::int64_t offset) {
        llvm::Value *from =
            w.b.CreateSub(begin, llvm::ConstantInt::getSigned(begin->getType(), offset));
        llvm::Value *distance = w.b.CreateSub(span.bases, splat(w, from, type));
        return w.b.CreateICmpUGE(distance, limit);
    };
    llvm::Value *found = outside(span.first);
    if (span.last != span.first)
        found = w.b.CreateOr(found, outside(span.last));
    if (span.by_lanes)
        found = w.b.CreateAnd(found, w.mask());
    return type->isVectorTy() ? w.any(found) : found;
}

/// i1: some lane's address is not a multiple of `bytes`; null if all are.
llvm::Value *is_misaligned(WarpEmitter &w, const Lanes &lanes, const Span &span, unsigned bytes) {
    if (bytes == 1 || !std::has_single_bit(bytes))
        return nullptr;
    bool offsets_align = true;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        offsets_align &= lanes.shape.offset(lane) % static_cast<std::int64_t>(bytes) == 0;
    if (offsets_align && !span.by_lanes &&
        (1u << std::min<unsigned>(lanes.shape.align, 31)) >= bytes)
        return nullptr;
    llvm::Value *all = offsets_align ? span.bases : all_lanes(w.b, lanes);
    llvm::Value *low = w.b.CreateAnd(all, llvm::ConstantInt::get(all->getType(), bytes - 1));
    llvm::Value *found = w.b.CreateICmpNE(low, llvm::Constant::getNullValue(low->getType()));
    if (!found->getType()->isVectorTy())
        return found;
    if (span.by_lanes || !offsets_align)
        found = w.b.CreateAnd(found, w.mask());
    return w.any(found);
}

/// The bytes that record whether memory is written: the kernel reads them itself.
class WrittenBytes {
  public:
    WrittenBytes(WarpEmitter &w, const Lanes &lanes, const rt::WatchSite &site,
                 llvm::Value *distance)
        : w_(w), lanes_(lanes), site_(site) {
        lanes_.base = w.b.CreateAdd(lanes.base, splat(w, distance, lanes.base->getType()));
        element_ = w.b.getIntNTy(site.bytes * 8);
    }

    /// i1: some bytes are not written.
    llvm::Value *any_missing() {
        if (lanes_.shape.uniform() && !lanes_.shape.checked)
            return differs(w_.b.CreateAlignedLoad(lane_type(), pointer(), llvm::Align(1)));
        if (is_row()) {
            llvm::Value *row = load_row(w_, this->row());
            llvm::Value *missing = differs(row);
            return any_of_active(missing, site_.count);
        }
        llvm::Value *missing = nullptr;
        for (unsigned e = 0; e < site_.count; ++e) {
            llvm::Value *one = differs(gather_singly(w_, address(), element_, e * site_.bytes));
            missing = missing ? w_.b.CreateOr(missing, one) : one;
        }
        return any_of_active(missing, 1);
    }

    void note() {
        if (lanes_.shape.uniform() && !lanes_.shape.checked) {
            w_.b.CreateAlignedStore(ones(lane_type()), pointer(), llvm::Align(1));
        } else if (is_row()) {
            store_row(w_, row(), ones(row().type()));
        } else {
            for (unsigned e = 0; e < site_.count; ++e)
                scatter_singly(w_, address(), ones(with_lanes(element_, kLanes)), e * site_.bytes);
        }
    }

  private:
    static llvm::Constant *ones(llvm::Type *type) { return llvm::Constant::getAllOnesValue(type); }
    llvm::Value *differs(llvm::Value *loaded) {
        return w_.b.CreateICmpNE(loaded, ones(loaded->getType()));
    }
    llvm::Type *lane_type() { return w_.b.getIntNTy(site_.bytes * site_.count * 8); }
    llvm::Value *pointer() { return w_.b.CreateIntToPtr(lanes_.base, w_.b.getPtrTy()); }

    /// Whether the lanes' elements are adjacent.
    [[nodiscard]] bool is_row() const {
        const analysis::Shape &shape = lanes_.shape;
        const auto lane_bytes = static_cast<std::int64_t>(site_.bytes * site_.count);
        bool side_by_side = shape.groups == 1 && !shape.checked;
        for (unsigned lane = 0; lane < kLanes; ++lane)
            side_by_side &= shape.offset(lane) == lane * lane_bytes;
        return side_by_side;
    }
    Row row() { return {pointer(), 0, kLanes, element_, site_.bytes, site_.count}; }
    Address address() {
        return {.lanes = {.base = all_lanes(w_.b, lanes_), .shape = {.groups = kLanes}},
                .needs_check = false,
                .bytes = site_.bytes * site_.count,
                .checked_bytes = site_.bytes * site_.count};
    }

    /// `missing` has `count` bits for each lane.
    llvm::Value *any_of_active(llvm::Value *missing, unsigned count) {
        if (count > 1) {
            llvm::SmallVector<int, 4 * kLanes> lanes;
            for (unsigned e = 0; e < kLanes * count; ++e)
                lanes.push_back(static_cast<int>(e / count));
            return w_.b.CreateOrReduce(
                w_.b.CreateAnd(missing, w_.b.CreateShuffleVector(w_.mask(), lanes)));
        }
        return w_.any(w_.b.CreateAnd(missing, w_.mask()));
    }

    WarpEmitter &w_;
    Lanes lanes_;
    const rt::WatchSite &site_;
    llvm::Type *element_;
};

/// The site's piece: the function stores it while it runs; it is empty at first.
llvm::AllocaInst *new_piece(WarpEmitter &w) {
    llvm::Type *word = w.b.getInt64Ty();
    llvm::AllocaInst *piece = w.kernel.frame.stack_slot(llvm::ArrayType::get(word, 3), "piece");
    llvm::IRBuilder<> behind(piece->getParent(), std::next(piece->getIterator()));
    behind.CreateStore(llvm::Constant::getNullValue(piece->getAllocatedType()), piece);
    return piece;
}

/// Absolute addresses, also in windows.
Lanes absolute(WarpEmitter &w, const Address &address) {
    Lanes lanes = address.lanes;
    if (address.window) {
        llvm::Value *window = w.b.CreatePtrToInt(address.window, w.b.getInt64Ty());
        lanes.base = w.b.CreateAdd(lanes.base, splat(w, window, lanes.base->getType()));
        lanes.shape.align = 0;
    }
    return lanes;
}

} // namespace

void report_if_suspect(WarpEmitter &w, const ir::Instruction &i, const Address &address,
                       const rt::WatchSite &site, const ir::LocalVariable *variable,
                       const std::function<void(llvm::Value *piece)> &tell) {
    llvm::AllocaInst *piece = new_piece(w);
    const auto member = [&](std::size_t offset) {
        return w.b.CreateLoad(w.b.getInt64Ty(),
                              w.b.CreateConstInBoundsGEP1_64(w.b.getInt8Ty(), piece, offset));
    };
    const Lanes lanes = absolute(w, address);
    const Span span = span_of(w, lanes);
    const unsigned bytes = site.bytes * site.count;
    llvm::Value *suspect = leaves(w, span, member(offsetof(rt::WatchPiece, begin)),
                                  member(offsetof(rt::WatchPiece, places)));
    if (llvm::Value *misaligned = is_misaligned(w, lanes, span, bytes))
        suspect = w.b.CreateOr(suspect, misaligned);
    if (variable && site.space == rt::WatchSpace::Local) { // by offsets in a thread's local memory
        Lanes offsets = w.lanes(i.operand(0));
        llvm::Type *type = with_lanes(w.b.getInt64Ty(), offsets.shape.groups);
        offsets.base = w.b.CreateSExtOrTrunc(offsets.base, type);
        if (offsets.correction)
            offsets.correction =
                w.b.CreateSExtOrTrunc(offsets.correction, with_lanes(w.b.getInt64Ty(), kLanes));
        const auto begin = static_cast<std::int64_t>(variable->offset) - i.attributes.offset;
        const std::uint64_t places = variable->size < bytes ? 0 : variable->size - bytes + 1;
        suspect = w.b.CreateOr(suspect, leaves(w, span_of(w, offsets),
                                               w.b.getInt64(static_cast<std::uint64_t>(begin)),
                                               w.i64(places)));
    }

    llvm::BasicBlock *rare = w.new_block("tell"), *fine = w.new_block("fine");
    llvm::BasicBlock *after = w.new_block("watched");
    w.branch_rarely(suspect, rare, fine);
    w.b.SetInsertPoint(fine);
    if (w.kernel.plan.request.watch & rt::kWatchWrites) {
        llvm::Value *distance = member(offsetof(rt::WatchPiece, written));
        llvm::BasicBlock *known = w.new_block("known");
        w.b.CreateCondBr(w.b.CreateICmpNE(distance, w.i64(0)), known, after);
        w.b.SetInsertPoint(known);
        WrittenBytes written(w, lanes, site, distance);
        if (site.kind == rt::WatchKind::Store) {
            written.note();
            w.b.CreateBr(after);
        } else {
            w.branch_rarely(written.any_missing(), rare, after);
        }
    } else {
        w.b.CreateBr(after);
    }
    w.b.SetInsertPoint(rare);
    w.kernel.frame.announce_warp(w.warp);
    tell(piece);
    w.b.CreateBr(after);
    w.b.SetInsertPoint(after);
}

namespace {

/// Lanes with adjacent addresses, `offset` bytes after the base of a group.
struct ReadRow {
    unsigned group;
    std::int64_t offset;
    unsigned bytes;
    unsigned first, lanes;
};

/// The rows that the lanes read, if they are few; otherwise none. Neighbouring lanes may read the
/// same address.
llvm::SmallVector<ReadRow, 4> rows_of(const analysis::Shape &shape, unsigned bytes) {
    constexpr std::size_t kMostRows = 4;
    llvm::SmallVector<ReadRow, 4> rows;
    if (bytes < 4 || !std::has_single_bit(bytes))
        return rows;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        const unsigned group = lane / shape.group_size();
        const std::int64_t offset = shape.offset(lane);
        const bool continues = !rows.empty() && rows.back().group == group;
        const std::int64_t end = continues ? rows.back().offset + rows.back().bytes : 0;
        if (continues && (offset == end || offset == end - bytes)) {
            rows.back().bytes += offset == end ? bytes : 0;
            ++rows.back().lanes;
        } else {
            rows.push_back({group, offset, bytes, lane, 1});
        }
        if (rows.size() > kMostRows)
            return {};
    }
    return rows;
}

/// The words of rows, in the entries of a rt::ReadRecord.
class ReadWords {
  public:
    ReadWords(WarpEmitter &w, llvm::Value *record)
        : w_(w), record_(w.b.CreateIntToPtr(record, w.b.getPtrTy())),
          entries_(member(offsetof(rt::ReadRecord, entries))) {}

    /// i1: nothing is recorded.
    llvm::Value *is_off() { return w_.b.CreateICmpEQ(entries_, w_.i64(0)); }
    /// i1: all reads must be reported.
    llvm::Value *must_report() {
        llvm::Value *flag =
            w_.b.CreateIntToPtr(member(offsetof(rt::ReadRecord, several)), w_.b.getPtrTy());
        llvm::LoadInst *several = w_.b.CreateAlignedLoad(w_.b.getInt8Ty(), flag, llvm::Align(1));
        several->setAtomic(llvm::AtomicOrdering::Monotonic); // it may change during the launch
        return w_.b.CreateICmpNE(several, w_.b.getInt8(0));
    }

    /// i64: not 0 if a word of the row is not recorded. The row is aligned to words.
    llvm::Value *missing(llvm::Value *address, unsigned bytes) {
        llvm::Value *found = w_.i64(0);
        for (unsigned at = 0; at < bytes; at += kLine) {
            const unsigned part = std::min(bytes - at, kLine);
            found = w_.b.CreateOr(found, missing(w_.b.CreateAdd(address, w_.i64(at)), part,
                                                 w_.i64(~std::uint64_t{0} >> (64 - part / 4))));
        }
        return found;
    }
    /// The same of some words of up to 128 bytes, which are in one line or two: `words` has a bit
    /// for each word.
    llvm::Value *missing(llvm::Value *address, unsigned bytes, llvm::Value *words) {
        llvm::Value *first = w_.b.CreateAnd(w_.b.CreateLShr(address, 2), w_.i64(kLine / 4 - 1));
        llvm::Value *wanted = w_.b.CreateShl(words, first);
        llvm::Value *high = w_.i64(kHigh);
        llvm::Value *in_first =
            w_.b.CreateAnd(lacks(entry_of(address)), w_.b.CreateOr(wanted, high));
        llvm::Value *last = w_.b.CreateAdd(address, w_.i64(bytes - 1));
        llvm::Value *rest = w_.b.CreateLShr(wanted, 32);
        llvm::Value *of_rest = w_.b.CreateSelect(w_.b.CreateICmpEQ(rest, w_.i64(0)), w_.i64(0),
                                                 w_.b.CreateOr(rest, high));
        return w_.b.CreateOr(in_first, w_.b.CreateAnd(lacks(entry_of(last)), of_rest));
    }

    /// Records whole lines, from the beginning of one on: other threads can only store the same.
    void record_lines(llvm::Value *address, unsigned bytes, llvm::GlobalVariable *site) {
        llvm::Value *block =
            w_.b.CreateLoad(w_.b.getInt64Ty(),
                            w_.kernel.frame.worker_member(offsetof(rt::WorkerState, block_index)));
        llvm::Value *number = w_.b.CreateLoad(
            w_.b.getInt32Ty(),
            w_.b.CreateConstInBoundsGEP1_64(w_.b.getInt8Ty(), site, offsetof(rt::WatchSite, id)));
        llvm::Value *thread = w_.b.CreateOr(w_.b.CreateShl(number, 10), w_.b.CreateShl(w_.warp, 5));
        llvm::Value *reader =
            w_.b.CreateOr(w_.b.CreateShl(block, 32), w_.b.CreateZExt(thread, w_.b.getInt64Ty()));
        for (unsigned at = 0; at < bytes; at += kLine) {
            llvm::Value *entry = entry_of(w_.b.CreateAdd(address, w_.i64(at)));
            store(entry, offsetof(rt::ReadEntry, words), whole());
            store(entry, offsetof(rt::ReadEntry, reader), reader);
        }
    }

    static constexpr unsigned kLine = 128;

  private:
    static constexpr std::uint64_t kHigh = 0xffffffff00000000;

    llvm::Value *member(std::size_t offset) {
        return w_.b.CreateLoad(w_.b.getInt64Ty(),
                               w_.b.CreateConstInBoundsGEP1_64(w_.b.getInt8Ty(), record_, offset));
    }
    llvm::Value *whole() {
        return whole_ ? whole_ : whole_ = member(offsetof(rt::ReadRecord, whole));
    }
    llvm::Value *entry_of(llvm::Value *address) {
        llvm::Value *line = w_.b.CreateLShr(address, std::countr_zero(kLine));
        return w_.b.CreateIntToPtr(
            w_.b.CreateAdd(entries_, w_.b.CreateMul(line, w_.i64(sizeof(rt::ReadEntry)))),
            w_.b.getPtrTy());
    }
    void store(llvm::Value *entry, std::size_t offset, llvm::Value *value) {
        llvm::Value *at = w_.b.CreateConstInBoundsGEP1_64(w_.b.getInt8Ty(), entry, offset);
        w_.b.CreateAlignedStore(value, at, llvm::Align(8))
            ->setAtomic(llvm::AtomicOrdering::Monotonic);
    }
    /// i64: the words that an entry lacks, and in the high half not 0 if it is another launch's.
    llvm::Value *lacks(llvm::Value *entry) {
        llvm::LoadInst *words = w_.b.CreateAlignedLoad(w_.b.getInt64Ty(), entry, llvm::Align(8));
        words->setAtomic(llvm::AtomicOrdering::Monotonic);
        return w_.b.CreateXor(words, whole());
    }

    WarpEmitter &w_;
    llvm::Value *record_, *entries_;
    llvm::Value *whole_ = nullptr;
};

/// Whether each lane of the rows reads one word of its own, so that the mask has the words.
bool has_word_for_each_lane(llvm::ArrayRef<ReadRow> rows, unsigned bytes) {
    return bytes == 4 &&
           llvm::all_of(rows, [](const ReadRow &row) { return row.bytes == 4 * row.lanes; });
}

/// i1: some words of the rows have no active lane.
llvm::Value *lacks_lanes(WarpEmitter &w, bool uniform) {
    return uniform ? w.b.CreateICmpEQ(w.mask_bits(), w.b.getInt32(0))
                   : w.b.CreateICmpNE(w.mask_bits(), w.b.getInt32(~0u));
}

/// i64: a bit for each of the row's lanes that is active.
llvm::Value *active_words(WarpEmitter &w, const ReadRow &row) {
    llvm::Value *lanes = w.b.CreateZExt(w.mask_bits(), w.b.getInt64Ty());
    return w.b.CreateAnd(w.b.CreateLShr(lanes, row.first), (std::uint64_t{1} << row.lanes) - 1);
}

} // namespace

bool report_unless_recorded(WarpEmitter &w, const Address &address, const rt::WatchSite &site,
                            llvm::GlobalVariable *data,
                            const std::function<void(llvm::Value *piece)> &tell) {
    const unsigned bytes = site.bytes * site.count;
    const Lanes &lanes = address.lanes;
    const auto rows = rows_of(lanes.shape, bytes);
    if (rows.empty() || address.window || w.kernel.plan.wants_short_code)
        return false;
    llvm::AllocaInst *piece = new_piece(w);
    const auto member = [&](std::size_t offset) {
        return w.b.CreateLoad(w.b.getInt64Ty(),
                              w.b.CreateConstInBoundsGEP1_64(w.b.getInt8Ty(), piece, offset));
    };
    Span span{.bases = lanes.base};
    for (const ReadRow &row : rows) {
        span.first = std::min(span.first, row.offset);
        span.last = std::max(span.last, row.offset + row.bytes - bytes);
    }
    llvm::Value *rarely = leaves(w, span, member(offsetof(rt::WatchPiece, begin)),
                                 member(offsetof(rt::WatchPiece, places)));
    const bool by_words = has_word_for_each_lane(rows, bytes);
    if (!by_words)
        rarely = w.b.CreateOr(rarely, lacks_lanes(w, rows.size() == 1 && rows[0].bytes == bytes));
    if (lanes.shape.checked)
        rarely = w.b.CreateOr(rarely, lanes.wrapped);
    if (llvm::Value *misaligned = is_misaligned(w, lanes, span, bytes))
        rarely = w.b.CreateOr(rarely, misaligned);

    llvm::BasicBlock *rare = w.new_block("tell"), *fine = w.new_block("fine");
    llvm::BasicBlock *records = w.new_block("records"), *compare = w.new_block("compare");
    llvm::BasicBlock *after = w.new_block("watched");
    w.branch_rarely(rarely, rare, fine);
    w.b.SetInsertPoint(fine);
    ReadWords words(w, member(offsetof(rt::WatchPiece, written)));
    w.b.CreateCondBr(words.is_off(), after, records);
    w.b.SetInsertPoint(records);
    w.branch_rarely(words.must_report(), rare, compare);
    w.b.SetInsertPoint(compare);
    llvm::Value *missing = w.i64(0);
    llvm::Value *first = nullptr;
    for (const ReadRow &row : rows) {
        llvm::Value *base = lanes.shape.groups == 1
                                ? lanes.base
                                : w.b.CreateExtractElement(lanes.base, std::uint64_t{row.group});
        first = w.b.CreateAdd(base, w.i64(static_cast<std::uint64_t>(row.offset)));
        missing =
            w.b.CreateOr(missing, by_words ? words.missing(first, row.bytes, active_words(w, row))
                                           : words.missing(first, row.bytes));
    }
    llvm::Value *any = w.b.CreateICmpNE(missing, w.i64(0));
    if (rows.size() == 1 && rows[0].bytes % ReadWords::kLine == 0) {
        llvm::BasicBlock *fresh = w.new_block("unread"), *whole = w.new_block("whole");
        w.b.CreateCondBr(any, fresh, after);
        w.b.SetInsertPoint(fresh);
        llvm::Value *inside = w.b.CreateAnd(first, w.i64(ReadWords::kLine - 1));
        llvm::Value *partly =
            w.b.CreateOr(w.b.CreateICmpNE(inside, w.i64(0)), lacks_lanes(w, false));
        w.b.CreateCondBr(partly, rare, whole);
        w.b.SetInsertPoint(whole);
        words.record_lines(first, rows[0].bytes, data);
        w.b.CreateBr(after);
    } else {
        w.b.CreateCondBr(any, rare, after);
    }
    w.b.SetInsertPoint(rare);
    tell(piece);
    w.b.CreateBr(after);
    w.b.SetInsertPoint(after);
    return true;
}

} // namespace softcuda::codegen
