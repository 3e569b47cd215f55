// emit_texture.cpp -- textures and surfaces: calls of the runtime, which samples lane by lane.

#include "codegen/warp_families.h"

namespace softcuda::codegen {

namespace {

/// An array on the stack of the addresses of others.
llvm::Value *array_of_pointers(WarpEmitter &w, const std::vector<llvm::Value *> &pointers) {
    llvm::ArrayType *type =
        llvm::ArrayType::get(w.b.getPtrTy(), std::max<std::size_t>(1, pointers.size()));
    llvm::Value *array = w.kernel.frame.stack_slot(type, "pointers");
    for (std::size_t n = 0; n < pointers.size(); n++)
        w.b.CreateStore(pointers[n], w.b.CreateConstInBoundsGEP2_64(type, array, 0, n));
    return array;
}

void call(WarpEmitter &w, const ir::Instruction &i, const std::vector<llvm::Value *> &results) {
    std::vector<llvm::Value *> operands;
    for (std::size_t n = 1; n < i.operands.size(); n++)
        operands.push_back(w.spill(w.full(i.operand(n))));
    std::vector<llvm::Value *> arguments = {
        w.kernel.frame.invariants.worker, w.kernel.frame.invariants.frame,
        w.i32(i.attributes.immediate),    w.mask_bits(),
        w.spill(w.full(i.operand(0))),    array_of_pointers(w, operands),
        array_of_pointers(w, results)};
    std::vector<llvm::Type *> types;
    for (llvm::Value *argument : arguments)
        types.push_back(argument->getType());
    w.b.CreateCall(w.kernel.code.runtime_function("scu_texture", w.b.getVoidTy(), types),
                   arguments);
}

} // namespace

void emit_texture_read(WarpEmitter &w, const ir::Instruction &i) {
    std::vector<llvm::Value *> results;
    for (const ir::Value *result : i.results)
        results.push_back(w.spill(llvm::Constant::getNullValue(w.type(result->type, kLanes))));
    call(w, i, results);
    for (std::size_t n = 0; n < results.size(); n++) {
        const ir::Value *result = i.result(n);
        w.define_full(result, w.b.CreateLoad(w.type(result->type, kLanes), results[n]));
    }
}

void emit_surface_write(WarpEmitter &w, const ir::Instruction &i) { call(w, i, {}); }

} // namespace softcuda::codegen
