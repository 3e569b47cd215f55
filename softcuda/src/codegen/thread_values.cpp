// thread_values.cpp -- the operations that indices are made of, on one number for each thread.
#include "codegen/thread_values.h"

namespace softcuda::codegen {

using ir::Opcode;
using ir::Scalar;
using ir::Space;

namespace {

std::uint64_t cut(std::uint64_t value, unsigned bits) {
    return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

std::uint64_t extend(std::uint64_t value, Scalar type) {
    const unsigned bits = ir::bits(type);
    if (bits >= 64 || !ir::is_signed(type))
        return cut(value, bits);
    const unsigned shift = 64 - bits;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
}

bool holds(ir::Compare compare, bool less, bool equal) {
    switch (compare) {
    case ir::Compare::Eq:
        return equal;
    case ir::Compare::Ne:
        return !equal;
    case ir::Compare::Lt:
        return less;
    case ir::Compare::Le:
        return less || equal;
    case ir::Compare::Gt:
        return !less && !equal;
    default:
        return !less;
    }
}

} // namespace

const PerThread *ThreadValues::of(const ir::Value *value) {
    auto [it, added] = known_.try_emplace(value);
    if (added) {
        std::optional<PerThread> computed = compute(value); // may add others
        known_[value] = std::move(computed);
    }
    const std::optional<PerThread> &found = known_[value];
    return found ? &*found : nullptr;
}

std::optional<PerThread> ThreadValues::compute(const ir::Value *value) {
    if (value->constant)
        return PerThread(plan_.launch.threads(), value->bits);
    const ir::Instruction *i = value->definition;
    if (!i || i->results.size() != 1 || !plan_.coordinate_functions[value->id])
        return std::nullopt;
    switch (i->opcode) {
    case Opcode::Special:
        return index(i->attributes.special);
    case Opcode::SymbolAddress:
        if (i->attributes.space != Space::Shared)
            return std::nullopt;
        return PerThread(plan_.launch.threads(),
                         plan_.function.variables.at(i->attributes.symbol).offset +
                             static_cast<std::uint64_t>(i->attributes.offset));
    case Opcode::Convert:
        return convert(*i);
    case Opcode::Compare:
        return compare(*i);
    default:
        return combine(*i);
    }
}

std::optional<PerThread> ThreadValues::index(ir::Special special) const {
    const auto &block = plan_.launch.block;
    PerThread found;
    for (std::uint32_t thread = 0; thread < plan_.launch.threads(); ++thread) {
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
            found.push_back(thread % analysis::kLanes);
            break;
        default:
            return std::nullopt;
        }
    }
    return found;
}

std::optional<PerThread> ThreadValues::convert(const ir::Instruction &i) {
    const ir::Attributes &a = i.attributes;
    const PerThread *from = of(i.operand(0));
    if (!from || a.saturate || ir::is_floating(a.type) || ir::is_floating(a.source_type))
        return std::nullopt;
    PerThread found = *from;
    for (std::uint64_t &each : found)
        each = cut(extend(each, a.source_type), ir::bits(a.type));
    return found;
}

std::optional<PerThread> ThreadValues::compare(const ir::Instruction &i) {
    const ir::Attributes &a = i.attributes;
    const PerThread *x = of(i.operand(0)), *y = of(i.operand(1));
    if (!x || !y || ir::is_floating(a.type) || a.compare > ir::Compare::Ge)
        return std::nullopt;
    PerThread found;
    for (std::size_t thread = 0; thread < x->size(); ++thread) {
        const std::uint64_t p = extend((*x)[thread], a.type), q = extend((*y)[thread], a.type);
        const bool less = ir::is_signed(a.type)
                              ? static_cast<std::int64_t>(p) < static_cast<std::int64_t>(q)
                              : p < q;
        found.push_back(holds(a.compare, less, p == q));
    }
    return found;
}

std::optional<PerThread> ThreadValues::combine(const ir::Instruction &i) {
    const ir::Attributes &a = i.attributes;
    if (i.operands.size() != 2 || ir::is_floating(a.type) || a.saturate)
        return std::nullopt;
    const PerThread *x = of(i.operand(0)), *y = of(i.operand(1));
    if (!x || !y)
        return std::nullopt;
    const unsigned bits = ir::bits(a.type);
    PerThread found;
    for (std::size_t thread = 0; thread < x->size(); ++thread) {
        const std::uint64_t p = (*x)[thread], q = (*y)[thread];
        std::uint64_t made = 0;
        switch (i.opcode) {
        case Opcode::Add:
            made = cut(p + q, bits);
            break;
        case Opcode::Sub:
            made = cut(p - q, bits);
            break;
        case Opcode::Mul:
            made = cut(p * q, bits);
            break;
        case Opcode::MulWide:
            made = cut(extend(p, a.type) * extend(q, a.type), 2 * bits);
            break;
        case Opcode::And:
            made = p & q;
            break;
        case Opcode::Or:
            made = p | q;
            break;
        case Opcode::Xor:
            made = p ^ q;
            break;
        case Opcode::Shl:
            made = q >= bits ? 0 : cut(p << q, bits);
            break;
        default:
            return std::nullopt;
        }
        found.push_back(made);
    }
    return found;
}

} // namespace softcuda::codegen
