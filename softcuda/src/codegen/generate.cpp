// generate.cpp -- one LLVM module for one kernel and one launch shape.

#include "codegen/generate.h"

#include "codegen/kernel_emitter.h"
#include "codegen/source_lines.h"

namespace softcuda::codegen {

Generated generate(const KernelPlan &plan, std::span<const CalleePlan> callees,
                   const jit::Target &target) {
    Generated made{.module = jit::LlvmModule(plan.function.name, target), .scratch_bytes = 0};
    SourceLines lines(made.module.get(), plan.files);
    KernelEmitter emitter(made.module.get(), plan, target, lines);
    emitter.emit(kEntryName);
    for (const CalleePlan &callee : callees)
        KernelEmitter(made.module.get(), *callee.plan, target, lines).emit_function(callee.symbol);
    lines.finish();
    made.scratch_bytes = emitter.scratch_bytes();
    return made;
}

} // namespace softcuda::codegen
