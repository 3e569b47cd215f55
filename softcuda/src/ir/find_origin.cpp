// find_origin.cpp -- follows an address back through additions and phis.
#include "ir/find_origin.h"

#include <algorithm>
#include <unordered_set>

namespace softcuda::ir {

namespace {

class Search {
  public:
    explicit Search(const Function &function) : function_(function) {}

    std::optional<Origin> find(const Value &value) {
        if (!value.definition || !seen_.insert(&value).second)
            return std::nullopt;
        const Instruction &i = *value.definition;
        switch (i.opcode) {
        case Opcode::LoadParam:
        case Opcode::ParamAddress:
            return parameter_at(i.attributes.offset);
        case Opcode::SymbolAddress: {
            const Space space = i.attributes.space;
            const bool own = space == Space::Shared || space == Space::Local;
            return Origin{own ? Origin::Kind::Local : Origin::Kind::Global, i.attributes.symbol};
        }
        case Opcode::Add:
        case Opcode::Phi:
        case Opcode::Convert:
        case Opcode::Bitcast:
        case Opcode::ToGeneric:
        case Opcode::FromGeneric:
            return the_one(i, 0);
        case Opcode::Sub:
            return find(*i.operand(0));
        case Opcode::Select:
            return the_one(i, 1);
        default:
            return std::nullopt;
        }
    }

  private:
    // A number that is added is no address, so that only pointers' parameters count.
    std::optional<Origin> parameter_at(std::int64_t offset) const {
        for (std::size_t n = 0; n < function_.parameters.size(); ++n) {
            const KernelParameter &parameter = function_.parameters[n];
            const auto begin = static_cast<std::int64_t>(parameter.offset);
            if (offset >= begin && offset < begin + parameter.size && parameter.size >= 8)
                return Origin{Origin::Kind::Parameter, static_cast<std::uint32_t>(n)};
        }
        return std::nullopt;
    }

    // What is added to a variable's address is an index, also if it is a parameter of 8 bytes.
    static bool is_index(const Instruction &i, const Origin &one, const Origin &other) {
        return i.is(Opcode::Add) && one.kind == Origin::Kind::Parameter &&
               other.kind == Origin::Kind::Local;
    }

    std::optional<Origin> the_one(const Instruction &i, std::size_t first) {
        std::optional<Origin> found;
        for (std::size_t k = first; k < i.operands.size(); ++k) {
            std::optional<Origin> one = find(*i.operand(k));
            if (found && one && is_index(i, *one, *found))
                continue;
            if (found && one && *found != *one && !is_index(i, *found, *one))
                return std::nullopt;
            found = one ? one : found;
        }
        return found;
    }

    const Function &function_;
    std::unordered_set<const Value *> seen_;
};

bool does(const Instruction &i, AccessKind kind) {
    return i.is(Opcode::Atomic) || i.is(Opcode::Reduce) ||
           i.is(kind == AccessKind::Read ? Opcode::Load : Opcode::Store);
}

} // namespace

std::optional<Origin> find_origin(const Function &function, const Value &address) {
    return Search(function).find(address);
}

std::vector<Origin> find_origins(const Function &function, const Location &location,
                                 AccessKind kind) {
    std::vector<Origin> found;
    for (const Block *block : function.blocks)
        for (const Instruction *i : block->instructions) {
            const Location &at = i->location;
            if (!does(*i, kind) || at.file != location.file || at.line != location.line ||
                at.column != location.column)
                continue;
            const std::optional<Origin> one = find_origin(function, *i->operand(0));
            if (!one)
                return {};
            if (std::ranges::find(found, *one) == found.end())
                found.push_back(*one);
        }
    return found;
}

} // namespace softcuda::ir
