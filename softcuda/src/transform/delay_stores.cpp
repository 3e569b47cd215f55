// delay_stores.cpp -- finds parts of basic blocks with mixed loads and stores, and makes their two
// versions.
#include "transform/delay_stores.h"

#include "analysis/cfg.h"
#include "ir/builder.h"
#include "ir/clean_up.h"
#include "transform/address_sum.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace softcuda::transform {

namespace {

using analysis::LoopForest;
using ir::Block;
using ir::Function;
using ir::Instruction;
using ir::Opcode;
using ir::Scalar;
using ir::Type;
using ir::Value;

/// A kernel with more accesses compiles for long in any case.
constexpr std::size_t kMostAccesses = 128;
constexpr std::size_t kLongestPart = 240; ///< instructions that get two versions
constexpr std::size_t kMostTests = 4;
/// Arrays that are closer count as overlapping: so far are the lanes of a warp apart in an array of
/// structures of 128 bytes. For the accesses of one thread, no distance would be needed.
constexpr std::int64_t kLeastDistance = 4096;

std::int64_t bytes_of(const Instruction &access) {
    return std::int64_t{std::max(ir::bits(access.attributes.type), 8u) / 8} *
           std::max<unsigned>(access.attributes.vector, 1);
}

bool is_plain_access(const Instruction &i) {
    return (i.is(Opcode::Load) || i.is(Opcode::Store)) && i.attributes.space == ir::Space::Global &&
           i.attributes.order == ir::Order::Weak && !i.attributes.async &&
           i.operand(0)->type == Type::I64;
}

/// An instruction that a later store may as well precede.
bool stays_valid(const Instruction &i) {
    const ir::OpcodeInfo &facts = ir::info(i.opcode);
    if (facts.convergent || facts.terminator || i.is(Opcode::Phi))
        return false;
    return facts.pure || i.is(Opcode::LoadParam) ||
           (i.is(Opcode::Load) && i.attributes.order == ir::Order::Weak &&
            (i.attributes.space == ir::Space::Shared || i.attributes.space == ir::Space::Param));
}

/// An access whose address is that of a base, plus `offset`.
struct BasedAccess {
    Instruction *access;
    std::size_t base; ///< in Part::bases
    std::int64_t offset;

    [[nodiscard]] bool is_store() const { return access->is(Opcode::Store); }
};

/// Instructions of a block from the first load or store to the last store.
struct Part {
    Block *block = nullptr;
    std::size_t end = 0;           ///< the index behind the last store
    std::vector<AddressSum> bases; ///< addresses that do not differ by constants only
    std::vector<BasedAccess> accesses;
};

/// Bytes from a base: what its loads, or its stores, access.
struct Extent {
    std::int64_t low = 0, high = 0;
};

/// Two bases with stores and loads. The stores are apart from the loads if `distance - low` is
/// more than `width` as an unsigned number.
struct Test {
    AddressSum distance;
    std::int64_t low = 0;
    std::uint64_t width = 0;
};

std::optional<Extent> extent_of(const Part &part, std::size_t base, Opcode opcode) {
    std::optional<Extent> found;
    for (const BasedAccess &a : part.accesses) {
        if (a.base != base || !a.access->is(opcode))
            continue;
        const std::int64_t end = a.offset + bytes_of(*a.access);
        found = found ? Extent{std::min(found->low, a.offset), std::max(found->high, end)}
                      : Extent{a.offset, end};
    }
    return found;
}

/// Whether an access continues an earlier one that other accesses now separate from it.
bool is_separated(const Part &part, std::size_t at) {
    const BasedAccess &mine = part.accesses[at];
    bool separated = false;
    for (std::size_t k = at; k-- > 0;) {
        const BasedAccess &other = part.accesses[k];
        separated |= other.is_store() != mine.is_store();
        const bool adjoins = other.offset + bytes_of(*other.access) == mine.offset ||
                             mine.offset + bytes_of(*mine.access) == other.offset;
        if (separated && other.is_store() == mine.is_store() && other.base == mine.base && adjoins)
            return true;
    }
    return false;
}

/// Lanes that access adjacent elements need no other order.
bool is_row_of_lanes(const Part &part, const BasedAccess &access) {
    return bytes_between_threads(part.bases[access.base]) == bytes_of(*access.access);
}

bool is_worth_it(const Part &part) {
    for (std::size_t at = 0; at < part.accesses.size(); ++at)
        if (is_separated(part, at) && !is_row_of_lanes(part, part.accesses[at]))
            return true;
    return false;
}

/// The tests for all stores and loads; empty if one cannot be made, or none is needed.
std::vector<Test> tests_of(const Part &part) {
    std::vector<Test> tests;
    for (std::size_t s = 0; s < part.bases.size(); ++s)
        for (std::size_t l = 0; l < part.bases.size(); ++l) {
            const auto stored = extent_of(part, s, Opcode::Store);
            const auto loaded = extent_of(part, l, Opcode::Load);
            if (!stored || !loaded)
                continue;
            AddressSum distance = difference(part.bases[s], part.bases[l]);
            if (distance.terms.empty() || !is_same_in_block(distance))
                return {};
            const std::int64_t low = loaded->low - stored->high - kLeastDistance + 1;
            const std::int64_t high = loaded->high - stored->low + kLeastDistance - 1;
            tests.push_back({std::move(distance), low,
                             static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low)});
        }
    return tests.size() <= kMostTests ? tests : std::vector<Test>{};
}

/// The part that begins at the first access from `from` on; its end is where the search goes on.
Part find_part(Block &block, std::size_t from, const LoopForest &loops) {
    Part part;
    part.block = &block;
    const auto &all = block.instructions;
    while (from < all.size() && !is_plain_access(*all[from]))
        ++from;
    part.end = from;
    std::size_t at = from, known = 0;
    for (; at < all.size() && at < from + kLongestPart; ++at) {
        Instruction &i = *all[at];
        if (!is_plain_access(i)) {
            if (!stays_valid(i))
                break;
            continue;
        }
        AddressSum sum = to_sum(i.operand(0), block, loops);
        sum.constant += static_cast<std::uint64_t>(i.attributes.offset);
        const auto base = std::ranges::find_if(part.bases, [&](const AddressSum &other) {
            return difference(sum, other).terms.empty();
        });
        const auto number = static_cast<std::size_t>(base - part.bases.begin());
        if (base == part.bases.end())
            part.bases.push_back(sum);
        part.accesses.push_back(
            {&i, number, static_cast<std::int64_t>(sum.constant - part.bases[number].constant)});
        if (i.is(Opcode::Store)) {
            part.end = at + 1;
            known = part.accesses.size();
        }
    }
    part.accesses.resize(known); // loads behind the last store are in no version
    if (part.accesses.empty())
        part.end = std::max(at, from + 1);
    return part;
}

class Versions {
  public:
    Versions(Function &function, const Part &part) : function_(function), part_(part) {}

    /// The rest of the block, which is in a block of its own then; null if a pointer is not known
    /// before the part.
    Block *make(const std::vector<Test> &tests) {
        for (Instruction *i : instructions())
            if (!is_known_early(*i))
                late_.insert(i->results.begin(), i->results.end());
        for (const Test &test : tests)
            for (const AddressTerm &term : test.distance.terms)
                if (!term.moving && late_.contains(term.value))
                    return nullptr;
        std::vector<Value *> distances;
        for (const Test &test : tests)
            distances.push_back(sum_of_terms(test.distance));
        Block *block = part_.block;
        auto &all = block->instructions;
        const auto part = instructions();
        std::vector<Instruction *> before(all.begin(), part.begin()), twice;
        for (Instruction *i : part)
            (is_known_early(*i) ? before : twice).push_back(i);
        Block *fast = function_.add_block(block->name + ".apart");
        Block *slow = function_.add_block(block->name + ".near");
        Block *rest = function_.add_block(block->name + ".stored");
        move(*rest, {part.end(), all.end()});
        for (Block *successor : rest->successors())
            for (Instruction *phi : successor->instructions)
                if (phi->is(Opcode::Phi))
                    std::ranges::replace(phi->blocks, block, rest);
        move(*slow, std::move(twice));
        before.insert(before.end(), made_.begin(), made_.end());
        move(*block, std::move(before));
        branch(*block, tests, distances, *fast, *slow);
        copy(*slow, *fast);
        for (Block *version : {fast, slow}) {
            ir::Builder builder(function_);
            builder.set_block(version);
            builder.jump(rest);
        }
        join(*fast, *slow, *rest);
        return rest;
    }

  private:
    static void move(Block &to, std::vector<Instruction *> instructions) {
        for (Instruction *i : instructions)
            i->block = &to;
        to.instructions = std::move(instructions);
    }

    Value *arithmetic(Opcode opcode, Value *a, Value *b) {
        Instruction *i = function_.create(opcode, std::array{a, b}, std::array{Type::I64});
        i->attributes.type = Scalar::S64;
        i->location = part_.accesses.front().access->location;
        made_.push_back(i);
        return i->result();
    }

    [[nodiscard]] std::ranges::subrange<std::vector<Instruction *>::iterator> instructions() const {
        auto &all = part_.block->instructions;
        const auto begin = std::ranges::find(all, part_.accesses.front().access);
        return {begin, std::ranges::find(begin, all.end(), part_.accesses.back().access) + 1};
    }

    /// Whether an instruction of the part can be executed before the part.
    [[nodiscard]] bool is_known_early(const Instruction &i) const {
        const bool moves =
            (ir::info(i.opcode).pure && !ir::info(i.opcode).convergent) || i.is(Opcode::LoadParam);
        return moves && std::ranges::none_of(i.operands, [&](const Value *operand) {
                   return late_.contains(operand);
               });
    }

    /// Of the terms, without the constant.
    Value *sum_of_terms(const AddressSum &sum) {
        std::vector<AddressTerm> terms = sum.terms;
        std::ranges::stable_partition(terms, std::logical_not{}, &AddressTerm::negative);
        Value *made = nullptr;
        for (const AddressTerm &term : terms) {
            Value *value = term.moving ? steps_of(*term.moving) : term.value;
            if (!made && !term.negative)
                made = value;
            else
                made = arithmetic(term.negative ? Opcode::Sub : Opcode::Add,
                                  made ? made : function_.constant(Type::I64, 0), value);
        }
        return made;
    }

    /// The steps so far of a pointer that moves through a loop.
    Value *steps_of(Instruction &phi) {
        const MovingPhi moving = *moving_phi(phi);
        Value *&found = steps_[{phi.block, moving.step, moving.back}];
        if (found)
            return found;
        Instruction *steps = function_.create(Opcode::Phi, {}, std::array{Type::I64});
        steps->block = phi.block;
        Block *latch = phi.blocks[moving.back];
        Instruction *next = function_.create(Opcode::Add, std::array{steps->result(), moving.step},
                                             std::array{Type::I64});
        next->attributes.type = Scalar::S64;
        next->block = latch;
        latch->instructions.insert(latch->instructions.end() - 1, next);
        steps->blocks = phi.blocks;
        steps->operands.assign(2, function_.constant(Type::I64, 0));
        steps->operands[moving.back] = next->result();
        phi.block->instructions.insert(phi.block->instructions.begin(), steps);
        return found = steps->result();
    }

    void branch(Block &block, const std::vector<Test> &tests, const std::vector<Value *> &distances,
                Block &fast, Block &slow) {
        ir::Builder builder(function_);
        builder.set_block(&block);
        builder.set_location(part_.accesses.front().access->location);
        Value *apart = nullptr;
        for (std::size_t t = 0; t < tests.size(); ++t) {
            const std::uint64_t rest =
                tests[t].distance.constant - static_cast<std::uint64_t>(tests[t].low);
            Value *low = function_.constant(Type::I64, rest);
            Value *width = function_.constant(Type::I64, tests[t].width);
            Value *from_low = builder.emit(Opcode::Add, Scalar::S64, {distances[t], low});
            Value *found = builder.compare(ir::Compare::Gt, Scalar::U64, from_low, width);
            apart = apart ? builder.emit(Opcode::And, Scalar::Pred, {apart, found}) : found;
        }
        builder.branch(apart, &fast, &slow);
    }

    Value *copied(Value *value) const {
        const auto found = copies_.find(value);
        return found == copies_.end() ? value : found->second;
    }

    void copy_one(const Instruction &i, Block &to) {
        std::vector<Value *> operands;
        for (Value *operand : i.operands)
            operands.push_back(copied(operand));
        std::vector<Type> types;
        for (const Value *result : i.results)
            types.push_back(result->type);
        Instruction *made = function_.create(i.opcode, operands, types);
        made->attributes = i.attributes;
        made->location = i.location;
        made->block = &to;
        to.instructions.push_back(made);
        for (std::size_t r = 0; r < types.size(); ++r)
            copies_[i.results[r]] = made->results[r];
    }

    /// The earlier load that reads the same; null: none.
    const BasedAccess *find_equal(const BasedAccess &load) const {
        for (const BasedAccess &other : part_.accesses) {
            if (other.access == load.access)
                return nullptr;
            if (!other.is_store() && other.base == load.base && other.offset == load.offset &&
                other.access->attributes.type == load.access->attributes.type &&
                other.access->attributes.vector == load.access->attributes.vector &&
                std::ranges::equal(other.access->results, load.access->results, {}, &Value::type,
                                   &Value::type))
                return &other;
        }
        return nullptr;
    }

    void copy(const Block &from, Block &to) {
        std::vector<const Instruction *> stores;
        std::size_t next = 0;
        for (const Instruction *i : from.instructions) {
            const BasedAccess *access =
                next < part_.accesses.size() && part_.accesses[next].access == i
                    ? &part_.accesses[next++]
                    : nullptr;
            if (access && access->is_store()) {
                stores.push_back(i);
                continue;
            }
            const BasedAccess *equal = access ? find_equal(*access) : nullptr;
            if (!equal) {
                copy_one(*i, to);
                continue;
            }
            for (std::size_t r = 0; r < i->results.size(); ++r)
                copies_[i->results[r]] = copied(equal->access->results[r]);
        }
        for (const Instruction *i : stores)
            copy_one(*i, to);
    }

    /// Values that are used outside of the two versions come from the one that ran.
    void join(Block &fast, Block &slow, Block &rest) {
        std::set<const Value *> used;
        for (const Block *block : function_.blocks)
            if (block != &slow)
                for (const Instruction *i : block->instructions)
                    used.insert(i->operands.begin(), i->operands.end());
        std::vector<Instruction *> phis;
        std::unordered_map<const Value *, Value *> joined;
        for (const Instruction *i : slow.instructions)
            for (Value *result : i->results) {
                if (!used.contains(result))
                    continue;
                Instruction *phi = function_.create(Opcode::Phi, std::array{copied(result), result},
                                                    std::array{result->type});
                phi->blocks = {&fast, &slow};
                phi->block = &rest;
                phis.push_back(phi);
                joined[result] = phi->result();
            }
        for (Block *block : function_.blocks)
            if (block != &slow)
                for (Instruction *i : block->instructions)
                    for (Value *&operand : i->operands)
                        if (const auto found = joined.find(operand); found != joined.end())
                            operand = found->second;
        rest.instructions.insert(rest.instructions.begin(), phis.begin(), phis.end());
    }

    Function &function_;
    const Part &part_;
    std::vector<Instruction *> made_;        ///< before the branch
    std::unordered_set<const Value *> late_; ///< results of the part that need its loads
    std::unordered_map<const Value *, Value *> copies_;
    std::map<std::tuple<const Block *, const Value *, std::size_t>, Value *> steps_;
};

std::size_t count_accesses(const Function &function) {
    std::size_t count = 0;
    for (const Block *block : function.blocks)
        count += static_cast<std::size_t>(
            std::ranges::count_if(block->instructions, [](const Instruction *i) {
                return i->is(Opcode::Load) || i->is(Opcode::Store);
            }));
    return count;
}

/// Whether loads follow stores in the block, or stores loads that follow stores.
bool is_mixed(const Block &block) {
    bool stored = false;
    for (const Instruction *i : block.instructions)
        if (is_plain_access(*i)) {
            if (stored && i->is(Opcode::Load))
                return true;
            stored |= i->is(Opcode::Store);
        }
    return false;
}

/// The first part of the function that is worth two versions, split from its block.
bool split_one(Function &function, const std::vector<Block *> &mixed) {
    const ir::DominatorTree dominators(function, ir::DominatorTree::Direction::Forward);
    const LoopForest loops(function, dominators);
    bool changed = false;
    for (Block *block : mixed)
        for (std::size_t at = 0; at < block->instructions.size();) {
            const Part part = find_part(*block, at, loops);
            at = part.end;
            if (part.accesses.empty() || !is_worth_it(part))
                continue;
            const std::vector<Test> tests = tests_of(part);
            if (tests.empty())
                continue;
            if (Versions(function, part).make(tests)) {
                changed = true;
                break; // the rest is in a new block
            }
        }
    return changed;
}

} // namespace

void delay_stores(Function &function) {
    if (count_accesses(function) > kMostAccesses)
        return;
    std::vector<Block *> mixed;
    std::ranges::copy_if(function.blocks, std::back_inserter(mixed),
                         [](const Block *block) { return is_mixed(*block); });
    if (mixed.empty())
        return;
    function.renumber();
    function.update_predecessors();
    if (!split_one(function, mixed))
        return;
    function.renumber();
    function.update_predecessors();
    function.renumber_values();
    ir::eliminate_dead_code(function);
    function.renumber_values();
}

} // namespace softcuda::transform
