// elementwise.cpp -- dispatches per-lane operations to the emitters of their families.
#include "codegen/elementwise.h"

#include "jit/llvm.h"

namespace softcuda::codegen {

llvm::Value *canonicalize_nan(llvm::IRBuilderBase &builder, llvm::Value *value) {
    llvm::Type *type = value->getType();
    const unsigned bits = type->getScalarSizeInBits();
    llvm::Value *nan =
        llvm::ConstantExpr::getBitCast(llvm::ConstantInt::get(type->getWithNewBitWidth(bits),
                                                              llvm::APInt::getSignedMaxValue(bits)),
                                       type);
    return builder.CreateSelect(builder.CreateFCmpUNO(value, value), nan, value);
}

} // namespace softcuda::codegen
