// source_lines.h -- debug data in generated code: the source line of each instruction.
//
// They are only DWARF's line tables, without variables or types, unless the module is compiled for
// a debugger (warp_variable.h). Reports of faults use them (jit/line_table.h); debuggers and
// profilers read them, too.
#pragma once

#include "ir/ir.h"
#include "jit/llvm.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

// LLVM's headers for debug data take a second of each source that includes them.
namespace llvm {
class DIBuilder;
class DIFile;
class DILocalScope;
class DISubprogram;
} // namespace llvm

namespace softcuda::debug_data {

class DebugTypes;

class SourceLines {
  public:
    enum class Detail { Lines, Variables };
    /// `files` are the names that Location::file counts; they outlive this.
    SourceLines(llvm::Module &module, std::span<const std::string> files, Detail detail);
    ~SourceLines();

    /// From now on positions are in this function.
    void begin(llvm::Function &function, const ir::Function &source);
    [[nodiscard]] llvm::DebugLoc at(const ir::Location &location);
    /// For code without a line in the source.
    [[nodiscard]] llvm::DebugLoc nowhere() const;
    /// After the last function.
    void finish();

    // For variables.
    [[nodiscard]] llvm::DIBuilder &builder() { return *builder_; }
    [[nodiscard]] DebugTypes &types() { return *types_; }
    [[nodiscard]] llvm::DIFile *file(std::uint32_t number);
    /// Scope `number` of the present function, in the file of its own lines.
    [[nodiscard]] llvm::DILocalScope *scope(std::uint32_t number);

  private:
    std::unique_ptr<llvm::DIBuilder> builder_;
    std::unique_ptr<DebugTypes> types_;
    std::span<const std::string> files_;
    Detail detail_;
    std::map<std::uint32_t, llvm::DIFile *> made_;
    llvm::DISubprogram *function_ = nullptr;
    const ir::DebugFunction *source_ = nullptr;
    std::map<std::uint32_t, llvm::DILocalScope *> blocks_; ///< of the function, by scope
    /// Of the function, by file and scope.
    std::map<std::pair<std::uint32_t, std::uint32_t>, llvm::DILocalScope *> scopes_;
};

} // namespace softcuda::debug_data
