// lower_function.cpp -- the body of one kernel, statement by statement.
#include "ir/lower_function.h"

#include "ir/lower_families.h"

#include <algorithm>

namespace softcuda::ir {

namespace {

/// Inlining can grow exponentially; this limit is far above the size of compilers' output.
constexpr std::size_t kMostStatements = 400'000;

/// For each label the last statement that branches to it.
std::vector<std::size_t> last_references(const ptx::Function &source) {
    std::vector<std::size_t> last(source.labels.size(), 0);
    for (std::size_t i = 0; i < source.body.size(); i++) {
        const auto *instruction = std::get_if<ptx::Instruction>(&source.body[i]);
        if (!instruction)
            continue;
        for (const ptx::Operand &operand : instruction->operands) {
            if (operand.is(ptx::OperandKind::Label))
                last[operand.index] = i;
            if (operand.is(ptx::OperandKind::BranchTargets)) {
                for (std::uint32_t label : source.target_lists[operand.index].targets)
                    last[label] = i;
            }
        }
    }
    return last;
}

} // namespace

FunctionLowering::FunctionLowering(ModuleLowering &module, Function &function,
                                   const ptx::Function &source)
    : module_(module), function_(function), top_(source), builder_(function),
      entry_(function.add_block("entry")), ssa_(function, entry_) {
    carry_ = ssa_.new_variable(Type::I1);
    stack_top_ = ssa_.new_variable(Type::I64);
    ssa_.seal(entry_);
    placed_[entry_] = placed_.size();
}

void FunctionLowering::run() {
    run([&](Frame &frame) { lower_body(frame); });
}

void FunctionLowering::run_dispatch(std::span<const std::uint32_t> targets) {
    run([&](Frame &) {
        lower_dispatch(*this, targets);
        if (open())
            lower_return();
    });
}

template <class LowerBody> void FunctionLowering::run(LowerBody lower_it) {
    std::unique_ptr<Frame> frame = new_frame(top_);
    frame_ = frame.get();
    Block *body = new_block("body");
    builder_.set_block(entry_);
    Instruction *jump = builder_.jump(body);
    add_edges(jump);
    start(body);
    if (module_.uses_stack())
        set_stack_top(in_entry(Opcode::StackBase, {}));
    if (!top_.is_entry())
        bind_arguments(*this);
    find_debug_registers();
    lower_it(*frame);
    order_blocks();
    ssa_.finish();
    // The jump out of the entry stays last though values were added after it.
    std::erase(entry_->instructions, jump);
    entry_->instructions.push_back(jump);
    finish_shared();
    function_.renumber();
}

std::unique_ptr<Frame> FunctionLowering::new_frame(const ptx::Function &source) {
    auto frame = std::make_unique<Frame>();
    frame->source = &source;
    frame->registers.reserve(source.registers.size());
    for (const ptx::Register &reg : source.registers) {
        Type type = ir::register_class(scalar(reg.type));
        frame->registers.push_back(ssa_.new_variable(type));
        for (unsigned i = 1; i < reg.vector; i++)
            ssa_.new_variable(type);
    }
    for (const ptx::Label &label : source.labels)
        frame->labels.push_back(new_block(std::string(label.name)));
    frame->last_references = last_references(source);
    return frame;
}

void FunctionLowering::lower_body(Frame &frame) {
    Frame *outer = frame_;
    frame_ = &frame;
    const auto &body = frame.source->body;
    for (std::size_t i = 0; i < body.size(); i++)
        lower_statement(body[i], i);
    if (open()) // the end of a body is a return
        lower_return();
    frame_ = outer;
}

void FunctionLowering::lower_return() {
    ptx::Instruction end;
    end.opcode = ptx::Opcode::Ret;
    end.location = source().location;
    lower_control(*this, end);
}

bool FunctionLowering::enter_call(const ptx::Instruction &call, const ptx::Function &callee) {
    statements_ += callee.body.size();
    if (statements_ <= kMostStatements)
        return true;
    error(call, "inlining '" + std::string(callee.name) + "' here makes '" +
                    std::string(top_.name) + "' longer than " + std::to_string(kMostStatements) +
                    " instructions");
    return false;
}

void FunctionLowering::lower_statement(const ptx::Statement &statement, std::size_t index) {
    statement_ = static_cast<std::uint32_t>(index);
    if (const auto *label = std::get_if<ptx::LabelStatement>(&statement))
        lower_label(label->label, index);
    else if (const auto *instruction = std::get_if<ptx::Instruction>(&statement);
             instruction && open())
        lower_instruction(*instruction);
    if (function_.debug)
        emit_debug_values(index);
}

void FunctionLowering::lower_label(std::uint32_t label, std::size_t statement) {
    Block *block = frame_->labels[label];
    bool more_follow = frame_->last_references[label] > statement;
    if (open())
        jump(block);
    else if (block->predecessors.empty() && !more_follow)
        return; // nothing reaches it
    start(block, more_follow ? Predecessors::MoreFollow : Predecessors::Complete);
}

void FunctionLowering::lower_instruction(const ptx::Instruction &instruction) {
    set_location(instruction);
    LoweringRule rule = lowering_rule(instruction);
    if (!rule.lower)
        return unsupported(instruction);
    if (instruction.guard && rule.effect == Effect::Branch)
        return lower_guarded(instruction);
    if (instruction.guard && rule.effect == Effect::Pure) {
        guard_ = ssa_.read(frame_->registers[instruction.guard.reg], builder_.block());
        if (instruction.guard.negated)
            guard_ = builder_.logical_not(guard_);
    }
    rule.lower(*this, instruction);
    guard_ = nullptr;
}

void FunctionLowering::lower_guarded(const ptx::Instruction &instruction) {
    Block *guarded = new_block("guarded"), *after = new_block("after");
    branch_on(instruction.guard, guarded, after);
    start(guarded);
    lowering_rule(instruction).lower(*this, instruction);
    if (open())
        jump(after);
    start(after);
}

void FunctionLowering::set_location(const ptx::Instruction &instruction) {
    Location location;
    if (instruction.line != ptx::no_index) {
        location = module_.users_location(source(), instruction.line);
    } else {
        auto position = module_.source().source->position(instruction.location);
        location = {0, position.line, position.column};
    }
    if (function_.debug)
        location.scope = function_.debug->scope_at(statement_);
    builder_.set_location(location);
}

// ---- blocks ---------------------------------------------------------------------------------

void FunctionLowering::start(Block *block, Predecessors predecessors) {
    builder_.set_block(block);
    placed_.emplace(block, placed_.size());
    if (predecessors == Predecessors::Complete)
        ssa_.seal(block);
}

void FunctionLowering::add_edges(Instruction *terminator) {
    for (Block *target : terminator->blocks) {
        auto &list = target->predecessors;
        if (list.empty() || list.back() != terminator->block)
            list.push_back(terminator->block);
    }
    close();
}

void FunctionLowering::jump(Block *target) { add_edges(builder_.jump(target)); }

void FunctionLowering::branch(Value *condition, Block *if_true, Block *if_false) {
    if (if_true == if_false)
        return jump(if_true);
    add_edges(builder_.branch(condition, if_true, if_false));
}

void FunctionLowering::branch_on(const ptx::Guard &guard, Block *taken, Block *otherwise) {
    Value *condition = ssa_.read(frame_->registers[guard.reg], builder_.block());
    branch(condition, guard.negated ? otherwise : taken, guard.negated ? taken : otherwise);
}

/// Basic blocks in the order in which they were started; those that were never started (unreachable
/// labels) are removed.
void FunctionLowering::order_blocks() {
    std::erase_if(function_.blocks, [&](Block *block) { return !placed_.contains(block); });
    std::sort(function_.blocks.begin(), function_.blocks.end(),
              [&](Block *a, Block *b) { return placed_[a] < placed_[b]; });
}

// ---- diagnostics ----------------------------------------------------------------------------

void FunctionLowering::error(const ptx::Instruction &at, const std::string &message) {
    module_.error(at.location, message);
}

void FunctionLowering::unsupported(const ptx::Instruction &instruction) {
    error(instruction,
          std::string(instruction.spelling) + " is not supported by the software device yet");
}

} // namespace softcuda::ir
