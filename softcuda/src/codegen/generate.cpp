// generate.cpp -- one LLVM module for one kernel and one launch shape.

#include "codegen/generate.h"

#include "codegen/kernel_emitter.h"
#include "jit/optimize.h"

namespace softcuda::codegen {

namespace {

std::string text_of(const llvm::Module &module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream, nullptr);
    return text;
}

std::string describe(const KernelPlan &plan) {
    std::string words = "kernel `" + plan.function.name +
                        "`: " + std::string(text(plan.tier.tier)) + ", " + plan.tier.reason;
    if (plan.tier.cause)
        words += " (" + plan.place(*plan.tier.cause) + ")";
    return words;
}

// Functions in which threads end, or that call one.
std::vector<std::uint32_t> find_ending(std::span<const Callee> callees) {
    std::vector<std::uint32_t> ending;
    auto known = [&](std::uint32_t symbol) {
        return std::ranges::find(ending, symbol) != ending.end();
    };
    auto calls_one = [&](const ir::Function &function) {
        for (const ir::Block *block : function.blocks)
            for (const ir::Instruction *i : block->instructions)
                if (i->is(ir::Opcode::Call) && known(i->attributes.symbol))
                    return true;
        return false;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (const Callee &callee : callees)
            if (!known(callee.symbol) &&
                (ends_threads(*callee.function) || calls_one(*callee.function))) {
                ending.push_back(callee.symbol);
                changed = true;
            }
    }
    return ending;
}

std::uint64_t count_instructions(const ir::Function &function) {
    std::uint64_t count = 0;
    for (const ir::Block *block : function.blocks)
        count += block->instructions.size();
    return count;
}

} // namespace

GeneratedKernel generate(const ir::Function &function, std::span<const Callee> callees,
                         const analysis::LaunchShape &launch, const TierRequest &request,
                         std::span<const std::string> files, const jit::Target &target,
                         const Dump &dump) {
    const std::vector<std::uint32_t> ending = find_ending(callees);
    TierRequest asked = request;
    asked.ending = ending;
    KernelPlan plan(function, launch, asked, files);
    dump("tier", [&] { return describe(plan); });
    llvm::LLVMContext context;
    llvm::Module module(function.name, context);
    target.apply(module);
    KernelEmitter emitter(module, plan, target);
    emitter.emit(kEntryName);
    for (const Callee &callee : callees) {
        KernelPlan its_plan(*callee.function, launch, {.wanted = {}, .ending = ending}, files);
        its_plan.local_stride = plan.local_stride;
        KernelEmitter(module, its_plan, target).emit_function(callee.symbol);
    }
    dump("llvm", [&] { return text_of(module); });
#ifndef NDEBUG
    if (llvm::verifyModule(module, &llvm::errs()))
        throw std::logic_error("generated LLVM IR is not valid");
#endif
    jit::optimize(module, target);
    dump("optimized", [&] { return text_of(module); });
    return {.object = jit::emit_object(module, target),
            .tier = plan.tier.tier,
            .scratch_bytes = emitter.scratch_bytes(),
            .instructions_per_block = count_instructions(function) * launch.warps(),
            .loops = !plan.loops.loops().empty() || !callees.empty()};
}

} // namespace softcuda::codegen
