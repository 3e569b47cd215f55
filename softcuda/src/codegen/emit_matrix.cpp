// emit_matrix.cpp -- a call of the function that multiplies matrices.

#include "codegen/warp_families.h"
#include "vector_math/matrix_function.h"

namespace softcuda::codegen {

void emit_mma(WarpEmitter &w, const ir::Instruction &i) {
    auto &b = w.b;
    constexpr std::uint64_t kRegister = 8 * kLanes; // space for any class
    auto array = [&](std::size_t registers, const char *name) {
        return w.kernel.frame.stack_slot(llvm::ArrayType::get(b.getInt64Ty(), registers * kLanes),
                                         name);
    };
    auto place = [&](llvm::Value *from, std::size_t n) {
        return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), from, n * kRegister);
    };
    llvm::Value *operands = array(i.operands.size(), "factors");
    llvm::Value *results = array(i.results.size(), "product");
    for (std::size_t n = 0; n < i.operands.size(); ++n) {
        llvm::Value *value = w.with_hardware_nan(i.operand(n), w.full(i.operand(n)));
        b.CreateAlignedStore(value, place(operands, n), llvm::Align(8));
    }
    b.CreateCall(vector_math::matrix_function(w.kernel.code.module, w.kernel.code.target, i),
                 {results, operands});
    for (std::size_t n = 0; n < i.results.size(); ++n)
        w.define_full(i.result(n), b.CreateAlignedLoad(w.type(i.result(n)->type, kLanes),
                                                       place(results, n), llvm::Align(8)));
}

} // namespace softcuda::codegen
