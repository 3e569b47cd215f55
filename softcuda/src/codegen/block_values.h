// block_values.h -- values that are saved across a barrier once for all warps of a block.
#pragma once

#include "codegen/function_frame.h"

#include <map>
#include <set>

namespace softcuda::codegen {

/// Two stack slots for each value: for its readers in this region, and for its readers in the next
/// one. LLVM turns them into registers.
class BlockValues {
  public:
    BlockValues(llvm::IRBuilder<> &builder, FunctionFrame &frame)
        : builder_(builder), frame_(frame) {}

    [[nodiscard]] llvm::Value *load(const ir::Value *value);
    void store(const ir::Value *value, llvm::Value *scalar);
    /// When all warps have passed a barrier: makes their stored values visible to the next region.
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
