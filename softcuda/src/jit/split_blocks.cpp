// split_blocks.cpp -- splits very long basic blocks, for instruction selection.
#include "jit/split_blocks.h"

#include <vector>

namespace softcuda::jit {

namespace {

constexpr std::size_t kLong = 1000, kPart = 400;

void split(llvm::BasicBlock &block) {
    std::vector<llvm::Instruction *> starts;
    std::size_t length = 0;
    for (llvm::Instruction &instruction :
         llvm::make_range(behind_allocations(block), block.end())) {
        if (++length <= kPart)
            continue;
        starts.push_back(&instruction);
        length = 1;
    }
    // From the end, so that each instruction moves once.
    for (auto start = starts.rbegin(); start != starts.rend(); ++start)
        block.splitBasicBlock(*start, "part");
}

bool split_blocks_of(llvm::Function &function) {
    std::vector<llvm::BasicBlock *> blocks;
    for (llvm::BasicBlock &block : function)
        if (block.size() > kLong)
            blocks.push_back(&block);
    for (llvm::BasicBlock *block : blocks)
        split(*block);
    return !blocks.empty();
}

class SplitBlocksPass : public llvm::FunctionPass {
  public:
    static inline char ID = 0;
    SplitBlocksPass() : FunctionPass(ID) {}
    llvm::StringRef getPassName() const override { return "split long basic blocks"; }
    bool runOnFunction(llvm::Function &function) override { return split_blocks_of(function); }
};

} // namespace

llvm::BasicBlock::iterator behind_allocations(llvm::BasicBlock &block) {
    auto behind = block.getFirstNonPHIIt();
    for (auto at = behind; at != block.end(); ++at)
        if (llvm::isa<llvm::AllocaInst>(*at))
            behind = std::next(at);
    return behind;
}

void split_blocks(llvm::Module &module) {
    for (llvm::Function &function : module)
        split_blocks_of(function);
}

llvm::FunctionPass *make_split_blocks_pass() { return new SplitBlocksPass; }

} // namespace softcuda::jit
