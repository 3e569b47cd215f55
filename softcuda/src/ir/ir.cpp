// ir.cpp -- builds and changes functions of the IR.
#include "ir/ir.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace softcuda::ir {

namespace {

enum Flag : unsigned { Pure = 1, Reads = 2, Writes = 4, Convergent = 8, Terminator = 16 };

/// The number of values in one half of a signature; -1 for any number.
constexpr int count(std::string_view letters) {
    return letters.ends_with('*') ? -1 : static_cast<int>(letters.size());
}

constexpr OpcodeInfo make_info(std::string_view name, std::string_view signature, unsigned flags) {
    std::size_t colon = signature.find(':');
    return {name,
            signature,
            count(signature.substr(0, colon)),
            count(signature.substr(colon + 1)),
            (flags & Pure) != 0,
            (flags & Reads) != 0,
            (flags & Writes) != 0,
            (flags & Convergent) != 0,
            (flags & Terminator) != 0};
}

constexpr OpcodeInfo kOpcodes[] = {
#define IR_OPCODE(Name, text, signature, flags) make_info(text, signature, flags),
#include "ir/opcodes.def"
#undef IR_OPCODE
};

Type wider(Type type) {
    switch (type) {
    case Type::I8:
        return Type::I16;
    case Type::I16:
        return Type::I32;
    case Type::I32:
        return Type::I64;
    default:
        return Type::I128;
    }
}

/// A name that the text form can hold: no '%' first, none of its punctuation.
std::string legal_name(std::string name) {
    for (char &c : name) {
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '$' && c != '.')
            c = '$';
    }
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) || name[0] == '.')
        name.insert(0, "$");
    return name;
}

void mark_reachable(Block *entry, std::vector<bool> &reached) {
    std::vector<Block *> pending{entry};
    reached[entry->id] = true;
    while (!pending.empty()) {
        Block *block = pending.back();
        pending.pop_back();
        for (Block *next : block->successors()) {
            if (!reached[next->id]) {
                reached[next->id] = true;
                pending.push_back(next);
            }
        }
    }
}

void drop_incoming_from_unreached(Block &block, const std::vector<bool> &reached) {
    for (Instruction *phi : block.instructions) {
        if (!phi->is(Opcode::Phi))
            break;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < phi->blocks.size(); i++) {
            if (!reached[phi->blocks[i]->id])
                continue;
            phi->blocks[kept] = phi->blocks[i];
            phi->operands[kept++] = phi->operands[i];
        }
        phi->blocks.resize(kept);
        phi->operands.resize(kept);
    }
}

} // namespace

const OpcodeInfo &info(Opcode opcode) { return kOpcodes[static_cast<std::size_t>(opcode)]; }

bool from_text(std::string_view word, Opcode &out) {
    for (std::size_t i = 0; i < std::size(kOpcodes); i++) {
        if (kOpcodes[i].name == word) {
            out = static_cast<Opcode>(i);
            return true;
        }
    }
    return false;
}

std::optional<Type> result_type(const Instruction &instruction, std::size_t i) {
    const Attributes &a = instruction.attributes;
    std::string_view letters = info(instruction.opcode).signature;
    letters.remove_prefix(letters.find(':') + 1);
    if (letters.empty())
        return std::nullopt;
    char letter = letters.ends_with('*') ? letters[0] : letters[std::min(i, letters.size() - 1)];
    switch (letter) {
    case 't':
        if (a.type == Scalar::None)
            return std::nullopt;
        return register_class(a.type);
    case 'w':
        return wider(register_class(a.type));
    case 'p':
        return Type::I1;
    case 'i':
        return Type::I32;
    case 'l':
        return Type::I64;
    case 'c':
        return register_class(a.special);
    case 'v':
        return a.vote == VoteMode::Ballot ? Type::I32 : Type::I1;
    case 'r':
        return a.reduction == BarrierReduction::Count ? Type::I32 : Type::I1;
    default:
        return std::nullopt;
    }
}

bool is_block_barrier(const Instruction &instruction) {
    return instruction.is(Opcode::Barrier) || instruction.is(Opcode::BarrierReduce) ||
           instruction.is(Opcode::BarrierArrive);
}

Value *barrier_number(const Instruction &barrier) {
    return barrier.operand(barrier.is(Opcode::BarrierReduce) ? 1 : 0);
}

Value *barrier_threads(const Instruction &barrier) {
    std::size_t place = barrier.is(Opcode::BarrierReduce) ? 2 : 1;
    return place < barrier.operands.size() ? barrier.operand(place) : nullptr;
}

bool has_space(Opcode opcode) {
    switch (opcode) {
    case Opcode::SymbolAddress:
    case Opcode::Load:
    case Opcode::Store:
    case Opcode::Atomic:
    case Opcode::Reduce:
    case Opcode::ToGeneric:
    case Opcode::FromGeneric:
    case Opcode::IsSpace:
        return true;
    default:
        return false;
    }
}

Block *Function::add_block(std::string name) {
    name = legal_name(std::move(name));
    std::string unique = name;
    if (!block_names_.insert(unique).second) {
        // Numbers are given in turn, so the first free one is found by halves.
        const auto numbered = [&](unsigned n) { return name + "." + std::to_string(n); };
        unsigned used = 0, free = 1;
        while (block_names_.contains(numbered(free)))
            used = std::exchange(free, 2 * free);
        while (free - used > 1) {
            const unsigned middle = used + (free - used) / 2;
            (block_names_.contains(numbered(middle)) ? used : free) = middle;
        }
        block_names_.insert(unique = numbered(free));
    }
    Block &block = block_storage_.emplace_back();
    block.id = static_cast<std::uint32_t>(blocks.size());
    block.name = std::move(unique);
    block.function = this;
    blocks.push_back(&block);
    return &block;
}

Value *Function::new_value(Type type) {
    Value &value = value_storage_.emplace_back();
    value.type = type;
    value.id = next_value_++;
    return &value;
}

Instruction *Function::create(Opcode opcode, std::span<Value *const> operands,
                              std::span<const Type> results) {
    Instruction &instruction = instruction_storage_.emplace_back();
    instruction.opcode = opcode;
    instruction.operands.assign(operands.begin(), operands.end());
    for (Type type : results) {
        Value *value = new_value(type);
        value->definition = &instruction;
        value->index = static_cast<std::uint16_t>(instruction.results.size());
        instruction.results.push_back(value);
    }
    return &instruction;
}

Value *Function::constant(Type type, std::uint64_t bits) {
    if (unsigned width = ir::bits(type); width < 64)
        bits &= (std::uint64_t{1} << width) - 1;
    Value *&value = constants_[{type, bits}];
    if (!value) {
        value = new_value(type);
        value->constant = true;
        value->bits = bits;
    }
    return value;
}

Value *Function::argument(Type type) {
    Value *value = new_value(type);
    value->index = static_cast<std::uint16_t>(arguments.size());
    arguments.push_back(value);
    return value;
}

void Function::update_predecessors() {
    for (Block *block : blocks)
        block->predecessors.clear();
    for (Block *block : blocks) {
        for (Block *next : block->successors()) {
            // A branch with both ways to one block is one predecessor.
            if (next->predecessors.empty() || next->predecessors.back() != block)
                next->predecessors.push_back(block);
        }
    }
}

void Function::renumber() {
    for (std::size_t i = 0; i < blocks.size(); i++)
        blocks[i]->id = static_cast<std::uint32_t>(i);
    std::vector<bool> reached(blocks.size());
    mark_reachable(entry(), reached);
    for (Block *block : blocks)
        drop_incoming_from_unreached(*block, reached);
    std::erase_if(blocks, [&](Block *block) { return !reached[block->id]; });
    for (std::size_t i = 0; i < blocks.size(); i++)
        blocks[i]->id = static_cast<std::uint32_t>(i);
    update_predecessors();
}

std::uint64_t Function::instruction_count() const {
    std::uint64_t count = 0;
    for (const Block *block : blocks)
        count += block->instructions.size();
    return count;
}

void Function::renumber_values() {
    next_value_ = 0;
    for (Value *argument : arguments)
        argument->id = next_value_++;
    constexpr std::uint32_t kUnused = ~std::uint32_t{0};
    for (auto &[key, value] : constants_)
        value->id = kUnused;
    for (Block *block : blocks) {
        for (Instruction *instruction : block->instructions) {
            for (Value *result : instruction->results)
                result->id = next_value_++;
        }
    }
    for (Block *block : blocks) {
        for (Instruction *instruction : block->instructions) {
            for (Value *operand : instruction->operands) {
                if (operand->constant && operand->id == kUnused)
                    operand->id = next_value_++;
            }
        }
    }
    std::erase_if(constants_, [](const auto &entry) { return entry.second->id == kUnused; });
}

void Function::replace_all_uses(Value *from, Value *to) {
    for (Block *block : blocks) {
        for (Instruction *instruction : block->instructions)
            std::replace(instruction->operands.begin(), instruction->operands.end(), from, to);
    }
}

const Function *Module::find(std::string_view name) const {
    for (const auto &function : functions) {
        if (function->name == name)
            return function.get();
    }
    return nullptr;
}

} // namespace softcuda::ir
