// llvm.h -- the LLVM headers for code generation, and all code that depends on LLVM's version.
//
// Compiled once, as a precompiled header of jit/ and codegen/. No other file tests LLVM's version.
// A header that few sources need is not here: GCC instantiates a precompiled header's pending
// templates again in each source (PassBuilder.h costs 1.6 s, IntrinsicInst.h, TargetLibraryInfo.h
// and TargetMachine.h 0.4 s).
#pragma once

#include <llvm/ADT/APFloat.h>
#include <llvm/ADT/APInt.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>

#include <span>
#include <string>

namespace softcuda::jit {

/// The declaration of an intrinsic in `module`, overloaded on `types`.
inline llvm::Function *intrinsic(llvm::Module &module, llvm::Intrinsic::ID id,
                                 llvm::ArrayRef<llvm::Type *> types = {}) {
#if LLVM_VERSION_MAJOR >= 20
    return llvm::Intrinsic::getOrInsertDeclaration(&module, id, types);
#else
    return llvm::Intrinsic::getDeclaration(&module, id, types);
#endif
}

/// Sets the module's target triple: a string up to LLVM 20, then a Triple.
inline void set_triple(llvm::Module &module, const llvm::Triple &triple) {
#if LLVM_VERSION_MAJOR >= 21
    module.setTargetTriple(triple);
#else
    module.setTargetTriple(triple.str());
#endif
}

} // namespace softcuda::jit
