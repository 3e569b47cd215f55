// code_module.cpp -- globals and declarations of an LLVM module.
#include "codegen/code_module.h"

namespace softcuda::codegen {

CodeModule::CodeModule(llvm::Module &m, const jit::Target &t, debug_data::SourceLines &l)
    : module(m), context(m.getContext()), target(t), lines(l) {}

llvm::GlobalVariable *CodeModule::constant(llvm::Constant *value, const llvm::Twine &name) {
    llvm::GlobalVariable *&variable = constants_[value];
    if (!variable)
        variable = own_constant(value, name);
    return variable;
}

llvm::GlobalVariable *CodeModule::own_constant(llvm::Constant *value, const llvm::Twine &name) {
    return new llvm::GlobalVariable(module, value->getType(), true,
                                    llvm::GlobalValue::PrivateLinkage, value, name);
}

llvm::Value *CodeModule::text(const std::string &text) {
    return llvm::IRBuilder<>(context).CreateGlobalString(text, "text", 0, &module);
}

llvm::FunctionCallee CodeModule::runtime_function(llvm::StringRef name, llvm::Type *result,
                                                  llvm::ArrayRef<llvm::Type *> parameters) {
    auto callee =
        module.getOrInsertFunction(name, llvm::FunctionType::get(result, parameters, false));
    auto *function = llvm::cast<llvm::Function>(callee.getCallee());
    function->addFnAttr(llvm::Attribute::Cold);
    function->addFnAttr(llvm::Attribute::NoMerge); // each call has its own line
    return callee;
}

} // namespace softcuda::codegen
