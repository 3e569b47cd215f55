// lanes.cpp -- expansion of bases to lanes.

#include "codegen/lanes.h"

#include "jit/splat.h"

#include <llvm/IR/PatternMatch.h>

namespace softcuda::codegen {

llvm::Type *scalar_type(llvm::LLVMContext &context, ir::Type type) {
    switch (type) {
    case ir::Type::F32:
        return llvm::Type::getFloatTy(context);
    case ir::Type::F64:
        return llvm::Type::getDoubleTy(context);
    default:
        return llvm::Type::getIntNTy(context, ir::bits(type));
    }
}

llvm::Type *with_lanes(llvm::Type *scalar, unsigned lanes) {
    return lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes);
}

llvm::Type *lane_type(llvm::LLVMContext &context, ir::Type type, unsigned lanes) {
    return with_lanes(scalar_type(context, type), lanes);
}

llvm::Constant *constant(llvm::LLVMContext &context, const ir::Value &value) {
    llvm::Type *type = scalar_type(context, value.type);
    llvm::APInt bits(ir::bits(value.type), value.bits);
    if (value.type == ir::Type::F32)
        return llvm::ConstantFP::get(type, llvm::APFloat(llvm::APFloat::IEEEsingle(), bits));
    if (value.type == ir::Type::F64)
        return llvm::ConstantFP::get(type, llvm::APFloat(llvm::APFloat::IEEEdouble(), bits));
    return llvm::ConstantInt::get(type, bits);
}

llvm::Constant *offset_vector(llvm::Type *scalar, const analysis::Shape &shape, unsigned groups) {
    llvm::SmallVector<llvm::Constant *, kLanes> offsets;
    for (unsigned lane = 0; lane < kLanes; lane += kLanes / groups)
        offsets.push_back(llvm::ConstantInt::getSigned(scalar, shape.offset(lane)));
    return groups == 1 ? offsets[0] : llvm::ConstantVector::get(offsets);
}

llvm::Value *lane_range(llvm::IRBuilderBase &builder, llvm::Value *vector, unsigned first,
                        unsigned count) {
    llvm::SmallVector<int, kLanes> lanes;
    for (unsigned lane = 0; lane < count; ++lane)
        lanes.push_back(static_cast<int>(first + lane));
    return builder.CreateShuffleVector(vector, lanes);
}

llvm::Value *concatenate(llvm::IRBuilderBase &builder, llvm::ArrayRef<llvm::Value *> parts) {
    llvm::SmallVector<llvm::Value *, 8> level(parts.begin(), parts.end());
    const auto width_of = [](llvm::Value *part) {
        return llvm::cast<llvm::FixedVectorType>(part->getType())->getNumElements();
    };
    const unsigned wanted = width_of(level[0]) * static_cast<unsigned>(parts.size());
    while (level.size() > 1) {
        if (level.size() % 2 != 0)
            level.push_back(llvm::PoisonValue::get(level[0]->getType()));
        llvm::SmallVector<llvm::Value *, 8> next;
        const unsigned width = width_of(level[0]);
        for (std::size_t p = 0; p < level.size(); p += 2) {
            llvm::SmallVector<int, kLanes> lanes;
            for (unsigned lane = 0; lane < 2 * width; ++lane)
                lanes.push_back(static_cast<int>(lane));
            next.push_back(builder.CreateShuffleVector(level[p], level[p + 1], lanes));
        }
        level = std::move(next);
    }
    return width_of(level[0]) == wanted ? level[0] : lane_range(builder, level[0], 0, wanted);
}

llvm::Value *repeat(llvm::IRBuilderBase &builder, llvm::Value *value, unsigned groups,
                    unsigned lanes) {
    if (groups == lanes)
        return value;
    if (groups == 1)
        return builder.CreateVectorSplat(lanes, value);
    llvm::SmallVector<int, kLanes> from;
    for (unsigned lane = 0; lane < lanes; ++lane)
        from.push_back(static_cast<int>(lane * groups / lanes));
    return builder.CreateShuffleVector(value, from);
}

llvm::Value *refined_bases(llvm::IRBuilderBase &builder, const Lanes &lanes, unsigned groups) {
    llvm::Value *value = repeat(builder, lanes.base, lanes.shape.groups, groups);
    if (lanes.shape.offsets && groups > lanes.shape.groups)
        value = builder.CreateAdd(
            value, offset_vector(value->getType()->getScalarType(), lanes.shape, groups));
    return value;
}

namespace {

/// The value from which repeat() made `all`, in as many groups as `bases` has; otherwise null.
llvm::Value *before_repeat(llvm::Value *all, const llvm::Value *bases) {
    const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(bases->getType());
    if (!type)
        return jit::splat_value(all);
    auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(all);
    if (!shuffle || shuffle->getOperand(0)->getType() != type)
        return nullptr;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        if (shuffle->getMaskValue(lane) != static_cast<int>(lane * type->getNumElements() / kLanes))
            return nullptr;
    return shuffle->getOperand(0);
}

/// Base, pattern and correction have a simpler sum if the correction is still the difference
/// between exact lanes and the same pattern from other bases; otherwise null.
///
///     repeat(base) + pattern + (exact - (repeat(start) + pattern))  =  exact + repeat(base -
///     start)
llvm::Value *corrected_lanes(llvm::IRBuilderBase &builder, const Lanes &lanes) {
    using namespace llvm::PatternMatch;
    llvm::Value *exact = nullptr, *all_starts = nullptr;
    llvm::Type *scalar = lanes.base->getType()->getScalarType();
    if (!match(lanes.correction,
               m_Sub(m_Value(exact),
                     m_Add(m_Value(all_starts), m_Specific(offset_vector(scalar, lanes.shape))))))
        return nullptr;
    llvm::Value *start = before_repeat(all_starts, lanes.base);
    if (!start)
        return nullptr;
    return builder.CreateAdd(
        exact, repeat(builder, builder.CreateSub(lanes.base, start), lanes.shape.groups, kLanes));
}

} // namespace

// In the first lanes of its own groups a value equals its base: no correction is necessary.
llvm::Value *first_lanes(llvm::IRBuilderBase &builder, const Lanes &lanes, unsigned groups) {
    const bool exact_in_base = !lanes.shape.checked || groups == lanes.shape.groups;
    if (!exact_in_base && groups == kLanes)
        if (llvm::Value *corrected = corrected_lanes(builder, lanes))
            return corrected;
    llvm::Value *value = refined_bases(builder, lanes, groups);
    if (exact_in_base)
        return value;
    llvm::Value *correction = lanes.correction;
    if (groups < kLanes) {
        llvm::SmallVector<int, kLanes> from;
        for (unsigned lane = 0; lane < kLanes; lane += kLanes / groups)
            from.push_back(static_cast<int>(lane));
        correction = builder.CreateShuffleVector(correction, from);
    }
    return builder.CreateAdd(value, correction);
}

llvm::Value *all_lanes(llvm::IRBuilderBase &builder, const Lanes &lanes) {
    return first_lanes(builder, lanes, kLanes);
}

llvm::Value *correction_to(llvm::IRBuilderBase &builder, const Lanes &lanes, llvm::Value *exact) {
    Lanes pattern = lanes;
    pattern.shape.checked = false;
    return builder.CreateSub(exact, all_lanes(builder, pattern));
}

} // namespace softcuda::codegen
