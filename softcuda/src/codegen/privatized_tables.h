// privatized_tables.h -- several tables instead of one for atomics that only count.
#pragma once

#include "ir/ir.h"
#include "jit/llvm.h"

#include <map>

namespace softcuda::codegen {

class KernelEmitter;
class WarpEmitter;

/// The tables of a variable in which a region counts (warp/region_plan.h). If several lanes
/// increment one element, each would wait for the store of the one before, so four consecutive
/// lanes have separate tables. Three of them are in the scratch memory; when all warps have run the
/// region, they are added to the variable and set to zero.
struct PrivateTables {
    const ir::LocalVariable *variable;
    ir::Scalar type;      ///< of the numbers that fill the variable
    std::uint64_t tables; ///< offset in the scratch memory
};

inline constexpr unsigned kTables = 4;

/// The tables of a kernel, by region.
class PrivatizedTables {
  public:
    explicit PrivatizedTables(KernelEmitter &kernel) : kernel_(kernel) {}

    /// The tables of a region; null if it does not count.
    const PrivateTables *find(unsigned region);
    /// Emits the region's end.
    void emit_end(unsigned region);
    /// Emits the code before the first thread block: sets the tables to zero.
    void emit_start();

  private:
    KernelEmitter &kernel_;
    std::map<unsigned, PrivateTables> made_;
};

/// The elements of the tables that the lanes of a warp increment.
class PrivatizedLanes {
  public:
    /// `offsets` is <32 x i32>, from the start of shared memory.
    PrivatizedLanes(WarpEmitter &w, const PrivateTables &tables, llvm::Value *offsets);

    /// i1: every lane increments exactly one element of the variable.
    [[nodiscard]] llvm::Value *all_inside() const { return all_inside_; }
    /// The address at which lane `lane` counts. Called in the order of the lanes, in one block.
    [[nodiscard]] llvm::Value *place(unsigned lane);

  private:
    [[nodiscard]] llvm::Value *table(unsigned lane) const;
    /// The same number, hidden from LLVM's optimisations.
    [[nodiscard]] llvm::Value *unknown(llvm::Value *word);

    WarpEmitter &w_;
    const PrivateTables &tables_;
    llvm::Value *all_inside_;
    llvm::Value *words_;          ///< the elements' numbers, several in an i64
    unsigned bits_;               ///< of one number
    llvm::Value *word_ = nullptr; ///< the rest of the word with the last lane's number
};

} // namespace softcuda::codegen
