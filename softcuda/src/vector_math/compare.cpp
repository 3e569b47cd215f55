// compare.cpp -- comparisons.
#include "vector_math/families.h"
#include "vector_math/small_float.h"

#include <array>

namespace softcuda::vector_math {

namespace {

using Predicate = llvm::CmpInst::Predicate;

/// By ir::Compare. BAD_ICMP_PREDICATE means that there is no such comparison of integers.
struct Row {
    Predicate signed_integer, unsigned_integer, floating;
};

constexpr std::array<Row, 14> kRows{{
    {Predicate::ICMP_EQ, Predicate::ICMP_EQ, Predicate::FCMP_OEQ},
    {Predicate::ICMP_NE, Predicate::ICMP_NE, Predicate::FCMP_ONE},
    {Predicate::ICMP_SLT, Predicate::ICMP_ULT, Predicate::FCMP_OLT},
    {Predicate::ICMP_SLE, Predicate::ICMP_ULE, Predicate::FCMP_OLE},
    {Predicate::ICMP_SGT, Predicate::ICMP_UGT, Predicate::FCMP_OGT},
    {Predicate::ICMP_SGE, Predicate::ICMP_UGE, Predicate::FCMP_OGE},
    {Predicate::ICMP_EQ, Predicate::ICMP_EQ, Predicate::FCMP_UEQ},
    {Predicate::ICMP_NE, Predicate::ICMP_NE, Predicate::FCMP_UNE},
    {Predicate::ICMP_SLT, Predicate::ICMP_ULT, Predicate::FCMP_ULT},
    {Predicate::ICMP_SLE, Predicate::ICMP_ULE, Predicate::FCMP_ULE},
    {Predicate::ICMP_SGT, Predicate::ICMP_UGT, Predicate::FCMP_UGT},
    {Predicate::ICMP_SGE, Predicate::ICMP_UGE, Predicate::FCMP_UGE},
    {Predicate::BAD_ICMP_PREDICATE, Predicate::BAD_ICMP_PREDICATE, Predicate::FCMP_ORD},
    {Predicate::BAD_ICMP_PREDICATE, Predicate::BAD_ICMP_PREDICATE, Predicate::FCMP_UNO},
}};

/// An operand as floats with the same order.
Value *comparable(Emitter &e, const Operation &op, unsigned i) {
    Value *value = op.operands[i];
    const SmallFormat *format = small_format(op.type);
    if (format == &kHalf && e.target.facts().computes_half)
        value = e.as_float(value);
    if (op.attributes.ftz && !(op.never_denormal >> i & 1))
        value = e.flush(value);
    if (format && !value->getType()->isFPOrFPVectorTy())
        value = widen(e, value, *format);
    return value;
}

} // namespace

Value *emit_compare(Emitter &e, const Operation &op) {
    const Row &row = kRows[static_cast<std::size_t>(op.attributes.compare)];
    if (ir::is_floating(op.type))
        return e.ir.CreateFCmp(row.floating, comparable(e, op, 0), comparable(e, op, 1));
    const Predicate predicate = ir::is_signed(op.type) ? row.signed_integer : row.unsigned_integer;
    if (predicate == Predicate::BAD_ICMP_PREDICATE)
        refuse(op, "num and nan compare floats only");
    return e.ir.CreateICmp(predicate, op.operands[0], op.operands[1]);
}

} // namespace softcuda::vector_math
