// scratch_memory.cpp -- slots of the scratch memory; each is an array over the warps.
#include "codegen/scratch_memory.h"

#include <utility>

namespace softcuda::codegen {

std::uint32_t ScratchMemory::value_key(const ir::Value *value, unsigned part) const {
    return value->id * 3 + part;
}

std::uint32_t ScratchMemory::mask_key(const ir::Block *owner) const {
    return plan_.function.value_count() * 3 + owner->id;
}

ScratchSlot ScratchMemory::slot(std::uint32_t key, std::uint64_t bytes) {
    auto [it, added] = slots_.try_emplace(key);
    if (added) {
        const std::uint64_t stride = bytes >= 64 ? (bytes + 63) / 64 * 64 : (bytes + 3) / 4 * 4;
        it->second = {.offset = 0, .stride = stride};
        it->second.offset = reserve((stride * plan_.launch.warps() + 63) / 64 * 64);
    }
    return it->second;
}

std::uint64_t ScratchMemory::reserve(std::uint64_t bytes) {
    return std::exchange(bytes_, bytes_ + bytes);
}

llvm::Value *ScratchMemory::address(ScratchSlot slot, llvm::Value *warp) {
    llvm::Value *offset = builder_.CreateMul(builder_.CreateZExt(warp, builder_.getInt64Ty()),
                                             builder_.getInt64(slot.stride));
    offset = builder_.CreateAdd(offset, builder_.getInt64(slot.offset));
    return builder_.CreateInBoundsGEP(builder_.getInt8Ty(), frame_.invariants.scratch, offset);
}

} // namespace softcuda::codegen
