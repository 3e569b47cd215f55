// shuffle_floats.cpp -- shuffles floats as floats instead of bits.
//
//     %2 = bitcast.b32 %1                               %3, %4 = shuffle.down.f32 %1, ...
//     %3, %4 = shuffle.down.b32 %2, ...            =>   %6 = add.rn.f32 %1, %3
//     %5 = bitcast.f32 %3
//     %6 = add.rn.f32 %1, %5
//
// As bits they would have to be those of the hardware's NaN, which no instruction uses here.
#include "ir/clean_up.h"
#include "ir/replacements.h"

#include <algorithm>
#include <array>
#include <set>

namespace softcuda::ir {

namespace {

struct Uses {
    std::size_t all = 0;
    std::vector<Instruction *> as_floats;
};

std::vector<Uses> find_uses(const Function &function) {
    std::vector<Uses> uses(function.value_count());
    for (const Block *block : function.blocks)
        for (Instruction *user : block->instructions)
            for (const Value *operand : user->operands) {
                ++uses[operand->id].all;
                if (user->is(Opcode::Bitcast) && user->result()->type == Type::F32)
                    uses[operand->id].as_floats.push_back(user);
            }
    return uses;
}

/// The float whose bits are shuffled, if they are a float's again for all who use them.
Value *shuffled_float(const Instruction &i, const std::vector<Uses> &uses) {
    if (!i.is(Opcode::Shuffle) || !i.operand(0)->definition ||
        !i.operand(0)->definition->is(Opcode::Bitcast))
        return nullptr;
    Value *source = i.operand(0)->definition->operand(0);
    const Uses &of_result = uses[i.result(0)->id];
    return source->type == Type::F32 && of_result.all != 0 &&
                   of_result.all == of_result.as_floats.size()
               ? source
               : nullptr;
}

} // namespace

void shuffle_floats(Function &function) {
    const std::vector<Uses> uses = find_uses(function);
    Replacements floats;
    std::set<const Instruction *> replaced; // they read the results of shuffles that are gone
    for (Block *block : function.blocks)
        for (Instruction *&i : block->instructions) {
            Value *source = shuffled_float(*i, uses);
            if (!source)
                continue;
            Instruction *made = function.create(
                Opcode::Shuffle, std::array{source, i->operand(1), i->operand(2), i->operand(3)},
                std::array{Type::F32, Type::I1});
            made->attributes = i->attributes;
            made->attributes.type = Scalar::F32;
            made->location = i->location;
            made->block = block;
            for (const Instruction *use : uses[i->result(0)->id].as_floats) {
                floats.add(use->result(), made->result(0));
                replaced.insert(use);
            }
            floats.add(i->result(1), made->result(1));
            i = made;
        }
    floats.apply(function);
    for (Block *block : function.blocks)
        std::erase_if(block->instructions,
                      [&](const Instruction *i) { return replaced.contains(i); });
}

} // namespace softcuda::ir
