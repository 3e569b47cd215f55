// lower_cluster.cpp -- clusters of blocks: their barrier, and the addresses of their shared memory.
//
// All accesses to other thread blocks' shared memory use generic addresses:
//
//     ld.shared::cluster.u32 r, [a+4]   =>   g = runtime_call FromCluster a
//                                            r = load.u32 g, offset 4
#include "ir/lower_families.h"

#include "support/runtime_operation.h"

namespace softcuda::ir {

Instruction *runtime_call(FunctionLowering &f, std::uint32_t word, std::span<Value *const> operands,
                          std::span<const Type> results) {
    Attributes a;
    a.immediate = word;
    return f.builder().append(Opcode::RuntimeCall, a, operands, results);
}

namespace {

Value *call(FunctionLowering &f, RuntimeOperation operation,
            std::initializer_list<Value *> operands, Type result) {
    return runtime_call(f, runtime_word(operation), std::span(operands.begin(), operands.size()),
                        std::span(&result, 1))
        ->result();
}

Value *to_generic(FunctionLowering &f, Value *address, bool in_cluster) {
    return in_cluster ? from_cluster(f, address) : address;
}

void map(FunctionLowering &f, const ptx::Instruction &i) {
    const bool in_cluster = i.modifiers.space == ptx::Space::SharedCluster;
    const Scalar type = scalar(i.modifiers.type());
    Value *from = f.builder().resize(f.read(i.operand(1), type), Type::I64, false);
    Value *mapped =
        call(f, RuntimeOperation::MapRank,
             {to_generic(f, from, in_cluster), f.read(i.operand(2), Scalar::U32)}, Type::I64);
    if (in_cluster)
        mapped = call(f, RuntimeOperation::ToCluster, {mapped}, Type::I32);
    f.write(i.operand(0), f.builder().resize(mapped, integer_class(bits(type)), false), type);
}

void rank(FunctionLowering &f, const ptx::Instruction &i) {
    const bool in_cluster = i.modifiers.space == ptx::Space::SharedCluster;
    Value *address =
        f.builder().resize(f.read(i.operand(1), scalar(i.modifiers.type())), Type::I64, false);
    f.write(i.operand(0),
            call(f, RuntimeOperation::RankOf, {to_generic(f, address, in_cluster)}, Type::I32),
            Scalar::U32);
}

/// Arrivals release unless they say .relaxed, and waits acquire.
void meet(FunctionLowering &f, const ptx::Instruction &i) {
    const bool arrives = i.opcode == ptx::Opcode::BarrierClusterArrive;
    Attributes a;
    a.apart = !i.modifiers.aligned;
    const bool relaxed = i.modifiers.order == ptx::Order::Relaxed;
    Value *number = f.constant(Type::I32, !arrives  ? kClusterWait
                                          : relaxed ? kClusterArriveRelaxed
                                                    : kClusterArrive);
    Value *whole = f.constant(Type::I32, 0);
    if (arrives)
        f.builder().append(Opcode::BarrierArrive, a, {number, whole});
    else
        f.builder().append(Opcode::Barrier, a, {number});
}

} // namespace

Value *from_cluster(FunctionLowering &f, Value *address) {
    return call(f, RuntimeOperation::FromCluster, {f.builder().resize(address, Type::I32, false)},
                Type::I64);
}

Value *to_cluster(FunctionLowering &f, Value *address) {
    return f.builder().resize(call(f, RuntimeOperation::ToCluster, {address}, Type::I32), Type::I64,
                              false);
}

Value *is_cluster_shared(FunctionLowering &f, Value *address) {
    Value *is = call(f, RuntimeOperation::IsClusterShared, {address}, Type::I32);
    return f.builder().compare(Compare::Ne, Scalar::U32, is, f.constant(Type::I32, 0));
}

Address memory_address(FunctionLowering &f, const ptx::Operand &operand, ptx::Space named,
                       Space &space) {
    Address address = f.address(operand, space);
    if (named != ptx::Space::SharedCluster)
        return address;
    space = Space::Generic;
    return {from_cluster(f, address.base), address.offset};
}

void lower_cluster(FunctionLowering &f, const ptx::Instruction &i) {
    switch (i.opcode) {
    case ptx::Opcode::Mapa:
        return map(f, i);
    case ptx::Opcode::Getctarank:
        return rank(f, i);
    default:
        return meet(f, i);
    }
}

} // namespace softcuda::ir
