// lower_words.cpp -- maps PTX's modifiers to the IR's enumerations, and opcodes to their lowering
// functions.
#include "ir/lower_families.h"

namespace softcuda::ir {

Scalar scalar(ptx::ScalarType type) {
    switch (type) {
        // clang-format off
#define SAME(Name)                                                                                 \
    case ptx::ScalarType::Name:                                                                    \
        return Scalar::Name;
        SAME(U8) SAME(U16) SAME(U32) SAME(U64) SAME(S8) SAME(S16) SAME(S32) SAME(S64) SAME(B8)
        SAME(B16) SAME(B32) SAME(B64) SAME(B128) SAME(Pred) SAME(F16) SAME(F16x2) SAME(BF16)
        SAME(BF16x2) SAME(TF32) SAME(F32) SAME(F64) SAME(E4M3) SAME(E5M2) SAME(E4M3x2)
        SAME(E5M2x2) SAME(F32x2) SAME(U16x2) SAME(S16x2) SAME(U4) SAME(S4) SAME(U2) SAME(S2)
        SAME(B1)
#undef SAME
        // clang-format on
        case ptx::ScalarType::Texref:
    case ptx::ScalarType::Samplerref:
    case ptx::ScalarType::Surfref:
        return Scalar::B64;
        default : return Scalar::None;
    }
}

Space space(ptx::Space space) {
    switch (ptx::plain_space(space)) {
    case ptx::Space::Const:
        return Space::Constant;
    case ptx::Space::Global:
    case ptx::Space::Tex:
        return Space::Global;
    case ptx::Space::Local:
        return Space::Local;
    case ptx::Space::Param:
        return Space::Param;
    case ptx::Space::Shared:
        return Space::Shared;
    default:
        return Space::Generic;
    }
}

Rounding rounding(ptx::Rounding rounding) {
    switch (rounding) {
    case ptx::Rounding::Rn:
        return Rounding::Nearest;
    case ptx::Rounding::Rz:
        return Rounding::Zero;
    case ptx::Rounding::Rm:
        return Rounding::Down;
    case ptx::Rounding::Rp:
        return Rounding::Up;
    case ptx::Rounding::Rna:
        return Rounding::NearestAway;
    case ptx::Rounding::Rni:
        return Rounding::IntNearest;
    case ptx::Rounding::Rzi:
        return Rounding::IntZero;
    case ptx::Rounding::Rmi:
        return Rounding::IntDown;
    case ptx::Rounding::Rpi:
        return Rounding::IntUp;
    default:
        return Rounding::None;
    }
}

Order order(ptx::Order order) {
    switch (order) {
    case ptx::Order::Volatile:
        return Order::Volatile;
    case ptx::Order::Relaxed:
        return Order::Relaxed;
    case ptx::Order::Acquire:
        return Order::Acquire;
    case ptx::Order::Release:
        return Order::Release;
    case ptx::Order::AcqRel:
        return Order::AcquireRelease;
    case ptx::Order::Sc:
        return Order::Sequential;
    default:
        return Order::Weak;
    }
}

Scope scope(ptx::Scope scope) {
    switch (scope) {
    case ptx::Scope::Cta:
        return Scope::Block;
    case ptx::Scope::Cluster:
        return Scope::Cluster;
    case ptx::Scope::Gpu:
        return Scope::Device;
    default:
        return Scope::System;
    }
}

std::optional<AtomicOp> atomic_op(ptx::Operation operation) {
    switch (operation) {
    case ptx::Operation::Add:
        return AtomicOp::Add;
    case ptx::Operation::Min:
        return AtomicOp::Min;
    case ptx::Operation::Max:
        return AtomicOp::Max;
    case ptx::Operation::Inc:
        return AtomicOp::Inc;
    case ptx::Operation::Dec:
        return AtomicOp::Dec;
    case ptx::Operation::And:
        return AtomicOp::And;
    case ptx::Operation::Or:
        return AtomicOp::Or;
    case ptx::Operation::Xor:
        return AtomicOp::Xor;
    case ptx::Operation::Exch:
        return AtomicOp::Exchange;
    case ptx::Operation::Cas:
        return AtomicOp::CompareSwap;
    default:
        return std::nullopt;
    }
}

Attributes attributes(const ptx::Instruction &instruction) {
    const ptx::Modifiers &m = instruction.modifiers;
    Attributes a;
    a.type = scalar(m.types[0]);
    a.rounding = rounding(m.rounding);
    if (m.precision == ptx::Precision::Approx)
        a.precision = Precision::Approx;
    if (m.precision == ptx::Precision::Full)
        a.precision = Precision::Full;
    a.ftz = m.ftz;
    a.saturate = m.sat;
    a.satfinite = m.satfinite;
    a.nan = m.nan;
    a.xorsign_abs = m.xorsign;
    a.relu = m.relu;
    return a;
}

LoweringRule lowering_rule(const ptx::Instruction &instruction) {
    using enum ptx::Opcode;
    switch (instruction.opcode) {
    case Add:
    case Sub:
    case Mul:
    case Mad:
    case Div:
    case Rem:
    case Abs:
    case Neg:
    case Min:
    case Max:
        return {lower_arithmetic};
    case Addc:
    case Subc:
    case Madc:
        return {lower_carry};
    case Mul24:
    case Mad24:
    case Sad:
        return {lower_integer};
    case Popc:
    case Clz:
    case Bfind:
    case Fns:
    case Brev:
    case Bfe:
    case Bfi:
    case Szext:
    case Bmsk:
    case Dp4a:
    case Dp2a:
        return {lower_bits};
    case Fma:
    case Rcp:
    case Sqrt:
    case Rsqrt:
    case Sin:
    case Cos:
    case Lg2:
    case Ex2:
    case Tanh:
    case Copysign:
    case Testp:
        return {lower_float};
    case And:
    case Or:
    case Xor:
    case Not:
    case Cnot:
    case Lop3:
    case Shf:
    case Shl:
    case Shr:
    case Prmt:
        return {lower_logic};
    case Set:
    case Setp:
    case Selp:
    case Slct:
        return {lower_compare};
    case Cvta:
    case CvtaTo:
    case Isspacep:
        return {lower_move, instruction.modifiers.space == ptx::Space::SharedCluster
                                ? Effect::Branch
                                : Effect::Pure};
    case Mov:
    case Createpolicy:
        return {lower_move};
    case Cvt:
    case CvtPack:
        return {lower_convert};
    case Ld:
    case Ldu:
    case St:
        return {lower_memory, Effect::Branch};
    case CpAsync:
        return {lower_copy, Effect::Branch};
    case Atom:
    case Red:
        return {lower_atomic, Effect::Branch};
    case Tex:
    case Tld4:
    case Txq:
    case Suq:
    case Istypep:
    case Suld:
    case Sust:
    case Sured:
        return {lower_texture, Effect::Branch};
    case Shfl:
    case Vote:
    case Match:
    case Activemask:
    case Redux:
    case Elect:
    case BarWarpSync:
        return {lower_warp, Effect::Branch};
    case Mma:
    case MmaSp:
    case WmmaMma:
    case WmmaLoad:
    case WmmaStore:
        return {lower_matrix, Effect::Branch};
    case WgmmaMma:
        return {lower_group_matrix, Effect::Branch};
    case Ldmatrix:
    case Stmatrix:
    case Movmatrix:
        return {lower_matrix_move, Effect::Branch};
    case MbarrierInit:
    case MbarrierInval:
    case MbarrierExpectTx:
    case MbarrierCompleteTx:
    case MbarrierArrive:
    case MbarrierArriveDrop:
    case MbarrierTestWait:
    case MbarrierTryWait:
    case CpAsyncMbarrierArrive:
        return {lower_mbarrier, Effect::Branch};
    case MbarrierPendingCount:
        return {lower_mbarrier};
    case Alloca:
    case Stacksave:
    case Stackrestore:
        return {lower_stack, Effect::Branch};
    case Vadd:
    case Vsub:
    case Vabsdiff:
    case Vmin:
    case Vmax:
    case Vshl:
    case Vshr:
    case Vmad:
    case Vset:
        return {lower_video};
    case Vadd2:
    case Vsub2:
    case Vavrg2:
    case Vabsdiff2:
    case Vmin2:
    case Vmax2:
    case Vset2:
        return {lower_video_pairs};
    case Vadd4:
    case Vsub4:
    case Vavrg4:
    case Vabsdiff4:
    case Vmin4:
    case Vmax4:
    case Vset4:
        return {lower_video_quads};
    case Mapa:
    case Getctarank:
    case BarrierClusterArrive:
    case BarrierClusterWait:
        return {lower_cluster, Effect::Branch};
    case CpAsyncBulk:
    case CpReduceAsyncBulk:
    case CpAsyncBulkTensor:
    case CpReduceAsyncBulkTensor:
    case TensormapReplace:
    case TensormapCpFenceproxy:
    case StAsync:
    case RedAsync:
    case CpAsyncBulkCommitGroup:
    case CpAsyncBulkWaitGroup:
        return {lower_bulk_copy, Effect::Branch};
    case BarSync:
    case BarArrive:
    case BarRed:
    case Membar:
    case Fence:
    case FenceProxy:
    case FenceMbarrierInit:
        return {lower_barrier, Effect::Branch};
    case Bra:
    case BrxIdx:
        return {lower_control, Effect::Own};
    case Ret:
    case Exit:
    case Trap:
    case Brkpt:
    case Nanosleep:
    case MultimemLdReduce:
    case MultimemSt:
    case MultimemRed:
        return {lower_control, Effect::Branch};
    case Call:
        return {lower_call, Effect::Branch};
    case CpAsyncCommitGroup:
    case CpAsyncWaitGroup:
    case CpAsyncWaitAll:
        return {lower_copy_group, Effect::Branch};
    case GriddepcontrolLaunchDependents:
    case GriddepcontrolWait:
        return {lower_dependent_launch, Effect::Branch};
    // Caches look after themselves.
    case Prefetch:
    case Prefetchu:
    case Applypriority:
    case Discard:
    case Pmevent:
    // Products of warp groups complete immediately.
    case WgmmaFence:
    case WgmmaCommitGroup:
    case WgmmaWaitGroup:
    case CpAsyncBulkPrefetch:
    case CpAsyncBulkPrefetchTensor:
    case Setmaxnreg: // registers are memory here
        return {lower_nothing};
    default:
        return {};
    }
}

void lower_nothing(FunctionLowering &, const ptx::Instruction &) {}

} // namespace softcuda::ir
