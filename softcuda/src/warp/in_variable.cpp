// in_variable.cpp -- bounds of an offset from a variable's begin.
#include "warp/in_variable.h"

#include <bit>
#include <optional>

namespace softcuda::warp {

namespace {

using analysis::Range;
using ir::Instruction;
using ir::Opcode;
using ir::Value;

/// Offsets in bytes, all of them multiples of a power of two.
struct Offsets {
    Range bounds;
    std::uint64_t multiple = 1;
};

bool is_bounded(const Range &range) { return range.low >= INT32_MIN && range.high <= INT32_MAX; }

/// A 32-bit index in 64 bits, times a constant.
std::optional<Offsets> widened(const KernelPlan &kernel, const Instruction &i) {
    const bool multiplies = i.is(Opcode::MulWide);
    if (!multiplies && !i.is(Opcode::Convert))
        return std::nullopt;
    const ir::Scalar from = multiplies ? i.attributes.type : i.attributes.source_type;
    if (ir::is_floating(from) || ir::bits(from) != 32 || i.operand(0)->constant ||
        ir::bits(i.result()->type) != 64)
        return std::nullopt;
    const Range index = kernel.ranges[i.operand(0)->id];
    if (!is_bounded(index) || (!ir::is_signed(from) && !index.non_negative()))
        return std::nullopt;
    if (!multiplies)
        return Offsets{.bounds = index};
    constexpr std::uint64_t kMostScale = 1 << 20;
    if (!i.operand(1)->constant || i.operand(1)->bits == 0 || i.operand(1)->bits > kMostScale)
        return std::nullopt;
    const auto scale = static_cast<std::int64_t>(i.operand(1)->bits);
    return Offsets{.bounds = {index.low * scale, index.high * scale},
                   .multiple = std::uint64_t{1} << std::countr_zero(i.operand(1)->bits)};
}

/// The address of a variable of the module, and what is added to it.
struct ElementPlace {
    const Instruction *symbol = nullptr;
    Offsets offsets;
};

const Instruction *module_symbol(const Value *value) {
    const Instruction *i = value->definition;
    const bool is_symbol = i && i->is(Opcode::SymbolAddress) &&
                           i->attributes.space != ir::Space::Shared &&
                           i->attributes.space != ir::Space::Local;
    return is_symbol ? i : nullptr;
}

std::optional<ElementPlace> find_place(const KernelPlan &kernel, const Value *address) {
    if (const Instruction *symbol = module_symbol(address))
        return ElementPlace{symbol, {.bounds = {0, 0}, .multiple = std::uint64_t{1} << 63}};
    const Instruction *sum = address->definition;
    if (!sum || !sum->is(Opcode::Add))
        return std::nullopt;
    for (unsigned side = 0; side < 2; ++side) {
        const Instruction *symbol = module_symbol(sum->operand(side));
        const Instruction *index = sum->operand(1 - side)->definition;
        if (!symbol || !index)
            continue;
        if (const auto offsets = widened(kernel, *index))
            return ElementPlace{symbol, *offsets};
    }
    return std::nullopt;
}

} // namespace

bool is_in_variable(const KernelPlan &kernel, const Instruction &access, unsigned bytes) {
    const auto place = find_place(kernel, access.operand(0));
    if (!place || place->symbol->attributes.symbol >= kernel.variables.size())
        return false;
    const ir::GlobalVariable &variable = kernel.variables[place->symbol->attributes.symbol];
    if (variable.content != ir::GlobalVariable::Content::Data || variable.external)
        return false;
    const std::int64_t extra = place->symbol->attributes.offset + access.attributes.offset;
    const std::uint64_t alignment = std::uint64_t{1} << std::countr_zero(bytes);
    const auto is_multiple = [&](std::uint64_t number) { return number % alignment == 0; };
    const Range bounds = place->offsets.bounds;
    return is_multiple(variable.align) && is_multiple(place->offsets.multiple) &&
           is_multiple(static_cast<std::uint64_t>(extra)) && extra >= -bounds.low &&
           variable.size >= bytes &&
           bounds.high + extra <= static_cast<std::int64_t>(variable.size - bytes);
}

} // namespace softcuda::warp
