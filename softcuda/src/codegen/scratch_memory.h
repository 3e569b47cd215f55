// scratch_memory.h -- the memory of a worker for values across barriers of a block.
#pragma once

#include "codegen/function_frame.h"

#include <cstdint>
#include <map>

namespace softcuda::codegen {

/// A slot in the scratch memory for a value of each warp.
struct ScratchSlot {
    std::uint64_t offset; ///< of warp 0
    std::uint64_t stride; ///< bytes to the next warp
};

class ScratchMemory {
  public:
    ScratchMemory(llvm::IRBuilder<> &builder, const FunctionFrame &frame,
                  const warp::KernelPlan &plan)
        : builder_(builder), frame_(frame), plan_(plan) {}

    /// The size of all reserved memory.
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    /// Keys of slot(): a value's base, wrapped, correction (part 0, 1, 2), the mask of a basic
    /// block, and a separate array.
    [[nodiscard]] std::uint32_t value_key(const ir::Value *value, unsigned part) const;
    [[nodiscard]] std::uint32_t mask_key(const ir::Block *owner) const;
    [[nodiscard]] static std::uint32_t array_key(std::uint32_t number) { return ~number; }
    ScratchSlot slot(std::uint32_t key, std::uint64_t bytes);
    /// Memory for all warps together, a multiple of 64 bytes: its offset.
    std::uint64_t reserve(std::uint64_t bytes);
    [[nodiscard]] llvm::Value *address(ScratchSlot slot, llvm::Value *warp);

  private:
    llvm::IRBuilder<> &builder_;
    const FunctionFrame &frame_;
    const warp::KernelPlan &plan_;
    std::map<std::uint32_t, ScratchSlot> slots_;
    std::uint64_t bytes_ = 0;
};

} // namespace softcuda::codegen
