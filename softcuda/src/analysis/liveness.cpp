// liveness.cpp -- propagates liveness from each use of a value back to its definition.

#include "analysis/liveness.h"

namespace softcuda::analysis {

namespace {

using ir::Block;

constexpr std::uint32_t kNone = ~std::uint32_t{0};

class Liveness {
  public:
    Liveness(const ir::Function &function, const ExtraLiveness &extra)
        : ids_(function.value_count() + extra.count), defined_in_(ids_, nullptr), live_in_(ids_),
          seen_(function.blocks.size(), kNone) {
        for (const Block *block : function.blocks)
            for (const ir::Instruction *i : block->instructions)
                for (const ir::Value *result : i->results)
                    defined_in_[result->id] = block;
        for (const ExtraLiveness::At &at : extra.definitions)
            defined_in_[at.id] = at.block;
        for (const Block *block : function.blocks)
            for (const ir::Instruction *i : block->instructions)
                for (std::size_t k = 0; k < i->operands.size(); ++k)
                    if (!i->operands[k]->constant)
                        use(i->operands[k]->id, i->is(ir::Opcode::Phi) ? i->blocks[k] : block);
        for (const ExtraLiveness::At &at : extra.uses)
            use(at.id, at.block);
    }

    std::vector<std::vector<std::uint32_t>> into(std::span<const Block *const> blocks) {
        std::vector<std::vector<std::uint32_t>> found(blocks.size());
        for (std::uint32_t id = 0; id < ids_; ++id) {
            walk_back(id);
            for (std::size_t k = 0; k < blocks.size(); ++k)
                if (seen_[blocks[k]->id] == id)
                    found[k].push_back(id);
        }
        return found;
    }

  private:
    /// In the block that defines a value, uses follow the definition.
    void use(std::uint32_t id, const Block *block) {
        if (defined_in_[id] != block)
            live_in_[id].push_back(block);
    }

    /// Marks the blocks at whose start a value is live.
    void walk_back(std::uint32_t id) {
        std::vector<const Block *> &left = live_in_[id];
        while (!left.empty()) {
            const Block *block = left.back();
            left.pop_back();
            if (seen_[block->id] == id)
                continue;
            seen_[block->id] = id;
            for (const Block *before : block->predecessors)
                if (defined_in_[id] != before)
                    left.push_back(before);
        }
    }

    std::uint32_t ids_;
    std::vector<const Block *> defined_in_; ///< by id
    std::vector<std::vector<const Block *>>
        live_in_;                     ///< by id: the blocks at whose start it is live
    std::vector<std::uint32_t> seen_; ///< by Block::id: the last id that is marked as live there
};

} // namespace

std::vector<std::vector<std::uint32_t>> find_live_into(const ir::Function &function,
                                                       std::span<const ir::Block *const> blocks,
                                                       const ExtraLiveness &extra) {
    return Liveness(function, extra).into(blocks);
}

} // namespace softcuda::analysis
