// thread_values.cpp -- the operations of index computations, evaluated for each thread.
#include "analysis/thread_values.h"

#include "analysis/shape.h"
#include "ir/integer_semantics.h"

#include <array>

namespace softcuda::analysis {

using ir::Opcode;
using ir::Space;

const PerThread *ThreadValues::of(const ir::Value *value) const {
    auto [it, added] = known_.try_emplace(value);
    if (added) {
        std::optional<PerThread> computed = compute(value); // may add other entries
        known_[value] = std::move(computed);
    }
    const std::optional<PerThread> &found = known_[value];
    return found ? &*found : nullptr;
}

std::optional<PerThread> ThreadValues::compute(const ir::Value *value) const {
    if (value->constant)
        return PerThread(launch_.threads(), value->bits);
    const ir::Instruction *i = value->definition;
    if (!i || i->results.size() != 1 || !coordinate_functions_[value->id])
        return std::nullopt;
    switch (i->opcode) {
    case Opcode::Special:
        return index(i->attributes.special);
    case Opcode::SymbolAddress:
        if (i->attributes.space != Space::Shared)
            return std::nullopt;
        return PerThread(launch_.threads(), function_.variables.at(i->attributes.symbol).offset +
                                                static_cast<std::uint64_t>(i->attributes.offset));
    default:
        return evaluate(*i);
    }
}

std::optional<PerThread> ThreadValues::index(ir::Special special) const {
    if (!launch_.is_fixed() && special != ir::Special::LaneId)
        return std::nullopt;
    const auto &block = launch_.block;
    PerThread found;
    for (std::uint32_t thread = 0; thread < launch_.threads(); ++thread) {
        const std::uint32_t line = thread / block[0];
        switch (special) {
        case ir::Special::TidX:
            found.push_back(thread % block[0]);
            break;
        case ir::Special::TidY:
            found.push_back(line % block[1]);
            break;
        case ir::Special::TidZ:
            found.push_back(line / block[1]);
            break;
        case ir::Special::LaneId:
            found.push_back(thread % kLanes);
            break;
        default:
            return std::nullopt;
        }
    }
    return found;
}

std::optional<PerThread> ThreadValues::evaluate(const ir::Instruction &i) const {
    constexpr std::size_t kMostOperands = 3;
    if (i.operands.size() > kMostOperands)
        return std::nullopt;
    std::array<const PerThread *, kMostOperands> from{};
    for (std::size_t n = 0; n < i.operands.size(); ++n)
        if (!(from[n] = of(i.operand(n))))
            return std::nullopt;
    PerThread found;
    for (std::size_t thread = 0; thread < launch_.threads(); ++thread) {
        std::array<std::uint64_t, kMostOperands> bits{};
        for (std::size_t n = 0; n < i.operands.size(); ++n)
            bits[n] = (*from[n])[thread];
        const auto made = ir::evaluate(i, std::span(bits).first(i.operands.size()));
        if (!made)
            return std::nullopt;
        found.push_back(*made);
    }
    return found;
}

} // namespace softcuda::analysis
