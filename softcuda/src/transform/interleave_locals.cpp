// interleave_locals.cpp -- checks whether local memory may be interleaved, and splits its accesses.
#include "transform/interleave_locals.h"

#include "analysis/cfg.h"
#include "analysis/shape.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace softcuda::transform {

namespace {

using ir::Block;
using ir::Function;
using ir::Instruction;
using ir::Opcode;
using ir::Space;
using ir::Value;

constexpr unsigned kMostZeros = 4; ///< a thread's memory starts at a multiple of 2^4
constexpr unsigned kMostGranule = 8;

bool is_local_access(const Instruction &i) {
    return (i.is(Opcode::Load) || i.is(Opcode::Store)) && i.attributes.space == Space::Local;
}

unsigned element_bytes(const Instruction &access) {
    return std::max(ir::bits(access.attributes.type), 8u) / 8;
}

unsigned zeros_of(std::uint64_t bits) {
    return std::min(kMostZeros, static_cast<unsigned>(std::countr_zero(bits)));
}

/// The number of low bits of each integer that are known to be 0, up to kMostZeros.
class LowZeros {
  public:
    explicit LowZeros(const Function &function)
        : function_(function), zeros_(function.value_count(), kMostZeros) {
        // Starts with kMostZeros, and lowers the numbers until nothing changes.
        for (bool changed = true; changed;) {
            changed = false;
            for (const Block *block : function.blocks)
                for (const Instruction *i : block->instructions)
                    for (const Value *result : i->results) {
                        const unsigned found = std::min(zeros_[result->id], of_result(*i));
                        changed |= found != zeros_[result->id];
                        zeros_[result->id] = found;
                    }
        }
    }

    [[nodiscard]] unsigned of(const Value *value) const {
        if (value->constant)
            return zeros_of(value->bits);
        return value->definition ? zeros_[value->id] : 0;
    }

  private:
    [[nodiscard]] unsigned of_result(const Instruction &i) const {
        const auto operand = [&](std::size_t n) { return of(i.operand(n)); };
        switch (i.opcode) {
        case Opcode::SymbolAddress:
            return i.attributes.space == Space::Local
                       ? zeros_of(function_.variables.at(i.attributes.symbol).offset +
                                  static_cast<std::uint64_t>(i.attributes.offset))
                       : 0;
        case Opcode::Add:
        case Opcode::Sub:
        case Opcode::Phi:
            return least(i, 0);
        case Opcode::Select:
            return least(i, 1);
        case Opcode::Convert:
            return ir::is_floating(i.attributes.source_type) || i.attributes.saturate ? 0
                                                                                      : operand(0);
        case Opcode::Mul:
        case Opcode::MulWide:
            return std::min(kMostZeros, operand(0) + operand(1));
        case Opcode::Shl:
            return i.operand(1)->constant
                       ? std::min(kMostZeros,
                                  operand(0) + static_cast<unsigned>(i.operand(1)->bits & 63))
                       : operand(0);
        case Opcode::And:
            return std::max(operand(0), operand(1));
        default:
            return 0;
        }
    }

    [[nodiscard]] unsigned least(const Instruction &i, std::size_t first) const {
        unsigned found = kMostZeros;
        for (std::size_t n = first; n < i.operands.size(); ++n)
            found = std::min(found, of(i.operand(n)));
        return found;
    }

    const Function &function_;
    std::vector<unsigned> zeros_; ///< by Value::id
};

/// The size of the largest element in local memory; 0 if the memory cannot be interleaved.
unsigned find_granule(const Function &function) {
    const LowZeros zeros(function);
    unsigned granule = 1;
    for (const Block *block : function.blocks)
        for (const Instruction *i : block->instructions) {
            if (i->is(Opcode::Call) || i->is(Opcode::CallIndirect) || i->is(Opcode::Alloca) ||
                i->is(Opcode::StackBase))
                return 0;
            if (!ir::has_space(i->opcode) || i->attributes.space != Space::Local ||
                i->is(Opcode::SymbolAddress))
                continue;
            if (!is_local_access(*i) || element_bytes(*i) > kMostGranule)
                return 0;
            const unsigned bytes = element_bytes(*i) * std::max<unsigned>(i->attributes.vector, 1);
            const unsigned known =
                std::min(zeros.of(i->operand(0)),
                         zeros_of(static_cast<std::uint64_t>(i->attributes.offset)));
            if (bytes > 1u << known)
                return 0;
            granule = std::max(granule, element_bytes(*i));
        }
    return granule;
}

/// True if all lanes of a warp have the same index in at least half of the accesses. For other
/// accesses, contiguous memory of a thread touches fewer cache lines.
bool is_mostly_together(const Function &function, const analysis::LaunchShape &launch) {
    using Direction = ir::DominatorTree::Direction;
    const ir::DominatorTree dominators(function), post(function, Direction::Backward);
    const analysis::LoopForest loops(function, dominators);
    const analysis::Divergence divergence = analysis::find_divergence(
        function, launch, analysis::find_ranges(function, launch), loops, post);
    std::size_t together = 0, all = 0;
    for (const Block *block : function.blocks)
        for (const Instruction *i : block->instructions)
            if (is_local_access(*i)) {
                ++all;
                together += divergence.of(i->operand(0)).divergent() ? 0 : 1;
            }
    return 2 * together >= all;
}

/// The access of one of several elements.
Instruction *element_of(Function &function, const Instruction &access, unsigned number) {
    std::vector<Value *> operands{access.operand(0)};
    std::vector<ir::Type> types;
    if (access.is(Opcode::Store))
        operands.push_back(access.operand(number + 1));
    else
        types.push_back(access.result(number)->type);
    Instruction *made = function.create(access.opcode, operands, types);
    made->attributes = access.attributes;
    made->attributes.vector = 1;
    made->attributes.offset += std::int64_t{number} * element_bytes(access);
    made->location = access.location;
    made->block = access.block;
    if (!access.is(Opcode::Store)) { // takes the result over
        made->results[0] = access.result(number);
        made->results[0]->definition = made;
        made->results[0]->index = 0;
    }
    return made;
}

void split_accesses(Function &function) {
    for (Block *block : function.blocks) {
        std::vector<Instruction *> list;
        for (Instruction *i : block->instructions) {
            if (!is_local_access(*i) || i->attributes.vector <= 1) {
                list.push_back(i);
                continue;
            }
            for (unsigned number = 0; number < i->attributes.vector; ++number)
                list.push_back(element_of(function, *i, number));
        }
        block->instructions = std::move(list);
    }
}

} // namespace

bool interleave_locals(Function &function, const analysis::LaunchShape &launch) {
    if (!function.kernel || function.local_bytes == 0)
        return true;
    function.renumber();
    function.update_predecessors();
    function.renumber_values();
    const unsigned granule = find_granule(function);
    if (granule == 0 || !is_mostly_together(function, launch))
        return true;
    function.local_granule = granule;
    split_accesses(function);
    function.renumber_values();
    return true;
}

} // namespace softcuda::transform
