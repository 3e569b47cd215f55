// float_bits.cpp -- floats by the operation that made them; copies have the facts of their sources.
#include "analysis/float_bits.h"

#include <span>
#include <utility>

namespace softcuda::analysis {

namespace {

using ir::Opcode;
using ir::Scalar;
using ir::Value;

/// Arithmetic, whose NaNs are made and whose results .ftz flushes.
bool is_float_arithmetic(const ir::Instruction &instruction) {
    if (!ir::is_floating(instruction.attributes.type))
        return false;
    switch (instruction.opcode) {
    case Opcode::Add:
    case Opcode::Sub:
    case Opcode::Mul:
    case Opcode::Div:
    case Opcode::Abs:
    case Opcode::Neg:
    case Opcode::Min:
    case Opcode::Max:
    case Opcode::Fma:
    case Opcode::Sqrt:
    case Opcode::Rcp:
    case Opcode::Rsqrt:
    case Opcode::Sin:
    case Opcode::Cos:
    case Opcode::Lg2:
    case Opcode::Ex2:
    case Opcode::Tanh:
    case Opcode::Convert:
        return true;
    default:
        return false;
    }
}

/// cvt.f32.f32 that rounds nothing is a move, and so is cvt.f32.bf16.
bool is_copy(const ir::Instruction &from) {
    const ir::Attributes &a = from.attributes;
    const bool same = a.type == a.source_type || a.source_type == Scalar::BF16;
    return from.is(Opcode::Convert) && same && !a.ftz && !a.saturate && !a.relu &&
           a.rounding == ir::Rounding::None;
}

/// The operands of which the instruction's result is a copy, in each lane of one of them.
std::span<Value *const> copied_operands(const ir::Instruction &from) {
    switch (from.opcode) {
    case Opcode::Phi:
        return from.operands;
    case Opcode::Select:
        return std::span(from.operands).subspan(1);
    case Opcode::Shuffle:
        return std::span(from.operands).first(1);
    case Opcode::Convert:
        return is_copy(from) && from.attributes.source_type == Scalar::F32
                   ? std::span<Value *const>(from.operands)
                   : std::span<Value *const>();
    default:
        return {};
    }
}

bool is_denormal(std::uint64_t bits) {
    return (bits & 0x7f80'0000) == 0 && (bits & 0x007f'ffff) != 0;
}

/// Of a value that is not a copy.
bool makes_denormals(const Value &value) {
    if (value.constant)
        return is_denormal(value.bits);
    const ir::Instruction *from = value.definition;
    if (!from || from->attributes.type != Scalar::F32 || !is_float_arithmetic(*from))
        return true;
    if (from->attributes.ftz)
        return false;
    // Integers and f16's denormals are normal floats.
    const Scalar source = from->attributes.source_type;
    return !from->is(Opcode::Convert) || (ir::is_floating(source) && source != Scalar::F16);
}

/// Whether a value that is not a copy may be a NaN that an operation makes.
bool makes_nans(const Value &value) {
    const ir::Instruction *from = value.definition;
    // From f64, cvt keeps what fits of a NaN, as processors do.
    return value.type == ir::Type::F32 && from && is_float_arithmetic(*from) && !is_copy(*from) &&
           !(from->is(Opcode::Convert) && from->attributes.source_type == Scalar::F64);
}

/// Whether a value that is not a copy may be a NaN whose bits come from elsewhere.
bool may_have_payload(const Value &value) {
    constexpr std::uint64_t kInfinity = 0x7f80'0000;
    if (value.type != ir::Type::F32)
        return false;
    return value.constant ? (value.bits & 0x7fff'ffff) > kInfinity : !makes_nans(value);
}

/// What the bits of a NaN do to the use of an operand.
enum class Use : std::uint8_t {
    Number, ///< nothing: its result is a NaN with bits of its own, or no float
    Known,  ///< they are used, and code generation replaces those of a new NaN there
    Bits,   ///< they are used
};

Use use_of(const ir::Instruction &user, std::size_t operand) {
    switch (user.opcode) {
    case Opcode::Store:
    case Opcode::Mma:
    case Opcode::Bitcast:
    case Opcode::Pack:
    case Opcode::Unpack:
        return Use::Known;
    case Opcode::Copysign:
        return operand == 0 ? Use::Number : Use::Bits;
    case Opcode::Compare:
    case Opcode::Testp:
        return ir::is_floating(user.attributes.type) ? Use::Number : Use::Known;
    case Opcode::Convert:
    case Opcode::ConvertPair:
        return is_copy(user) ? Use::Bits : Use::Number;
    default:
        return is_float_arithmetic(user) ? Use::Number : Use::Bits;
    }
}

} // namespace

/// Values, and for each of them those that are copies of it.
class FloatBits::Copies {
  public:
    explicit Copies(std::uint32_t values) : copies_(values), sources_(values) {}

    void add(const Value &source, const Value &copy) {
        copies_[source.id].push_back(&copy);
        sources_[copy.id].push_back(&source);
    }
    /// Adds the copies of all values of `found`, and copies of these.
    void spread(std::vector<bool> &found, std::vector<const Value *> values) const {
        follow(copies_, found, std::move(values));
    }
    /// Adds the values of which the values of `found` are copies.
    void trace(std::vector<bool> &found, std::vector<const Value *> values) const {
        follow(sources_, found, std::move(values));
    }

  private:
    using Edges = std::vector<std::vector<const Value *>>; // by Value::id

    static void follow(const Edges &edges, std::vector<bool> &found,
                       std::vector<const Value *> work) {
        for (const Value *value : work)
            found[value->id] = true;
        while (!work.empty()) {
            const Value *value = work.back();
            work.pop_back();
            for (const Value *next : edges[value->id])
                if (!found[next->id]) {
                    found[next->id] = true;
                    work.push_back(next);
                }
        }
    }

    Edges copies_, sources_;
};

FloatBits::FloatBits(const ir::Function &function) {
    const std::uint32_t count = function.value_count();
    Copies copies(count);
    std::vector<const Value *> originals; // all values that are no copies
    for (const Value *argument : function.arguments)
        originals.push_back(argument);
    for (const ir::Block *block : function.blocks)
        for (const ir::Instruction *i : block->instructions) {
            const std::span<Value *const> copied = copied_operands(*i);
            for (const Value *operand : copied) {
                copies.add(*operand, *i->result());
                if (operand->constant)
                    originals.push_back(operand);
            }
            for (const Value *result : i->results)
                if (copied.empty() || result != i->result())
                    originals.push_back(result);
        }

    std::vector<const Value *> denormals, nans, payloads;
    for (const Value *value : originals) {
        if (makes_denormals(*value))
            denormals.push_back(value);
        if (makes_nans(*value))
            nans.push_back(value);
        if (may_have_payload(*value))
            payloads.push_back(value);
    }
    may_be_denormal_.resize(count);
    copies.spread(may_be_denormal_, std::move(denormals));
    find_canonical(function, copies, nans, payloads);
    std::erase_if(nans, [&](const Value *value) { return is_made_canonical(*value); });
    may_be_new_nan_.resize(count);
    copies.spread(may_be_new_nan_, std::move(nans));
}

/// A store of a value that is a new NaN in some lanes, and other bits in others, can no longer tell
/// one from the other.
void FloatBits::find_canonical(const ir::Function &function, const Copies &copies,
                               const std::vector<const Value *> &nans,
                               const std::vector<const Value *> &payloads) {
    const std::uint32_t count = function.value_count();
    std::vector<bool> is_new(count), has_payload(count);
    copies.spread(is_new, nans);
    copies.spread(has_payload, payloads);
    std::vector<const Value *> needed;
    for (const ir::Block *block : function.blocks)
        for (const ir::Instruction *i : block->instructions) {
            if (!copied_operands(*i).empty())
                continue;
            for (std::size_t n = 0; n < i->operands.size(); n++) {
                const Value *operand = i->operand(n);
                const Use use = use_of(*i, n);
                if (!operand->constant && is_new[operand->id] &&
                    (use == Use::Bits || (use == Use::Known && has_payload[operand->id])))
                    needed.push_back(operand);
            }
        }
    made_canonical_.resize(count);
    copies.trace(made_canonical_, std::move(needed));
}

bool FloatBits::is_made_canonical(const Value &value) const {
    return !value.constant && made_canonical_[value.id] && makes_nans(value);
}

bool FloatBits::never_denormal(const Value &value) const {
    return value.constant ? !is_denormal(value.bits) : !may_be_denormal_[value.id];
}

bool FloatBits::may_be_new_nan(const Value &value) const {
    return !value.constant && may_be_new_nan_[value.id];
}

} // namespace softcuda::analysis
