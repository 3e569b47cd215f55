// debug_frame.cpp -- stores pointers, coordinates, the mask and values for a debugger.
#include "codegen/debug_frame.h"

#include "codegen/warp_emitter.h"

#include <vector>

namespace softcuda::codegen {

using Variable = debug_data::WarpVariable;

DebugFrame::DebugFrame(KernelEmitter &kernel, llvm::Value *warp)
    : kernel_(kernel),
      variable_(kernel.plan.function, kernel.plan.local_stride, kernel.code.lines) {
    const std::uint64_t size = variable_.size();
    frame_ =
        kernel.frame.stack_slot(llvm::ArrayType::get(kernel.builder.getInt8Ty(), size), "__warp");
    frame_->setAlignment(llvm::Align(64));
    kernel.builder.CreateMemSet(frame_, kernel.builder.getInt8(0), size, llvm::Align(64));
    fill(warp);
    variable_.declare(frame_, kernel.builder.GetInsertBlock());
}

llvm::Value *DebugFrame::member(std::uint64_t offset) {
    return kernel_.builder.CreateConstInBoundsGEP1_64(kernel_.builder.getInt8Ty(), frame_, offset);
}

void DebugFrame::store(llvm::Value *value, std::uint64_t offset) {
    kernel_.builder.CreateStore(value, member(offset));
}

void DebugFrame::fill(llvm::Value *warp) {
    llvm::IRBuilder<> &b = kernel_.builder;
    const Invariants &known = kernel_.frame.invariants;
    llvm::Value *local = b.CreateMul(b.CreateZExt(warp, b.getInt64Ty()),
                                     b.getInt64(kernel_.plan.local_stride * kLanes));
    if (known.depth)
        local = b.CreateAdd(local, known.depth);
    store(b.CreateGEP(b.getInt8Ty(), known.local, local), Variable::kLocal);
    store(known.shared, Variable::kShared);
    store(known.symbols, Variable::kSymbols);
    store(known.params, Variable::kParams);
    store(thread_table(), Variable::kThreads);
    store(warp, Variable::kWarp);
    for (std::uint64_t d = 0; d < 3; ++d) {
        store(known.block[d], Variable::kBlockIndex + 4 * d);
        store(known.grid[d], Variable::kGridSize + 4 * d);
        store(known.extent[d], Variable::kBlockSize + 4 * d);
    }
}

llvm::Constant *DebugFrame::thread_table() {
    const auto &block = kernel_.plan.launch.block;
    std::vector<std::uint32_t> words;
    for (std::uint32_t z = 0; z < block[2]; ++z)
        for (std::uint32_t y = 0; y < block[1]; ++y)
            for (std::uint32_t x = 0; x < block[0]; ++x)
                words.insert(words.end(), {x, y, z});
    // Lanes without a thread read past the last one.
    words.resize(words.size() + std::size_t{3} * kLanes);
    return kernel_.code.constant(llvm::ConstantDataArray::get(kernel_.code.context, words),
                                 "threads");
}

// A debugger must not select an inactive lane.
void DebugFrame::set_mask(WarpEmitter &w, llvm::Value *mask) {
    llvm::Value *bits = w.bits_of(mask);
    store(bits, Variable::kMask);
    llvm::Value *chosen = w.b.CreateLoad(w.b.getInt32Ty(), member(Variable::kLane));
    llvm::Value *is_active = w.b.CreateTrunc(w.b.CreateLShr(bits, chosen), w.b.getInt1Ty());
    llvm::Value *first = w.b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, w.b.getFalse());
    first = w.b.CreateAnd(first, w.i32(kLanes - 1)); // no active lane
    store(w.b.CreateSelect(is_active, chosen, first), Variable::kLane);
}

void DebugFrame::set_value(WarpEmitter &w, const ir::Instruction &i) {
    const auto [home, bytes] = variable_.home(i.attributes.symbol);
    const ir::Type type = i.operand(0)->type;
    if (bytes == 0 || ir::bits(type) > 64)
        return;
    llvm::Value *all = w.full(i.operand(0));
    if (all->getType()->isFPOrFPVectorTy())
        all = w.b.CreateBitCast(all, with_lanes(w.b.getIntNTy(ir::bits(type)), kLanes));
    llvm::Type *stored = with_lanes(w.b.getIntNTy(static_cast<unsigned>(bytes * 8)), kLanes);
    all = w.b.CreateZExtOrTrunc(all, stored);
    llvm::Value *at = member(home);
    llvm::Value *old = w.b.CreateAlignedLoad(stored, at, llvm::Align(64));
    w.b.CreateAlignedStore(w.b.CreateSelect(w.mask(), all, old), at, llvm::Align(64));
}

} // namespace softcuda::codegen
