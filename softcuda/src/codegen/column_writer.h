// column_writer.h -- code for stores by columns (warp/column_stores.h).
//
// For each such store there are three arrays on the stack: the places and the values of all lanes
// of all warps, and a mask for each warp. A warp writes its part instead of scattering the values.
// At the end of the region, the columns are written if all lanes have stored and the places of each
// column are adjacent, otherwise every value by itself.
#pragma once

#include "codegen/address.h"

#include <map>
#include <vector>

namespace softcuda::codegen {

/// i1: neighbouring lanes are a multiple of 1 KB apart, so that their lines share few sets of the
/// processor's first cache. Otherwise scattering the values at once takes as long as writing
/// columns.
[[nodiscard]] llvm::Value *shares_cache_sets(WarpEmitter &w, const Address &address);

class ColumnWriter {
  public:
    explicit ColumnWriter(KernelEmitter &kernel) : kernel_(kernel) {}

    /// Keeps the active lanes' values. No lane of the warp has stored in this region before.
    void keep(WarpEmitter &w, const warp::AccessPlan &store, const Address &address,
              llvm::Value *values);

    [[nodiscard]] bool has_columns(unsigned region) const { return !stores_of(region).empty(); }
    /// Emits the region's start: no warp has stored.
    void emit_start(unsigned region);
    /// Emits the region's end: writes all columns.
    void emit_end(unsigned region);

  private:
    struct Kept {
        llvm::AllocaInst *places, *values, *masks;
        llvm::Type *element;
    };

    [[nodiscard]] std::vector<const warp::AccessPlan *> stores_of(unsigned region) const;
    Kept &kept(const warp::AccessPlan &store);
    void write(WarpEmitter &w, const Kept &kept, std::int64_t row_step);
    void write_columns(WarpEmitter &w, const Kept &kept, llvm::Value *first_row,
                       std::int64_t row_step);
    void write_singly(WarpEmitter &w, const Kept &kept);
    [[nodiscard]] llvm::Value *are_adjacent(WarpEmitter &w, const Kept &kept,
                                            llvm::Value *first_row, std::int64_t row_step);
    [[nodiscard]] llvm::Value *first_of_round(WarpEmitter &w, llvm::Value *round);
    [[nodiscard]] llvm::Value *row(WarpEmitter &w, llvm::Value *array, llvm::Type *element,
                                   llvm::Value *first_row, unsigned step);

    KernelEmitter &kernel_;
    std::map<const warp::AccessPlan *, Kept> kept_;
};

} // namespace softcuda::codegen
