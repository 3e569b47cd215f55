// code_generator.h -- LLVM's code generator for a target.
#pragma once

#include "jit/llvm.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Target/TargetMachine.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace softcuda::jit {

class Target;

/// Some of LLVM's passes take the square of the number of basic blocks or of constants, and are
/// left out of large code.
enum class CodeSize { Usual, Large };

/// LLVM's passes from optimised IR to an object file, for one module after another.
class MachinePasses {
  public:
    MachinePasses(llvm::TargetMachine &machine, const Target &target, CodeSize size);
    std::vector<char> run(llvm::Module &module);

  private:
    llvm::SmallVector<char, 0> object_;
    llvm::raw_svector_ostream out_{object_};
    llvm::legacy::PassManager passes_;
};

/// A target machine and its passes.
class CodeGenerator {
  public:
    explicit CodeGenerator(const Target &target);

    [[nodiscard]] llvm::TargetMachine &machine() const { return *machine_; }
    [[nodiscard]] MachinePasses &passes(const Target &target, CodeSize size);

  private:
    std::unique_ptr<llvm::TargetMachine> machine_;
    std::array<std::unique_ptr<MachinePasses>, 2> passes_; ///< refer to the machine
};

/// A code generator for the use by one thread. To create one takes a millisecond and a half, so
/// there are only as many as threads have compiled at the same time.
class CodeGeneratorLease {
  public:
    explicit CodeGeneratorLease(const Target &target);
    CodeGeneratorLease(const CodeGeneratorLease &) = delete;
    ~CodeGeneratorLease();

    [[nodiscard]] CodeGenerator *operator->() const { return generator_.get(); }

  private:
    const std::string key_;
    const int exceptions_; ///< in flight when the lease began
    std::unique_ptr<CodeGenerator> generator_;
};

} // namespace softcuda::jit
