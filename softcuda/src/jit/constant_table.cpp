// constant_table.cpp -- replaces vector constants by loads from a constant variable.
#include "jit/constant_table.h"

#include <llvm/ADT/MapVector.h>

#include <algorithm>
#include <vector>

namespace softcuda::jit {

namespace {

/// With fewer constants, the pool's comparisons take less than a millisecond.
constexpr std::size_t kMany = 256;

/// LLVM makes zero and all ones without memory. Elements of one bit are masks.
bool is_in_pool(const llvm::Constant &constant) {
    const llvm::Type *type = constant.getType();
    const auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    if (!vector)
        return type->isFloatingPointTy() && llvm::isa<llvm::ConstantFP>(constant) &&
               !constant.isNullValue();
    const llvm::Type *element = vector->getElementType();
    return (element->isIntegerTy() || element->isFloatingPointTy()) &&
           element->getPrimitiveSizeInBits() >= 8 &&
           (llvm::isa<llvm::ConstantDataVector>(constant) ||
            llvm::isa<llvm::ConstantVector>(constant)) &&
           !constant.isNullValue() && !constant.isAllOnesValue();
}

/// Instructions that LLVM selects no better if they see the constant's value. A shift or a division
/// by a constant becomes other instructions, an `and` tells which bits are zero.
bool takes_loads(const llvm::Instruction &instruction) {
    switch (instruction.getOpcode()) {
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
    case llvm::Instruction::Mul:
    case llvm::Instruction::Or:
    case llvm::Instruction::Xor:
    case llvm::Instruction::FAdd:
    case llvm::Instruction::FSub:
    case llvm::Instruction::FMul:
    case llvm::Instruction::FDiv:
    case llvm::Instruction::ICmp:
    case llvm::Instruction::FCmp:
    case llvm::Instruction::Select:
    case llvm::Instruction::Store:
        return true;
    case llvm::Instruction::Call: {
        const llvm::Function *called = llvm::cast<llvm::CallInst>(instruction).getCalledFunction();
        return called && called->getIntrinsicID() == llvm::Intrinsic::fma;
    }
    default:
        return false;
    }
}

/// Calls visit(use, constant) for each operand that can be a load.
template <class Visit> void for_each_constant(llvm::Module &module, Visit visit) {
    for (llvm::Function &function : module)
        for (llvm::BasicBlock &block : function)
            for (llvm::Instruction &instruction : block) {
                if (!takes_loads(instruction))
                    continue;
                for (llvm::Use &use : instruction.operands())
                    if (auto *constant = llvm::dyn_cast<llvm::Constant>(use.get());
                        constant && is_in_pool(*constant))
                        visit(use, *constant);
            }
}

/// The constant that is stored: an element of a constant whose elements are equal.
llvm::Constant *stored_part(llvm::Constant &constant) {
    llvm::Constant *splat = constant.getType()->isVectorTy() ? constant.getSplatValue() : nullptr;
    return splat ? splat : &constant;
}

/// Puts constants one behind the other, the largest first, so that each is aligned.
class Table {
  public:
    explicit Table(llvm::Module &module) : module_(module) {}

    void add(llvm::Constant &constant) { offsets_.insert({stored_part(constant), 0}); }
    [[nodiscard]] std::size_t size() const { return offsets_.size(); }

    void lay_out() {
        const llvm::DataLayout &layout = module_.getDataLayout();
        std::vector<llvm::Constant *> parts;
        for (const auto &[part, offset] : offsets_)
            parts.push_back(part);
        const auto bytes = [&](const llvm::Constant *part) {
            return layout.getTypeAllocSize(part->getType()).getFixedValue();
        };
        std::ranges::stable_sort(parts, std::ranges::greater{}, bytes);
        std::uint64_t end = 0;
        for (llvm::Constant *part : parts) {
            offsets_[part] = end;
            end += bytes(part);
        }
        llvm::Constant *content =
            llvm::ConstantStruct::getAnon(module_.getContext(), parts, /*Packed=*/true);
        table_ = new llvm::GlobalVariable(module_, content->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage, content, "constants");
        table_->setAlignment(llvm::Align(kAlignment));
    }

    [[nodiscard]] llvm::Value *load(llvm::Constant &constant, llvm::Instruction &user) const {
        llvm::IRBuilder<> b(&user);
        llvm::Constant *part = stored_part(constant);
        const std::uint64_t offset = offsets_.lookup(part);
        const std::uint64_t alignment =
            offset == 0 ? kAlignment : std::min(kAlignment, offset & (~offset + 1));
        llvm::LoadInst *loaded = b.CreateAlignedLoad(
            part->getType(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), table_, offset),
            llvm::Align(alignment));
        loaded->setMetadata(llvm::LLVMContext::MD_invariant_load,
                            llvm::MDNode::get(module_.getContext(), {}));
        if (part == &constant)
            return loaded;
        const auto *vector = llvm::cast<llvm::FixedVectorType>(constant.getType());
        return b.CreateVectorSplat(vector->getNumElements(), loaded);
    }

  private:
    static constexpr std::uint64_t kAlignment = 64;

    llvm::Module &module_;
    llvm::MapVector<llvm::Constant *, std::uint64_t> offsets_;
    llvm::GlobalVariable *table_ = nullptr;
};

} // namespace

bool tabulate_constants(llvm::Module &module) {
    Table table(module);
    for_each_constant(module, [&](llvm::Use &, llvm::Constant &constant) { table.add(constant); });
    if (table.size() < kMany)
        return false;
    table.lay_out();
    std::vector<llvm::Use *> uses;
    for_each_constant(module, [&](llvm::Use &use, llvm::Constant &) { uses.push_back(&use); });
    for (llvm::Use *use : uses)
        use->set(table.load(*llvm::cast<llvm::Constant>(use->get()),
                            *llvm::cast<llvm::Instruction>(use->getUser())));
    return true;
}

} // namespace softcuda::jit
