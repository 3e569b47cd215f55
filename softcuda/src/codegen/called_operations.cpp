// called_operations.cpp -- chooses the operations that a large kernel calls, and makes their
// functions.
#include "codegen/called_operations.h"

#include "codegen/kernel_emitter.h"
#include "codegen/warp_emitter.h"

#include <algorithm>

namespace softcuda::codegen {

namespace {

/// With fewer LLVM instructions for each operand and result, an operation costs no more than its
/// call, which has to store the registers: 0.15 ms for one operand and one result, 1 ms for the
/// five of a carry.
constexpr std::size_t kLeastCalled = 4;
/// LLVM instructions of a kernel's larger operations that may stay in place. They take about 1 s to
/// compile: 0.07 (halves) to 0.2 ms each (sin.approx), AVX2, benchmarks/softcuda/compile_growth.py.
constexpr std::size_t kMostInPlace = 5'000;
/// Kernels with fewer instructions are not examined.
constexpr std::size_t kFewInstructions = 100;

bool is_worth_a_call(const ir::Instruction &i, std::size_t cost) {
    return cost >= kLeastCalled * (i.operands.size() + i.results.size());
}

bool is_by_constant(const ir::Instruction &i) { // a multiplication, if it stays in place
    return (i.is(ir::Opcode::Div) || i.is(ir::Opcode::Rem)) && i.operand(1)->constant;
}

} // namespace

vector_math::OperandFacts CalledOperations::facts(const ir::Instruction &i) const {
    const analysis::FloatBits &bits = kernel_.plan.float_bits;
    vector_math::OperandFacts facts;
    for (std::size_t k = 0; k < i.operands.size(); ++k) {
        facts.never_denormal |= std::uint32_t{bits.never_denormal(*i.operand(k))} << k;
        facts.new_nan |= std::uint32_t{bits.may_be_new_nan(*i.operand(k))} << k;
    }
    return facts;
}

CalledOperations::Operation *CalledOperations::find(const ir::Instruction &i,
                                                    const vector_math::OperandFacts &facts) {
    auto type = [](const ir::Value *value) { return value->type; };
    const auto found = std::ranges::find_if(operations_, [&](const Operation &known) {
        const ir::Instruction &other = *known.example;
        return other.opcode == i.opcode && other.attributes == i.attributes &&
               known.facts == facts &&
               std::ranges::equal(other.operands, i.operands, {}, type, type) &&
               std::ranges::equal(other.results, i.results, {}, type, type);
    });
    return found == operations_.end() ? nullptr : &*found;
}

void CalledOperations::choose() {
    const auto &blocks = kernel_.plan.function.blocks;
    std::size_t instructions = 0;
    for (const ir::Block *block : blocks)
        instructions += block->instructions.size();
    if (instructions < kFewInstructions)
        return;
    for (const ir::Block *block : blocks)
        for (const ir::Instruction *i : block->instructions) {
            if (!vector_math::is_elementwise(i->opcode) || is_by_constant(*i) ||
                kernel_.plan.divergence.of(i->result()).groups != kLanes)
                continue;
            const vector_math::OperandFacts known = facts(*i);
            Operation *operation = find(*i, known);
            if (!operation) {
                operation = &operations_.emplace_back(Operation{.example = i, .facts = known});
                build(*operation);
            }
            ++operation->uses;
        }
    // First those that are worth a call, by their cost.
    std::ranges::stable_sort(operations_, std::greater<>(), [](const Operation &o) {
        return is_worth_a_call(*o.example, o.cost) ? o.cost : 0;
    });
    std::size_t in_place = 0;
    for (const Operation &operation : operations_)
        if (is_worth_a_call(*operation.example, operation.cost))
            in_place += operation.cost * operation.uses;
    std::size_t chosen = 0;
    for (; in_place > kMostInPlace; ++chosen)
        in_place -= operations_[chosen].cost * operations_[chosen].uses;
    for (std::size_t k = chosen; k < operations_.size(); ++k)
        operations_[k].function->eraseFromParent();
    operations_.resize(chosen);
}

void CalledOperations::build(Operation &operation) {
    const ir::Instruction &i = *operation.example;
    llvm::LLVMContext &context = kernel_.code.context;
    auto lanes_of = [&](const ir::Value *v) { return lane_type(context, v->type, kLanes); };
    llvm::SmallVector<llvm::Type *, 4> parameters, results;
    for (const ir::Value *operand : i.operands)
        parameters.push_back(lanes_of(operand));
    for (const ir::Value *result : i.results)
        results.push_back(lanes_of(result));
    llvm::Type *result =
        results.size() == 1 ? results.front() : llvm::StructType::get(context, results);
    llvm::Function *function = llvm::Function::Create(
        llvm::FunctionType::get(result, parameters, false), llvm::Function::InternalLinkage,
        llvm::Twine(ir::info(i.opcode).name) + "." + ir::text(i.attributes.type),
        kernel_.code.module);
    kernel_.give_attributes(*function);
    function->addFnAttr(llvm::Attribute::NoInline);
    function->setDoesNotAccessMemory();
    function->setWillReturn();
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "", function));
    std::vector<llvm::Value *> operands, values;
    for (llvm::Argument &argument : function->args())
        operands.push_back(&argument);
    vector_math::emit_elementwise(b, kernel_.code.target, i, operands, operation.facts, values);
    if (values.size() == 1)
        b.CreateRet(values.front());
    else
        b.CreateAggregateRet(values.data(), static_cast<unsigned>(values.size()));
    operation.function = function;
    operation.cost = function->getInstructionCount();
}

std::vector<llvm::Value *> CalledOperations::emit(const ir::Instruction &i,
                                                  llvm::ArrayRef<llvm::Value *> operands) {
    llvm::IRBuilder<> &b = kernel_.builder;
    std::vector<llvm::Value *> results;
    const vector_math::OperandFacts known = facts(i);
    const Operation *operation =
        operations_.empty() || is_by_constant(i) ? nullptr : find(i, known);
    if (!operation || operands[0]->getType() != operation->function->getArg(0)->getType()) {
        vector_math::emit_elementwise(b, kernel_.code.target, i, operands, known, results);
        return results;
    }
    llvm::Value *made = b.CreateCall(operation->function, operands);
    if (i.results.size() == 1)
        return {made};
    for (unsigned k = 0; k < i.results.size(); ++k)
        results.push_back(b.CreateExtractValue(made, k));
    return results;
}

} // namespace softcuda::codegen
