// source_lines.cpp -- LLVM's metadata for lines.
#include "codegen/source_lines.h"

namespace softcuda::codegen {

SourceLines::SourceLines(llvm::Module &module, std::span<const std::string> files)
    : builder_(module), files_(files) {
    constexpr unsigned kDwarf = 4;
    module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
    module.addModuleFlag(llvm::Module::Warning, "Dwarf Version", kDwarf);
    builder_.createCompileUnit(llvm::dwarf::DW_LANG_C_plus_plus, file(0), "softcuda", true, "", 0,
                               "", llvm::DICompileUnit::DebugEmissionKind::LineTablesOnly);
}

llvm::DIFile *SourceLines::file(std::uint32_t number) {
    llvm::DIFile *&made = made_[number];
    if (!made) {
        // A name with a folder in it is taken as it is.
        const std::string name = number < files_.size() ? files_[number] : "kernel.ptx";
        made = builder_.createFile(name, "");
    }
    return made;
}

void SourceLines::begin(llvm::Function &function, const std::string &name) {
    llvm::DISubroutineType *type = builder_.createSubroutineType(builder_.getOrCreateTypeArray({}));
    function_ =
        builder_.createFunction(file(0), name, function.getName(), file(0), 0, type, 0,
                                llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition);
    function.setSubprogram(function_);
    scopes_.clear();
}

llvm::DebugLoc SourceLines::at(const ir::Location &location) {
    llvm::DIScope *&scope = scopes_[location.file];
    if (!scope)
        scope = location.file == 0
                    ? static_cast<llvm::DIScope *>(function_)
                    : builder_.createLexicalBlockFile(function_, file(location.file));
    return llvm::DILocation::get(scope->getContext(), location.line, location.column, scope);
}

llvm::DebugLoc SourceLines::nowhere() const {
    return llvm::DILocation::get(function_->getContext(), 0, 0, function_);
}

void SourceLines::finish() { builder_.finalize(); }

} // namespace softcuda::codegen
