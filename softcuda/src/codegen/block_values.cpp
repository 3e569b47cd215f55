// block_values.cpp -- stack slots of values that all warps of a block share.
#include "codegen/block_values.h"

#include "codegen/lanes.h"

namespace softcuda::codegen {

BlockValues::Slot &BlockValues::slot(const ir::Value *value) {
    Slot &slot = slots_[value->id];
    if (!slot.now) {
        llvm::Type *type = scalar_type(builder_.getContext(), value->type);
        slot = {.now = frame_.stack_slot(type, "now"), .next = frame_.stack_slot(type, "next")};
    }
    return slot;
}

llvm::Value *BlockValues::load(const ir::Value *value) {
    llvm::AllocaInst *now = slot(value).now;
    return builder_.CreateLoad(now->getAllocatedType(), now);
}

void BlockValues::store(const ir::Value *value, llvm::Value *scalar) {
    builder_.CreateStore(scalar, slot(value).next);
    stored_.insert(value->id);
}

// A value that one warp has stored is the value of all warps.
void BlockValues::publish() {
    for (const std::uint32_t id : stored_) {
        const Slot &slot = slots_.at(id);
        builder_.CreateStore(builder_.CreateLoad(slot.next->getAllocatedType(), slot.next),
                             slot.now);
    }
    stored_.clear();
}

} // namespace softcuda::codegen
