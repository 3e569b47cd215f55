// refuse_unsupported.cpp -- errors for instructions that code generation does not support, where
// they are.
#include "compiler/refuse_unsupported.h"

#include "codegen/supported.h"

namespace softcuda::compiler {

namespace {

// The position of an instruction: its line in the PTX, or the line of the user's source.
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

} // namespace

void refuse_unsupported(const ir::Module &module, const SourceText &source,
                        Diagnostics &diagnostics) {
    for (const auto &function : module.functions)
        if (auto found = codegen::find_unsupported(*function)) {
            const ir::Location &where = found->instruction->location;
            diagnostics.error(place_of(where, source), user_place(where, module) + "in kernel `" +
                                                           function->name + "`: " + found->reason);
        }
}

} // namespace softcuda::compiler
