// llvm_module.cpp -- an LLVM module and the context that owns its types.
#include "jit/llvm_module.h"

#include "jit/llvm.h"
#include "jit/target.h"

#include <llvm/Bitcode/BitcodeWriter.h>

namespace softcuda::jit {

struct LlvmModule::Parts {
    explicit Parts(const std::string &name) : module(name, context) {}
    llvm::LLVMContext context;
    llvm::Module module;
};

LlvmModule::LlvmModule(const std::string &name, const Target &target)
    : parts_(std::make_unique<Parts>(name)) {
    target.apply(parts_->module);
}

LlvmModule::LlvmModule(LlvmModule &&) noexcept = default;
LlvmModule &LlvmModule::operator=(LlvmModule &&) noexcept = default;
LlvmModule::~LlvmModule() = default;

llvm::Module &LlvmModule::get() const { return parts_->module; }

std::string LlvmModule::text() const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    parts_->module.print(stream, nullptr);
    return text;
}

std::string LlvmModule::bitcode() const {
    std::string bytes;
    llvm::raw_string_ostream stream(bytes);
    llvm::WriteBitcodeToFile(parts_->module, stream);
    return bytes;
}

} // namespace softcuda::jit
