// generate.cpp -- one LLVM module for one kernel and one launch shape.

#include "codegen/generate.h"

#include "codegen/kernel_emitter.h"

namespace softcuda::codegen {

Generated generate(const KernelPlan &plan, std::span<const CalleePlan> callees,
                   const jit::Target &target) {
    Generated made{.module = jit::LlvmModule(plan.function.name, target), .scratch_bytes = 0};
    KernelEmitter emitter(made.module.get(), plan, target);
    emitter.emit(kEntryName);
    for (const CalleePlan &callee : callees)
        KernelEmitter(made.module.get(), *callee.plan, target).emit_function(callee.symbol);
    made.scratch_bytes = emitter.scratch_bytes();
    return made;
}

} // namespace softcuda::codegen
