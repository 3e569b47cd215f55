// verify.cpp -- checks the rules of the IR.
#include "ir/verify.h"

#include "ir/dominators.h"
#include "ir/print.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace softcuda::ir {

namespace {

class Verifier {
  public:
    Verifier(const Function &function, const Module *module)
        : function_(function), module_(module) {}

    std::vector<std::string> run();

  private:
    void fail(const std::string &what);
    void check_structure();
    void check_predecessors();
    void check_block(const Block &block);
    void check_instruction(const Instruction &instruction);
    void check_operands(const Instruction &instruction);
    void check_operand(const Instruction &instruction, std::size_t i, char letter);
    void check_address(const Instruction &instruction, const Value &address);
    void check_results(const Instruction &instruction);
    void check_vector(const Instruction &instruction);
    void check_targets(const Instruction &instruction);
    void check_phi(const Instruction &phi);
    void check_symbols(const Instruction &instruction);
    void check_call(const Instruction &instruction);
    void check_return(const Instruction &instruction);
    void check_value(const Value &value);
    void check_dominance();
    void check_use(const DominatorTree &dominators, const Instruction &user, const Value &value,
                   const Block &where);

    const Function &function_;
    const Module *module_;
    const Block *block_ = nullptr;
    const Instruction *instruction_ = nullptr;
    std::unordered_set<const Block *> blocks_;
    std::unordered_set<std::uint32_t> ids_;
    std::unordered_map<const Instruction *, std::uint32_t> places_; ///< in its block
    std::vector<std::string> messages_;
};

void Verifier::fail(const std::string &what) {
    std::string message = function_.name;
    if (block_)
        message += ", " + block_->name;
    message += ": " + what;
    if (instruction_)
        message += ": " + to_text(*instruction_);
    messages_.push_back(std::move(message));
}

std::vector<std::string> Verifier::run() {
    check_structure();
    if (!messages_.empty())
        return messages_;
    check_predecessors();
    for (const Block *block : function_.blocks)
        check_block(*block);
    block_ = nullptr;
    instruction_ = nullptr;
    if (messages_.empty())
        check_dominance();
    return messages_;
}

/// The conditions that all other checks, and to_text(), require.
void Verifier::check_structure() {
    if (function_.blocks.empty())
        return fail("has no blocks");
    for (std::size_t i = 0; i < function_.blocks.size(); i++) {
        const Block *block = block_ = function_.blocks[i];
        blocks_.insert(block);
        if (block->id != i)
            fail("block has id " + std::to_string(block->id) + ", expected " + std::to_string(i));
        if (block->instructions.empty() || !info(block->terminator()->opcode).terminator)
            fail("does not end with a terminator");
    }
    for (const Block *block : function_.blocks) {
        block_ = block;
        for (const Instruction *instruction : block->instructions) {
            if (instruction->block != block)
                fail("an instruction believes that it is in another block");
            if (instruction->is(Opcode::Phi) &&
                instruction->blocks.size() != instruction->operands.size())
                fail("a phi has " + std::to_string(instruction->operands.size()) + " values, but " +
                     std::to_string(instruction->blocks.size()) + " blocks");
            for (const Block *target : instruction->blocks) {
                if (!blocks_.contains(target))
                    fail("an instruction names a block that is not in the function");
            }
        }
    }
    block_ = nullptr;
}

void Verifier::check_predecessors() {
    std::vector<std::vector<const Block *>> expected(function_.blocks.size());
    for (const Block *block : function_.blocks) {
        for (const Block *next : block->successors()) {
            auto &list = expected[next->id];
            if (list.empty() || list.back() != block)
                list.push_back(block);
        }
    }
    std::size_t reachable = reverse_postorder(function_).size();
    if (reachable != function_.blocks.size())
        fail(std::to_string(function_.blocks.size() - reachable) + " blocks are unreachable");
    if (!expected[0].empty())
        fail("the entry block has a predecessor");
    for (const Block *block : function_.blocks) {
        if (!std::equal(expected[block->id].begin(), expected[block->id].end(),
                        block->predecessors.begin(), block->predecessors.end())) {
            block_ = block;
            fail("the list of predecessors is out of date");
        }
    }
    block_ = nullptr;
}

void Verifier::check_block(const Block &block) {
    block_ = &block;
    bool phis = true;
    for (const Instruction *instruction : block.instructions) {
        instruction_ = instruction;
        bool last = instruction == block.instructions.back();
        if (info(instruction->opcode).terminator != last)
            fail("a terminator before the end of its block");
        if (instruction->is(Opcode::Phi) && !phis)
            fail("a phi after other instructions");
        phis = phis && instruction->is(Opcode::Phi);
        check_instruction(*instruction);
    }
    instruction_ = nullptr;
}

void Verifier::check_instruction(const Instruction &instruction) {
    std::size_t before = messages_.size();
    check_operands(instruction);
    check_results(instruction);
    if (messages_.size() != before)
        return;
    check_vector(instruction);
    check_targets(instruction);
    check_symbols(instruction);
    if (instruction.is(Opcode::Phi))
        check_phi(instruction);
    if (instruction.is(Opcode::Return) || instruction.is(Opcode::LoadParam))
        check_return(instruction);
}

void Verifier::check_operands(const Instruction &instruction) {
    std::string_view letters = info(instruction.opcode).signature;
    letters = letters.substr(0, letters.find(':'));
    bool open = letters.ends_with('*');
    std::size_t fixed = open ? letters.size() - 2 : letters.size();
    std::size_t count = instruction.operands.size();
    if (open ? count < fixed : count != fixed)
        return fail(std::to_string(count) + " operands, expected " + (open ? "at least " : "") +
                    std::to_string(fixed));
    for (std::size_t i = 0; i < count; i++)
        check_operand(instruction, i, letters[std::min(i, fixed)]);
}

void Verifier::check_operand(const Instruction &instruction, std::size_t i, char letter) {
    const Value &value = *instruction.operand(i);
    check_value(value);
    const Attributes &a = instruction.attributes;
    unsigned expected = 0;
    switch (letter) {
    case 't':
        expected = a.type == Scalar::None ? 0 : bits(register_class(a.type));
        break;
    case 's':
        expected = bits(register_class(a.source_type));
        break;
    case 'p':
        expected = 1;
        break;
    case 'i':
        expected = 32;
        break;
    case 'l':
        expected = 64;
        break;
    case 'a':
        return check_address(instruction, value);
    default:
        return;
    }
    if (expected && bits(value.type) != expected)
        fail("operand " + std::to_string(i) + " (" + to_text(value) + ") is " +
             std::string(text(value.type)) + ", expected " + std::to_string(expected) + " bits");
}

void Verifier::check_address(const Instruction &instruction, const Value &address) {
    Space space = instruction.attributes.space;
    bool wide = space == Space::Generic || space == Space::Global || space == Space::Constant;
    if (address.type != Type::I64 && (wide || address.type != Type::I32))
        fail("an address is " + std::string(text(address.type)) + ", expected i64" +
             (wide ? "" : " or i32"));
}

void Verifier::check_results(const Instruction &instruction) {
    const OpcodeInfo &facts = info(instruction.opcode);
    if (facts.results >= 0 && instruction.results.size() != static_cast<unsigned>(facts.results))
        return fail(std::to_string(instruction.results.size()) + " results, expected " +
                    std::to_string(facts.results));
    for (std::size_t i = 0; i < instruction.results.size(); i++) {
        const Value &result = *instruction.result(i);
        check_value(result);
        if (result.definition != &instruction || result.index != i)
            fail("result " + std::to_string(i) + " does not know its instruction");
        if (!ids_.insert(result.id).second)
            fail(to_text(result) + " is defined twice");
        std::optional<Type> expected = result_type(instruction, i);
        if (expected && *expected != result.type)
            fail("result " + std::to_string(i) + " is " + std::string(text(result.type)) +
                 ", expected " + std::string(text(*expected)));
    }
}

void Verifier::check_vector(const Instruction &instruction) {
    const Attributes &a = instruction.attributes;
    std::size_t operands = instruction.operands.size(), results = instruction.results.size();
    switch (instruction.opcode) {
    case Opcode::Load:
    case Opcode::LoadParam:
        if (results != a.vector)
            fail(std::to_string(results) + " results of a vector of " + std::to_string(a.vector));
        break;
    case Opcode::Store:
        if (operands != a.vector + 1u)
            fail(std::to_string(operands) + " operands, expected an address and a vector of " +
                 std::to_string(a.vector));
        break;
    case Opcode::Atomic:
    case Opcode::Reduce:
        if (operands != (a.atomic == AtomicOp::CompareSwap ? 3 : 2))
            fail("wrong number of operands for this operation");
        break;
    case Opcode::Barrier:
    case Opcode::BarrierReduce:
        if (operands < (instruction.is(Opcode::Barrier) ? 1 : 2) ||
            operands > (instruction.is(Opcode::Barrier) ? 2 : 3))
            fail("a barrier takes an id and perhaps a number of threads");
        break;
    default:
        break;
    }
    std::string_view letters = info(instruction.opcode).signature;
    bool needs_type = letters.find_first_of("tw") != letters.npos;
    if (needs_type && a.type == Scalar::None && !instruction.is(Opcode::Phi) &&
        !instruction.is(Opcode::Undef))
        fail("has no type");
}

void Verifier::check_targets(const Instruction &instruction) {
    std::size_t targets = instruction.blocks.size();
    switch (instruction.opcode) {
    case Opcode::Phi:
        break;
    case Opcode::Jump:
        if (targets != 1)
            fail("a jump has one target");
        break;
    case Opcode::Branch:
        if (targets != 2)
            fail("a branch has two targets");
        break;
    case Opcode::Switch:
        if (targets == 0)
            fail("a switch needs a target");
        break;
    default:
        if (targets != 0)
            fail("must not name blocks");
        break;
    }
}

void Verifier::check_phi(const Instruction &phi) {
    const Block &block = *phi.block;
    std::vector<const Block *> incoming(phi.blocks.begin(), phi.blocks.end());
    std::vector<const Block *> expected(block.predecessors.begin(), block.predecessors.end());
    std::sort(incoming.begin(), incoming.end());
    std::sort(expected.begin(), expected.end());
    if (incoming != expected)
        fail("incoming blocks differ from the predecessors");
    for (const Value *operand : phi.operands) {
        if (operand->type != phi.result()->type)
            fail(to_text(*operand) + " is " + std::string(text(operand->type)) + ", the phi is " +
                 std::string(text(phi.result()->type)));
    }
}

void Verifier::check_symbols(const Instruction &instruction) {
    const Attributes &a = instruction.attributes;
    if (instruction.is(Opcode::SymbolAddress)) {
        bool in_frame = a.space == Space::Shared || a.space == Space::Local;
        if (in_frame ? a.symbol >= function_.variables.size() ||
                           function_.variables[a.symbol].space != a.space
                     : module_ && (a.symbol >= module_->variables.size() ||
                                   module_->variables[a.symbol].space != a.space))
            fail("there is no such variable in this space");
    }
    if (instruction.is(Opcode::Call) || instruction.is(Opcode::FunctionAddress)) {
        if (module_ && a.symbol >= module_->functions.size())
            fail("there is no function @" + std::to_string(a.symbol));
        else if (module_ && instruction.is(Opcode::Call))
            check_call(instruction);
    }
}

void Verifier::check_call(const Instruction &instruction) {
    const Function &callee = *module_->functions[instruction.attributes.symbol];
    bool same = callee.arguments.size() == instruction.operands.size() &&
                callee.returns.size() == instruction.results.size() && !callee.kernel;
    for (std::size_t i = 0; same && i < callee.arguments.size(); i++)
        same = bits(callee.arguments[i]->type) == bits(instruction.operand(i)->type);
    for (std::size_t i = 0; same && i < callee.returns.size(); i++)
        same = callee.returns[i] == instruction.result(i)->type;
    if (!same)
        fail("does not fit the signature of " + callee.name);
}

void Verifier::check_return(const Instruction &instruction) {
    if (instruction.is(Opcode::LoadParam)) {
        const Attributes &a = instruction.attributes;
        std::uint64_t end = static_cast<std::uint64_t>(a.offset) + bits(a.type) / 8 * a.vector;
        if (!function_.kernel || a.offset < 0 || end > function_.parameter_bytes)
            fail("reads beyond the " + std::to_string(function_.parameter_bytes) +
                 " bytes of parameters");
        return;
    }
    bool same = instruction.operands.size() == function_.returns.size();
    for (std::size_t i = 0; same && i < function_.returns.size(); i++)
        same = bits(instruction.operand(i)->type) == bits(function_.returns[i]);
    if (!same)
        fail("does not fit the function's results");
}

void Verifier::check_value(const Value &value) {
    if (value.id >= function_.value_count())
        fail("value id " + std::to_string(value.id) + " is not below value_count()");
    if (!value.constant)
        return;
    if (value.definition)
        fail("a constant with a definition");
    if (unsigned width = bits(value.type); width < 64 && value.bits >> width)
        fail("constant " + to_text(value) + " has bits beyond its width");
}

void Verifier::check_dominance() {
    DominatorTree dominators(function_);
    for (const Block *block : function_.blocks) {
        for (std::uint32_t i = 0; i < block->instructions.size(); i++)
            places_[block->instructions[i]] = i;
    }
    for (const Block *block : function_.blocks) {
        block_ = block;
        for (const Instruction *user : block->instructions) {
            instruction_ = user;
            for (std::size_t i = 0; i < user->operands.size(); i++) {
                const Block *where = user->is(Opcode::Phi) ? user->blocks[i] : block;
                check_use(dominators, *user, *user->operand(i), *where);
            }
        }
    }
}

void Verifier::check_use(const DominatorTree &dominators, const Instruction &user,
                         const Value &value, const Block &where) {
    if (value.constant)
        return;
    if (!value.definition) {
        bool known =
            value.index < function_.arguments.size() && function_.arguments[value.index] == &value;
        if (!known)
            fail(to_text(value) + " has no definition");
        return;
    }
    const Block *home = value.definition->block;
    if (!home || !blocks_.contains(home) || !ids_.contains(value.id))
        return fail(to_text(value) + " is defined outside the function");
    if (home == &where && !user.is(Opcode::Phi)) {
        if (places_[value.definition] >= places_[&user])
            fail(to_text(value) + " is used before its definition");
    } else if (!dominators.dominates(home, &where)) {
        fail(to_text(value) + " does not dominate its use");
    }
}

} // namespace

std::vector<std::string> verify(const Function &function, const Module *module) {
    return Verifier(function, module).run();
}

std::vector<std::string> verify(const Module &module) {
    std::vector<std::string> messages;
    for (const auto &function : module.functions) {
        auto found = verify(*function, &module);
        messages.insert(messages.end(), found.begin(), found.end());
    }
    return messages;
}

} // namespace softcuda::ir
