// emitter.cpp -- shapes, bit casts, chunks.
#include "vector_math/emitter.h"

#include <numeric>
#include <vector>

namespace softcuda::vector_math {

unsigned Emitter::lanes(const Value *value) {
    const auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
    return vector ? vector->getNumElements() : 0;
}

unsigned Emitter::bits(const Value *value) { return value->getType()->getScalarSizeInBits(); }

llvm::Type *Emitter::shaped(const Value *like, llvm::Type *element) {
    const unsigned count = lanes(like);
    return count ? llvm::FixedVectorType::get(element, count) : element;
}

llvm::Type *Emitter::int_type(const Value *like, unsigned bits) const {
    return shaped(like, ir.getIntNTy(bits));
}

llvm::Type *Emitter::float_type(const Value *like, unsigned bits) const {
    llvm::Type *element = bits == 16   ? llvm::Type::getHalfTy(ir.getContext())
                          : bits == 32 ? llvm::Type::getFloatTy(ir.getContext())
                                       : llvm::Type::getDoubleTy(ir.getContext());
    return shaped(like, element);
}

llvm::Type *Emitter::class_type(const Value *like, ir::Type type) const {
    return ir::is_float(type) ? float_type(like, ir::bits(type)) : int_type(like, ir::bits(type));
}

Value *Emitter::integer(const Value *like, std::uint64_t value) const {
    return llvm::ConstantInt::get(
        like->getType(), llvm::APInt(64, value, /*isSigned=*/static_cast<std::int64_t>(value) < 0)
                             .sextOrTrunc(bits(like)));
}

Value *Emitter::integer(const Value *like, unsigned bits, std::uint64_t value) const {
    return integer(llvm::Constant::getNullValue(int_type(like, bits)), value);
}

Value *Emitter::real(const Value *like, double value) const {
    return llvm::ConstantFP::get(like->getType(), value);
}

Value *Emitter::truth(const Value *like, bool value) const {
    return llvm::ConstantInt::get(int_type(like, 1), value);
}

Value *Emitter::as_int(Value *value) {
    return ir.CreateBitCast(value, int_type(value, bits(value)));
}

Value *Emitter::as_float(Value *value) {
    return ir.CreateBitCast(value, float_type(value, bits(value)));
}

Value *Emitter::as_class(Value *value, ir::Type type) {
    return ir.CreateBitCast(value, class_type(value, type));
}

Value *Emitter::split_lanes(Value *value, unsigned part) {
    const unsigned count = std::max(1u, lanes(value)) * (bits(value) / part);
    return ir.CreateBitCast(value, llvm::FixedVectorType::get(ir.getIntNTy(part), count));
}

Value *Emitter::join_lanes(Value *value, unsigned count, unsigned whole) {
    llvm::Type *element = ir.getIntNTy(whole);
    return ir.CreateBitCast(value, count ? llvm::FixedVectorType::get(element, count) : element);
}

Value *Emitter::resize(Value *value, unsigned to, Sign sign) {
    return ir.CreateIntCast(value, int_type(value, to), sign == Sign::Signed);
}

Value *Emitter::unary(llvm::Intrinsic::ID id, Value *a) { return ir.CreateUnaryIntrinsic(id, a); }

Value *Emitter::binary(llvm::Intrinsic::ID id, Value *a, Value *b) {
    return ir.CreateBinaryIntrinsic(id, a, b);
}

Value *Emitter::ternary(llvm::Intrinsic::ID id, Value *a, Value *b, Value *c) {
    return ir.CreateIntrinsic(id, {a->getType()}, {a, b, c});
}

Value *Emitter::call(llvm::Intrinsic::ID id, llvm::ArrayRef<Value *> arguments) {
    return ir.CreateCall(jit::intrinsic(module(), id), arguments);
}

Value *Emitter::magnitude(Value *value) {
    Value *raw = as_int(value);
    return ir.CreateAnd(raw, integer(raw, ~std::uint64_t{0} >> (65 - bits(value))));
}

Value *Emitter::sign_bit(Value *value) {
    Value *raw = as_int(value);
    return ir.CreateAnd(raw, integer(raw, std::uint64_t{1} << (bits(value) - 1)));
}

Value *Emitter::is_nan(Value *value) { return ir.CreateFCmpUNO(value, value); }

Value *Emitter::nan_like(Value *value) {
    Value *raw = integer(llvm::Constant::getNullValue(int_type(value, bits(value))),
                         ~std::uint64_t{0} >> (65 - bits(value)));
    return ir.CreateBitCast(raw, value->getType());
}

Value *Emitter::flush(Value *value) {
    const std::uint64_t exponent = bits(value) == 16   ? 0x7c00
                                   : bits(value) == 32 ? 0x7f80'0000
                                                       : 0x7ff0'0000'0000'0000;
    Value *raw = as_int(value);
    Value *small = ir.CreateICmpEQ(ir.CreateAnd(raw, integer(raw, exponent)), integer(raw, 0));
    return ir.CreateBitCast(ir.CreateSelect(small, sign_bit(raw), raw), value->getType());
}

Value *Emitter::relu(Value *value) {
    Value *zero = real(value, 0);
    return ir.CreateSelect(ir.CreateFCmpOLE(value, zero), zero, value);
}

Value *Emitter::saturate(Value *value) {
    Value *zero = real(value, 0), *one = real(value, 1);
    Value *positive = ir.CreateSelect(ir.CreateFCmpOGT(value, zero), value, zero);
    return ir.CreateSelect(ir.CreateFCmpOLT(positive, one), positive, one);
}

namespace {

/// Lanes first .. first+width-1 of `value`, with zeros past its end.
Value *take_chunk(Emitter &e, Value *value, unsigned first, unsigned width) {
    const unsigned count = Emitter::lanes(value);
    if (count == width)
        return value;
    if (count == 0) {
        llvm::Type *type = llvm::FixedVectorType::get(value->getType(), width);
        return e.ir.CreateInsertElement(llvm::Constant::getNullValue(type), value,
                                        std::uint64_t{0});
    }
    std::vector<int> mask(width);
    for (unsigned i = 0; i < width; ++i) // index `count` is lane 0 of the zeros
        mask[i] = static_cast<int>(std::min(first + i, count));
    return e.ir.CreateShuffleVector(value, llvm::Constant::getNullValue(value->getType()), mask);
}

Value *first_lanes(Emitter &e, Value *value, unsigned count) {
    if (count == Emitter::lanes(value))
        return value;
    if (count == 0)
        return e.ir.CreateExtractElement(value, std::uint64_t{0});
    std::vector<int> mask(count);
    std::iota(mask.begin(), mask.end(), 0);
    return e.ir.CreateShuffleVector(value, mask);
}

Value *concatenate(Emitter &e, std::vector<Value *> parts) {
    while (parts.size() > 1) {
        if (parts.size() % 2)
            parts.push_back(llvm::PoisonValue::get(parts.back()->getType()));
        std::vector<int> mask(2 * Emitter::lanes(parts[0]));
        std::iota(mask.begin(), mask.end(), 0);
        std::vector<Value *> pairs;
        for (std::size_t i = 0; i < parts.size(); i += 2)
            pairs.push_back(e.ir.CreateShuffleVector(parts[i], parts[i + 1], mask));
        parts = std::move(pairs);
    }
    return parts[0];
}

} // namespace

Value *Emitter::by_chunks(unsigned width, llvm::ArrayRef<Value *> arguments,
                          llvm::function_ref<Value *(llvm::ArrayRef<Value *>)> emit) {
    const unsigned count = lanes(arguments[0]);
    std::vector<Value *> results;
    for (unsigned first = 0; first < std::max(1u, count); first += width) {
        llvm::SmallVector<Value *, 4> pieces;
        for (Value *argument : arguments)
            pieces.push_back(take_chunk(*this, argument, first, width));
        results.push_back(emit(pieces));
    }
    return first_lanes(*this, concatenate(*this, std::move(results)), count);
}

} // namespace softcuda::vector_math
