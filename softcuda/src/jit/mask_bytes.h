// mask_bytes.h -- masks as bytes: 0 or -1 for each lane.
#pragma once

#include "jit/llvm.h"

namespace softcuda::jit {

/// The mask of bytes that are 0 or -1. It says so: a comparison of a program's own bytes with zero
/// looks the same.
inline llvm::Value *mask_of_bytes(llvm::IRBuilderBase &b, llvm::Value *bytes) {
    llvm::Value *mask = b.CreateICmpSLT(bytes, llvm::Constant::getNullValue(bytes->getType()));
    if (auto *comparison = llvm::dyn_cast<llvm::ICmpInst>(mask))
        comparison->setMetadata("softcuda.mask", llvm::MDNode::get(b.getContext(), {}));
    return mask;
}

/// The bytes of mask_of_bytes(); null for other masks, and where a pass has lost what it said.
inline llvm::Value *bytes_of_mask(const llvm::Value &mask) {
    const auto *comparison = llvm::dyn_cast<llvm::ICmpInst>(&mask);
    return comparison && comparison->hasMetadata("softcuda.mask") ? comparison->getOperand(0)
                                                                  : nullptr;
}

} // namespace softcuda::jit
