// fuzz_ptx.cpp -- passes libFuzzer's bytes to the PTX front end, which must reject or lower any
// bytes.
//
// Text that the lexer, the parser and the checker accept is printed, parsed and printed again, and
// both outputs must be equal. Modules that can be lowered must verify, and verify again after all
// passes. Anything else aborts.
#include "compiler/pipeline.h"
#include "ir/lower.h"
#include "ir/verify.h"
#include "ptx/parse.h"
#include "ptx/print.h"

#include <cstdio>
#include <cstdlib>

namespace {

using namespace softcuda;

[[noreturn]] void fail(const char *what, const std::string &detail) {
    std::fprintf(stderr, "%s\n%s\n", what, detail.c_str());
    std::abort();
}

std::optional<ptx::Module> read(const std::string &text) {
    auto source = std::make_shared<const SourceText>("fuzz.ptx", text);
    Diagnostics diagnostics(*source);
    std::optional<ptx::Module> module = ptx::parse(source, diagnostics);
    if (module && diagnostics.has_errors())
        fail("a module and errors", diagnostics.render());
    return module;
}

void check_printing(const ptx::Module &module) {
    const std::string printed = ptx::print(module);
    const std::optional<ptx::Module> again = read(printed);
    if (!again)
        fail("what was printed does not parse", printed);
    if (ptx::print(*again) != printed)
        fail("what was printed prints otherwise", printed);
}

void verify(const ir::Module &module, const char *when) {
    for (const std::string &message : ir::verify(module))
        fail(when, message);
}

void check_lowering(const std::string &text) {
    auto source = std::make_shared<const SourceText>("fuzz.ptx", text);
    Diagnostics diagnostics(*source);
    std::optional<ptx::Module> parsed = ptx::parse(source, diagnostics);
    std::unique_ptr<ir::Module> module =
        parsed ? ir::lower(*parsed, diagnostics, ir::purpose_of(*parsed)) : nullptr;
    (void)diagnostics.render();
    if (!module || diagnostics.has_errors())
        return;
    verify(*module, "not valid after lowering");
    compiler::clean_up(*module);
    for (const auto &function : module->functions)
        compiler::run_ir_pass("preparation", *function, {});
    verify(*module, "not valid after all passes");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    const std::string text(reinterpret_cast<const char *>(data), size);
    if (std::optional<ptx::Module> module = read(text))
        check_printing(*module);
    check_lowering(text);
    return 0;
}
