// pipeline.cpp -- reads like a table of contents; SOFTCUDA_DUMP=ptx,ir,prepared,tier,
// llvm,optimized shows stages.

#include "compiler/pipeline.h"

#include "codegen/supported.h"
#include "ir/clone.h"
#include "ir/lower.h"
#include "ir/print.h"
#include "ptx/parse.h"
#include "transform/prepare.h"
#include "transform/specialize.h"
#include "transform/split_pointers.h"

#include <cstdio>
#include <cstdlib>
#include <set>
#include <vector>

namespace softcuda::compiler {

namespace {

bool wants_dump(std::string_view stage) {
    const char *wanted = std::getenv("SOFTCUDA_DUMP");
    return wanted && (',' + std::string(wanted) + ',').find(',' + std::string(stage) + ',') !=
                         std::string::npos;
}

void dump(std::string_view stage, const std::function<std::string()> &text) {
    if (wants_dump(stage))
        std::fprintf(stderr, "--- %.*s ---\n%s\n", static_cast<int>(stage.size()), stage.data(),
                     text().c_str());
}

// Where an instruction is: its place in the PTX, or the user's own line in words.
SourceLocation place_of(const ir::Location &location, const SourceText &source) {
    if (location.file != 0 || location.line == 0)
        return {};
    std::string_view line = source.line(location.line);
    std::size_t start = static_cast<std::size_t>(line.data() - source.text().data());
    return {static_cast<std::uint32_t>(start + (location.column ? location.column - 1 : 0))};
}

std::string user_place(const ir::Location &location, const ir::Module &module) {
    if (location.file == 0)
        return {};
    return module.files.at(location.file) + ":" + std::to_string(location.line) + ": ";
}

void refuse_unsupported(const ir::Module &module, const SourceText &source,
                        Diagnostics &diagnostics) {
    for (const auto &function : module.functions)
        if (auto found = codegen::find_unsupported(*function)) {
            const ir::Location &where = found->instruction->location;
            diagnostics.error(place_of(where, source), user_place(where, module) + "in kernel `" +
                                                           function->name + "`: " + found->reason);
        }
}

// A called function's variables in shared memory are module-wide ones. Where each lies was decided
// for the module, but dynamic shared memory begins behind the kernel's own.
void place_dynamic_shared(ir::Function &function, std::uint64_t start) {
    for (ir::LocalVariable &variable : function.variables)
        if (variable.space == ir::Space::Shared && variable.size == 0)
            variable.offset = start;
}

std::unique_ptr<ir::Function> prepare(const ir::Function &function,
                                      const analysis::LaunchShape &launch,
                                      std::uint64_t dynamic_shared) {
    std::unique_ptr<ir::Function> prepared = ir::clone(function);
    if (!function.kernel)
        place_dynamic_shared(*prepared, dynamic_shared);
    transform::specialize(*prepared, launch);
    transform::split_pointers(*prepared);
    transform::prepare(*prepared);
    dump("prepared", [&] { return ir::to_text(*prepared); });
    return prepared;
}

/// All that `kernel` calls, directly or not, as indices into Module::functions.
std::set<std::uint32_t> called_functions(const ir::Module &module, const ir::Function &kernel) {
    std::set<std::uint32_t> found;
    std::vector<const ir::Function *> work{&kernel};
    while (!work.empty()) {
        const ir::Function *function = work.back();
        work.pop_back();
        for (const ir::Block *block : function->blocks)
            for (const ir::Instruction *i : block->instructions)
                if (i->is(ir::Opcode::Call) && found.insert(i->attributes.symbol).second)
                    work.push_back(module.functions[i->attributes.symbol].get());
    }
    return found;
}

} // namespace

std::unique_ptr<ir::Module> read_ptx(std::string_view ptx, std::string &log) {
    auto source = std::make_shared<SourceText>("kernel.ptx", ptx);
    Diagnostics diagnostics(*source);
    dump("ptx", [&] { return std::string(source->text()); });
    std::unique_ptr<ir::Module> module;
    if (std::optional<ptx::Module> parsed = ptx::parse(source, diagnostics)) {
        module = ir::lower(*parsed, diagnostics);
        if (module)
            refuse_unsupported(*module, *source, diagnostics);
    }
    log = diagnostics.render();
    if (diagnostics.has_errors())
        return nullptr;
    dump("ir", [&] { return ir::to_text(*module); });
    return module;
}

codegen::GeneratedKernel compile_kernel(const ir::Module &module, const ir::Function &kernel,
                                        const analysis::LaunchShape &launch,
                                        const codegen::TierRequest &request,
                                        const jit::Target &target) {
    std::unique_ptr<ir::Function> prepared = prepare(kernel, launch, kernel.static_shared_bytes);
    std::vector<std::unique_ptr<ir::Function>> functions;
    std::vector<codegen::Callee> callees;
    for (std::uint32_t symbol : called_functions(module, *prepared)) {
        functions.push_back(prepare(*module.functions[symbol], launch, kernel.static_shared_bytes));
        callees.push_back({symbol, functions.back().get()});
    }
    return codegen::generate(*prepared, callees, launch, request, module.files, target, dump);
}

} // namespace softcuda::compiler
