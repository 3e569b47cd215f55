// region_memory.h -- values that a warp saves at a barrier for the region after it.
#pragma once

#include "codegen/lanes.h"
#include "warp/region_plan.h"

#include <cstdint>

namespace softcuda::codegen {

class WarpEmitter;

/// Values and masks in the scratch memory, and values that are saved once for the block.
class RegionMemory {
  public:
    explicit RegionMemory(WarpEmitter &w) : w_(w) {}

    void keep(const warp::Fetch &fetch, const Lanes &value);
    [[nodiscard]] Lanes fetch(const warp::Fetch &fetch);
    void keep_mask(const ir::Block *owner, llvm::Value *mask);
    [[nodiscard]] llvm::Value *fetch_mask(const ir::Block *owner);

  private:
    void store(std::uint32_t key, llvm::Value *value);
    [[nodiscard]] llvm::Value *load(std::uint32_t key, llvm::Type *type);

    WarpEmitter &w_;
};

} // namespace softcuda::codegen
