// lower_control.cpp -- branches, returns, and the ends of threads.
#include "ir/lower_families.h"
#include "ir/trap.h"

namespace softcuda::ir {

namespace {

void jump_to(FunctionLowering &f, const ptx::Instruction &i) {
    Block *target = f.frame().labels[i.operand(0).index];
    if (!i.guard)
        return f.jump(target);
    Block *after = f.new_block("after");
    f.branch_on(i.guard, target, after);
    f.start(after);
}

void jump_by_index(FunctionLowering &f, const ptx::Instruction &i) {
    const ptx::TargetList &list = f.source().target_lists[i.operand(1).index];
    if (list.targets.empty())
        return f.error(i, "the list of branch targets is empty");
    Block *after = nullptr;
    if (i.guard) {
        Block *guarded = f.new_block("guarded");
        after = f.new_block("after");
        f.branch_on(i.guard, guarded, after);
        f.start(guarded);
    }
    Instruction *jump = f.builder().append(Opcode::Switch, {}, {f.read(i.operand(0), Scalar::U32)});
    for (std::uint32_t label : list.targets)
        jump->blocks.push_back(f.frame().labels[label]);
    f.add_edges(jump);
    if (after)
        f.start(after);
}

void end_thread(FunctionLowering &f) { f.add_edges(f.builder().append(Opcode::Exit, {}, {})); }

void give_back(FunctionLowering &f) {
    if (f.frame().return_block)
        return f.jump(f.frame().return_block);
    if (f.in_kernel())
        return end_thread(f);
    std::vector<Value *> values = returned_values(f);
    f.add_edges(f.builder().append(Opcode::Return, {}, values));
}

/// No address is one of multicast memory.
void fail_multicast(FunctionLowering &f, const ptx::Instruction &i) {
    f.builder().append(Opcode::Trap, {.immediate = kTrapNoInstruction}, {});
    if (i.opcode != ptx::Opcode::MultimemLdReduce)
        return;
    const Scalar type = scalar(i.modifiers.type());
    for (const ptx::Operand &destination : elements(i.operand(0)))
        f.write(destination, f.constant(register_class(type), 0), type);
}

} // namespace

void lower_control(FunctionLowering &f, const ptx::Instruction &i) {
    switch (i.opcode) {
    case ptx::Opcode::Bra:
        return jump_to(f, i);
    case ptx::Opcode::BrxIdx:
        return jump_by_index(f, i);
    case ptx::Opcode::Ret:
        return give_back(f);
    case ptx::Opcode::Exit:
        return end_thread(f);
    case ptx::Opcode::Nanosleep:
        f.builder().append(Opcode::Nanosleep, {}, {f.read(i.operand(0), Scalar::U32)});
        return;
    case ptx::Opcode::MultimemLdReduce:
    case ptx::Opcode::MultimemSt:
    case ptx::Opcode::MultimemRed:
        return fail_multicast(f, i);
    default:
        f.builder().append(Opcode::Trap, {}, {});
    }
}

} // namespace softcuda::ir
