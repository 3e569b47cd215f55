// llvm_module.h -- an LLVM module and the context that owns its types, without LLVM's headers.
#pragma once

#include <memory>
#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace softcuda::jit {

class Target;

/// Owns an LLVM module in a separate context. May be passed from thread to thread.
class LlvmModule {
  public:
    /// An empty module with the target's triple and data layout.
    LlvmModule(const std::string &name, const Target &target);
    LlvmModule(LlvmModule &&) noexcept;
    LlvmModule &operator=(LlvmModule &&) noexcept;
    ~LlvmModule();

    [[nodiscard]] llvm::Module &get() const;
    /// The text form of LLVM IR.
    [[nodiscard]] std::string text() const;
    /// LLVM's bitcode: equal for equal modules.
    [[nodiscard]] std::string bitcode() const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

} // namespace softcuda::jit
