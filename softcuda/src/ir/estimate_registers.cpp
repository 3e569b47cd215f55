// estimate_registers.cpp -- estimates the number of 32-bit registers of a function.
#include "ir/clean_up.h"
#include "ir/dominators.h"

#include <algorithm>
#include <bit>

namespace softcuda::ir {

namespace {

/// The 32-bit registers that a value needs. Predicates have separate registers, and values that can
/// be recomputed without cost need none.
std::uint32_t registers_of(const Value &value) {
    if (value.constant || value.type == Type::I1)
        return 0;
    if (value.definition) {
        switch (value.definition->opcode) {
        case Opcode::Undef:
        case Opcode::Special:
        case Opcode::SymbolAddress:
        case Opcode::LoadParam:
        case Opcode::ParamAddress:
            return 0;
        default:
            break;
        }
    }
    return std::max(bits(value.type) / 32, 1u);
}

class Liveness {
  public:
    explicit Liveness(const Function &function)
        : function_(function), words_((function.value_count() + 63) / 64),
          live_in_(function.blocks.size(), Set(words_, 0)) {
        list_values();
    }

    std::uint32_t most() {
        std::vector<Block *> order = reverse_postorder(function_);
        for (bool changed = true; changed;) {
            changed = false;
            for (auto block = order.rbegin(); block != order.rend(); ++block)
                changed |= update(**block);
        }
        std::uint32_t most = 0;
        for (const Block *block : function_.blocks)
            most = std::max(most, most_in(*block));
        return most;
    }

  private:
    using Set = std::vector<std::uint64_t>;

    static bool has(const Set &set, std::uint32_t id) { return set[id / 64] >> (id % 64) & 1; }
    static void put(Set &set, std::uint32_t id) { set[id / 64] |= std::uint64_t{1} << (id % 64); }
    static void drop(Set &set, std::uint32_t id) {
        set[id / 64] &= ~(std::uint64_t{1} << (id % 64));
    }

    Set live_out(const Block &block) const {
        Set live(words_, 0);
        for (const Block *next : block.successors()) {
            for (std::size_t i = 0; i < words_; i++)
                live[i] |= live_in_[next->id][i];
            for (const Instruction *phi : next->instructions) {
                if (!phi->is(Opcode::Phi))
                    break;
                for (std::size_t i = 0; i < phi->operands.size(); i++) {
                    if (phi->blocks[i] == &block && !phi->operand(i)->constant)
                        put(live, phi->operand(i)->id);
                }
            }
        }
        return live;
    }

    bool update(const Block &block) {
        Set live = live_out(block);
        for (auto it = block.instructions.rbegin(); it != block.instructions.rend(); ++it)
            step(**it, live);
        if (live == live_in_[block.id])
            return false;
        live_in_[block.id] = std::move(live);
        return true;
    }

    /// From after an instruction to before it. Phis use their operands on the edges.
    static void step(const Instruction &instruction, Set &live) {
        for (const Value *result : instruction.results)
            drop(live, result->id);
        if (instruction.is(Opcode::Phi))
            return;
        for (const Value *operand : instruction.operands) {
            if (!operand->constant)
                put(live, operand->id);
        }
    }

    std::uint32_t most_in(const Block &block) {
        Set live = live_out(block);
        std::uint32_t now = 0;
        auto count = [&](const Value *value, bool add) {
            if (!value->constant && has(live, value->id) != add) {
                add ? put(live, value->id) : drop(live, value->id);
                now += add ? registers_of(*value) : 0u - registers_of(*value);
            }
        };
        for (std::size_t word = 0; word < words_; word++) {
            for (std::uint64_t rest = live[word]; rest; rest &= rest - 1)
                now += registers_of(*values_[word * 64 + std::countr_zero(rest)]);
        }
        std::uint32_t most = now;
        for (auto it = block.instructions.rbegin(); it != block.instructions.rend(); ++it) {
            for (const Value *result : (*it)->results)
                count(result, false);
            if (!(*it)->is(Opcode::Phi)) {
                for (const Value *operand : (*it)->operands)
                    count(operand, true);
            }
            most = std::max(most, now);
        }
        return most;
    }

    void list_values() {
        values_.resize(words_ * 64);
        for (const Value *argument : function_.arguments)
            values_[argument->id] = argument;
        for (const Block *block : function_.blocks) {
            for (const Instruction *instruction : block->instructions) {
                for (const Value *result : instruction->results)
                    values_[result->id] = result;
            }
        }
    }

    const Function &function_;
    std::size_t words_;
    std::vector<Set> live_in_;          ///< by block id
    std::vector<const Value *> values_; ///< by id
};

} // namespace

std::uint32_t estimate_registers(const Function &function) {
    constexpr std::uint32_t kAddressing = 6; // stack pointer, constants, addresses in the making
    constexpr std::uint32_t kMost = 255;
    constexpr std::size_t kMostBits = std::size_t{1} << 32; // of liveness sets: 512 MiB
    if (function.value_count() * function.blocks.size() > kMostBits)
        return kMost;
    return std::min(Liveness(function).most() + kAddressing, kMost);
}

} // namespace softcuda::ir
