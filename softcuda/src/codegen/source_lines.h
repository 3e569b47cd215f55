// source_lines.h -- line tables in generated code: which line of the source an instruction is for.
//
// They are DWARF's line tables and nothing else, no variables or types. Faults are told with their
// line by them (jit/line_table.h); debuggers and profilers read them, too.
#pragma once

#include "ir/ir.h"
#include "jit/llvm.h"

#include <llvm/IR/DIBuilder.h>

#include <map>
#include <span>
#include <string>

namespace softcuda::codegen {

class SourceLines {
  public:
    /// `files` are the names that Location::file counts; they outlive this.
    SourceLines(llvm::Module &module, std::span<const std::string> files);

    /// From now on places are in this function, which is called `name` in the source.
    void begin(llvm::Function &function, const std::string &name);
    [[nodiscard]] llvm::DebugLoc at(const ir::Location &location);
    /// For code that no line of the source stands for.
    [[nodiscard]] llvm::DebugLoc nowhere() const;
    /// After the last function.
    void finish();

  private:
    llvm::DIFile *file(std::uint32_t number);

    llvm::DIBuilder builder_;
    std::span<const std::string> files_;
    std::map<std::uint32_t, llvm::DIFile *> made_;
    llvm::DISubprogram *function_ = nullptr;
    std::map<std::uint32_t, llvm::DIScope *> scopes_; ///< of the function, by file
};

} // namespace softcuda::codegen
