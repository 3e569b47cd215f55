// called_blends_test.cpp -- large functions call their blends, combine masks in bytes, and become
// loops over parts of a warp.
#include "check.h"

#include "jit/code.h"
#include "jit/llvm.h"
#include "jit/optimize.h"
#include "jit/split_lanes.h"
#include "jit/target.h"
#include "target/vector_facts.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>

using namespace softcuda;

namespace {

/// A module with one function, `kernel`, and a builder at the start of its only basic block.
struct TestKernel {
    explicit TestKernel(const jit::Target &target) : builder(context) {
        target.apply(module);
        kernel = llvm::Function::Create(
            llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false),
            llvm::Function::ExternalLinkage, "kernel", module);
        target.apply(*kernel);
        builder.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", kernel));
    }
    llvm::LLVMContext context;
    llvm::Module module{"test", context};
    llvm::IRBuilder<> builder;
    llvm::Function *kernel;
};

/// void kernel(uint32_t *p): p[32..63] from p[0..31] in `steps` steps, each of which blends a value
/// in memory under a mask of two conditions, and branches on it. p[64..71] are bytes: -1 in the
/// lanes whose own byte in memory is negative and whose value is not 4. The own bytes are no masks.
void make_blends(TestKernel &made, std::uint32_t steps) {
    auto &b = made.builder;
    auto *vector = llvm::FixedVectorType::get(b.getInt32Ty(), 32);
    auto *byte_vector = llvm::FixedVectorType::get(b.getInt8Ty(), 32);
    llvm::AllocaInst *slot = b.CreateAlloca(vector), *bytes = b.CreateAlloca(byte_vector);
    llvm::Value *x = b.CreateAlignedLoad(vector, made.kernel->getArg(0), llvm::Align(4));
    b.CreateStore(x, slot, /*isVolatile=*/true);
    auto everywhere = [&](std::uint32_t n) { return b.CreateVectorSplat(32, b.getInt32(n)); };
    auto new_block = [&] { return llvm::BasicBlock::Create(made.context, "", made.kernel); };
    for (std::uint32_t step = 0; step < steps; ++step) {
        llvm::Value *bit = b.CreateICmpEQ(b.CreateAnd(x, everywhere(1U << step % 6)),
                                          llvm::Constant::getNullValue(vector));
        llvm::Value *mask =
            b.CreateAnd(bit, b.CreateNot(b.CreateICmpULT(x, everywhere(step % 40))));
        llvm::Value *old = b.CreateLoad(vector, slot, /*isVolatile=*/true);
        llvm::Value *changed = b.CreateMul(x, everywhere(step + 3));
        b.CreateStore(b.CreateSelect(mask, changed, old), slot, /*isVolatile=*/true);
        llvm::BasicBlock *none = new_block(), *next = new_block();
        b.CreateCondBr(b.CreateICmpNE(b.CreateBitCast(mask, b.getInt32Ty()), b.getInt32(0)), next,
                       none);
        b.SetInsertPoint(none);
        llvm::Value *now = b.CreateLoad(vector, slot, /*isVolatile=*/true);
        b.CreateStore(b.CreateAdd(now, everywhere(step)), slot, /*isVolatile=*/true);
        b.CreateBr(next);
        b.SetInsertPoint(next);
    }
    b.CreateStore(b.CreateTrunc(b.CreateMul(x, everywhere(23)), byte_vector), bytes,
                  /*isVolatile=*/true);
    llvm::Value *negative = b.CreateICmpSLT(b.CreateLoad(byte_vector, bytes, /*isVolatile=*/true),
                                            llvm::Constant::getNullValue(byte_vector));
    llvm::Value *both = b.CreateAnd(negative, b.CreateICmpNE(x, everywhere(4)));
    b.CreateAlignedStore(b.CreateSExt(both, byte_vector),
                         b.CreateConstGEP1_64(b.getInt32Ty(), made.kernel->getArg(0), 64),
                         llvm::Align(4));
    llvm::Value *result = b.CreateLoad(vector, slot, /*isVolatile=*/true);
    b.CreateAlignedStore(result, b.CreateConstGEP1_64(b.getInt32Ty(), made.kernel->getArg(0), 32),
                         llvm::Align(4));
    b.CreateRetVoid();
}

/// Runs a kernel of make_blends().
void check_results(const jit::Code &code, std::uint32_t steps) {
    std::uint32_t values[72], expected[32];
    for (std::uint32_t lane = 0; lane < 32; ++lane)
        values[lane] = expected[lane] = lane * 5 % 37;
    for (std::uint32_t step = 0; step < steps; ++step) {
        bool any = false;
        for (std::uint32_t lane = 0; lane < 32; ++lane)
            if ((values[lane] & 1U << step % 6) == 0 && values[lane] >= step % 40) {
                expected[lane] = values[lane] * (step + 3);
                any = true;
            }
        for (std::uint32_t &one : expected)
            one += any ? 0 : step;
    }
    code.find_as<void (*)(std::uint32_t *)>("kernel")(values);
    CHECK(std::equal(expected, expected + 32, values + 32));
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
        const bool is_negative = static_cast<std::int8_t>(values[lane] * 23) < 0;
        const int wanted = is_negative && values[lane] != 4 ? -1 : 0;
        CHECK(reinterpret_cast<const std::int8_t *>(values + 64)[lane] == wanted);
    }
}

void test_large_functions_call_their_blends(const jit::Target &target) {
    constexpr std::uint32_t kSteps = 505; // more basic blocks than kManyBasicBlocks
    TestKernel made(target);
    make_blends(made, kSteps);
    jit::require_valid(made.module, "from the test");
    const jit::Code code(jit::emit_object(made.module, target), {});
    // With narrower registers, the kernel becomes loops over parts, which blend in place.
    const bool is_long = 32 * 32 == 4 * target.facts().register_bits;
    const llvm::Function *blend = made.module.getFunction("blend");
    CHECK((blend != nullptr) == is_long);
    if (blend)
        CHECK(blend->hasNUses(kSteps));
    check_results(code, kSteps);
}

/// A small kernel, of which all runs of instructions become loops.
void test_loops_over_parts_compute_the_same(const jit::Target &target) {
    constexpr std::uint32_t kSteps = 20;
    TestKernel made(target);
    make_blends(made, kSteps);
    CHECK(!jit::split_lanes(*made.kernel, target));
    CHECK(jit::split_lanes(*made.kernel, target, 0) == !target.facts().masks_all());
    jit::require_valid(made.module, "after splitting");
    check_results(jit::Code(jit::emit_object(made.module, target), {}), kSteps);
}

} // namespace

int main() {
    for (const target::Level &level : target::levels())
        try {
            test_large_functions_call_their_blends(jit::Target(level.name));
            test_loops_over_parts_compute_the_same(jit::Target(level.name));
        } catch (const std::runtime_error &error) {
            std::printf("skipped: %s\n", error.what()); // not supported by this machine
            CHECK(level.name == "avx512" || level.name == "avx2");
        }
    return test::status();
}
