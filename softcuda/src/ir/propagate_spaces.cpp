// propagate_spaces.cpp -- determines the state spaces of generic addresses.
//
// A lattice per 64-bit value: Unknown (nothing seen yet) above each space above Anywhere. Sources
// are to_generic and the kernel's pointer parameters; additions, selects and phis pass it on. Then
// each value that points to shared or local memory gets a twin, the same address within the space,
// and generic accesses use the twin. Global, constant and parameter addresses are the same in
// generic form, so there the access only changes its space.
#include "ir/clean_up.h"
#include "ir/dominators.h"
#include "ir/replacements.h"

#include <algorithm>
#include <unordered_map>

namespace softcuda::ir {

namespace {

/// Parameter: from a kernel's parameter, so global memory if it is used as a pointer at all.
enum class Origin : std::uint8_t {
    Unknown,
    Parameter,
    Global,
    Shared,
    Local,
    Constant,
    ParamBlock,
    Anywhere
};

Origin origin_of(Space space) {
    switch (space) {
    case Space::Global:
        return Origin::Global;
    case Space::Shared:
        return Origin::Shared;
    case Space::Local:
        return Origin::Local;
    case Space::Constant:
        return Origin::Constant;
    case Space::Param:
        return Origin::ParamBlock;
    case Space::Generic:
        break;
    }
    return Origin::Anywhere;
}

bool known(Origin origin) { return origin != Origin::Unknown && origin != Origin::Anywhere; }
bool windowed(Origin origin) { return origin == Origin::Shared || origin == Origin::Local; }
/// Spaces whose addresses are generic addresses as they are.
bool same_as_generic(Space space) {
    return space == Space::Global || space == Space::Constant || space == Space::Param;
}

Origin meet(Origin a, Origin b) {
    if (a == Origin::Unknown || a == b)
        return b;
    if (b == Origin::Unknown)
        return a;
    bool global = (a == Origin::Global || a == Origin::Parameter) &&
                  (b == Origin::Global || b == Origin::Parameter);
    return global ? Origin::Global : Origin::Anywhere;
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

class SpacePropagation {
  public:
    explicit SpacePropagation(Function &function)
        : function_(function), order_(reverse_postorder(function)),
          origins_(function.value_count(), Origin::Unknown) {}

    void run() {
        find_origins();
        make_twins();
        for (Block *block : order_) {
            for (Instruction *instruction : block->instructions)
                rewrite(*instruction);
        }
        insert_twins();
        replaced_.apply(function_);
    }

  private:
    Origin origin(const Value *value) const {
        return value->constant || value->id >= origins_.size() ? Origin::Anywhere
                                                               : origins_[value->id];
    }
    void find_origins();
    bool visit(const Instruction &instruction);
    Origin transfer(const Instruction &instruction) const;
    Origin of_sum(const Instruction &instruction) const;
    void make_twins();
    void make_twin(Instruction &instruction);
    Value *twin_or_self(Value *value) const;
    void fill_phi_twins();
    void insert_twins();
    void rewrite(Instruction &instruction);
    void rewrite_access(Instruction &instruction);

    Function &function_;
    std::vector<Block *> order_;
    std::vector<Origin> origins_; ///< by value id
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
        origins_.assign(origins_.size(), Origin::Anywhere);
}

bool SpacePropagation::visit(const Instruction &instruction) {
    if (instruction.results.empty() || instruction.result()->type != Type::I64)
        return false;
    Origin found = transfer(instruction);
    for (const Value *result : instruction.results) {
        if (origins_[result->id] == found)
            return false;
        origins_[result->id] = found;
    }
    return true;
}

Origin SpacePropagation::transfer(const Instruction &i) const {
    switch (i.opcode) {
    case Opcode::ToGeneric:
        return origin_of(i.attributes.space);
    case Opcode::FromGeneric:
        return same_as_generic(i.attributes.space) ? origin_of(i.attributes.space)
                                                   : Origin::Anywhere;
    case Opcode::ParamAddress:
        return Origin::ParamBlock;
    case Opcode::LoadParam:
        return Origin::Parameter;
    case Opcode::Undef:
        return Origin::Unknown;
    case Opcode::Add:
        return of_sum(i);
    case Opcode::Sub: {
        Origin base = origin(i.operand(0)), less = origin(i.operand(1));
        return known(base) && known(less) ? Origin::Anywhere : base;
    }
    case Opcode::Select:
        return meet(origin(i.operand(1)), origin(i.operand(2)));
    case Opcode::Phi: {
        Origin all = Origin::Unknown;
        for (const Value *operand : i.operands)
            all = meet(all, origin(operand));
        return all;
    }
    default:
        return Origin::Anywhere;
    }
}

/// An address and an offset. The lattice only descends: Unknown + x is Unknown until more is seen,
/// and Anywhere + Anywhere is Anywhere.
Origin SpacePropagation::of_sum(const Instruction &sum) const {
    const Value *a = sum.operand(0), *b = sum.operand(1);
    Origin x = origin(a), y = origin(b);
    if (x == Origin::Unknown || y == Origin::Unknown) {
        Origin other = x == Origin::Unknown ? y : x;
        return known(other) && other != Origin::Parameter ? other : Origin::Unknown;
    }
    // A parameter that is added to an address is an offset. If the other operand is only possibly
    // an address, the parameter's role is unknown.
    if (x == Origin::Parameter || y == Origin::Parameter) {
        bool first = x == Origin::Parameter;
        Origin other = first ? y : x;
        if (known(other) && other != Origin::Parameter)
            return other;
        return is_index(first ? *b : *a) ? Origin::Parameter : Origin::Anywhere;
    }
    if (known(x) == known(y))
        return Origin::Anywhere;
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
        if (Origin from = origin(i.operand(0)); known(from) && from != Origin::Parameter)
            replaced_.add(i.result(), function_.constant(Type::I1, from == origin_of(space)));
        break;
    default:
        break;
    }
}

void SpacePropagation::rewrite_access(Instruction &i) {
    switch (origin(i.operand(0))) {
    case Origin::Parameter:
    case Origin::Global:
        i.attributes.space = Space::Global;
        i.attributes.ftz |= (i.is(Opcode::Atomic) || i.is(Opcode::Reduce)) &&
                            i.attributes.type == Scalar::F32 &&
                            i.attributes.atomic == AtomicOp::Add;
        break;
    case Origin::Constant:
        if (i.is(Opcode::Load))
            i.attributes.space = Space::Constant;
        break;
    case Origin::ParamBlock:
        if (i.is(Opcode::Load))
            i.attributes.space = Space::Param;
        break;
    case Origin::Shared:
    case Origin::Local:
        i.attributes.space = origin(i.operand(0)) == Origin::Shared ? Space::Shared : Space::Local;
        i.operands[0] = twin_or_self(i.operand(0));
        break;
    case Origin::Unknown:
    case Origin::Anywhere:
        break;
    }
}

} // namespace

void propagate_spaces(Function &function) { SpacePropagation(function).run(); }

} // namespace softcuda::ir
