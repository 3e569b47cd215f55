// block_values.h -- values that are kept across a barrier once for all warps of a block.
#pragma once

#include "codegen/function_frame.h"

#include <map>
#include <set>

namespace softcuda::codegen {

/// Of each value two places: for those that read it in this region, and for those that read it in
/// the next one. LLVM makes registers of them.
class BlockValues {
  public:
    BlockValues(llvm::IRBuilder<> &builder, FunctionFrame &frame)
        : builder_(builder), frame_(frame) {}

    [[nodiscard]] llvm::Value *load(const ir::Value *value);
    void store(const ir::Value *value, llvm::Value *scalar);
    /// Where all warps have passed a barrier: what they have stored is there for the next region.
    void publish();

  private:
    struct Slot {
        llvm::AllocaInst *now = nullptr, *next = nullptr;
    };
    Slot &slot(const ir::Value *value);

    llvm::IRBuilder<> &builder_;
    FunctionFrame &frame_;
    std::map<std::uint32_t, Slot> slots_; ///< by Value::id
    std::set<std::uint32_t> stored_;      ///< by the region that is being emitted
};

} // namespace softcuda::codegen
