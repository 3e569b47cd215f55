// promote_locals.cpp -- converts variables in local memory to values if they do not need memory.
//
// Compilers leave such variables behind in code for debugging, and for structs that are passed on:
//
//     %1 = symbol_address.local.b64 @0
//     store.local.u32 [%1 + 4], %x
//     %2 = load.local.f32 [%1 + 4]           =>      %2 = bitcast.f32 %x
//
// A variable can be converted if its address is used only by plain loads and stores at constant
// offsets, and if overlapping accesses access exactly the same bytes.
#include "ir/builder.h"
#include "ir/clean_up.h"
#include "ir/dominators.h"
#include "ir/replacements.h"
#include "ir/ssa_builder.h"

#include <algorithm>
#include <limits>
#include <map>

namespace softcuda::ir {

namespace {

/// The bytes of one element of an access, which become an SSA variable.
struct Cell {
    std::int64_t offset;
    std::uint32_t size;
    auto operator<=>(const Cell &) const = default;
};

struct Candidate {
    bool promotable = true;
    std::map<Cell, std::uint32_t> cells; ///< and the SSA variable of each
};

const Instruction *local_address(const Value *value) {
    const Instruction *definition = value->definition;
    bool local = definition && definition->is(Opcode::SymbolAddress) &&
                 definition->attributes.space == Space::Local;
    return local ? definition : nullptr;
}

/// The address of a load or store that a value could replace.
const Instruction *plain_access(const Instruction &i) {
    bool access = i.is(Opcode::Load) || i.is(Opcode::Store);
    if (!access || i.attributes.space != Space::Local || i.attributes.order != Order::Weak)
        return nullptr;
    return local_address(i.operand(0));
}

class LocalPromotion {
  public:
    explicit LocalPromotion(Function &function)
        : function_(function), candidates_(function.variables.size()) {}

    void run() {
        for (Block *block : function_.blocks) {
            for (const Instruction *instruction : block->instructions)
                examine(*instruction);
        }
        std::size_t count = 0;
        for (Candidate &candidate : candidates_) {
            candidate.promotable = candidate.promotable && disjoint(candidate);
            count += candidate.promotable && !candidate.cells.empty();
        }
        if (count != 0)
            rewrite();
    }

  private:
    void examine(const Instruction &instruction);
    void note_cells(const Instruction &access, const Instruction &address);
    static bool disjoint(const Candidate &candidate);
    void rewrite();
    bool replace(Instruction &access, std::vector<Instruction *> &list, Block *block);

    Function &function_;
    std::vector<Candidate> candidates_; ///< by index of the variable
    Replacements replaced_;
    SsaBuilder *ssa_ = nullptr;
};

void LocalPromotion::examine(const Instruction &i) {
    const Instruction *address = plain_access(i);
    if (address)
        note_cells(i, *address);
    for (std::size_t n = address ? 1 : 0; n < i.operands.size(); n++) {
        if (const Instruction *used = local_address(i.operand(n)))
            candidates_[used->attributes.symbol].promotable = false;
    }
}

void LocalPromotion::note_cells(const Instruction &access, const Instruction &address) {
    Candidate &candidate = candidates_[address.attributes.symbol];
    std::uint32_t size = bits(access.attributes.type) / 8;
    std::int64_t offset = access.attributes.offset + address.attributes.offset;
    for (unsigned n = 0; n < access.attributes.vector; n++, offset += size)
        candidate.cells.try_emplace({offset, size}, 0);
}

bool LocalPromotion::disjoint(const Candidate &candidate) {
    std::int64_t end = std::numeric_limits<std::int64_t>::min();
    for (const auto &[cell, variable] : candidate.cells) {
        if (cell.offset < end || cell.size > 8)
            return false;
        end = cell.offset + cell.size;
    }
    return true;
}

void LocalPromotion::rewrite() {
    SsaBuilder ssa(function_, function_.entry());
    ssa_ = &ssa;
    for (Candidate &candidate : candidates_) {
        for (auto &[cell, variable] : candidate.cells)
            variable = ssa.new_variable(integer_class(cell.size * 8));
    }
    std::vector<std::size_t> waiting(function_.blocks.size());
    for (Block *block : function_.blocks)
        waiting[block->id] = block->predecessors.size();
    for (Block *block : reverse_postorder(function_)) {
        if (waiting[block->id] == 0)
            ssa.seal(block);
        std::vector<Instruction *> list, old = std::move(block->instructions);
        block->instructions.clear();
        for (Instruction *instruction : old) {
            if (!replace(*instruction, list, block))
                list.push_back(instruction);
        }
        // Undefined values may have been put into the entry meanwhile.
        block->instructions.insert(block->instructions.end(), list.begin(), list.end());
        for (Block *next : block->successors()) {
            if (waiting[next->id] != 0 && --waiting[next->id] == 0 && !ssa.sealed(next) &&
                next != block)
                ssa.seal(next);
        }
    }
    replaced_.apply(function_);
    ssa.finish();
}

/// Adds the replacement of the access to `list`; false if the access remains.
bool LocalPromotion::replace(Instruction &access, std::vector<Instruction *> &list, Block *block) {
    const Instruction *address = plain_access(access);
    if (!address || !candidates_[address->attributes.symbol].promotable)
        return false;
    const Candidate &candidate = candidates_[address->attributes.symbol];
    std::uint32_t size = bits(access.attributes.type) / 8;
    std::int64_t offset = access.attributes.offset + address->attributes.offset;
    for (unsigned n = 0; n < access.attributes.vector; n++, offset += size) {
        std::uint32_t variable = candidate.cells.at({offset, size});
        bool load = access.is(Opcode::Load);
        Value *value =
            load ? ssa_->read(variable, block) : replaced_.resolve(access.operand(n + 1));
        Type wanted = load ? access.result(n)->type : ssa_->type(variable);
        if (value->type != wanted) {
            Instruction *cast =
                function_.create(Opcode::Bitcast, std::span(&value, 1), std::span(&wanted, 1));
            cast->attributes.type = bit_type(wanted);
            cast->location = access.location;
            cast->block = block;
            list.push_back(cast);
            value = cast->result();
        }
        if (load)
            replaced_.add(access.result(n), value);
        else
            ssa_->write(variable, block, value);
    }
    return true;
}

} // namespace

void promote_locals(Function &function) {
    if (!function.variables.empty())
        LocalPromotion(function).run();
}

void lay_out_locals(Function &function) {
    std::vector<bool> used(function.variables.size());
    for (std::size_t i = 0; i < used.size(); i++)
        used[i] = function.variables[i].space == Space::Shared;
    std::vector<Instruction *> addresses;
    for (Block *block : function.blocks) {
        for (Instruction *instruction : block->instructions) {
            Space space = instruction->attributes.space;
            bool in_frame = space == Space::Local || space == Space::Shared;
            if (!instruction->is(Opcode::SymbolAddress) || !in_frame)
                continue;
            addresses.push_back(instruction);
            used[instruction->attributes.symbol] = true;
        }
    }
    std::vector<std::uint32_t> place(used.size());
    std::vector<LocalVariable> kept;
    function.local_bytes = 0;
    for (std::size_t i = 0; i < used.size(); i++) {
        if (!used[i])
            continue;
        place[i] = static_cast<std::uint32_t>(kept.size());
        LocalVariable &variable = kept.emplace_back(std::move(function.variables[i]));
        if (variable.space != Space::Local)
            continue;
        std::uint64_t align = variable.align;
        variable.offset = (function.local_bytes + align - 1) / align * align;
        function.local_bytes = static_cast<std::uint32_t>(variable.offset + variable.size);
    }
    function.variables = std::move(kept);
    for (Instruction *address : addresses)
        address->attributes.symbol = place[address->attributes.symbol];
}

} // namespace softcuda::ir
