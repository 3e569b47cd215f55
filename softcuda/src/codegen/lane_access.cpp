// lane_access.cpp -- one access for each lane, without a branch.
#include "codegen/lane_access.h"

#include "codegen/answer.h"

#include <functional>

namespace softcuda::codegen {

namespace {

llvm::Value *addresses(WarpEmitter &w, const Address &address, unsigned extra) {
    llvm::Value *all = all_addresses(w, address);
    return extra == 0 ? all : w.b.CreateAdd(all, llvm::ConstantInt::get(all->getType(), extra));
}

/// Each lane's address; `elsewhere`, a pointer, in lanes that are not active.
llvm::Value *addresses_or(WarpEmitter &w, const Address &address, unsigned extra,
                          llvm::Value *elsewhere) {
    llvm::Value *all = addresses(w, address, extra);
    if (w.mask_is_full())
        return all;
    elsewhere = w.b.CreatePtrToInt(elsewhere, w.b.getInt64Ty());
    return w.b.CreateSelect(w.mask(), all, w.b.CreateVectorSplat(kLanes, elsewhere));
}

llvm::Value *place_of(WarpEmitter &w, llvm::Value *all, unsigned lane) {
    return w.b.CreateIntToPtr(w.b.CreateExtractElement(all, lane), w.b.getPtrTy());
}

} // namespace

namespace {

llvm::Value *gather_in_loop(WarpEmitter &w, const Address &address, llvm::Type *element,
                            unsigned extra) {
    llvm::Type *type = with_lanes(element, kLanes), *wide = w.b.getInt64Ty();
    llvm::Value *places = w.spill(addresses(w, address, extra));
    llvm::Value *values = w.spill(llvm::Constant::getNullValue(type));
    w.for_each_lane(w.mask_bits(), [&](llvm::Value *lane) {
        llvm::Value *at = w.b.CreateLoad(wide, w.b.CreateGEP(wide, places, lane));
        llvm::Value *loaded =
            w.b.CreateAlignedLoad(element, w.b.CreateIntToPtr(at, w.b.getPtrTy()), llvm::Align(1));
        w.b.CreateStore(loaded, w.b.CreateGEP(element, values, lane));
    });
    return w.b.CreateLoad(type, values);
}

void scatter_in_loop(WarpEmitter &w, const Address &address, llvm::Value *values, unsigned extra) {
    llvm::Type *element = values->getType()->getScalarType(), *wide = w.b.getInt64Ty();
    llvm::Value *places = w.spill(addresses(w, address, extra)), *array = w.spill(values);
    w.for_each_lane(w.mask_bits(), [&](llvm::Value *lane) {
        llvm::Value *at = w.b.CreateLoad(wide, w.b.CreateGEP(wide, places, lane));
        w.b.CreateAlignedStore(w.b.CreateLoad(element, w.b.CreateGEP(element, array, lane)),
                               w.b.CreateIntToPtr(at, w.b.getPtrTy()), llvm::Align(1));
    });
}

} // namespace

llvm::Value *gather_singly(WarpEmitter &w, const Address &address, llvm::Type *element,
                           unsigned extra) {
    if (w.kernel.plan.wants_short_code)
        return gather_in_loop(w, address, element, extra);
    llvm::Value *zero = w.kernel.code.constant(llvm::Constant::getNullValue(element), "zero");
    llvm::Value *all = addresses_or(w, address, extra, zero);
    llvm::Value *values = llvm::PoisonValue::get(with_lanes(element, kLanes));
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        llvm::Value *loaded =
            w.b.CreateAlignedLoad(element, place_of(w, all, lane), llvm::Align(1));
        values = w.b.CreateInsertElement(values, loaded, lane);
    }
    return values;
}

namespace {

constexpr unsigned kPiece = 16; ///< bytes of the vectors within which permutations are fastest

/// Adjacent elements of all lanes as vectors over the lanes, by loads of `count` elements of a lane
/// and a transposition within pieces of 16 bytes; stores are the reverse:
///
///     lane 0 | lane 4     a0 b0 c0 d0 | a4 b4 c4 d4     a0 a1 a2 a3 | a4 a5 a6 a7
///     lane 1 | lane 5     a1 b1 c1 d1 | a5 b5 c5 d5     b0 b1 b2 b3 | b4 b5 b6 b7
///     lane 2 | lane 6     a2 b2 c2 d2 | a6 b6 c6 d6     c0 c1 c2 c3 | c4 c5 c6 c7
///     lane 3 | lane 7     a3 b3 c3 d3 | a7 b7 c7 d7     d0 d1 d2 d3 | d4 d5 d6 d7
class LaneRows {
  public:
    using Places = std::function<llvm::Value *(unsigned lane, std::uint64_t extra)>;

    /// `place`: of each lane, which may all be accessed, as a pointer.
    LaneRows(WarpEmitter &w, Places place, llvm::Type *element, unsigned count)
        : w_(w), place_(std::move(place)), element_(element), count_(count),
          pieces_(w.kernel.code.target.facts().register_bits / 8 / kPiece) {}

    /// From `extra` bytes after the addresses.
    Values whole_pieces(std::uint64_t extra) {
        std::vector<llvm::SmallVector<llvm::Value *, 8>> parts(count_);
        for (unsigned first = 0; first < kLanes; first += count_ * pieces_) {
            llvm::SmallVector<llvm::Value *, 4> rows;
            for (unsigned row = 0; row < count_; ++row) {
                llvm::SmallVector<llvm::Value *, 4> loaded;
                for (unsigned piece = 0; piece < pieces_; ++piece)
                    loaded.push_back(load(first + piece * count_ + row, extra));
                rows.push_back(concatenate(w_.b, loaded));
            }
            for (unsigned done = 1; done < count_; done *= 2)
                rows = interleaved(rows);
            for (unsigned e = 0; e < count_; ++e)
                parts[e].push_back(rows[e]);
        }
        return joined(parts);
    }

    /// Two elements of half a piece.
    Values half_pieces() {
        std::vector<llvm::SmallVector<llvm::Value *, 8>> parts(2);
        for (unsigned first = 0; first < kLanes; first += 4 * pieces_) {
            llvm::SmallVector<llvm::Value *, 4> rows;
            for (unsigned row = 0; row < 2; ++row) {
                llvm::SmallVector<llvm::Value *, 8> loaded;
                for (unsigned half = 0; half < 2 * pieces_; ++half)
                    loaded.push_back(load(first + half / 2 * 4 + row * 2 + half % 2, 0));
                rows.push_back(concatenate(w_.b, loaded));
            }
            for (unsigned e = 0; e < 2; ++e)
                parts[e].push_back(in_pieces(rows[0], rows[1], [e](unsigned k) {
                    return k / 2 * 4 + k % 2 * 2 + e; // of four elements of each row
                }));
        }
        return joined(parts);
    }

    /// The reverse of whole_pieces().
    void store_whole_pieces(llvm::ArrayRef<llvm::Value *> values, std::uint64_t extra) {
        for (unsigned first = 0; first < kLanes; first += lanes_at_once())
            store_whole_pieces(values, extra, first);
    }

    /// Of lanes_at_once() lanes from `first` on.
    void store_whole_pieces(llvm::ArrayRef<llvm::Value *> values, std::uint64_t extra,
                            unsigned first) {
        llvm::SmallVector<llvm::Value *, 4> rows;
        for (llvm::Value *value : values)
            rows.push_back(lane_range(w_.b, value, first, count_ * pieces_));
        for (unsigned done = 1; done < count_; done *= 2)
            rows = interleaved(rows);
        for (unsigned row = 0; row < count_; ++row)
            for (unsigned piece = 0; piece < pieces_; ++piece)
                store(lane_range(w_.b, rows[row], piece * count_, count_),
                      first + piece * count_ + row, extra);
    }

    [[nodiscard]] unsigned lanes_at_once() const { return count_ * pieces_; }

    /// The reverse of half_pieces().
    void store_half_pieces(llvm::ArrayRef<llvm::Value *> values) {
        for (unsigned lane = 0; lane < kLanes; lane += 2) {
            const auto first = static_cast<int>(lane), second = first + int{kLanes};
            llvm::Value *two = w_.b.CreateShuffleVector(values[0], values[1],
                                                        {first, second, first + 1, second + 1});
            for (unsigned half = 0; half < 2; ++half)
                store(lane_range(w_.b, two, half * 2, 2), lane + half, 0);
        }
    }

  private:
    llvm::Value *load(unsigned lane, std::uint64_t extra) {
        return w_.b.CreateAlignedLoad(llvm::FixedVectorType::get(element_, count_),
                                      place_(lane, extra), llvm::Align(1));
    }

    void store(llvm::Value *row, unsigned lane, std::uint64_t extra) {
        w_.b.CreateAlignedStore(row, place_(lane, extra), llvm::Align(1));
    }

    /// Permutes within the pieces of two vectors. `from(k)` is the source of element k of a piece
    /// of the result: an element of the first vector's piece, or, beyond, of the second's.
    template <typename From> llvm::Value *in_pieces(llvm::Value *a, llvm::Value *b, From from) {
        const unsigned width =
            llvm::cast<llvm::FixedVectorType>(a->getType())->getNumElements() / pieces_;
        llvm::SmallVector<int, kLanes> places;
        for (unsigned k = 0; k < width * pieces_; ++k) {
            const unsigned source = from(k % width);
            places.push_back(static_cast<int>(k / width * width + source % width +
                                              source / width * width * pieces_));
        }
        return w_.b.CreateShuffleVector(a, b, places);
    }

    /// One step of a transposition; as many steps as the binary logarithm of the rows complete it.
    llvm::SmallVector<llvm::Value *, 4> interleaved(llvm::ArrayRef<llvm::Value *> rows) {
        const auto width = static_cast<unsigned>(rows.size());
        llvm::SmallVector<llvm::Value *, 4> result;
        for (unsigned row = 0; row < width / 2; ++row)
            for (const unsigned start : {0u, width / 2})
                result.push_back(in_pieces(rows[row], rows[row + width / 2], [&](unsigned k) {
                    return start + k / 2 + k % 2 * width;
                }));
        return result;
    }

    Values joined(std::vector<llvm::SmallVector<llvm::Value *, 8>> &parts) {
        Values values;
        for (auto &part : parts)
            values.push_back(concatenate(w_.b, part));
        return values;
    }

    WarpEmitter &w_;
    Places place_;
    llvm::Type *element_;
    unsigned count_;  ///< elements of a load
    unsigned pieces_; ///< in a vector register
};

} // namespace

Values gather_few(WarpEmitter &w, const Address &address, llvm::Type *element, unsigned count,
                  llvm::ArrayRef<unsigned> lanes) {
    const std::int64_t bytes = element->getPrimitiveSizeInBits() / 8;
    Values values;
    for (unsigned e = 0; e < count; ++e) {
        llvm::Value *all = llvm::Constant::getNullValue(with_lanes(element, kLanes));
        for (unsigned lane : lanes) {
            llvm::Value *at = lane_pointer(w, address, lane, e * bytes);
            all = w.b.CreateInsertElement(all, w.b.CreateAlignedLoad(element, at, llvm::Align(1)),
                                          lane);
        }
        values.push_back(all);
    }
    return values;
}

bool has_lane_rows(const WarpEmitter &w, unsigned bytes, unsigned count) {
    const unsigned row = bytes * count;
    if (w.kernel.plan.wants_short_code || count < 2 || (bytes != 4 && bytes != 8))
        return false;
    return row % kPiece == 0 || (row == kPiece / 2 && !w.kernel.code.target.facts().fast_gather);
}

namespace {

/// Emits `access` for all lanes, of which those that are not active access `elsewhere`. If the
/// lanes are at known distances and all active, each has a constant distance from one pointer.
template <typename Access>
Values access_rows(WarpEmitter &w, const Address &address, llvm::Value *elsewhere, Access access) {
    const auto by_vector = [&] {
        llvm::Value *all = addresses_or(w, address, 0, elsewhere);
        return access([&w, all](unsigned lane, std::uint64_t extra) {
            return w.b.CreateConstGEP1_64(w.b.getInt8Ty(), place_of(w, all, lane), extra);
        });
    };
    const auto by_pointer = [&] {
        return access([&](unsigned lane, std::uint64_t extra) {
            return lane_pointer(w, address, lane, static_cast<std::int64_t>(extra));
        });
    };
    const analysis::Shape &shape = address.lanes.shape;
    if (shape.groups != 1 || shape.checked || address.index || w.mask_is_partial())
        return by_vector();
    if (w.mask_is_full())
        return by_pointer();
    return either(w, w.b.CreateICmpEQ(w.mask_bits(), w.i32(~0u)), by_pointer, by_vector);
}

} // namespace

Values gather_rows(WarpEmitter &w, const Address &address, llvm::Type *element, unsigned count) {
    const auto bytes = static_cast<unsigned>(element->getPrimitiveSizeInBits() / 8);
    const unsigned of_load = std::min(count, kPiece / bytes);
    llvm::Type *row = llvm::ArrayType::get(element, count);
    llvm::Value *zeros = w.kernel.code.constant(llvm::Constant::getNullValue(row), "zeros");
    return access_rows(w, address, zeros, [&](LaneRows::Places place) {
        LaneRows rows(w, std::move(place), element, of_load);
        if (bytes * count < kPiece)
            return rows.half_pieces();
        Values values;
        for (unsigned done = 0; done < count; done += of_load)
            values.append(rows.whole_pieces(std::uint64_t{done} * bytes));
        return values;
    });
}

// A word at a multiple of its size does not cross a page boundary.
llvm::Value *gather_from_words(WarpEmitter &w, const Address &address, llvm::Type *element,
                               unsigned extra) {
    auto &b = w.b;
    llvm::Type *words = with_lanes(b.getInt32Ty(), kLanes);
    llvm::Value *at = addresses(w, address, extra);
    llvm::Value *start = b.CreateAnd(at, llvm::ConstantInt::getSigned(at->getType(), -4));
    llvm::Value *loaded =
        b.CreateMaskedGather(words, b.CreateIntToPtr(start, with_lanes(b.getPtrTy(), kLanes)),
                             llvm::Align(4), w.mask(), llvm::Constant::getNullValue(words));
    llvm::Value *bits = b.CreateShl(b.CreateAnd(b.CreateTrunc(at, words), 3), 3);
    llvm::Type *narrow =
        with_lanes(b.getIntNTy(element->getPrimitiveSizeInBits().getFixedValue()), kLanes);
    return b.CreateBitCast(b.CreateTrunc(b.CreateLShr(loaded, bits), narrow),
                           with_lanes(element, kLanes));
}

Values split_words(WarpEmitter &w, const Values &words, llvm::Type *element, unsigned count) {
    const unsigned bits = element->getPrimitiveSizeInBits();
    Values elements;
    for (unsigned e = 0; e < count; ++e) {
        llvm::Value *value = w.b.CreateLShr(words[e * bits / 32], std::uint64_t{e * bits % 32});
        value = w.b.CreateTrunc(value, with_lanes(w.b.getIntNTy(bits), kLanes));
        elements.push_back(w.b.CreateBitCast(value, with_lanes(element, kLanes)));
    }
    return elements;
}

Values make_words(WarpEmitter &w, const Values &elements) {
    const unsigned bits = elements[0]->getType()->getScalarSizeInBits();
    llvm::Type *type = with_lanes(w.b.getInt32Ty(), kLanes);
    Values words(elements.size() * bits / 32, llvm::Constant::getNullValue(type));
    for (unsigned e = 0; e < elements.size(); ++e) {
        llvm::Value *part = w.b.CreateBitCast(elements[e], with_lanes(w.b.getIntNTy(bits), kLanes));
        part = w.b.CreateShl(w.b.CreateZExt(part, type), std::uint64_t{e * bits % 32});
        words[e * bits / 32] = w.b.CreateOr(words[e * bits / 32], part);
    }
    return words;
}

void scatter_singly(WarpEmitter &w, const Address &address, llvm::Value *values, unsigned extra) {
    if (w.kernel.plan.wants_short_code)
        return scatter_in_loop(w, address, values, extra);
    llvm::Type *element = values->getType()->getScalarType();
    llvm::Value *all = addresses_or(w, address, extra, w.kernel.frame.call_slot(element));
    for (unsigned lane = 0; lane < kLanes; ++lane)
        w.b.CreateAlignedStore(w.b.CreateExtractElement(values, lane), place_of(w, all, lane),
                               llvm::Align(1));
}

void scatter_rows(WarpEmitter &w, const Address &address, llvm::ArrayRef<llvm::Value *> values) {
    llvm::Type *element = values[0]->getType()->getScalarType();
    const auto bytes = static_cast<unsigned>(element->getPrimitiveSizeInBits() / 8);
    const auto count = static_cast<unsigned>(values.size());
    const unsigned of_store = std::min(count, kPiece / bytes);
    llvm::Value *elsewhere = w.kernel.frame.call_slot(llvm::ArrayType::get(element, count));
    access_rows(w, address, elsewhere, [&](LaneRows::Places place) {
        LaneRows rows(w, std::move(place), element, of_store);
        if (bytes * count < kPiece)
            rows.store_half_pieces(values);
        else
            for (unsigned done = 0; done < count; done += of_store)
                rows.store_whole_pieces(values.slice(done, of_store), std::uint64_t{done} * bytes);
        return Values{};
    });
}

void store_columns(WarpEmitter &w, llvm::Value *places, llvm::ArrayRef<llvm::Value *> values) {
    llvm::Type *element = values[0]->getType()->getScalarType();
    const auto bytes = static_cast<unsigned>(element->getPrimitiveSizeInBits() / 8);
    const auto place = [&](unsigned lane, std::uint64_t extra) {
        return w.b.CreateConstGEP1_64(w.b.getInt8Ty(), place_of(w, places, lane), extra);
    };
    LaneRows rows(w, place, element, kPiece / bytes);
    for (unsigned first = 0; first < kLanes; first += rows.lanes_at_once())
        for (unsigned done = 0; done < values.size(); done += kPiece / bytes)
            rows.store_whole_pieces(values.slice(done, kPiece / bytes), std::uint64_t{done} * bytes,
                                    first);
}

} // namespace softcuda::codegen
