// tally.h -- several tables in the place of one for atomics that only count.
#pragma once

#include "ir/ir.h"
#include "jit/llvm.h"

#include <map>

namespace softcuda::codegen {

class KernelEmitter;
class WarpEmitter;

/// The tables of a variable that a region counts in (warp/region_plan.h). Lanes that hit one place
/// one after the other would wait for each other's store, so each of four lanes in a row has a
/// table of its own. Three of them are in the scratch memory; where all warps have run the region,
/// they are added to the variable and are zero again.
struct Tally {
    const ir::LocalVariable *variable;
    ir::Scalar type;      ///< of the numbers, which the variable is full of
    std::uint64_t tables; ///< offset in the scratch memory
};

inline constexpr unsigned kTables = 4;

/// Those of a kernel, by region.
class Tallies {
  public:
    explicit Tallies(KernelEmitter &kernel) : kernel_(kernel) {}

    /// That of a region; null if it counts in nothing.
    const Tally *find(unsigned region);
    /// Emits the region's end.
    void emit_end(unsigned region);
    /// Emits what has to be done before the first thread block: tables are zero.
    void emit_start();

  private:
    KernelEmitter &kernel_;
    std::map<unsigned, Tally> made_;
};

/// Which elements of the tables the lanes of a warp hit.
class TalliedLanes {
  public:
    /// `offsets` is <32 x i32>, from the start of shared memory.
    TalliedLanes(WarpEmitter &w, const Tally &tally, llvm::Value *offsets);

    /// i1: every lane hits an element of the variable, and only one.
    [[nodiscard]] llvm::Value *all_inside() const { return all_inside_; }
    /// Where lane `lane` counts. To be asked for in the order of the lanes, in one block.
    [[nodiscard]] llvm::Value *place(unsigned lane);

  private:
    [[nodiscard]] llvm::Value *table(unsigned lane) const;
    /// The same number, of which LLVM knows nothing.
    [[nodiscard]] llvm::Value *unknown(llvm::Value *word);

    WarpEmitter &w_;
    const Tally &tally_;
    llvm::Value *all_inside_;
    llvm::Value *words_;          ///< the elements' numbers, several in an i64
    unsigned bits_;               ///< of a number
    llvm::Value *word_ = nullptr; ///< what is left of the one with the last lane's
};

} // namespace softcuda::codegen
