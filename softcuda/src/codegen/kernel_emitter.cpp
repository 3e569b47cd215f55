// kernel_emitter.cpp -- the functions of a kernel, and their beginning.

#include "codegen/kernel_emitter.h"

#include "codegen/column_writer.h"
#include "codegen/counts.h"
#include "codegen/debug_frame.h"
#include "codegen/generate.h"
#include "codegen/warp_emitter.h"

#include <numeric>

namespace softcuda::codegen {

KernelEmitter::KernelEmitter(CodeModule &module_code, const KernelPlan &plan_to_emit)
    : code(module_code), plan(plan_to_emit), tier(code_of(plan.tier.tier)), builder(code.context),
      scopes(code.context), frame(code, builder, scopes, plan), scratch(builder, frame, plan),
      block_values(builder, frame), privatized_tables(*this),
      columns(std::make_unique<ColumnWriter>(*this)), called_operations(*this),
      counts(plan.request.counts ? std::make_unique<Counts>(*this) : nullptr) {}

KernelEmitter::~KernelEmitter() = default;

llvm::Function *KernelEmitter::new_function(const std::string &name,
                                            llvm::ArrayRef<llvm::Type *> rest) {
    llvm::SmallVector<llvm::Type *, 8> parameters{builder.getPtrTy(), builder.getPtrTy()};
    parameters.append(rest.begin(), rest.end());
    auto *type = llvm::FunctionType::get(builder.getVoidTy(), parameters, false);
    auto *made = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, code.module);
    made->addParamAttr(0, llvm::Attribute::NoAlias);
    give_attributes(*made);
    return made;
}

void KernelEmitter::give_attributes(llvm::Function &function) const {
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.addFnAttr(llvm::Attribute::NoRedZone); // inline assembly calls the runtime
    code.target.apply(function);
    if (plan.function.debug)
        function.addFnAttr("frame-pointer", "all");
    if (tier.own_stacks) // a large frame must not reach past the guard page below the stack
        function.addFnAttr("probe-stack", "inline-asm");
}

void KernelEmitter::read_frame() {
    called_operations.choose();
    frame.read();
    if (counts)
        counts->begin();
}

void KernelEmitter::begin_debug_frame(llvm::Value *warp) {
    if (plan.function.debug)
        debug_frame_ = std::make_unique<DebugFrame>(*this, warp);
}

llvm::Function *KernelEmitter::declare_function(std::uint32_t symbol) {
    const std::string name = kFunctionPrefix + std::to_string(symbol);
    if (llvm::Function *known = code.module.getFunction(name))
        return known;
    llvm::Type *word = builder.getInt32Ty(), *wide = builder.getInt64Ty();
    llvm::Function *made = new_function(name, {wide, word, word, wide, builder.getPtrTy()});
    made->setLinkage(llvm::Function::InternalLinkage);
    return made;
}

void KernelEmitter::emit_function(std::uint32_t symbol) {
    llvm::Function *function = declare_function(symbol);
    frame.begin(function);
    builder.SetInsertPoint(frame.new_block("entry"));
    read_frame();
    frame.invariants.launch_index = function->getArg(2);
    frame.read_block_index(frame.invariants.launch_index);
    frame.invariants.depth = function->getArg(5);
    frame.invariants.call_area = function->getArg(6);
    begin_debug_frame(function->getArg(3));
    llvm::Value *active = builder.CreateBitCast(function->getArg(4),
                                                with_lanes(builder.getInt1Ty(), kLanes), "active");
    llvm::BasicBlock *end = frame.new_block("end");
    WarpEmitter warp(*this, 0, function->getArg(3), active);
    tier.flow(warp, end, {});
    builder.SetInsertPoint(end);
    builder.CreateRetVoid();
    if (counts)
        counts->finish();
}

llvm::Constant *KernelEmitter::all_lanes_active() {
    return llvm::Constant::getAllOnesValue(with_lanes(builder.getInt1Ty(), kLanes));
}

llvm::Value *KernelEmitter::lanes_of(llvm::Value *warp) {
    if (plan.launch.has_whole_warps())
        return all_lanes_active();
    llvm::Value *left = builder.CreateSub(frame.invariants.threads, builder.CreateShl(warp, 5));
    llvm::SmallVector<std::uint32_t, kLanes> numbers(kLanes);
    std::iota(numbers.begin(), numbers.end(), 0u);
    return builder.CreateICmpULT(llvm::ConstantDataVector::get(code.context, numbers),
                                 builder.CreateVectorSplat(kLanes, left), "active");
}

llvm::Constant *KernelEmitter::last_warps_lanes() {
    const unsigned rest = plan.launch.threads() % kLanes;
    llvm::SmallVector<llvm::Constant *, kLanes> lanes;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        lanes.push_back(builder.getInt1(rest == 0 || lane < rest));
    return llvm::ConstantVector::get(lanes);
}

} // namespace softcuda::codegen
