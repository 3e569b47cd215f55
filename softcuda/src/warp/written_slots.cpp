// written_slots.cpp -- follows addresses back to the parameters that they are computed from.
#include "warp/written_slots.h"

#include <unordered_map>

namespace softcuda::warp {

namespace {

using ir::Opcode;
using ir::Space;

/// What is known of a value: nothing yet, the slot of its pointer, or that it has none.
class Search {
  public:
    static constexpr std::int64_t kOpen = -1, kNone = -2;

    // Around a loop, a phi is met while it is followed: it then agrees with any pointer.
    std::int64_t find(const ir::Value &value) {
        const auto [found, is_new] = known_.try_emplace(&value, kOpen);
        if (!is_new)
            return found->second;
        const std::int64_t slot = value.definition ? slot_of(value, *value.definition) : kNone;
        return known_[&value] = slot;
    }

  private:
    std::int64_t slot_of(const ir::Value &value, const ir::Instruction &i) {
        switch (i.opcode) {
        case Opcode::LoadParam:
            return slot_at(value, i);
        case Opcode::Phi:
            return common(i, 0);
        case Opcode::Select:
            return common(i, 1);
        case Opcode::Bitcast:
        case Opcode::ToGeneric:
        case Opcode::FromGeneric:
            return find(*i.operand(0));
        case Opcode::Add: {
            const std::int64_t one = find(*i.operand(0)), other = find(*i.operand(1));
            return one == kNone ? other : other == kNone ? one : kNone;
        }
        case Opcode::Sub:
            return find(*i.operand(1)) == kNone ? find(*i.operand(0)) : kNone;
        default:
            return kNone;
        }
    }

    static std::int64_t slot_at(const ir::Value &value, const ir::Instruction &i) {
        const std::int64_t offset =
            i.attributes.offset + std::int64_t{value.index} * std::int64_t{kSlotBytes};
        return ir::bits(i.attributes.type) == 8 * kSlotBytes && offset % kSlotBytes == 0 &&
                       offset / kSlotBytes < kSlots
                   ? offset / kSlotBytes
                   : kNone;
    }

    std::int64_t common(const ir::Instruction &i, std::size_t first) {
        std::int64_t all = kOpen;
        for (std::size_t n = first; n < i.operands.size(); ++n) {
            const std::int64_t one = find(*i.operand(n));
            if (one == kNone || (one != kOpen && all != kOpen && one != all))
                return kNone;
            all = one != kOpen ? one : all;
        }
        return all;
    }

    std::unordered_map<const ir::Value *, std::int64_t> known_;
};

/// Whether an instruction that is marked as one that writes does not write the program's memory.
bool leaves_memory_alone(const ir::Instruction &i) {
    if (ir::is_block_barrier(i))
        return true;
    switch (i.opcode) {
    case Opcode::Clock:
    case Opcode::Alloca:
    case Opcode::Fence:
    case Opcode::CopyGroup:
    case Opcode::WarpBarrier:
    case Opcode::Printf:
    case Opcode::AssertFail:
    case Opcode::Trap:
    case Opcode::Nanosleep:
    case Opcode::DebugValue:
        return true;
    default:
        return false;
    }
}

bool is_access(const ir::Instruction &i) {
    return i.is(Opcode::Store) || i.is(Opcode::Atomic) || i.is(Opcode::Reduce);
}

/// As written_slots(), of one instruction.
std::uint64_t slots_of(const ir::Function &kernel, const ir::Instruction &i) {
    if (!ir::info(i.opcode).writes || leaves_memory_alone(i))
        return 0;
    if (!is_access(i))
        return kAllSlots;
    const Space space = i.attributes.space;
    if (space == Space::Shared || space == Space::Local)
        return 0;
    const auto slot = parameter_slot(kernel, *i.operand(0));
    return slot ? std::uint64_t{1} << *slot : kAllSlots;
}

} // namespace

std::optional<std::uint32_t> parameter_slot(const ir::Function &kernel, const ir::Value &address) {
    const std::int64_t slot = kernel.kernel ? Search().find(address) : Search::kNone;
    return slot >= 0 ? std::optional(static_cast<std::uint32_t>(slot)) : std::nullopt;
}

std::uint64_t written_slots(const ir::Function &kernel) {
    std::uint64_t slots = 0;
    for (const ir::Block *block : kernel.blocks)
        for (const ir::Instruction *i : block->instructions)
            slots |= slots_of(kernel, *i);
    return slots;
}

} // namespace softcuda::warp
