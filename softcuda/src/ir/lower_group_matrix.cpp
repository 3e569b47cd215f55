// lower_group_matrix.cpp -- wgmma: four warps multiply 64 rows of A by a matrix B in shared memory.
//
// Each warp has 16 rows of A and D, and B is taken eight columns at a time, so that the product is
// one of mma's for each eight columns. Descriptors of matrices become mma's registers first:
//
//     wgmma.mma_async.m64n16k16 D, a, b   =>   A      = runtime_call LoadFactor a
//                                              B0, B1 = runtime_call LoadFactor b
//                                              D0     = mma.m16n8k16 A, B0, D0
//                                              D1     = mma.m16n8k16 A, B1, D1
//
// The product is there when the instruction is done: there is nothing to wait for.
#include "ir/lower_families.h"

#include "ir/matrix.h"
#include "support/matrix_factor.h"
#include "support/runtime_operation.h"

namespace softcuda::ir {

namespace {

/// The bits of k in all types.
constexpr unsigned kFactorBits = 256;

/// The size of an element in memory, in bits.
unsigned stored_bits(Scalar type) {
    switch (type) {
    case Scalar::B1:
        return 1;
    case Scalar::TF32:
        return 32;
    default:
        return bits(type);
    }
}

class GroupProduct {
  public:
    GroupProduct(FunctionLowering &f, const ptx::Instruction &i)
        : f_(f), i_(i), d_(scalar(i.modifiers.types[0])), a_(scalar(i.modifiers.types[1])) {
        MatrixForm form{.m = 16, .k = kFactorBits / stored_bits(a_)};
        form.b = scalar(i.modifiers.types[2]);
        form.c = d_;
        form.conjunction = i.modifiers.logic == ptx::Logic::And;
        form.coarse = a_ == Scalar::E4M3 || a_ == Scalar::E5M2;
        attributes_.type = d_;
        attributes_.source_type = a_;
        attributes_.satfinite = i.modifiers.satfinite;
        attributes_.immediate = pack(form);
    }

    void lower();

  private:
    [[nodiscard]] Scalar sum_register() const {
        return d_ == Scalar::F32 ? Scalar::F32 : Scalar::B32;
    }
    /// The number `index` operands after scale-d; `otherwise` if there is none.
    [[nodiscard]] std::int64_t option(std::size_t index, std::int64_t otherwise) const {
        return index + 4 < i_.operands.size() ? i_.operand(4 + index).signed_integer() : otherwise;
    }
    [[nodiscard]] bool has_a_registers() const {
        return i_.operand(1).is(ptx::OperandKind::Vector);
    }
    std::vector<Value *> load(const FactorForm &form, const ptx::Operand &descriptor);
    std::vector<Value *> load_a();
    void negate(std::vector<Value *> &registers);
    Value *sum(const ptx::Operand &reg, Value *keeps);

    FunctionLowering &f_;
    const ptx::Instruction &i_;
    Scalar d_, a_;
    Attributes attributes_;
};

std::vector<Value *> GroupProduct::load(const FactorForm &form, const ptx::Operand &descriptor) {
    const std::vector<Type> types(form.registers, Type::I32);
    Value *address = f_.read(descriptor, Scalar::B64);
    return runtime_call(f_, runtime_word(RuntimeOperation::LoadFactor, form.pack()),
                        std::span(&address, 1), types)
        ->results;
}

std::vector<Value *> GroupProduct::load_a() {
    if (!has_a_registers())
        return load({.is_a = true, .transposed = option(2, 0) == 1}, i_.operand(1));
    std::vector<Value *> registers;
    for (const ptx::Operand &element : i_.operand(1).elements)
        registers.push_back(f_.read(element, Scalar::B32));
    return registers;
}

/// A scale of -1 changes the signs of all elements.
void GroupProduct::negate(std::vector<Value *> &registers) {
    const unsigned width = stored_bits(a_);
    std::uint64_t signs = 0;
    for (unsigned bit = width - 1; bit < 32; bit += width)
        signs |= std::uint64_t{1} << bit;
    for (Value *&reg : registers)
        reg = f_.emit(Opcode::Xor, Scalar::B32, {reg, f_.constant(Type::I32, signs)});
}

/// The value to which the products are added: zero if scale-d is false.
Value *GroupProduct::sum(const ptx::Operand &reg, Value *keeps) {
    Value *value = f_.read(reg, sum_register());
    return f_.builder().select(keeps, value, f_.constant(value->type, 0));
}

void GroupProduct::lower() {
    const auto sums = i_.operand(0).elements;
    const std::size_t each = d_ == Scalar::F16 ? 2 : 4; // registers of eight columns
    const std::size_t blocks = sums.size() / each;
    Value *keeps = f_.read(i_.operand(3), Scalar::Pred);
    std::vector<Value *> a = load_a();
    if (option(0, 1) * option(1, 1) < 0)
        negate(a);
    const bool transposed = option(has_a_registers() ? 2 : 3, 0) == 1;
    const std::vector<Type> types(each, register_class(sum_register()));
    std::vector<Value *> b;
    for (std::size_t block = 0; block < blocks; block++) {
        const std::size_t at = block * 2 % kMostFactorRegisters;
        if (at == 0) {
            const auto left = static_cast<unsigned>(2 * (blocks - block));
            b = load({.transposed = transposed,
                      .first = static_cast<unsigned>(block),
                      .registers = std::min(left, kMostFactorRegisters)},
                     i_.operand(2));
        }
        std::vector<Value *> operands = a;
        operands.insert(operands.end(), {b[at], b[at + 1]});
        for (std::size_t n = 0; n < each; n++)
            operands.push_back(sum(sums[block * each + n], keeps));
        const std::vector<Value *> results =
            f_.builder().append(Opcode::Mma, attributes_, operands, types)->results;
        for (std::size_t n = 0; n < each; n++)
            f_.write(sums[block * each + n], results[n], sum_register());
    }
}

} // namespace

void lower_group_matrix(FunctionLowering &f, const ptx::Instruction &i) {
    GroupProduct(f, i).lower();
}

} // namespace softcuda::ir
