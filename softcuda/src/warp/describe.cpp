// describe.cpp -- classes, spaces and sites by opcode and attributes.
#include "warp/describe.h"

#include "ir/exchange.h"

namespace softcuda::warp {

using ir::Opcode;
using ir::Scalar;
using rt::InstructionClass;
using rt::WatchKind;
using rt::WatchScope;
using rt::WatchSpace;

namespace {

/// Of arithmetic, by the type in which it computes.
InstructionClass arithmetic_in(Scalar type) {
    if (!ir::is_floating(type))
        return InstructionClass::Integer;
    switch (type) {
    case Scalar::F64:
        return InstructionClass::Double;
    case Scalar::F32:
    case Scalar::F32x2:
    case Scalar::TF32:
        return InstructionClass::Float;
    default:
        return InstructionClass::Half;
    }
}

bool is_approximate(const ir::Instruction &i) {
    switch (i.opcode) {
    case Opcode::Sin:
    case Opcode::Cos:
    case Opcode::Lg2:
    case Opcode::Ex2:
    case Opcode::Tanh:
    case Opcode::Rsqrt:
        return true;
    case Opcode::Sqrt:
    case Opcode::Rcp:
    case Opcode::Div:
        return i.attributes.precision == ir::Precision::Approx;
    default:
        return false;
    }
}

} // namespace

std::optional<InstructionClass> class_of(const ir::Instruction &i) {
    if (is_approximate(i))
        return InstructionClass::Special;
    if (i.is(Opcode::Mma))
        return InstructionClass::Matrix;
    if (ir::is_exchange(i) || i.is(Opcode::ActiveMask))
        return InstructionClass::Exchange;
    if (ir::is_block_barrier(i))
        return InstructionClass::Barrier;
    if (ir::info(i.opcode).terminator || i.is(Opcode::Call) || i.is(Opcode::Trap))
        return InstructionClass::Control;
    switch (i.opcode) {
    case Opcode::Undef:
    case Opcode::Phi:
    case Opcode::SymbolAddress:
    case Opcode::LoadParam: // operands in the bank of constants
    case Opcode::ParamAddress:
    case Opcode::StackBase:
    case Opcode::Bitcast:
    case Opcode::ToGeneric:
    case Opcode::FromGeneric:
    case Opcode::FunctionAddress:
        return std::nullopt;
    case Opcode::Convert:
    case Opcode::ConvertPair:
    case Opcode::ConvertPack:
        return InstructionClass::Conversion;
    case Opcode::Load:
        return InstructionClass::Load;
    case Opcode::Store:
        return InstructionClass::Store;
    case Opcode::Atomic:
    case Opcode::Reduce:
        return InstructionClass::Atomic;
    case Opcode::TextureRead:
    case Opcode::SurfaceWrite:
        return InstructionClass::Texture;
    default:
        return ir::info(i.opcode).pure ? arithmetic_in(i.attributes.type) : InstructionClass::Other;
    }
}

WatchKind kind_of(const ir::Instruction &i) {
    return i.is(Opcode::Load)    ? WatchKind::Load
           : i.is(Opcode::Store) ? WatchKind::Store
                                 : WatchKind::Atomic;
}

WatchSpace space_of(ir::Space space) {
    switch (space) {
    case ir::Space::Shared:
        return WatchSpace::Shared;
    case ir::Space::Local:
        return WatchSpace::Local;
    case ir::Space::Global:
    case ir::Space::Constant: // the module's variables are allocations, too
        return WatchSpace::Global;
    default:
        return WatchSpace::Generic;
    }
}

WatchScope scope_of(ir::Scope scope) {
    return scope == ir::Scope::Block     ? WatchScope::Block
           : scope == ir::Scope::Cluster ? WatchScope::Cluster
                                         : WatchScope::Device;
}

rt::WatchSite site_of(const ir::Instruction &i, WatchKind kind) {
    using ir::Order;
    const ir::Attributes &a = i.attributes;
    rt::WatchSite site{};
    site.line = i.location.line;
    site.kind = kind;
    site.space = space_of(a.space);
    site.scope = scope_of(a.scope);
    site.strong = kind == WatchKind::Atomic || a.order != Order::Weak;
    site.scoped = site.strong && a.order != Order::Volatile;
    const bool both = a.order == Order::AcquireRelease || a.order == Order::Sequential;
    site.acquire = both || a.order == Order::Acquire;
    site.release = both || a.order == Order::Release;
    site.async = a.async;
    return site;
}

} // namespace softcuda::warp
