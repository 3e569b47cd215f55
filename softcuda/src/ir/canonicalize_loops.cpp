// canonicalize_loops.cpp -- gives each loop one entry edge and one back edge.
//
//        a   b                     a   b
//         \ /                       \ /
//          h <--+--+             preheader            Each phi of the header has two operands.
//         / \   |  |                 |
//        c   d  |  |      =>         h <----+         Loops with several entries (irreducible ones)
//        |   +--+  |                / \     |         stay as they are.
//        +---------+               c   d    |
//                                   \ /     |
//                                  latch ---+
#include "ir/clean_up.h"
#include "ir/dominators.h"

#include <algorithm>
#include <span>
#include <string>

namespace softcuda::ir {

namespace {

struct Loop {
    Block *header;
    std::vector<Block *> entries, latches;
};

std::vector<Loop> find_loops(const Function &function) {
    DominatorTree dominators(function);
    std::vector<Loop> loops;
    for (Block *header : function.blocks) {
        Loop loop{header, {}, {}};
        for (Block *predecessor : header->predecessors)
            (dominators.dominates(header, predecessor) ? loop.latches : loop.entries)
                .push_back(predecessor);
        if (!loop.latches.empty())
            loops.push_back(std::move(loop));
    }
    return loops;
}

bool among(const std::vector<Block *> &list, const Block *block) {
    return std::find(list.begin(), list.end(), block) != list.end();
}

/// Moves a phi's operands from `sources` into the new block: as a phi if they differ.
void move_incoming(Function &function, Instruction &phi, Block &made,
                   const std::vector<Block *> &sources) {
    std::vector<Value *> operands;
    std::vector<Block *> blocks;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < phi.operands.size(); i++) {
        if (among(sources, phi.blocks[i])) {
            operands.push_back(phi.operands[i]);
            blocks.push_back(phi.blocks[i]);
        } else {
            phi.operands[kept] = phi.operands[i];
            phi.blocks[kept++] = phi.blocks[i];
        }
    }
    Value *value = operands[0];
    bool same = std::all_of(operands.begin(), operands.end(),
                            [&](Value *operand) { return operand == value; });
    if (!same) {
        Type type = phi.result()->type;
        Instruction *merged = function.create(Opcode::Phi, operands, std::span(&type, 1));
        merged->location = phi.location;
        merged->blocks = blocks;
        merged->block = &made;
        made.instructions.push_back(merged);
        value = merged->result();
    }
    phi.operands.resize(kept);
    phi.blocks.resize(kept);
    phi.operands.push_back(value);
    phi.blocks.push_back(&made);
}

/// Puts a new block between `sources` and the header.
void insert_before(Function &function, Block &header, const std::vector<Block *> &sources,
                   const std::string &suffix) {
    Block *made = function.add_block(header.name + suffix);
    for (Instruction *phi : header.instructions) {
        if (!phi->is(Opcode::Phi))
            break;
        move_incoming(function, *phi, *made, sources);
    }
    Instruction *jump = function.create(Opcode::Jump, {}, {});
    jump->location = sources.back()->terminator()->location;
    jump->blocks = {&header};
    jump->block = made;
    made->instructions.push_back(jump);
    for (Block *source : sources) {
        auto &targets = source->terminator()->blocks;
        std::replace(targets.begin(), targets.end(), &header, made);
    }
    // It stands after the last of its sources.
    function.blocks.pop_back();
    auto last = std::find_if(function.blocks.rbegin(), function.blocks.rend(),
                             [&](Block *block) { return among(sources, block); });
    function.blocks.insert(last.base(), made);
}

} // namespace

void canonicalize_loops(Function &function) {
    for (const Loop &loop : find_loops(function)) {
        if (loop.latches.size() > 1)
            insert_before(function, *loop.header, loop.latches, ".latch");
        if (loop.entries.size() > 1 || loop.entries[0]->successors().size() > 1)
            insert_before(function, *loop.header, loop.entries, ".preheader");
    }
    function.renumber();
}

} // namespace softcuda::ir
