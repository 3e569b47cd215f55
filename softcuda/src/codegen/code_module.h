// code_module.h -- shared parts of the functions in one LLVM module: constants, texts, the runtime.
#pragma once

#include "debug_data/source_lines.h"
#include "jit/llvm.h"
#include "jit/target.h"

#include <map>
#include <string>

namespace softcuda::codegen {

class CodeModule {
  public:
    CodeModule(llvm::Module &module, const jit::Target &target, debug_data::SourceLines &lines);

    llvm::Module &module;
    llvm::LLVMContext &context;
    const jit::Target &target;
    debug_data::SourceLines &lines;

    /// A constant in memory; equal constants share it.
    [[nodiscard]] llvm::GlobalVariable *constant(llvm::Constant *value, const llvm::Twine &name);
    /// A constant that is not shared.
    llvm::GlobalVariable *own_constant(llvm::Constant *value, const llvm::Twine &name);
    /// A constant C string.
    [[nodiscard]] llvm::Value *text(const std::string &text);
    [[nodiscard]] llvm::FunctionCallee runtime_function(llvm::StringRef name, llvm::Type *result,
                                                        llvm::ArrayRef<llvm::Type *> parameters);

  private:
    std::map<llvm::Constant *, llvm::GlobalVariable *> constants_;
};

} // namespace softcuda::codegen
