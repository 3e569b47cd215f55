// generate.cpp -- one LLVM module for one kernel and one launch shape.

#include "codegen/generate.h"

#include "codegen/kernel_emitter.h"

#include <charconv>

namespace softcuda::codegen {

std::optional<std::uint32_t> function_number(std::string_view symbol) {
    const std::string_view prefix = kFunctionPrefix;
    std::uint32_t number = 0;
    if (!symbol.starts_with(prefix))
        return std::nullopt;
    symbol.remove_prefix(prefix.size());
    const auto [end, error] = std::from_chars(symbol.data(), symbol.data() + symbol.size(), number);
    if (error != std::errc{} || end != symbol.data() + symbol.size())
        return std::nullopt;
    return number;
}

Generated generate(const KernelPlan &plan, std::span<const CalleePlan> callees,
                   const jit::Target &target) {
    Generated made{.module = jit::LlvmModule(plan.function.name, target), .scratch_bytes = 0};
    using debug_data::SourceLines;
    SourceLines lines(made.module.get(), plan.files,
                      plan.function.debug ? SourceLines::Detail::Variables
                                          : SourceLines::Detail::Lines);
    CodeModule code(made.module.get(), target, lines);
    KernelEmitter emitter(code, plan);
    emitter.emit(kEntryName);
    for (const CalleePlan &callee : callees)
        KernelEmitter(code, *callee.plan).emit_function(callee.symbol);
    lines.finish();
    made.scratch_bytes = emitter.scratch.bytes();
    return made;
}

} // namespace softcuda::codegen
