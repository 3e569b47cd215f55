// emit_prefetch.cpp -- a prefetch instruction for each cache line that a plan names.

#include "codegen/prefetch.h"

namespace softcuda::codegen {

namespace {

constexpr std::int64_t kLine = 64;

llvm::Value *number(WarpEmitter &w, std::int64_t n) {
    return llvm::ConstantInt::getSigned(w.b.getInt64Ty(), n);
}

llvm::Value *bytes_of(WarpEmitter &w, const warp::Step &step) {
    llvm::Value *bytes = number(w, step.constant);
    for (const warp::Step::Term &term : step.terms) {
        llvm::Value *value = w.b.CreateSExt(w.scalar(term.value), w.b.getInt64Ty());
        bytes = w.b.CreateAdd(bytes, w.b.CreateMul(value, number(w, term.times)));
    }
    return bytes;
}

} // namespace

void emit_prefetch(WarpEmitter &w, const warp::PrefetchPlan &plan, const Address &address) {
    if (plan.target == warp::PrefetchPlan::Target::Nothing)
        return;
    llvm::Value *ahead = bytes_of(w, plan.ahead);
    for (unsigned group = 0; group < address.lanes.shape.groups; ++group)
        for (std::int64_t line = plan.first; line < plan.end; line += kLine) {
            llvm::Value *at = w.b.CreateGEP(w.b.getInt8Ty(), group_pointer(w, address, group),
                                            w.b.CreateAdd(ahead, number(w, line)));
            w.b.CreateIntrinsic(llvm::Intrinsic::prefetch, {w.b.getPtrTy()},
                                {at, w.i32(plan.for_store), w.i32(plan.level), w.i32(1)});
        }
}

} // namespace softcuda::codegen
