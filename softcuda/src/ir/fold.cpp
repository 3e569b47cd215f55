// fold.cpp -- folds operations with constant or trivial results.
#include "ir/clean_up.h"
#include "ir/integer_semantics.h"
#include "ir/replacements.h"

#include <algorithm>
#include <bit>

namespace softcuda::ir {

namespace {

bool is_constant(const Value *value, std::uint64_t bits) {
    return value->constant && value->bits == bits;
}

const Instruction *defined_by(const Value *value, Opcode opcode) {
    return value->definition && value->definition->is(opcode) ? value->definition : nullptr;
}

constexpr unsigned kMostDepth = 6; ///< of operations that trailing_zeros() follows

/// At least as many low bits of an integer are zero.
unsigned trailing_zeros(const Value *value, unsigned depth = kMostDepth) {
    if (value->constant)
        return static_cast<unsigned>(std::countr_zero(value->bits));
    const Instruction *i = value->definition;
    if (!i || depth == 0 || !is_whole_integer(*i))
        return 0;
    auto of = [&](unsigned operand) { return trailing_zeros(i->operand(operand), depth - 1); };
    unsigned found = 0;
    switch (i->opcode) {
    case Opcode::Add:
    case Opcode::Sub:
    case Opcode::Or:
        found = std::min(of(0), of(1));
        break;
    case Opcode::And:
        found = std::max(of(0), of(1));
        break;
    case Opcode::Mul:
    case Opcode::MulWide:
        found = of(0) + of(1);
        break;
    case Opcode::Shl:
        found = i->operand(1)->constant && i->operand(1)->bits < bits(i->attributes.type)
                    ? of(0) + static_cast<unsigned>(i->operand(1)->bits)
                    : 0;
        break;
    case Opcode::Convert:
        found = of(0);
        break;
    default:
        return 0;
    }
    return std::min({found, bits(i->attributes.type), bits(value->type)});
}

/// Pieces that unpack made of one value, all of them in order: that value.
Value *repacked(const Instruction &pack) {
    const Instruction *unpack = defined_by(pack.operand(0), Opcode::Unpack);
    if (!unpack || unpack->results != pack.operands)
        return nullptr;
    Value *whole = unpack->operand(0);
    return whole->type == pack.result()->type ? whole : nullptr;
}

class Folder {
  public:
    explicit Folder(Function &function) : function_(function) {}

    void run() {
        for (bool changed = true; changed;) {
            changed = false;
            for (Block *block : function_.blocks) {
                for (Instruction *instruction : block->instructions)
                    changed |= visit(*instruction);
            }
        }
        replaced_.apply(function_);
    }

  private:
    bool visit(Instruction &instruction);
    bool replace(Value *from, Value *to);
    bool visit_unpack(Instruction &unpack);
    static bool becomes_sum(Instruction &disjunction);
    template <typename Side> bool straighten(Instruction &instruction, Side *sides);
    Value *simplify(const Instruction &instruction);
    Value *simplify_phi(const Instruction &phi);
    Value *simplify_select(const Instruction &select);
    Value *simplify_identity(const Instruction &instruction);
    Value *simplify_pack(const Instruction &pack);
    Value *simplify_convert(const Instruction &convert);
    Value *simplify_compare(const Instruction &compare);

    Function &function_;
    Replacements replaced_;
};

bool Folder::replace(Value *from, Value *to) {
    if (replaced_.resolve(from) != from)
        return false;
    replaced_.add(from, to);
    return true;
}

/// x | c of 64 bits, where c has only bits that are zero in x: the form that compilers give to an
/// address in an aligned structure. The sum's constant becomes part of an access.
bool Folder::becomes_sum(Instruction &i) {
    if (i.result()->type != Type::I64 || bits(i.attributes.type) != 64 || !i.operand(1)->constant)
        return false;
    const unsigned zeros = trailing_zeros(i.operand(0));
    if (zeros < 64 && i.operand(1)->bits >> zeros != 0)
        return false;
    i.opcode = Opcode::Add;
    i.attributes.type = Scalar::U64;
    return true;
}

bool Folder::visit(Instruction &instruction) {
    replaced_.apply(instruction);
    if (instruction.is(Opcode::Unpack))
        return visit_unpack(instruction);
    if (instruction.is(Opcode::Branch))
        return straighten(instruction, instruction.blocks.data());
    if (instruction.is(Opcode::Select) && straighten(instruction, instruction.operands.data() + 1))
        return true;
    if (instruction.is(Opcode::Or) && becomes_sum(instruction))
        return true;
    if (instruction.results.size() != 1 || !info(instruction.opcode).pure)
        return false;
    Value *result = instruction.result();
    if (replaced_.resolve(result) != result)
        return false;
    if (auto bits = evaluate_constants(instruction))
        return replace(result, function_.constant(result->type, *bits));
    Value *simpler = simplify(instruction);
    return simpler && simpler != result && replace(result, simpler);
}

Value *Folder::simplify(const Instruction &i) {
    switch (i.opcode) {
    case Opcode::Phi:
        return simplify_phi(i);
    case Opcode::Select:
        return simplify_select(i);
    case Opcode::Pack:
        return simplify_pack(i);
    case Opcode::Convert:
        return simplify_convert(i);
    case Opcode::Compare:
        return simplify_compare(i);
    case Opcode::Bitcast: {
        if (i.operand(0)->constant)
            return function_.constant(i.result()->type, i.operand(0)->bits);
        if (i.operand(0)->type == i.result()->type)
            return i.operand(0);
        const Instruction *inner = defined_by(i.operand(0), Opcode::Bitcast);
        return inner && inner->operand(0)->type == i.result()->type ? inner->operand(0) : nullptr;
    }
    case Opcode::Not: {
        const Instruction *inner = defined_by(i.operand(0), Opcode::Not);
        return inner && bits(i.attributes.type) == bits(inner->attributes.type) ? inner->operand(0)
                                                                                : nullptr;
    }
    default:
        return simplify_identity(i);
    }
}

Value *Folder::simplify_phi(const Instruction &phi) {
    Value *only = nullptr;
    for (Value *operand : phi.operands) {
        if (operand == phi.result() || operand == only)
            continue;
        if (only)
            return nullptr;
        only = operand;
    }
    return only;
}

Value *Folder::simplify_select(const Instruction &i) {
    Value *condition = i.operand(0), *yes = i.operand(1), *no = i.operand(2);
    Value *chosen = nullptr;
    if (yes == no || is_constant(condition, 1) || defined_by(no, Opcode::Undef))
        chosen = yes;
    else if (is_constant(condition, 0) || defined_by(yes, Opcode::Undef))
        chosen = no;
    else if (i.result()->type == Type::I1 && is_constant(yes, 1) && is_constant(no, 0))
        chosen = condition;
    return chosen && chosen->type == i.result()->type ? chosen : nullptr;
}

/// x + 0, x * 1, x & -1 ... of integers.
Value *Folder::simplify_identity(const Instruction &i) {
    const Attributes &a = i.attributes;
    if (i.operands.size() != 2 || is_floating(a.type) || a.type == Scalar::None || a.saturate)
        return nullptr;
    Value *x = i.operand(0), *y = i.operand(1);
    bool commutes = i.is(Opcode::Add) || i.is(Opcode::Mul) || i.is(Opcode::And) ||
                    i.is(Opcode::Or) || i.is(Opcode::Xor);
    if (commutes && x->constant)
        std::swap(x, y);
    if (!y->constant || bits(a.type) > 64)
        return nullptr;
    unsigned width = bits(a.type);
    std::uint64_t ones = width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    bool same = false;
    switch (i.opcode) {
    case Opcode::Add:
    case Opcode::Sub:
    case Opcode::Or:
    case Opcode::Xor:
    case Opcode::Shl:
    case Opcode::Shr:
        same = y->bits == 0;
        break;
    case Opcode::Mul:
        same = y->bits == 1;
        break;
    case Opcode::And:
        same = y->bits == ones;
        break;
    default:
        return nullptr;
    }
    bool zero = y->bits == 0 && (i.is(Opcode::And) || i.is(Opcode::Mul));
    if (zero || (i.is(Opcode::Or) && y->bits == ones))
        return y->type == i.result()->type ? y : nullptr;
    return same && x->type == i.result()->type ? x : nullptr;
}

Value *Folder::simplify_pack(const Instruction &pack) {
    if (Value *whole = repacked(pack))
        return whole;
    if (pack.operands.size() == 1 && pack.operand(0)->type == pack.result()->type)
        return pack.operand(0);
    std::uint64_t bits_so_far = 0;
    unsigned width = bits(pack.operand(0)->type);
    for (std::size_t n = 0; n < pack.operands.size(); n++) {
        if (!pack.operand(n)->constant || (n + 1) * width > 64)
            return nullptr;
        bits_so_far |= pack.operand(n)->bits << (n * width);
    }
    return function_.constant(pack.result()->type, bits_so_far);
}

/// Between integer types of one width nothing changes, nor by widening and cutting off again.
Value *Folder::simplify_convert(const Instruction &i) {
    const Attributes &a = i.attributes;
    bool integers = !is_floating(a.type) && !is_floating(a.source_type);
    if (!integers || a.saturate)
        return nullptr;
    const Instruction *inner = defined_by(i.operand(0), Opcode::Convert);
    if (inner && !inner->attributes.saturate && !is_floating(inner->attributes.source_type) &&
        !is_floating(inner->attributes.type) &&
        bits(inner->attributes.source_type) == bits(a.type) &&
        bits(inner->attributes.type) >= bits(a.type) && inner->operand(0)->type == i.result()->type)
        return inner->operand(0);
    bool same = bits(a.type) == bits(a.source_type);
    return same && i.operand(0)->type == i.result()->type ? i.operand(0) : nullptr;
}

/// Whether two addresses of one variable, of functions above all, are equal.
Value *Folder::simplify_compare(const Instruction &compare) {
    const Compare how = compare.attributes.compare;
    const Instruction *a = defined_by(compare.operand(0), Opcode::SymbolAddress);
    const Instruction *b = defined_by(compare.operand(1), Opcode::SymbolAddress);
    if (!a || !b || (how != Compare::Eq && how != Compare::Ne) ||
        a->attributes.space != b->attributes.space || a->attributes.symbol != b->attributes.symbol)
        return nullptr;
    const bool equal = a->attributes.offset == b->attributes.offset;
    return function_.constant(Type::I1, equal == (how == Compare::Eq));
}

/// Pieces of a value that was just packed from as many.
bool Folder::visit_unpack(Instruction &unpack) {
    Value *whole = unpack.operand(0);
    unsigned width = bits(unpack.result()->type);
    const Instruction *pack = defined_by(whole, Opcode::Pack);
    bool fits = pack && pack->operands.size() == unpack.results.size();
    if (!fits && !whole->constant)
        return false;
    bool changed = false;
    for (std::size_t n = 0; n < unpack.results.size(); n++) {
        Value *result = unpack.result(n);
        if (whole->constant) {
            std::uint64_t bits = n * width < 64 ? whole->bits >> (n * width) : 0;
            changed |= replace(result, function_.constant(result->type, bits));
        } else if (pack->operand(n)->type == result->type) {
            changed |= replace(result, replaced_.resolve(pack->operand(n)));
        }
    }
    return changed;
}

/// A branch or select on !p is one on p with its two sides swapped.
template <typename Side> bool Folder::straighten(Instruction &instruction, Side *sides) {
    const Instruction *inverted = defined_by(instruction.operand(0), Opcode::Not);
    if (!inverted)
        return false;
    instruction.operands[0] = inverted->operand(0);
    std::swap(sides[0], sides[1]);
    return true;
}

} // namespace

void fold(Function &function) {
    Folder(function).run();
    function.update_predecessors();
}

} // namespace softcuda::ir
