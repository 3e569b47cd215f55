// target.h -- the processor for which kernels are compiled, and its features.
#pragma once

#include "target/vector_facts.h"

#include <memory>
#include <string>
#include <string_view>

namespace llvm {
class Function;
class Module;
class TargetMachine;
} // namespace llvm

namespace softcuda::jit {

/// A processor: this machine's, or a level of its architecture that it supports. Immutable, so any
/// number of threads may share one.
class Target {
  public:
    /// A name of target::levels(): "native" is this machine with all of its features. Throws
    /// std::runtime_error for other names, and if this machine does not support the level.
    explicit Target(std::string_view level = "native");
    /// From SOFTCUDA_ISA, the name of a level.
    static Target from_environment();

    /// A new code generator of LLVM; code_generator.h keeps those that are not in use.
    [[nodiscard]] std::unique_ptr<llvm::TargetMachine> make_machine() const;
    /// Sets the triple and data layout of a module.
    void apply(llvm::Module &module) const;
    /// Sets the processor, its features and the vector width as attributes of a function.
    void apply(llvm::Function &function) const;
    /// The same for a function that preserves all registers.
    void apply_to_preserving(llvm::Function &function) const;

    /// All values here on which generated code depends: processor, features, LLVM's version.
    [[nodiscard]] const std::string &key() const { return key_; }

    /// The same processor, for a process with narrow windows (rt/windows.h).
    [[nodiscard]] Target with_narrow_windows() const;
    [[nodiscard]] bool has_narrow_windows() const { return narrow_windows_; }

    /// The same processor, for code that a debugger shows: without optimisation, so that lines
    /// are in order and variables are on the stack.
    [[nodiscard]] Target for_debugging() const;
    [[nodiscard]] bool is_for_debugging() const { return debugging_; }

    /// The same processor, for a function that is too large to be optimised: with instruction
    /// selection and register allocation in a time about linear in its size.
    [[nodiscard]] Target without_optimisation() const;

    [[nodiscard]] const target::VectorFacts &facts() const { return facts_; }

  private:
    std::string triple_, cpu_, features_, data_layout_, key_;
    target::VectorFacts facts_;
    bool narrow_windows_ = false, debugging_ = false, optimising_ = true;
};

} // namespace softcuda::jit
