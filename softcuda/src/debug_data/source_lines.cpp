// source_lines.cpp -- LLVM's metadata for lines.
#include "debug_data/source_lines.h"

#include "debug_data/debug_types.h"

#include <llvm/IR/DIBuilder.h>

namespace softcuda::debug_data {

using llvm::DICompileUnit;

SourceLines::SourceLines(llvm::Module &module, std::span<const std::string> files, Detail detail)
    : builder_(std::make_unique<llvm::DIBuilder>(module)),
      types_(std::make_unique<DebugTypes>(*builder_)), files_(files), detail_(detail) {
    constexpr unsigned kDwarf = 4;
    module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
    module.addModuleFlag(llvm::Module::Warning, "Dwarf Version", kDwarf);
    const bool all = detail == Detail::Variables;
    // The first file is the PTX text; a debugger shows the unit with the name of the user's file.
    builder_->createCompileUnit(llvm::dwarf::DW_LANG_C_plus_plus,
                                file(all && files.size() > 1 ? 1 : 0), "softcuda", !all, "", 0, "",
                                all ? DICompileUnit::DebugEmissionKind::FullDebug
                                    : DICompileUnit::DebugEmissionKind::LineTablesOnly);
}

SourceLines::~SourceLines() = default;

llvm::DIFile *SourceLines::file(std::uint32_t number) {
    llvm::DIFile *&made = made_[number];
    if (!made) {
        // A name with a folder in it is used unchanged.
        const std::string name = number < files_.size() ? files_[number] : "kernel.ptx";
        made = builder_->createFile(name, "");
    }
    return made;
}

void SourceLines::begin(llvm::Function &function, const ir::Function &source) {
    source_ = source.debug.get();
    const std::string &name = source_ ? source_->name : source.name;
    const std::uint32_t place = source_ ? source_->file : 0, line = source_ ? source_->line : 0;
    llvm::DISubroutineType *type =
        builder_->createSubroutineType(builder_->getOrCreateTypeArray({}));
    // Debuggers would show a linkage name, which here is the same for all kernels.
    function_ = builder_->createFunction(file(place), name, "", file(place), line, type, line,
                                         llvm::DINode::FlagPrototyped,
                                         llvm::DISubprogram::SPFlagDefinition);
    function.setSubprogram(function_);
    scopes_.clear();
    blocks_.clear();
}

llvm::DILocalScope *SourceLines::scope(std::uint32_t number) {
    if (!source_ || detail_ == Detail::Lines || number == 0 || number >= source_->scopes.size())
        return function_;
    llvm::DILocalScope *&made = blocks_[number];
    if (!made) // a parent comes before its children
        made = builder_->createLexicalBlock(scope(source_->scopes[number].parent),
                                            function_->getFile(), source_->line, 0);
    return made;
}

llvm::DebugLoc SourceLines::at(const ir::Location &location) {
    const std::uint32_t function_file = source_ ? source_->file : 0;
    llvm::DILocalScope *&made = scopes_[{location.file, location.scope}];
    if (!made) {
        made = scope(location.scope);
        if (location.file != function_file)
            made = builder_->createLexicalBlockFile(made, file(location.file));
    }
    return llvm::DILocation::get(made->getContext(), location.line, location.column, made);
}

llvm::DebugLoc SourceLines::nowhere() const {
    return llvm::DILocation::get(function_->getContext(), 0, 0, function_);
}

void SourceLines::finish() { builder_->finalize(); }

} // namespace softcuda::debug_data
