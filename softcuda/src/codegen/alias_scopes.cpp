// alias_scopes.cpp -- metadata `alias.scope` and `noalias` of accesses.
#include "codegen/alias_scopes.h"

#include <llvm/IR/IntrinsicInst.h>

namespace softcuda::codegen {

namespace {

bool is_access(const llvm::Instruction &i) {
    if (llvm::isa<llvm::LoadInst, llvm::StoreInst>(i))
        return true;
    const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
    return call && (call->getIntrinsicID() == llvm::Intrinsic::masked_load ||
                    call->getIntrinsicID() == llvm::Intrinsic::masked_store ||
                    call->getIntrinsicID() == llvm::Intrinsic::masked_gather ||
                    call->getIntrinsicID() == llvm::Intrinsic::masked_scatter);
}

} // namespace

void AliasScopes::make() {
    if (scratch_)
        return;
    llvm::MDBuilder metadata(context_);
    llvm::MDNode *domain = metadata.createAnonymousAliasScopeDomain("softcuda");
    llvm::Metadata *scratch = metadata.createAnonymousAliasScope(domain, "scratch");
    llvm::Metadata *worker = metadata.createAnonymousAliasScope(domain, "worker");
    scratch_ = llvm::MDNode::get(context_, {scratch});
    worker_ = llvm::MDNode::get(context_, {worker});
    both_ = llvm::MDNode::get(context_, {scratch, worker});
}

llvm::Instruction *AliasScopes::mark_scratch(llvm::Instruction *access) {
    make();
    access->setMetadata(llvm::LLVMContext::MD_alias_scope, scratch_);
    return access;
}

void AliasScopes::mark_worker(llvm::Instruction &access) {
    make();
    access.setMetadata(llvm::LLVMContext::MD_alias_scope, worker_);
}

// Calls of the runtime do read the worker's state.
void AliasScopes::separate(llvm::Function &function) {
    make();
    for (llvm::BasicBlock &block : function)
        for (llvm::Instruction &i : block)
            if (i.mayReadOrWriteMemory() && !i.hasMetadata(llvm::LLVMContext::MD_alias_scope))
                i.setMetadata(llvm::LLVMContext::MD_noalias, is_access(i) ? both_ : scratch_);
}

} // namespace softcuda::codegen
