// emit_runtime_call.cpp -- instructions that a function of the runtime executes, lane by lane.

#include "codegen/warp_families.h"
#include "codegen/watch.h"

#include <bit>

namespace softcuda::codegen {

void emit_runtime_call(WarpEmitter &w, const ir::Instruction &i) {
    // A small number of sizes, so that calls share the memory.
    const std::size_t count = std::bit_ceil(i.operands.size() + i.results.size());
    llvm::Type *bytes = llvm::ArrayType::get(w.b.getInt64Ty(), count * rt::kRuntimeCell / 8);
    llvm::AllocaInst *cells = w.kernel.frame.call_slot(bytes);
    cells->setAlignment(llvm::Align(64));
    const auto cell = [&](std::size_t n) {
        return w.b.CreateConstInBoundsGEP1_64(w.b.getInt8Ty(), cells, n * rt::kRuntimeCell);
    };
    for (std::size_t n = 0; n < i.operands.size(); ++n)
        w.b.CreateStore(w.full(i.operand(n)), cell(n));
    llvm::Value *arguments[] = {w.kernel.frame.invariants.worker,
                                w.kernel.frame.invariants.frame,
                                watch_sites(w, i),
                                w.i32(i.attributes.immediate),
                                w.mask_bits(),
                                cells};
    llvm::SmallVector<llvm::Type *, 6> types;
    for (llvm::Value *argument : arguments)
        types.push_back(argument->getType());
    w.b.CreateCall(w.kernel.code.runtime_function("scu_runtime_call", w.b.getVoidTy(), types),
                   arguments);
    for (std::size_t n = 0; n < i.results.size(); ++n) {
        const ir::Value *result = i.result(n);
        w.define_full(result,
                      w.b.CreateLoad(w.type(result->type, kLanes), cell(i.operands.size() + n)));
    }
}

} // namespace softcuda::codegen
