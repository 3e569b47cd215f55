// emit_special.cpp -- special registers, parameters, symbols: values known without computation.

#include "codegen/warp_families.h"

#include "rt/kernel_abi.h"

namespace softcuda::codegen {

namespace {

using ir::Special;

// The thread's number in its block, in the first lane of each group.
llvm::Value *first_threads(WarpEmitter &w, unsigned groups) {
    llvm::Value *first = w.b.CreateShl(w.warp, w.i32(5), "", true, true);
    if (groups == 1)
        return first;
    llvm::SmallVector<llvm::Constant *, kLanes> lanes;
    for (unsigned lane = 0; lane < kLanes; lane += kLanes / groups)
        lanes.push_back(w.i32(lane));
    return w.b.CreateAdd(w.b.CreateVectorSplat(groups, first), llvm::ConstantVector::get(lanes));
}

// Thread numbers divided by the extent x or y, which is known at run time.
llvm::Value *quotient(WarpEmitter &w, llvm::Value *numbers, unsigned dimension) {
    llvm::Value *factor = w.kernel.frame.invariants.reciprocal[dimension];
    if (const auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(numbers->getType()))
        factor = w.b.CreateVectorSplat(vector->getNumElements(), factor);
    return w.b.CreateLShr(w.b.CreateMul(numbers, factor, "", true, true), kReciprocalBits);
}

llvm::Value *varying_thread_index(WarpEmitter &w, unsigned dimension, unsigned groups) {
    llvm::Value *threads = first_threads(w, groups);
    auto rest = [&](llvm::Value *numbers, unsigned d) {
        llvm::Value *extent = w.kernel.frame.invariants.extent[d];
        if (groups > 1)
            extent = w.b.CreateVectorSplat(groups, extent);
        return w.b.CreateSub(numbers, w.b.CreateMul(quotient(w, numbers, d), extent));
    };
    if (dimension == 0)
        return rest(threads, 0);
    llvm::Value *rows = quotient(w, threads, 0);
    return dimension == 1 ? rest(rows, 1) : quotient(w, rows, 1);
}

// If only one dimension is larger than one, it has all threads; otherwise divide.
llvm::Value *thread_index(WarpEmitter &w, unsigned dimension, unsigned groups) {
    const analysis::LaunchShape &launch = w.kernel.plan.launch;
    if (!launch.is_fixed())
        return varying_thread_index(w, dimension, groups);
    llvm::Type *type = w.type(ir::Type::I32, groups);
    if (launch.block[dimension] == 1)
        return llvm::Constant::getNullValue(type);
    llvm::Value *index = first_threads(w, groups);
    unsigned inner = 1, outer = 1;
    for (unsigned d = 0; d < 3; ++d)
        (d < dimension ? inner : outer) *= d == dimension ? 1 : launch.block[d];
    if (inner > 1)
        index = w.b.CreateUDiv(index, llvm::ConstantInt::get(type, inner));
    if (outer > 1)
        index = w.b.CreateURem(index, llvm::ConstantInt::get(type, launch.block[dimension]));
    return index;
}

llvm::Value *special_base(WarpEmitter &w, const ir::Instruction &i, unsigned groups) {
    const Invariants &known = w.kernel.frame.invariants;
    Special special = i.attributes.special;
    auto dimension = [&](Special x) {
        return static_cast<unsigned>(special) - static_cast<unsigned>(x);
    };
    switch (special) {
    case Special::TidX:
    case Special::TidY:
    case Special::TidZ:
        return thread_index(w, dimension(Special::TidX), groups);
    case Special::NtidX:
    case Special::NtidY:
    case Special::NtidZ:
        return known.extent[dimension(Special::NtidX)];
    case Special::CtaidX:
    case Special::CtaidY:
    case Special::CtaidZ:
        return known.block[dimension(Special::CtaidX)];
    case Special::NctaidX:
    case Special::NctaidY:
    case Special::NctaidZ:
        return known.grid[dimension(Special::NctaidX)];
    case Special::ClusterNctaidX:
    case Special::ClusterNctaidY:
    case Special::ClusterNctaidZ:
        return known.cluster[dimension(Special::ClusterNctaidX)];
    case Special::ExplicitCluster:
        return known.explicit_cluster;
    case Special::LaneId:
    case Special::LanemaskLt:
        return w.i32(0); // of lane 0, the first one
    case Special::LanemaskEq:
    case Special::LanemaskLe:
        return w.i32(1);
    case Special::LanemaskGe:
        return w.i32(0xffffffff);
    case Special::LanemaskGt:
        return w.i32(0xfffffffe);
    case Special::WarpId:
        return w.warp;
    case Special::NwarpId:
        return known.warps;
    case Special::SmId:
        return known.worker_id;
    case Special::NsmId:
        return known.worker_count;
    case Special::GridId:
        return known.grid_id;
    case Special::GraphExec:
        return known.graph_exec;
    case Special::DynamicSharedSize:
        return known.dynamic_shared;
    case Special::TotalSharedSize:
        return w.b.CreateAdd(known.dynamic_shared,
                             w.i32(w.kernel.plan.function.static_shared_bytes));
    case Special::ReservedSharedBegin:
    case Special::ReservedSharedEnd:
    case Special::ReservedSharedCap:
        return w.i32(0);
    case Special::EnvReg: { // 1 and 2: the high and the low half of the grid workspace's address
        if (i.attributes.immediate == 1)
            return w.b.CreateTrunc(w.b.CreateLShr(known.workspace, 32), w.b.getInt32Ty());
        if (i.attributes.immediate == 2)
            return w.b.CreateTrunc(known.workspace, w.b.getInt32Ty());
        return w.i32(0);
    }
    default:
        throw Unsupported("this special register is not supported", i);
    }
}

// Parameters do not change during a launch.
llvm::Value *load_parameter(WarpEmitter &w, const ir::Instruction &i, const ir::Value &result) {
    unsigned bytes = std::max(ir::bits(i.attributes.type) / 8, 1u);
    llvm::Type *stored = ir::bits(i.attributes.type) == ir::bits(result.type)
                             ? w.type(result.type)
                             : w.b.getIntNTy(bytes * 8);
    llvm::Value *address = w.b.CreateConstInBoundsGEP1_64(
        w.b.getInt8Ty(), w.kernel.frame.invariants.params,
        static_cast<std::uint64_t>(i.attributes.offset) + std::uint64_t{result.index} * bytes);
    llvm::LoadInst *load = w.b.CreateAlignedLoad(stored, address, llvm::Align(1), "param");
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(w.context, {}));
    if (stored == w.type(result.type))
        return load;
    return ir::is_signed(i.attributes.type) ? w.b.CreateSExtOrTrunc(load, w.type(result.type))
                                            : w.b.CreateZExtOrTrunc(load, w.type(result.type));
}

llvm::Value *symbol_address(WarpEmitter &w, const ir::Instruction &i) {
    llvm::Type *type = w.type(i.result()->type);
    std::uint64_t offset = static_cast<std::uint64_t>(i.attributes.offset);
    const ir::Attributes &a = i.attributes;
    if (a.space == ir::Space::Shared || a.space == ir::Space::Local) {
        llvm::Value *at = llvm::ConstantInt::get(
            type, w.kernel.plan.function.variables.at(a.symbol).offset + offset);
        llvm::Value *depth = w.kernel.frame.invariants.depth;
        return a.space == ir::Space::Local && depth
                   ? w.b.CreateAdd(at, w.b.CreateZExtOrTrunc(depth, type))
                   : at;
    }
    llvm::Value *entry = w.b.CreateConstInBoundsGEP1_64(
        w.b.getInt64Ty(), w.kernel.frame.invariants.symbols, a.symbol);
    llvm::LoadInst *load = w.b.CreateLoad(w.b.getInt64Ty(), entry, "symbol");
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(w.context, {}));
    return w.b.CreateTrunc(w.b.CreateAdd(load, w.i64(offset)), type);
}

} // namespace

Lanes emit_special(WarpEmitter &w, const ir::Instruction &i, const ir::Value &result) {
    Lanes made{.shape = w.shape(&result)};
    switch (i.opcode) {
    case ir::Opcode::LoadParam:
        made.base = load_parameter(w, i, result);
        return made;
    case ir::Opcode::SymbolAddress:
        made.base = symbol_address(w, i);
        return made;
    case ir::Opcode::ParamAddress:
        made.base =
            w.b.CreateAdd(w.b.CreatePtrToInt(w.kernel.frame.invariants.params, w.b.getInt64Ty()),
                          w.i64(static_cast<std::uint64_t>(i.attributes.offset)));
        return made;
    case ir::Opcode::StackBase:
        made.base = w.i64(w.kernel.plan.frame_bytes);
        if (w.kernel.frame.invariants.depth)
            made.base = w.b.CreateAdd(made.base, w.kernel.frame.invariants.depth);
        return made;
    default:
        break;
    }
    made.base = w.b.CreateZExtOrTrunc(special_base(w, i, made.shape.groups),
                                      w.type(result.type, made.shape.groups));
    return made;
}

void emit_clock(WarpEmitter &w, const ir::Instruction &i) {
    llvm::Value *now;
    switch (i.attributes.special) {
    case Special::GlobalTimer:
    case Special::GlobalTimerLo:
    case Special::GlobalTimerHi:
        now =
            w.b.CreateCall(w.kernel.code.runtime_function("scu_globaltimer", w.b.getInt64Ty(), {}));
        break;
    default:
        now = w.b.CreateIntrinsic(w.b.getInt64Ty(), llvm::Intrinsic::readcyclecounter, {});
    }
    if (i.attributes.special == Special::ClockHi || i.attributes.special == Special::GlobalTimerHi)
        now = w.b.CreateLShr(now, 32);
    w.define(i.result(), w.b.CreateTrunc(now, w.type(i.result()->type)));
}

} // namespace softcuda::codegen
