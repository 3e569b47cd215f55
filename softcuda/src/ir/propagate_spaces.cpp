// propagate_spaces.cpp -- determines the state spaces of generic addresses.
//
// A lattice per 64-bit value: Unknown (nothing seen yet) above each space above Anywhere. Sources
// are to_generic and the kernel's pointer parameters; additions, selects and phis pass it on. Then
// each value that points to shared or local memory gets a twin, the same address within the space,
// and generic accesses use the twin. Global, constant and parameter addresses are the same in
// generic form, so there the access only changes its space.
//
// An offset may be the distance to another space, as in self-relative pointers:
//
//     slot = target - &slot          with `slot` in shared and `target` in global memory
//     *(&slot + slot)                is an access to global memory
//
// A kernel can only know such a distance if it computes with the address of shared or local memory
// other than to add offsets and to access memory. If a function does so, offsets that may be large
// (not widened from 32 bits) make an address one of any space.
#include "ir/clean_up.h"
#include "ir/dominators.h"
#include "ir/replacements.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace softcuda::ir {

namespace {

/// Parameter: from a kernel's parameter, so global memory if it is used as a pointer at all.
enum class PointedTo : std::uint8_t {
    Unknown,
    Parameter,
    Global,
    Shared,
    Local,
    Constant,
    ParamBlock,
    Anywhere
};

PointedTo origin_of(Space space) {
    switch (space) {
    case Space::Global:
        return PointedTo::Global;
    case Space::Shared:
        return PointedTo::Shared;
    case Space::Local:
        return PointedTo::Local;
    case Space::Constant:
        return PointedTo::Constant;
    case Space::Param:
        return PointedTo::ParamBlock;
    case Space::Generic:
        break;
    }
    return PointedTo::Anywhere;
}

bool known(PointedTo origin) {
    return origin != PointedTo::Unknown && origin != PointedTo::Anywhere;
}
bool windowed(PointedTo origin) {
    return origin == PointedTo::Shared || origin == PointedTo::Local;
}
/// Spaces whose addresses are generic addresses as they are.
bool same_as_generic(Space space) {
    return space == Space::Global || space == Space::Constant || space == Space::Param;
}

PointedTo meet(PointedTo a, PointedTo b) {
    if (a == PointedTo::Unknown || a == b)
        return b;
    if (b == PointedTo::Unknown)
        return a;
    bool global = (a == PointedTo::Global || a == PointedTo::Parameter) &&
                  (b == PointedTo::Global || b == PointedTo::Parameter);
    return global ? PointedTo::Global : PointedTo::Anywhere;
}

/// True for numbers that are no addresses: scaled or widened indices, constants.
bool is_index(const Value &value) {
    if (value.constant)
        return true;
    if (!value.definition)
        return false;
    switch (value.definition->opcode) {
    case Opcode::Mul:
    case Opcode::MulWide:
    case Opcode::Shl:
    case Opcode::Convert:
        return true;
    default:
        return false;
    }
}

/// The number of bits of an integer's magnitude, at most: 64 if nothing is known.
unsigned magnitude_bits(const Value &value, unsigned depth = 0) {
    constexpr unsigned kMostDepth = 6;
    if (value.constant) {
        const auto number = static_cast<std::int64_t>(value.bits);
        return 64 - static_cast<unsigned>(std::countl_zero(
                        static_cast<std::uint64_t>(number < 0 ? ~number : number)));
    }
    const unsigned width = bits(value.type);
    if (!value.definition || depth == kMostDepth)
        return width;
    const Instruction &i = *value.definition;
    const auto of = [&](std::size_t n) { return magnitude_bits(*i.operand(n), depth + 1); };
    switch (i.opcode) {
    case Opcode::Convert:
        return is_floating(i.attributes.source_type)
                   ? width
                   : std::min({width, bits(i.attributes.source_type), of(0)});
    case Opcode::MulWide:
    case Opcode::Mul:
        return std::min(width, of(0) + of(1));
    case Opcode::Shl:
        return i.operand(1)->constant ? std::min<unsigned>(width, of(0) + i.operand(1)->bits)
                                      : width;
    case Opcode::Shr:
        return of(0);
    case Opcode::And:
        return i.operand(1)->constant ? std::min(of(0), of(1)) : width;
    case Opcode::Add:
    case Opcode::Sub:
        return std::min(width, std::max(of(0), of(1)) + 1);
    case Opcode::Select:
        return std::max(of(1), of(2));
    default:
        return width;
    }
}

/// Spaces are further apart than that.
constexpr unsigned kMostOffsetBits = 40;

class SpacePropagation {
  public:
    explicit SpacePropagation(Function &function)
        : function_(function), order_(reverse_postorder(function)),
          origins_(function.value_count(), PointedTo::Unknown) {}

    void run() {
        // Other functions may have computed what comes in as an argument.
        offsets_ = function_.kernel ? Offsets::Any : Offsets::Small;
        find_origins();
        if (offsets_ == Offsets::Any && window_escapes()) {
            offsets_ = Offsets::Small;
            origins_.assign(origins_.size(), PointedTo::Unknown);
            find_origins();
        }
        make_twins();
        for (Block *block : order_) {
            for (Instruction *instruction : block->instructions)
                rewrite(*instruction);
        }
        insert_twins();
        replaced_.apply(function_);
    }

  private:
    PointedTo origin(const Value *value) const {
        return value->constant || value->id >= origins_.size() ? PointedTo::Anywhere
                                                               : origins_[value->id];
    }
    /// Which values may be added to an address of a known space.
    enum class Offsets : std::uint8_t { Any, Small };
    void find_origins();
    [[nodiscard]] bool window_escapes() const;
    [[nodiscard]] bool keeps_window(const Instruction &user, std::size_t operand) const;
    bool visit(const Instruction &instruction);
    PointedTo transfer(const Instruction &instruction) const;
    PointedTo of_sum(const Instruction &instruction) const;
    [[nodiscard]] bool may_be_offset(const Value &value) const {
        return offsets_ == Offsets::Any || magnitude_bits(value) <= kMostOffsetBits;
    }
    void make_twins();
    void make_twin(Instruction &instruction);
    Value *twin_or_self(Value *value) const;
    void fill_phi_twins();
    void insert_twins();
    void rewrite(Instruction &instruction);
    void rewrite_access(Instruction &instruction);

    Function &function_;
    std::vector<Block *> order_;
    std::vector<PointedTo> origins_; ///< by value id
    Offsets offsets_ = Offsets::Any;
    std::unordered_map<const Value *, Value *> twins_;
    std::unordered_map<const Instruction *, Instruction *> made_; ///< to stand after the key
    std::vector<std::pair<Instruction *, Instruction *>> phis_;   ///< original and twin
    Replacements replaced_;
};

/// To a fixed point; a graph so odd that it takes long to reach is left without any knowledge.
void SpacePropagation::find_origins() {
    constexpr int kMostRounds = 64;
    bool changed = true;
    for (int round = 0; changed && round < kMostRounds; round++) {
        changed = false;
        for (Block *block : order_) {
            for (Instruction *instruction : block->instructions)
                changed |= visit(*instruction);
        }
    }
    if (changed)
        origins_.assign(origins_.size(), PointedTo::Anywhere);
}

/// Whether the address of shared or local memory is used for more than accesses: subtracted from
/// another address, stored, passed to a function.
bool SpacePropagation::window_escapes() const {
    for (const Block *block : order_)
        for (const Instruction *user : block->instructions)
            for (std::size_t n = 0; n < user->operands.size(); n++)
                if (windowed(origin(user->operand(n))) && !keeps_window(*user, n))
                    return true;
    return false;
}

bool SpacePropagation::keeps_window(const Instruction &user, std::size_t operand) const {
    switch (user.opcode) {
    case Opcode::Load:
    case Opcode::Store:
    case Opcode::Atomic:
    case Opcode::Reduce:
        return operand == 0;
    case Opcode::FromGeneric:
    case Opcode::IsSpace:
    case Opcode::Compare:
    case Opcode::Printf:
    case Opcode::AssertFail:
    case Opcode::Malloc: // the arguments of the device runtime
        return true;
    case Opcode::Add:
    case Opcode::Sub:
    case Opcode::Phi:
    case Opcode::Select:
        return windowed(origin(user.result()));
    default:
        return false;
    }
}

bool SpacePropagation::visit(const Instruction &instruction) {
    if (instruction.results.empty() || instruction.result()->type != Type::I64)
        return false;
    PointedTo found = transfer(instruction);
    for (const Value *result : instruction.results) {
        if (origins_[result->id] == found)
            return false;
        origins_[result->id] = found;
    }
    return true;
}

PointedTo SpacePropagation::transfer(const Instruction &i) const {
    switch (i.opcode) {
    case Opcode::ToGeneric:
        return origin_of(i.attributes.space);
    case Opcode::FromGeneric:
        return same_as_generic(i.attributes.space) ? origin_of(i.attributes.space)
                                                   : PointedTo::Anywhere;
    case Opcode::ParamAddress:
        return PointedTo::ParamBlock;
    case Opcode::LoadParam:
        return PointedTo::Parameter;
    case Opcode::Undef:
        return PointedTo::Unknown;
    case Opcode::Add:
        return of_sum(i);
    case Opcode::Sub: {
        PointedTo base = origin(i.operand(0)), less = origin(i.operand(1));
        if (base == PointedTo::Unknown)
            return base;
        return !may_be_offset(*i.operand(1)) || (known(base) && known(less)) ? PointedTo::Anywhere
                                                                             : base;
    }
    case Opcode::Select:
        return meet(origin(i.operand(1)), origin(i.operand(2)));
    case Opcode::Phi: {
        PointedTo all = PointedTo::Unknown;
        for (const Value *operand : i.operands)
            all = meet(all, origin(operand));
        return all;
    }
    default:
        return PointedTo::Anywhere;
    }
}

/// An address and an offset. The lattice only descends: Unknown + x is Unknown until more is seen,
/// and Anywhere + Anywhere is Anywhere.
PointedTo SpacePropagation::of_sum(const Instruction &sum) const {
    const Value *a = sum.operand(0), *b = sum.operand(1);
    PointedTo x = origin(a), y = origin(b);
    if (x == PointedTo::Unknown || y == PointedTo::Unknown) {
        PointedTo other = x == PointedTo::Unknown ? y : x;
        return known(other) && other != PointedTo::Parameter ? other : PointedTo::Unknown;
    }
    // A parameter that is added to an address is an offset. If the other operand is only possibly
    // an address, the parameter's role is unknown.
    if (x == PointedTo::Parameter || y == PointedTo::Parameter) {
        bool first = x == PointedTo::Parameter;
        PointedTo other = first ? y : x;
        if (known(other) && other != PointedTo::Parameter)
            return other;
        const Value &offset = first ? *b : *a;
        return is_index(offset) && may_be_offset(offset) ? PointedTo::Parameter
                                                         : PointedTo::Anywhere;
    }
    if (known(x) == known(y))
        return PointedTo::Anywhere;
    if (!may_be_offset(known(x) ? *b : *a))
        return PointedTo::Anywhere;
    return known(x) ? x : y;
}

// ---- twins ----------------------------------------------------------------------------------

void SpacePropagation::make_twins() {
    for (Block *block : order_) {
        for (Instruction *instruction : block->instructions) {
            if (instruction->results.size() == 1 && windowed(origin(instruction->result())))
                make_twin(*instruction);
        }
    }
    fill_phi_twins();
}

/// In the order of the basic blocks, operands come before their users, except for operands of phis.
void SpacePropagation::make_twin(Instruction &i) {
    Value *result = i.result();
    if (i.is(Opcode::ToGeneric)) {
        twins_[result] = i.operand(0);
        return;
    }
    Type type = result->type;
    std::vector<Value *> operands;
    if (!i.is(Opcode::Phi)) {
        for (Value *operand : i.operands)
            operands.push_back(twin_or_self(operand));
    }
    Instruction *twin = function_.create(i.opcode, operands, std::span(&type, 1));
    twin->attributes = i.attributes;
    twin->location = i.location;
    twin->block = i.block;
    twins_[result] = twin->result();
    made_[&i] = twin;
    if (i.is(Opcode::Phi))
        phis_.emplace_back(&i, twin);
}

Value *SpacePropagation::twin_or_self(Value *value) const {
    auto found = twins_.find(value);
    return found == twins_.end() ? value : found->second;
}

void SpacePropagation::fill_phi_twins() {
    for (auto &[phi, twin] : phis_) {
        twin->blocks = phi->blocks;
        for (Value *operand : phi->operands)
            twin->operands.push_back(twin_or_self(operand));
    }
}

void SpacePropagation::insert_twins() {
    for (Block *block : order_) {
        std::vector<Instruction *> list;
        list.reserve(block->instructions.size());
        for (Instruction *instruction : block->instructions) {
            list.push_back(instruction);
            if (auto found = made_.find(instruction); found != made_.end())
                list.push_back(found->second);
        }
        block->instructions = std::move(list);
    }
}

// ---- users ----------------------------------------------------------------------------------

void SpacePropagation::rewrite(Instruction &i) {
    Space space = i.attributes.space;
    switch (i.opcode) {
    case Opcode::Load:
    case Opcode::Store:
    case Opcode::Atomic:
    case Opcode::Reduce:
        if (space == Space::Generic)
            rewrite_access(i);
        break;
    case Opcode::ToGeneric:
        if (same_as_generic(space))
            replaced_.add(i.result(), i.operand(0));
        break;
    case Opcode::FromGeneric:
        if (same_as_generic(space))
            replaced_.add(i.result(), i.operand(0));
        else if (origin(i.operand(0)) == origin_of(space))
            replaced_.add(i.result(), twin_or_self(i.operand(0)));
        break;
    case Opcode::IsSpace:
        if (PointedTo from = origin(i.operand(0)); known(from) && from != PointedTo::Parameter) {
            // The window of the parameters is in that of global memory.
            const bool is_in = from == origin_of(space) ||
                               (from == PointedTo::ParamBlock && space == Space::Global);
            replaced_.add(i.result(), function_.constant(Type::I1, is_in));
        }
        break;
    default:
        break;
    }
}

void SpacePropagation::rewrite_access(Instruction &i) {
    switch (origin(i.operand(0))) {
    case PointedTo::Parameter:
    case PointedTo::Global:
        i.attributes.space = Space::Global;
        i.attributes.ftz |= (i.is(Opcode::Atomic) || i.is(Opcode::Reduce)) &&
                            i.attributes.type == Scalar::F32 &&
                            i.attributes.atomic == AtomicOp::Add;
        break;
    case PointedTo::Constant:
        if (i.is(Opcode::Load))
            i.attributes.space = Space::Constant;
        break;
    case PointedTo::ParamBlock:
        if (i.is(Opcode::Load))
            i.attributes.space = Space::Param;
        break;
    case PointedTo::Shared:
    case PointedTo::Local:
        i.attributes.space =
            origin(i.operand(0)) == PointedTo::Shared ? Space::Shared : Space::Local;
        i.operands[0] = twin_or_self(i.operand(0));
        break;
    case PointedTo::Unknown:
    case PointedTo::Anywhere:
        break;
    }
}

} // namespace

void propagate_spaces(Function &function) { SpacePropagation(function).run(); }

} // namespace softcuda::ir
