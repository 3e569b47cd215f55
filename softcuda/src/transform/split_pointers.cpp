// split_pointers.cpp -- finds running pointers, splits their start values, and rewrites the
// accesses.
#include "transform/split_pointers.h"

#include "analysis/cfg.h"
#include "analysis/coordinates.h"
#include "analysis/lockstep.h"
#include "ir/clean_up.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace softcuda::transform {

namespace {

using analysis::Loop;
using ir::Block;
using ir::Function;
using ir::Instruction;
using ir::Opcode;
using ir::Scalar;
using ir::Type;
using ir::Value;

constexpr unsigned kMostOperations = 8;

/// phi [start, preheader], [phi + step, latch].
struct RunningPointer {
    Instruction *phi;
    Value *start, *step;
    Block *preheader;
};

/// The parts of a start value: values that are equal in all threads of a block, and one product.
struct Parts {
    std::vector<Value *> same;
    Instruction *product = nullptr; ///< mul_wide.s32 of an index and a constant
};

/// False if the value has other parts.
bool take_apart(Value *sum, const std::vector<bool> &from_coordinates, Parts &parts,
                unsigned depth) {
    if (analysis::is_same_in_block(sum)) {
        parts.same.push_back(sum);
        return true;
    }
    Instruction *i = sum->definition;
    if (!i || depth == 0)
        return false;
    if (i->is(Opcode::Add))
        return take_apart(i->operand(0), from_coordinates, parts, depth - 1) &&
               take_apart(i->operand(1), from_coordinates, parts, depth - 1);
    if (!i->is(Opcode::MulWide) || i->attributes.type != Scalar::S32 || parts.product ||
        !i->operand(1)->constant || from_coordinates[i->operand(0)->id])
        return false;
    parts.product = i;
    return true;
}

class PointerSplitter {
  public:
    PointerSplitter(Function &function, const Loop &loop, const std::vector<bool> &from_coordinates)
        : function_(function), loop_(loop), from_coordinates_(from_coordinates) {}

    bool run() {
        bool changed = false;
        const std::vector<Instruction *> header = loop_.header->instructions;
        for (Instruction *phi : header) {
            if (!phi->is(Opcode::Phi))
                break;
            if (auto pointer = match(phi))
                changed |= split(*pointer);
        }
        return changed;
    }

  private:
    std::optional<RunningPointer> match(Instruction *phi) const {
        if (phi->result()->type != Type::I64 || phi->blocks.size() != 2)
            return std::nullopt;
        const std::size_t back = phi->blocks[0] == loop_.latches[0] ? 0 : 1;
        const Instruction *next = phi->operand(back)->definition;
        if (phi->blocks[back] != loop_.latches[0] || !next || !next->is(Opcode::Add) ||
            next->operand(0) != phi->result() || !next->operand(1)->constant)
            return std::nullopt;
        return RunningPointer{phi, phi->operand(1 - back), next->operand(1), phi->blocks[1 - back]};
    }

    /// The loads and stores through the pointer in the loop.
    std::vector<Instruction *> find_accesses(const Value *pointer) const {
        std::vector<Instruction *> found;
        for (const Block *block : loop_.blocks)
            for (Instruction *i : block->instructions)
                if ((i->is(Opcode::Load) || i->is(Opcode::Store)) && i->operand(0) == pointer &&
                    (i->attributes.space == ir::Space::Global ||
                     i->attributes.space == ir::Space::Generic))
                    found.push_back(i);
        return found;
    }

    bool split(const RunningPointer &pointer) {
        Parts parts;
        if (!take_apart(pointer.start, from_coordinates_, parts, kMostOperations) ||
            !parts.product || parts.same.empty())
            return false;
        const std::vector<Instruction *> accesses = find_accesses(pointer.phi->result());
        if (accesses.empty())
            return false;
        Value *begin = sum_of(parts.same, pointer.preheader);
        Value *steps = make_steps(pointer);
        const auto behind_phis = first_behind_phis();
        Value *same = insert(loop_.header, behind_phis, Opcode::Add, Scalar::S64, {begin, steps});
        Value *all =
            insert(loop_.header, behind_phis, Opcode::Add, Scalar::S64, {pointer.start, steps});
        for (Instruction *access : accesses)
            access->operands[0] = place(access, same, *parts.product);
        function_.replace_all_uses(pointer.phi->result(), all);
        return true;
    }

    Value *sum_of(const std::vector<Value *> &values, Block *preheader) {
        Value *sum = values[0];
        for (std::size_t k = 1; k < values.size(); ++k)
            sum = insert(preheader, preheader->instructions.size() - 1, Opcode::Add, Scalar::S64,
                         {sum, values[k]});
        return sum;
    }

    /// The step times the number of earlier iterations.
    Value *make_steps(const RunningPointer &pointer) {
        Instruction *phi = function_.create(Opcode::Phi, {}, std::array{Type::I64});
        phi->block = loop_.header;
        loop_.header->instructions.insert(loop_.header->instructions.begin(), phi);
        Block *latch = loop_.latches[0];
        Value *next = insert(latch, latch->instructions.size() - 1, Opcode::Add, Scalar::S64,
                             {phi->result(), pointer.step});
        phi->operands = {function_.constant(Type::I64, 0), next};
        phi->blocks = {pointer.preheader, latch};
        return phi->result();
    }

    /// The address of one access, computed in its block, because code generation looks for the
    /// parts there.
    Value *place(const Instruction *access, Value *same, const Instruction &product) {
        Block *block = access->block;
        auto at = [&] {
            return static_cast<std::size_t>(std::ranges::find(block->instructions, access) -
                                            block->instructions.begin());
        };
        Value *offset = insert(block, at(), Opcode::MulWide, product.attributes.type,
                               {product.operand(0), product.operand(1)});
        return insert(block, at(), Opcode::Add, Scalar::S64, {same, offset});
    }

    std::size_t first_behind_phis() const {
        const auto &all = loop_.header->instructions;
        return static_cast<std::size_t>(
            std::ranges::find_if(all, [](const Instruction *i) { return !i->is(Opcode::Phi); }) -
            all.begin());
    }

    Value *insert(Block *block, std::size_t at, Opcode opcode, Scalar type,
                  std::initializer_list<Value *> operands) {
        ir::Attributes attributes;
        attributes.type = type;
        Instruction *made = function_.create(opcode, std::span(operands.begin(), operands.size()),
                                             std::array{Type::I64});
        made->attributes = attributes;
        made->block = block;
        block->instructions.insert(block->instructions.begin() + static_cast<std::ptrdiff_t>(at),
                                   made);
        return made->result();
    }

    Function &function_;
    const Loop &loop_;
    const std::vector<bool> &from_coordinates_;
};

} // namespace

void split_pointers(Function &function) {
    function.renumber();
    function.update_predecessors();
    const ir::DominatorTree dominators(function, ir::DominatorTree::Direction::Forward);
    const analysis::LoopForest forest(function, dominators);
    const std::vector<bool> from_coordinates = analysis::find_coordinate_functions(function);
    bool changed = false;
    for (const Loop &loop : forest.loops())
        if (loop.latches.size() == 1)
            changed |= PointerSplitter(function, loop, from_coordinates).run();
    if (!changed)
        return;
    ir::eliminate_dead_code(function);
    function.renumber_values();
}

} // namespace softcuda::transform
