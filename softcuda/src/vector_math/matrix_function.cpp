// matrix_function.cpp -- multiplies the fragments of a warp like an H200's tensor cores.
//
// Fragments become matrices in memory, row by row; a row of D is eight numbers, one vector. With A
// as m x k and B as k x 8,
//
//     for each row i of A:   D[i] = C[i] + sum over k of A[i][k] * B[k]
//
// Integers and f64 (a chain of fma, k rising) have the usual results. For the other floats the
// hardware adds all products of an instruction and C at once, as fixed-point numbers. This is not
// documented; it is known from published experiments, and is correct for all matrices that we
// recorded:
//
//   - Let e be the largest exponent among C[i][j] and the products; a product's exponent is the sum
//     of its factors', though its significand may be 2 or more. Zeros do not count.
//   - C and each product, exact, are cut off (towards zero) to multiples of 2^(e - 25), and added.
//   - The sum is rounded once: towards zero to f32, with an overflow to infinity, or to nearest to
//     f16. NaN, and infinities that cancel, give the hardware's only NaN. A sum of zero is +0.
//   - If C is f32 and D f16 (wmma), the result is rounded to f32 first. If C is f16 and D
//     f32, C counts as f32, without denormals.
//   - wgmma of 8-bit floats: 13 instead of 25 bits, and an f32 result is truncated to 13 bits
//     after the point as well. On an H100 this is correct for all of 10,000 sums.
//
// 25 bits and all of k at once are Hopper's. (Published experiments have 24 bits and 8 products at
// a time for the A100.) Doubles represent all of this exactly: a product has 22 bits, their sum
// fewer than 40. The order of k then does not matter, so A's columns and B's rows stay in the order
// of the fragment's lanes, except for f64 and mma.sp, for which it is the same.
#include "vector_math/matrix_function.h"

#include "ir/ir.h"
#include "ir/matrix.h"
#include "vector_math/emitter.h"
#include "vector_math/rounding.h"
#include "vector_math/small_float.h"

namespace softcuda::vector_math {

namespace {

using ir::Scalar;

constexpr unsigned kLanes = 32, kColumns = 8;
constexpr std::uint64_t kRegister = 8 * kLanes;
constexpr int kSumBits = 25, kCoarseSumBits = 13;
/// The exponent of zeros: below all others; 2 to the power of a sum of two is still a double.
constexpr int kNoExponent = -500;

/// The layout of A and B in their registers.
struct Factor {
    Scalar type;
    unsigned bits; ///< of an element; single bits count as words of 32
    unsigned each; ///< elements in a register

    explicit Factor(Scalar element)
        : type(element), bits(element == Scalar::B1 ? 32 : ir::bits(element)),
          each(element == Scalar::F64 ? 1 : 32 / bits) {}
    /// Elements of a row in one register: four lanes have them.
    [[nodiscard]] unsigned row() const { return 4 * each; }
};

class MatrixFunction {
  public:
    MatrixFunction(llvm::Module &module, const jit::Target &target,
                   const ir::Instruction &instruction);
    llvm::Function *build(const std::string &name);

  private:
    [[nodiscard]] bool is_exact_sum() const { return !integers_ && d_ != Scalar::F64; }
    [[nodiscard]] llvm::Type *number() { return integers_ ? b_.getInt32Ty() : b_.getDoubleTy(); }
    llvm::Value *at(llvm::Value *array, llvm::Type *element, std::uint64_t index) {
        return b_.CreateConstInBoundsGEP1_64(element, array, index);
    }
    // Rows and registers are at any address in the arrays: a vector's natural alignment would be
    // too much.
    llvm::Value *load(llvm::Type *type, llvm::Value *from) {
        return b_.CreateAlignedLoad(type, from, llvm::Align(4));
    }
    void store(llvm::Value *value, llvm::Value *to) {
        b_.CreateAlignedStore(value, to, llvm::Align(4));
    }
    llvm::Value *array(llvm::Type *element, unsigned count) {
        llvm::AllocaInst *made = b_.CreateAlloca(llvm::ArrayType::get(element, count));
        made->setAlignment(llvm::Align(64));
        return made;
    }
    llvm::Value *load_register(unsigned n, llvm::Type *lane);
    Value *load_elements(unsigned n, const Factor &factor);
    Value *to_numbers(Value *elements, const Factor &factor);
    Value *exponents(Value *elements, Scalar type);
    void unpack_a();
    void unpack_b();
    void unpack_c();
    Value *sum_elements(unsigned stripe);
    void multiply_rows();
    void multiply_row(llvm::Value *row);
    Value *dot(llvm::Value *row, Value *c);
    Value *exact_dot(llvm::Value *row, Value *c);
    Value *integer_dot(llvm::Value *row, Value *c);
    llvm::Value *a_index(llvm::Value *row, unsigned k);
    llvm::Value *b_row(llvm::Value *row, unsigned k);
    Value *splat(llvm::Value *scalar) { return b_.CreateVectorSplat(kColumns, scalar); }
    Value *round_sum(Value *sum);
    void pack_d();
    void multiply_quads();
    Value *quad_operand(const std::vector<Value *> &elements,
                        llvm::function_ref<std::pair<unsigned, unsigned>(unsigned lane)> from);
    std::pair<unsigned, unsigned> quad_place(bool is_float, unsigned lane, unsigned i) const;

    llvm::Module &module_;
    const jit::Target &target_;
    const ir::MatrixForm form_;
    const ir::Attributes &attributes_;
    const Scalar d_;
    const Factor a_;
    const Factor b_factor_;
    const bool integers_;
    const unsigned stored_;        ///< elements in a row of A in its registers
    const std::uint64_t metadata_; ///< the register of mma.sp's
    llvm::IRBuilder<> b_;
    Emitter e_{b_, target_};
    llvm::Value *operands_ = nullptr, *results_ = nullptr;
    // Rows of A in pieces of a register's width; whole rows of eight of B and the others.
    llvm::Value *a_numbers_ = nullptr, *a_exponents_ = nullptr;
    llvm::Value *b_numbers_ = nullptr, *b_exponents_ = nullptr;
    llvm::Value *c_numbers_ = nullptr, *c_exponents_ = nullptr, *d_numbers_ = nullptr;
};

bool is_whole_number(Scalar type) { return !ir::is_floating(type); }

MatrixFunction::MatrixFunction(llvm::Module &module, const jit::Target &target,
                               const ir::Instruction &instruction)
    : module_(module), target_(target),
      form_(ir::unpack_matrix_form(instruction.attributes.immediate)),
      attributes_(instruction.attributes), d_(attributes_.type), a_(attributes_.source_type),
      b_factor_(form_.b), integers_(is_whole_number(a_.type)),
      stored_((a_.type == Scalar::B1 ? form_.k / 32 : form_.k) / (form_.sparse ? 2 : 1)),
      metadata_(instruction.operands.size() - 1), b_(module.getContext()) {}

llvm::Function *MatrixFunction::build(const std::string &name) {
    auto *type = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy()}, false);
    auto *function = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, module_);
    target_.apply(*function);
    function->addFnAttr(llvm::Attribute::NoInline);
    function->addFnAttr(llvm::Attribute::NoUnwind);
    results_ = function->getArg(0);
    operands_ = function->getArg(1);
    b_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", function));
    if (form_.quads) {
        multiply_quads();
    } else {
        unpack_a();
        unpack_b();
        unpack_c();
        multiply_rows();
        pack_d();
    }
    b_.CreateRetVoid();
    return function;
}

// Registers to matrices.

llvm::Value *MatrixFunction::load_register(unsigned n, llvm::Type *lane) {
    llvm::Value *from = at(operands_, b_.getInt8Ty(), n * kRegister);
    return load(llvm::FixedVectorType::get(lane, kLanes), from);
}

/// A register's elements as integers, in the order of the matrix: eight rows.
Value *MatrixFunction::load_elements(unsigned n, const Factor &factor) {
    Value *whole = load_register(n, b_.getInt32Ty());
    unsigned bytes_wide = std::max(factor.bits, 8u);
    Value *pieces = b_.CreateBitCast(
        whole, llvm::FixedVectorType::get(b_.getIntNTy(bytes_wide), kLanes * 32 / bytes_wide));
    if (factor.bits >= 8)
        return pieces;
    Value *low = b_.CreateAnd(pieces, e_.integer(pieces, 15)), *high = b_.CreateLShr(pieces, 4);
    std::vector<int> mask;
    for (int i = 0; i < 128; ++i)
        mask.insert(mask.end(), {i, 128 + i});
    return b_.CreateShuffleVector(low, high, mask);
}

Value *MatrixFunction::to_numbers(Value *elements, const Factor &factor) {
    llvm::Type *doubles = e_.float_type(elements, 64);
    switch (factor.type) {
    case Scalar::B1:
        return elements;
    case Scalar::U8:
    case Scalar::U4:
        return e_.resize(elements, 32);
    case Scalar::S8:
        return e_.resize(elements, 32, Emitter::Sign::Signed);
    case Scalar::S4:
        return e_.resize(b_.CreateAShr(b_.CreateShl(elements, 4), 4), 32, Emitter::Sign::Signed);
    case Scalar::F64:
        return e_.as_float(elements);
    case Scalar::TF32:
        elements = b_.CreateAnd(elements, e_.integer(elements, 0xffff'e000));
        [[fallthrough]];
    case Scalar::F32:
        return b_.CreateFPExt(e_.as_float(elements), doubles);
    default:
        return b_.CreateFPExt(widen(e_, elements, *small_format(factor.type)), doubles);
    }
}

/// Without bias, as 32-bit integers; denormals have the smallest exponent, zeros kNoExponent.
Value *MatrixFunction::exponents(Value *elements, Scalar type) {
    const SmallFormat *format = small_format(type);
    const unsigned mantissa = format ? format->mantissa : 23;
    const int bias = format ? (1 << (format->exponent - 1)) - 1 : 127;
    Value *size = e_.resize(e_.magnitude(elements), 32);
    if (type == Scalar::TF32)
        size = b_.CreateAnd(size, e_.integer(size, 0xffff'e000));
    Value *field = b_.CreateLShr(size, mantissa);
    field = e_.binary(llvm::Intrinsic::umax, field, e_.integer(field, 1));
    Value *exponent = b_.CreateSub(field, e_.integer(field, static_cast<std::uint64_t>(bias)));
    Value *none = e_.integer(field, static_cast<std::uint32_t>(kNoExponent));
    return b_.CreateSelect(b_.CreateICmpEQ(size, e_.integer(size, 0)), none, exponent);
}

/// Register r has rows of eight times `row()` elements; they are stored one after another, so that
/// row i, element k is at ((k / row) * m + i) * row + k % row.
void MatrixFunction::unpack_a() {
    const unsigned registers = form_.m / 8 * stored_ / a_.row(), count = form_.m * stored_;
    const unsigned in_register = kLanes * a_.each;
    a_numbers_ = array(number(), count);
    a_exponents_ = array(b_.getInt32Ty(), count);
    for (unsigned r = 0; r < registers; ++r) {
        Value *elements =
            d_ == Scalar::F64 ? load_register(r, b_.getDoubleTy()) : load_elements(r, a_);
        store(to_numbers(elements, a_), at(a_numbers_, number(), r * in_register));
        if (is_exact_sum())
            store(exponents(elements, a_.type), at(a_exponents_, b_.getInt32Ty(), r * in_register));
    }
}

/// Registers have columns; here they become rows.
void MatrixFunction::unpack_b() {
    const unsigned rows = stored_ * (form_.sparse ? 2 : 1), each = b_factor_.row();
    const unsigned registers = rows / each;
    const unsigned first = form_.m / 8 * stored_ / a_.row();
    b_numbers_ = array(number(), rows * kColumns);
    b_exponents_ = array(b_.getInt32Ty(), rows * kColumns);
    std::vector<int> transposed;
    for (unsigned k = 0; k < each; ++k)
        for (unsigned n = 0; n < kColumns; ++n)
            transposed.push_back(static_cast<int>(n * each + k));
    for (unsigned r = 0; r < registers; ++r) {
        Value *elements = d_ == Scalar::F64 ? load_register(first + r, b_.getDoubleTy())
                                            : load_elements(first + r, b_factor_);
        elements = b_.CreateShuffleVector(elements, transposed);
        const unsigned index = r * each * kColumns;
        store(to_numbers(elements, b_factor_), at(b_numbers_, number(), index));
        if (is_exact_sum())
            store(exponents(elements, b_factor_.type), at(b_exponents_, b_.getInt32Ty(), index));
    }
}

/// Eight rows of C, in its own bits.
Value *MatrixFunction::sum_elements(unsigned stripe) {
    const unsigned rows = stored_ * (form_.sparse ? 2 : 1);
    const unsigned first = form_.m / 8 * stored_ / a_.row() + rows / b_factor_.row();
    if (form_.c == Scalar::F16)
        return b_.CreateBitCast(load_register(first + stripe, b_.getInt32Ty()),
                                llvm::FixedVectorType::get(b_.getInt16Ty(), 2 * kLanes));
    llvm::Type *lane = form_.c == Scalar::F64 ? b_.getDoubleTy() : b_.getInt32Ty();
    std::vector<int> mask;
    for (int i = 0; i < static_cast<int>(kLanes); ++i)
        mask.insert(mask.end(), {i, static_cast<int>(kLanes) + i});
    return b_.CreateShuffleVector(load_register(first + 2 * stripe, lane),
                                  load_register(first + 2 * stripe + 1, lane), mask);
}

void MatrixFunction::unpack_c() {
    const unsigned count = form_.m * kColumns;
    c_numbers_ = array(number(), count);
    c_exponents_ = array(b_.getInt32Ty(), count);
    d_numbers_ = array(number(), count);
    for (unsigned stripe = 0; stripe < form_.m / 8; ++stripe) {
        Value *elements = sum_elements(stripe);
        Value *numbers = integers_ ? elements : to_numbers(elements, Factor(form_.c));
        store(numbers, at(c_numbers_, number(), stripe * 64));
        Scalar type = form_.c;
        if (type == Scalar::F16 && d_ == Scalar::F32) {
            elements = e_.as_int(widen(e_, elements, kHalf));
            type = Scalar::F32;
        }
        if (is_exact_sum())
            store(exponents(elements, type), at(c_exponents_, b_.getInt32Ty(), stripe * 64));
    }
}

// Multiplying.

void MatrixFunction::multiply_rows() {
    llvm::BasicBlock *before = b_.GetInsertBlock();
    llvm::Function *function = before->getParent();
    auto *loop = llvm::BasicBlock::Create(module_.getContext(), "row", function);
    auto *done = llvm::BasicBlock::Create(module_.getContext(), "done", function);
    b_.CreateBr(loop);
    b_.SetInsertPoint(loop);
    llvm::PHINode *row = b_.CreatePHI(b_.getInt64Ty(), 2, "i");
    row->addIncoming(b_.getInt64(0), before);
    multiply_row(row);
    llvm::Value *next = b_.CreateAdd(row, b_.getInt64(1));
    row->addIncoming(next, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpEQ(next, b_.getInt64(form_.m)), done, loop);
    b_.SetInsertPoint(done);
}

void MatrixFunction::multiply_row(llvm::Value *row) {
    llvm::Value *first = b_.CreateMul(row, b_.getInt64(kColumns));
    llvm::Type *type = llvm::FixedVectorType::get(number(), kColumns);
    Value *c = load(type, b_.CreateInBoundsGEP(number(), c_numbers_, first));
    Value *sum = integers_ ? integer_dot(row, c) : is_exact_sum() ? exact_dot(row, c) : dot(row, c);
    store(sum, b_.CreateInBoundsGEP(number(), d_numbers_, first));
}

llvm::Value *MatrixFunction::a_index(llvm::Value *row, unsigned k) {
    llvm::Value *before = b_.CreateAdd(row, b_.getInt64(k / a_.row() * form_.m));
    return b_.CreateAdd(b_.CreateMul(before, b_.getInt64(a_.row())), b_.getInt64(k % a_.row()));
}

/// The row of B, times eight, for the kth given element of a row of A. mma.sp's metadata select two
/// of four elements of A (tf32: one of two; 4-bit integers: two pairs of four). Lanes of a group of
/// four have them: for 16 and 32-bit elements, each has 16 bits for a row of the upper eight and 16
/// for the row eight below; otherwise all 32 bits for one row.
llvm::Value *MatrixFunction::b_row(llvm::Value *row, unsigned k) {
    if (!form_.sparse)
        return b_.getInt64(k * kColumns);
    const bool single = a_.type == Scalar::TF32, pairs = a_.bits == 4;
    const unsigned width = single ? 4 : 2, unit = pairs ? k / 2 : k;
    const unsigned units = pairs ? stored_ / 2 : stored_;
    const unsigned each = a_.bits >= 16 ? 16 / width : 16;
    const unsigned lanes = a_.bits >= 16 ? units / each : 2 * units / each;
    llvm::Value *below = b_.CreateLShr(row, 3); // 1 for the lower eight rows
    llvm::Value *lane = b_.CreateShl(b_.CreateAnd(row, 7), 2);
    llvm::Value *position = b_.getInt64(width * (unit % each));
    std::uint64_t member = form_.selector * lanes;
    if (a_.bits >= 16) {
        member += unit / each;
        position = b_.CreateAdd(position, b_.CreateShl(below, 4));
    } else {
        member += 2 * (unit / each);
        lane = b_.CreateAdd(lane, below);
    }
    lane = b_.CreateAdd(lane, b_.getInt64(member));
    llvm::Value *registers = at(operands_, b_.getInt8Ty(), metadata_ * kRegister);
    llvm::Value *word =
        load(b_.getInt32Ty(), b_.CreateInBoundsGEP(b_.getInt32Ty(), registers, lane));
    llvm::Value *index = b_.CreateLShr(b_.CreateZExt(word, b_.getInt64Ty()), position);
    index = b_.CreateAnd(index, (1u << width) - 1);
    std::uint64_t first = single ? 2 * k : pairs ? k / 4 * 8 + k % 2 : k / 2 * 4;
    if (single)
        index = b_.CreateZExt(b_.CreateICmpEQ(index, b_.getInt64(14)), b_.getInt64Ty());
    else if (pairs)
        index = b_.CreateShl(index, 1);
    return b_.CreateMul(b_.CreateAdd(index, b_.getInt64(first)), b_.getInt64(kColumns));
}

Value *MatrixFunction::dot(llvm::Value *row, Value *c) {
    for (unsigned k = 0; k < stored_; ++k) {
        Value *a =
            splat(load(number(), b_.CreateInBoundsGEP(number(), a_numbers_, a_index(row, k))));
        Value *b = load(c->getType(), b_.CreateInBoundsGEP(number(), b_numbers_, b_row(row, k)));
        c = arithmetic(e_, FloatOp::Fma, attributes_.rounding, {a, b, c});
    }
    return c;
}

Value *MatrixFunction::integer_dot(llvm::Value *row, Value *c) {
    Value *sum = llvm::Constant::getNullValue(c->getType());
    for (unsigned k = 0; k < stored_; ++k) {
        Value *a =
            splat(load(number(), b_.CreateInBoundsGEP(number(), a_numbers_, a_index(row, k))));
        Value *b = load(c->getType(), b_.CreateInBoundsGEP(number(), b_numbers_, b_row(row, k)));
        Value *product = nullptr;
        if (a_.type != Scalar::B1)
            product = b_.CreateMul(a, b);
        else
            product = e_.unary(llvm::Intrinsic::ctpop,
                               form_.conjunction ? b_.CreateAnd(a, b) : b_.CreateXor(a, b));
        sum = b_.CreateAdd(sum, product);
    }
    return attributes_.satfinite ? e_.binary(llvm::Intrinsic::sadd_sat, c, sum)
                                 : b_.CreateAdd(c, sum);
}

Value *MatrixFunction::exact_dot(llvm::Value *row, Value *c) {
    llvm::Type *words = llvm::FixedVectorType::get(b_.getInt32Ty(), kColumns);
    llvm::Value *first = b_.CreateMul(row, b_.getInt64(kColumns));
    Value *top = load(words, b_.CreateInBoundsGEP(b_.getInt32Ty(), c_exponents_, first));
    std::vector<Value *> terms{c};
    Value *plain = c;
    for (unsigned k = 0; k < stored_; ++k) {
        llvm::Value *index = a_index(row, k), *from = b_row(row, k);
        Value *a = splat(load(number(), b_.CreateInBoundsGEP(number(), a_numbers_, index)));
        Value *b = load(c->getType(), b_.CreateInBoundsGEP(number(), b_numbers_, from));
        Value *a_exponent = splat(
            load(b_.getInt32Ty(), b_.CreateInBoundsGEP(b_.getInt32Ty(), a_exponents_, index)));
        Value *b_exponent = load(words, b_.CreateInBoundsGEP(b_.getInt32Ty(), b_exponents_, from));
        terms.push_back(b_.CreateFMul(a, b));
        plain = b_.CreateFAdd(plain, terms.back());
        top = e_.binary(llvm::Intrinsic::smax, top, b_.CreateAdd(a_exponent, b_exponent));
    }
    top = e_.binary(llvm::Intrinsic::smax, top,
                    e_.integer(top, static_cast<std::uint32_t>(kNoExponent)));
    auto power = [&](Value *exponent) { // 2^exponent
        Value *field = b_.CreateAdd(exponent, e_.integer(exponent, 1023));
        return e_.as_float(b_.CreateShl(e_.resize(field, 64), 52));
    };
    Value *bits = e_.integer(top, form_.coarse ? kCoarseSumBits : kSumBits);
    Value *scale = power(b_.CreateSub(bits, top)), *unit = power(b_.CreateSub(top, bits));
    Value *sum = llvm::Constant::getNullValue(c->getType());
    for (Value *term : terms)
        sum = b_.CreateFAdd(sum, e_.unary(llvm::Intrinsic::trunc, b_.CreateFMul(term, scale)));
    // If a value is not finite, an ordinary sum gives the result.
    Value *finite =
        b_.CreateFCmpOLT(e_.fabs(plain), llvm::ConstantFP::getInfinity(plain->getType()));
    return b_.CreateSelect(finite, b_.CreateFMul(sum, unit), plain);
}

// Matrices to registers.

/// Doubles, exact, to floats or halves, as integers.
Value *MatrixFunction::round_sum(Value *sum) {
    if (d_ == Scalar::F16 && form_.c == Scalar::F16)
        return narrow(e_, to_single_odd(e_, sum), kHalf, ir::Rounding::Nearest);
    Value *rounded = e_.as_int(to_single(e_, sum, ir::Rounding::Zero));
    Value *beyond = b_.CreateFCmpOGE(e_.fabs(sum), e_.real(sum, 0x1p128));
    Value *infinity = b_.CreateOr(e_.sign_bit(rounded), e_.integer(rounded, 0x7f80'0000));
    rounded = b_.CreateSelect(beyond, infinity, rounded);
    if (form_.coarse && d_ == Scalar::F32)
        rounded = b_.CreateAnd(rounded, e_.integer(rounded, ~0U << (23 - kCoarseSumBits)));
    if (d_ == Scalar::F16)
        return narrow(e_, e_.as_float(rounded), kHalf, ir::Rounding::Nearest);
    return b_.CreateSelect(e_.is_nan(sum), e_.integer(rounded, 0x7fff'ffff), rounded);
}

void MatrixFunction::pack_d() {
    for (unsigned stripe = 0; stripe < form_.m / 8; ++stripe) {
        llvm::Type *type = llvm::FixedVectorType::get(number(), 2 * kLanes);
        Value *rows = load(type, at(d_numbers_, number(), stripe * 64));
        if (is_exact_sum())
            rows = round_sum(rows);
        if (d_ == Scalar::F16) {
            llvm::Type *pairs = llvm::FixedVectorType::get(b_.getInt32Ty(), kLanes);
            store(b_.CreateBitCast(rows, pairs), at(results_, b_.getInt8Ty(), stripe * kRegister));
            continue;
        }
        for (unsigned odd = 0; odd < 2; ++odd) {
            std::vector<int> mask;
            for (unsigned lane = 0; lane < kLanes; ++lane)
                mask.push_back(static_cast<int>(2 * lane + odd));
            store(b_.CreateShuffleVector(rows, mask),
                  at(results_, b_.getInt8Ty(), (2 * stripe + odd) * kRegister));
        }
    }
}

// mma.m8n8k4 of f16: lanes 4q to 4q + 3 and the lanes 16 higher multiply 8 x 4 by 4 x 8 each. An
// H200 no longer has such a unit: it adds the products with f32's fma, k rising from 0; an f16
// result starts with C, to an f32 result C is added last.

/// In lane l, element `e` of lane `m`, where from(l) is {m, e}.
Value *MatrixFunction::quad_operand(
    const std::vector<Value *> &elements,
    llvm::function_ref<std::pair<unsigned, unsigned>(unsigned lane)> from) {
    Value *result = llvm::PoisonValue::get(elements[0]->getType());
    for (unsigned e = 0; e < elements.size(); ++e) {
        std::vector<int> mask(kLanes);
        bool used = false;
        for (unsigned lane = 0; lane < kLanes; ++lane) {
            const auto [source, element] = from(lane);
            mask[lane] = static_cast<int>(element == e ? source : kLanes + lane);
            used |= element == e;
        }
        if (used)
            result = b_.CreateShuffleVector(elements[e], result, mask);
    }
    return result;
}

/// Row and column, within the eight of its quads, of a lane's ith element of C or D.
std::pair<unsigned, unsigned> MatrixFunction::quad_place(bool is_float, unsigned lane,
                                                         unsigned i) const {
    const unsigned half = lane >= 16 ? 4 : 0;
    if (!is_float)
        return {lane % 4 + half, i};
    return {(lane & 1) + (i & 2) + half, (i & 4) + (lane & 2) + (i & 1)};
}

void MatrixFunction::multiply_quads() {
    auto halves = [&](unsigned first, unsigned registers) {
        std::vector<Value *> floats;
        for (unsigned r = 0; r < registers; ++r)
            for (unsigned h = 0; h < 2; ++h) {
                Value *word = load_register(first + r, b_.getInt32Ty());
                floats.push_back(widen(e_, e_.resize(b_.CreateLShr(word, 16 * h), 16), kHalf));
            }
        return floats;
    };
    const auto a = halves(0, 2), b = halves(2, 2);
    std::vector<Value *> c;
    if (form_.c == Scalar::F16)
        c = halves(4, 4);
    else
        for (unsigned i = 0; i < 8; ++i)
            c.push_back(load_register(4 + i, b_.getFloatTy()));
    // The lane of a quad pair that has a row of A (or a column of B), or element k of them.
    auto lane_with = [](unsigned lane, unsigned member, unsigned half) {
        return (lane & 12) + member + (half ? 16 : 0);
    };
    std::vector<Value *> d;
    for (unsigned i = 0; i < 8; ++i) {
        const bool is_float = d_ == Scalar::F32;
        // C has the layout of D if they have the same type; otherwise that of the other type.
        Value *addend = quad_operand(c, [&](unsigned lane) -> std::pair<unsigned, unsigned> {
            const auto [row, column] = quad_place(is_float, lane, i);
            if (form_.c == Scalar::F16)
                return {lane_with(lane, row % 4, row / 4), column};
            return {lane_with(lane, (row & 1) + (column & 2), row / 4),
                    (row & 2) + (column & 4) + (column & 1)};
        });
        Value *sum = is_float ? nullptr : addend;
        for (unsigned k = 0; k < 4; ++k) {
            Value *x = quad_operand(a, [&](unsigned lane) -> std::pair<unsigned, unsigned> {
                const unsigned row = quad_place(is_float, lane, i).first;
                return form_.column_a ? std::pair{lane_with(lane, k, row / 4), row % 4}
                                      : std::pair{lane_with(lane, row % 4, row / 4), k};
            });
            Value *y = quad_operand(b, [&](unsigned lane) -> std::pair<unsigned, unsigned> {
                const unsigned column = quad_place(is_float, lane, i).second;
                return form_.row_b ? std::pair{lane_with(lane, k, column / 4), column % 4}
                                   : std::pair{lane_with(lane, column % 4, column / 4), k};
            });
            sum = sum ? arithmetic(e_, FloatOp::Fma, ir::Rounding::Nearest, {x, y, sum})
                      : b_.CreateFMul(x, y);
        }
        if (is_float)
            sum = b_.CreateFAdd(sum, addend);
        d.push_back(sum);
    }
    for (unsigned i = 0; i < (d_ == Scalar::F16 ? 4u : 8u); ++i) {
        auto rounded = [&](unsigned n) {
            Value *half = narrow(e_, d[n], kHalf, ir::Rounding::Nearest);
            return e_.resize(half, 32);
        };
        Value *bits = d_ == Scalar::F16
                          ? b_.CreateOr(rounded(2 * i), b_.CreateShl(rounded(2 * i + 1), 16))
                          : b_.CreateSelect(e_.is_nan(d[i]), e_.nan_like(d[i]), d[i]);
        store(bits, at(results_, b_.getInt8Ty(), i * kRegister));
    }
}

} // namespace

llvm::Function *matrix_function(llvm::Module &module, const jit::Target &target,
                                const ir::Instruction &instruction) {
    const ir::Attributes &a = instruction.attributes;
    std::string name = "mma." + std::string(ir::text(a.type)) + "." +
                       std::string(ir::text(a.source_type)) + "." +
                       std::string(ir::text(a.rounding)) + (a.satfinite ? ".satfinite." : ".") +
                       std::to_string(a.immediate);
    if (llvm::Function *made = module.getFunction(name))
        return made;
    return MatrixFunction(module, target, instruction).build(name);
}

} // namespace softcuda::vector_math
