// jit_test.cpp -- compiles, loads and caches machine code.
#include "check.h"

#include "compiler/pipeline.h"
#include "jit/code.h"
#include "jit/constant_table.h"
#include "jit/frame_bytes.h"
#include "jit/keep_signalling_nans.h"
#include "jit/llvm.h"
#include "jit/object_cache.h"
#include "jit/optimize.h"
#include "jit/strip_code.h"
#include "jit/target.h"

#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>

using namespace softcuda;
namespace fs = std::filesystem;

namespace {

float doubled(float x) { return x + x; }

/// A module with one function, `kernel`, and a builder at the start of its only basic block.
struct TestKernel {
    TestKernel(const jit::Target &target, bool has_pointer) : builder(context) {
        target.apply(module);
        llvm::SmallVector<llvm::Type *, 1> parameters;
        if (has_pointer)
            parameters.push_back(builder.getPtrTy());
        kernel =
            llvm::Function::Create(llvm::FunctionType::get(builder.getVoidTy(), parameters, false),
                                   llvm::Function::ExternalLinkage, "kernel", module);
        target.apply(*kernel);
        builder.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", kernel));
    }
    llvm::LLVMContext context;
    llvm::Module module{"test", context};
    llvm::IRBuilder<> builder;
    llvm::Function *kernel;
};

/// void kernel(float *p): p[0..31] = fma(p, p, doubled(1.5)).
std::vector<char> compile_kernel(const jit::Target &target) {
    TestKernel made(target, /*has_pointer=*/true);
    auto &[context, module, builder, kernel] = made;
    llvm::Type *f32 = builder.getFloatTy();
    const llvm::FunctionCallee callee = module.getOrInsertFunction("doubled", f32, f32);
    llvm::Value *three = builder.CreateCall(callee, {llvm::ConstantFP::get(f32, 1.5)});
    auto *vector = llvm::FixedVectorType::get(f32, 32);
    llvm::Value *x = builder.CreateAlignedLoad(vector, kernel->getArg(0), llvm::Align(4));
    llvm::Value *y = builder.CreateIntrinsic(llvm::Intrinsic::fma, {vector},
                                             {x, x, builder.CreateVectorSplat(32, three)});
    builder.CreateAlignedStore(y, kernel->getArg(0), llvm::Align(4));
    builder.CreateRetVoid();
    jit::require_valid(module, "from the test");
    jit::optimize(module, target, compiler::llvm_passes(module));
    return jit::emit_object(module, target);
}

/// void kernel(): a local variable of `bytes` bytes.
std::vector<char> compile_frame(const jit::Target &target, std::uint64_t bytes) {
    TestKernel made(target, /*has_pointer=*/false);
    auto &[context, module, builder, kernel] = made;
    llvm::Value *variable = builder.CreateAlloca(llvm::ArrayType::get(builder.getInt8Ty(), bytes));
    builder.CreateCall(module.getOrInsertFunction("use", builder.getVoidTy(), builder.getPtrTy()),
                       {variable});
    builder.CreateRetVoid();
    jit::require_valid(module, "from the test");
    jit::optimize(module, target, compiler::llvm_passes(module));
    return jit::emit_object(module, target);
}

/// void kernel(float *p): adds p[32..63] to p[0..31], `count` times. Before this it sets
/// `variables` local variables of 128 bytes.
std::vector<char> compile_many(const jit::Target &target, int count, int variables) {
    TestKernel made(target, /*has_pointer=*/true);
    auto &[context, module, builder, kernel] = made;
    auto *vector = llvm::FixedVectorType::get(builder.getFloatTy(), 32);
    for (int i = 0; i < variables; ++i)
        builder.CreateStore(llvm::Constant::getNullValue(vector), builder.CreateAlloca(vector));
    llvm::Value *x = builder.CreateAlignedLoad(vector, kernel->getArg(0), llvm::Align(4));
    llvm::Value *y = builder.CreateAlignedLoad(
        vector, builder.CreateConstGEP1_32(vector, kernel->getArg(0), 1), llvm::Align(4));
    for (int i = 0; i < count; ++i)
        x = builder.CreateFAdd(x, y);
    builder.CreateAlignedStore(x, kernel->getArg(0), llvm::Align(4));
    builder.CreateRetVoid();
    return jit::emit_object(module, target);
}

void test_large_functions_are_compiled_without_optimisation() {
    constexpr int kMany = 110'000, kVariables = 1000;
    const jit::Target target = jit::Target::from_environment();
    const std::vector<char> object = compile_many(target, kMany, kVariables);
    CHECK(jit::frame_bytes(object) >= std::uint64_t{kVariables} * 128);
    const jit::Code code(object, {});
    float values[64] = {};
    for (int i = 0; i < 32; ++i) {
        values[i] = static_cast<float>(i);
        values[32 + i] = 2;
    }
    code.find_as<void (*)(float *)>("kernel")(values);
    for (int i = 0; i < 32; ++i)
        CHECK(values[i] == static_cast<float>(i + 2 * kMany));
}

/// void kernel(uint32_t *p): p[0..31] in `steps` steps, each with constants of its own.
void make_steps(TestKernel &made, std::uint32_t steps) {
    auto &builder = made.builder;
    auto *vector = llvm::FixedVectorType::get(builder.getInt32Ty(), 32);
    llvm::Value *x = builder.CreateAlignedLoad(vector, made.kernel->getArg(0), llvm::Align(4));
    for (std::uint32_t step = 1; step <= steps; ++step) {
        llvm::SmallVector<std::uint32_t, 32> lanes;
        for (std::uint32_t lane = 0; lane < 32; ++lane)
            lanes.push_back(step * lane);
        x = builder.CreateAdd(x, llvm::ConstantDataVector::get(made.context, lanes));
        x = builder.CreateXor(x,
                              builder.CreateVectorSplat(32, builder.getInt32(step * 2654435761U)));
    }
    builder.CreateAlignedStore(x, made.kernel->getArg(0), llvm::Align(4));
    builder.CreateRetVoid();
}

std::size_t count_constants(const llvm::Function &function) {
    std::size_t count = 0;
    for (const llvm::BasicBlock &block : function)
        for (const llvm::Instruction &instruction : block)
            if (instruction.isBinaryOp())
                count += std::size_t{llvm::isa<llvm::Constant>(instruction.getOperand(1))};
    return count;
}

// LLVM compares each constant of a function with all constants before.
void test_many_constants_are_loaded_from_a_table(const jit::Target &target) {
    constexpr std::uint32_t kFew = 20, kMany = 400;
    TestKernel few(target, /*has_pointer=*/true), many(target, /*has_pointer=*/true);
    make_steps(few, kFew);
    CHECK(!jit::tabulate_constants(few.module));
    CHECK(count_constants(*few.kernel) == 2 * kFew);
    make_steps(many, kMany);
    CHECK(jit::tabulate_constants(many.module));
    CHECK(count_constants(*many.kernel) == 0);
    CHECK(many.module.global_size() == 1);
    jit::require_valid(many.module, "with a table of constants");

    const jit::Code code(jit::emit_object(many.module, target), {});
    std::uint32_t values[32] = {};
    code.find_as<void (*)(std::uint32_t *)>("kernel")(values);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
        std::uint32_t expected = 0;
        for (std::uint32_t step = 1; step <= kMany; ++step)
            expected = (expected + step * lane) ^ (step * 2654435761U);
        CHECK(values[lane] == expected);
    }
}

void test_sizes_of_frames_are_known() {
    const jit::Target target = jit::Target::from_environment();
    constexpr std::uint64_t kLarge = 3 << 20, kSmall = 100;
    CHECK(jit::frame_bytes(compile_frame(target, kLarge)) >= kLarge);
    CHECK(jit::frame_bytes(compile_frame(target, kLarge)) < kLarge + 4096);
    CHECK(jit::frame_bytes(compile_frame(target, kSmall)) < 4096);
    CHECK(jit::frame_bytes(compile_kernel(target)) < 4096);
    CHECK(jit::frame_bytes({}) == 0);
    const std::string garbage = "\x7f"
                                "ELF and no more";
    CHECK(jit::frame_bytes(garbage) == 0);
}

void run_kernel(const jit::Target &target) {
    const jit::RuntimeFunction functions[] = {{"doubled", reinterpret_cast<void *>(&doubled)}};
    const jit::Code code(compile_kernel(target), functions);
    CHECK(code.find("nothing") == nullptr);
    const auto kernel = code.find_as<void (*)(float *)>("kernel");
    CHECK(kernel != nullptr);
    const auto *at = reinterpret_cast<const std::byte *>(kernel);
    CHECK(at >= code.range().data() && at < code.range().data() + code.range().size());
    float values[32];
    for (int i = 0; i < 32; ++i)
        values[i] = static_cast<float>(i);
    kernel(values);
    for (int i = 0; i < 32; ++i)
        CHECK(values[i] == static_cast<float>(i * i + 3));
}

// LLVM may put the operands of a comparison of halves in the wrong order (widen_half_compares.h).
void test_halves_are_compared_as_floats() {
    llvm::LLVMContext context;
    llvm::Module module("test", context);
    const jit::Target target;
    target.apply(module);
    llvm::IRBuilder<> builder(context);
    auto *halves = llvm::FixedVectorType::get(builder.getHalfTy(), 32);
    auto *answers = llvm::FixedVectorType::get(builder.getInt1Ty(), 32);
    auto *type = llvm::FunctionType::get(answers, {halves, halves}, false);
    auto *function =
        llvm::Function::Create(type, llvm::Function::ExternalLinkage, "compare", module);
    target.apply(*function);
    builder.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
    llvm::Value *less = builder.CreateFCmpOLT(function->getArg(0), function->getArg(1));
    llvm::Value *same = builder.CreateFCmpOEQ(function->getArg(0), function->getArg(1));
    builder.CreateRet(builder.CreateXor(less, same));
    jit::require_valid(module, "from the test");
    jit::optimize(module, target, compiler::llvm_passes(module));
    int floats = 0, of_halves = 0;
    for (const llvm::Instruction &i : function->getEntryBlock())
        if (const auto *compare = llvm::dyn_cast<llvm::FCmpInst>(&i)) {
            const bool narrow = compare->getOperand(0)->getType() == halves;
            CHECK(narrow == (compare->getPredicate() == llvm::CmpInst::FCMP_OEQ));
            ++(narrow ? of_halves : floats);
        }
    CHECK(floats == 1 && of_halves == 1);
}

// Where the processor's minimum changes signalling NaNs, it is not used (keep_signalling_nans.h).
void test_choices_of_numbers_become_choices_of_bits() {
    llvm::LLVMContext context;
    llvm::Module module("test", context);
    llvm::IRBuilder<> b(context);
    auto *singles = llvm::FixedVectorType::get(b.getFloatTy(), 4);
    auto *type = llvm::FunctionType::get(singles, {singles}, false);
    auto *function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "f", module);
    b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
    llvm::Value *x = function->getArg(0), *one = llvm::ConstantFP::get(singles, 1);
    llvm::Value *lower = b.CreateSelect(b.CreateFCmpOLT(x, one), x, one);
    b.CreateRet(b.CreateSelect(b.CreateFCmpOGT(x, lower), x, lower)); // never a maximum
    llvm::FunctionAnalysisManager none;
    jit::KeepSignallingNansPass().run(*function, none);
    jit::require_valid(module, "after the pass");
    unsigned numbers = 0, bits = 0;
    for (const llvm::Instruction &i : function->getEntryBlock())
        if (llvm::isa<llvm::SelectInst>(i))
            ++(i.getType() == singles ? numbers : bits);
    CHECK(numbers == 1 && bits == 1);
}

/// Runs promote-slots alone over a function with one loop and a branch in it:
///
///     do { if (c) changed = 20; swap(first, second); } while (c);
///     return changed + kept + first + second;
///
/// `kept` needs no phi, although it is live in the loop.
void test_slots_become_values() {
    llvm::LLVMContext context;
    llvm::Module module("test", context);
    const jit::Target target;
    target.apply(module);
    llvm::IRBuilder<> b(context);
    llvm::Type *word = b.getInt32Ty();
    auto *type = llvm::FunctionType::get(word, {b.getInt1Ty()}, false);
    auto *function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "f", module);
    const auto block = [&](const char *name) {
        return llvm::BasicBlock::Create(context, name, function);
    };
    llvm::BasicBlock *entry = block("entry"), *loop = block("loop"), *then = block("then"),
                     *join = block("join"), *end = block("end"), *unreachable = block("no");
    b.SetInsertPoint(entry);
    llvm::AllocaInst *changed = b.CreateAlloca(word), *kept = b.CreateAlloca(word),
                     *first = b.CreateAlloca(word), *second = b.CreateAlloca(word),
                     *passed_on = b.CreateAlloca(word);
    unsigned number = 1;
    for (llvm::AllocaInst *slot : {changed, kept, first, second, passed_on})
        b.CreateStore(b.getInt32(number++), slot);
    b.CreateBr(loop);
    b.SetInsertPoint(loop);
    b.CreateCondBr(function->getArg(0), then, join);
    b.SetInsertPoint(then);
    b.CreateStore(b.getInt32(20), changed);
    b.CreateBr(join);
    b.SetInsertPoint(join);
    llvm::Value *old = b.CreateLoad(word, first);
    b.CreateStore(b.CreateLoad(word, second), first);
    b.CreateStore(old, second);
    b.CreateCondBr(function->getArg(0), loop, end);
    b.SetInsertPoint(unreachable);
    b.CreateStore(b.getInt32(7), kept);
    b.CreateBr(end);
    b.SetInsertPoint(end);
    llvm::Value *sum = b.CreateLoad(word, changed);
    for (llvm::AllocaInst *slot : {kept, first, second})
        sum = b.CreateAdd(sum, b.CreateLoad(word, slot));
    const llvm::FunctionCallee use = module.getOrInsertFunction("use", b.getVoidTy(), b.getPtrTy());
    b.CreateCall(use, {passed_on});
    b.CreateRet(sum);

    const jit::LlvmPass pass{"promote-slots", jit::add_promote_slots};
    jit::require_valid(module, "from the test");
    jit::optimize(module, target, std::span(&pass, 1));
    CHECK(!llvm::verifyModule(module));
    unsigned slots = 0, phis = 0;
    for (const llvm::BasicBlock &one : *function)
        for (const llvm::Instruction &i : one) {
            slots += llvm::isa<llvm::AllocaInst>(i) ? 1 : 0;
            phis += llvm::isa<llvm::PHINode>(i) ? 1 : 0;
        }
    CHECK(slots == 1); // whose address is passed on
    // Of `changed` in the loop and at the join, of `first` and `second` in the loop.
    CHECK(phis == 4);
}

// Instruction selection must see, in the gather's basic block, that the offsets are small.
void test_constant_offsets_stay_with_their_gather() {
    llvm::LLVMContext context;
    llvm::Module module("test", context);
    const jit::Target target;
    target.apply(module);
    llvm::IRBuilder<> b(context);
    auto *words = llvm::FixedVectorType::get(b.getInt32Ty(), 32);
    auto *type =
        llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy(), b.getInt64Ty()}, false);
    auto *function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "sum", module);
    target.apply(*function);
    auto *entry = llvm::BasicBlock::Create(context, "entry", function);
    auto *loop = llvm::BasicBlock::Create(context, "loop", function);
    auto *end = llvm::BasicBlock::Create(context, "end", function);
    b.SetInsertPoint(entry);
    b.CreateBr(loop);
    b.SetInsertPoint(loop);
    llvm::PHINode *i = b.CreatePHI(b.getInt64Ty(), 2), *sum = b.CreatePHI(words, 2);
    llvm::SmallVector<std::uint64_t, 32> offsets;
    for (std::uint64_t lane = 0; lane < 32; ++lane)
        offsets.push_back(lane * 40);
    llvm::Value *start = b.CreateGEP(b.getInt8Ty(), function->getArg(0), b.CreateShl(i, 11));
    llvm::Value *places =
        b.CreateGEP(b.getInt8Ty(), start, llvm::ConstantDataVector::get(context, offsets));
    llvm::Value *next_sum = b.CreateAdd(sum, b.CreateMaskedGather(words, places, llvm::Align(4)));
    llvm::Value *next = b.CreateAdd(i, b.getInt64(1));
    i->addIncoming(b.getInt64(0), entry);
    i->addIncoming(next, loop);
    sum->addIncoming(llvm::Constant::getNullValue(words), entry);
    sum->addIncoming(next_sum, loop);
    b.CreateCondBr(b.CreateICmpULT(next, function->getArg(2)), loop, end);
    b.SetInsertPoint(end);
    b.CreateAlignedStore(next_sum, function->getArg(1), llvm::Align(4));
    b.CreateRetVoid();
    jit::require_valid(module, "from the test");
    jit::optimize(module, target, compiler::llvm_passes(module));
    int gathers = 0;
    for (const llvm::BasicBlock &block : *function)
        for (const llvm::Instruction &instruction : block) {
            const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
            if (!call || call->getIntrinsicID() != llvm::Intrinsic::masked_gather)
                continue;
            const auto *at = llvm::cast<llvm::GetElementPtrInst>(call->getArgOperand(0));
            CHECK(at->getParent() == &block);
            CHECK(!at->getPointerOperandType()->isVectorTy());
            CHECK(llvm::isa<llvm::Constant>(at->getOperand(1)));
            ++gathers;
        }
    CHECK(gathers == 1);
}

void test_every_instruction_set() {
    for (const target::Level &level : target::levels()) {
        const std::string isa(level.name);
        setenv("SOFTCUDA_ISA", isa.c_str(), 1);
        try {
            run_kernel(jit::Target::from_environment());
        } catch (const std::runtime_error &error) {
            std::printf("skipped %s: %s\n", isa.c_str(),
                        error.what()); // not supported by this machine
            CHECK(isa == "avx512" || isa == "avx2");
        }
    }
    CHECK(jit::Target(target::levels().back().name).key() != jit::Target().key());
    setenv("SOFTCUDA_ISA", "mmx", 1);
    std::string message;
    try {
        jit::Target::from_environment();
    } catch (const std::runtime_error &error) {
        message = error.what();
    }
    CHECK(message.starts_with("SOFTCUDA_ISA is 'mmx', expected native"));
    unsetenv("SOFTCUDA_ISA");
}

std::string load_error(std::span<const char> object) {
    try {
        const jit::Code code(object, {});
    } catch (const std::runtime_error &error) {
        return error.what();
    }
    return "";
}

void test_bad_objects() {
    const std::vector<char> object = compile_kernel(jit::Target());
    CHECK(load_error(object).find("'doubled'") != std::string::npos);
    CHECK(!load_error(std::span(object).first(100)).empty());
    CHECK(!load_error(std::string("not an object")).empty());
    CHECK(!load_error({}).empty());
}

void test_loading_in_many_threads() {
    const std::vector<char> object = compile_kernel(jit::Target());
    const jit::RuntimeFunction functions[] = {{"doubled", reinterpret_cast<void *>(&doubled)}};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 50; ++i) {
                jit::Code code(object, functions);
                float values[32] = {};
                code.find_as<void (*)(float *)>("kernel")(values);
                CHECK(values[31] == 3);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
}

// Each loaded kernel keeps its object for its line table.
void test_objects_without_code_are_small() {
    const std::vector<char> object = compile_many(jit::Target(), 5000, 0);
    const std::vector<char> stripped = jit::without_code(object);
    CHECK(object.size() > 20'000 && stripped.size() < 2000);
    CHECK(jit::frame_bytes(stripped) == jit::frame_bytes(object));
    CHECK(jit::without_code(stripped) == stripped);
    for (const std::size_t length : {object.size() - 1, std::size_t{100}, std::size_t{0}}) {
        const auto damaged = std::span(object).first(length);
        CHECK(std::ranges::equal(jit::without_code(damaged), damaged));
    }
}

int count_mappings() {
    std::ifstream maps("/proc/self/maps");
    return static_cast<int>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
}

// The system allows 65,530 mappings. With three for each kernel, 20,000 kernels were too many.
void test_kernels_share_mappings() {
    constexpr int kKernels = 300;
    const std::vector<char> object = compile_kernel(jit::Target());
    const jit::RuntimeFunction functions[] = {{"doubled", reinterpret_cast<void *>(&doubled)}};
    std::vector<jit::Code> kernels;
    kernels.reserve(kKernels);
    kernels.emplace_back(object, functions);
    const int before = count_mappings();
    while (kernels.size() < kKernels)
        kernels.emplace_back(object, functions);
    CHECK(count_mappings() < before + kKernels / 10);
    for (const jit::Code &kernel : kernels) {
        float values[32] = {};
        kernel.find_as<void (*)(float *)>("kernel")(values);
        CHECK(values[31] == 3);
    }
    // Later kernels get the pages of freed ones.
    std::vector<const std::byte *> freed;
    for (int i = 0; i < kKernels; i += 2) {
        freed.push_back(kernels.at(static_cast<std::size_t>(i)).range().data());
        kernels.at(static_cast<std::size_t>(i)) = jit::Code(object, functions);
    }
    int reused = 0;
    for (const jit::Code &kernel : kernels)
        reused += std::ranges::count(freed, kernel.range().data()) > 0 ? 1 : 0;
    CHECK(reused > kKernels / 4);
}

// The cache.

struct Folder {
    fs::path path = fs::temp_directory_path() / ("softcuda-cache-test." + std::to_string(getpid()));
    Folder() { fs::remove_all(path); }
    ~Folder() { fs::remove_all(path); }

    fs::path only_file() const {
        CHECK(std::distance(fs::directory_iterator(path), {}) == 1);
        return fs::directory_iterator(path)->path();
    }
};

bool holds(const jit::ObjectCache &cache, std::string_view key, std::string_view object) {
    const std::optional<std::vector<char>> found = cache.load(key);
    return found && std::string_view(found->data(), found->size()) == object;
}

void test_cache_keeps_entries() {
    const Folder folder;
    const jit::ObjectCache cache(folder.path / "deep");
    CHECK(!cache.load("key"));
    cache.store("key", std::string("object"));
    cache.store("empty", {});
    CHECK(holds(cache, "key", "object"));
    CHECK(holds(cache, "empty", ""));
    CHECK(!cache.load("other"));
    cache.store("key", std::string("newer"));
    CHECK(holds(jit::ObjectCache(folder.path / "deep"), "key", "newer"));
}

void test_damaged_entries_are_misses() {
    const Folder folder;
    const jit::ObjectCache cache(folder.path);
    const std::string object(1000, 'x');
    cache.store("key", object);
    const fs::path file = folder.only_file();
    const std::uintmax_t size = fs::file_size(file);
    for (std::uintmax_t at = 0; at < size; at += 7) {
        std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
        stream.seekg(static_cast<std::streamoff>(at));
        const char old = static_cast<char>(stream.get());
        stream.seekp(static_cast<std::streamoff>(at));
        stream.put(static_cast<char>(old ^ 0x10)).flush();
        CHECK(!cache.load("key"));
        stream.seekp(static_cast<std::streamoff>(at));
        stream.put(old);
    }
    CHECK(holds(cache, "key", object));
    for (const std::uintmax_t length : {size - 1, size / 2, std::uintmax_t{8}, std::uintmax_t{0}}) {
        fs::resize_file(file, length);
        CHECK(!cache.load("key"));
    }
    cache.store("key", object);
    CHECK(holds(cache, "key", object));
}

void test_cache_is_trimmed_by_use() {
    const Folder folder;
    const jit::ObjectCache cache(folder.path, 100'000);
    const std::string object(10'000, 'x');
    const auto start = fs::file_time_type::clock::now() - std::chrono::hours(2);
    for (int i = 0; i < 20; ++i) {
        cache.store(std::to_string(i), object);
        for (const fs::directory_entry &entry : fs::directory_iterator(folder.path))
            if (entry.last_write_time() > start + std::chrono::hours(1))
                fs::last_write_time(entry, start + std::chrono::seconds(i));
    }
    CHECK(holds(cache, "0", object)); // so that it is the most recently used one
    cache.trim();
    std::uintmax_t total = 0;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder.path))
        total += entry.file_size();
    CHECK(total <= 75'000 && total > 50'000);
    CHECK(holds(cache, "0", object));
    CHECK(!cache.load("1"));
    CHECK(holds(cache, "19", object));
}

void test_unusable_folders_are_misses() {
    const Folder folder;
    std::ofstream(folder.path) << "a file where the folder should be";
    const jit::ObjectCache cache(folder.path);
    cache.store("key", std::string("object"));
    CHECK(!cache.load("key"));
    const jit::ObjectCache nowhere("/proc/softcuda");
    nowhere.store("key", std::string("object"));
    CHECK(!nowhere.load("key"));
    const jit::ObjectCache none;
    none.store("key", std::string("object"));
    CHECK(!none.load("key"));
}

void test_cache_environment() {
    unsetenv("SOFTCUDA_DISABLE_CACHE"); // it may be set in the environment
    setenv("SOFTCUDA_CACHE_DIR", "/a/b", 1);
    CHECK(jit::ObjectCache::from_environment().directory() == "/a/b");
    setenv("SOFTCUDA_DISABLE_CACHE", "1", 1);
    CHECK(jit::ObjectCache::from_environment().directory().empty());
    unsetenv("SOFTCUDA_DISABLE_CACHE");
    unsetenv("SOFTCUDA_CACHE_DIR");
    setenv("XDG_CACHE_HOME", "/x", 1);
    CHECK(jit::ObjectCache::from_environment().directory() == "/x/softcuda");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "/h", 1);
    CHECK(jit::ObjectCache::from_environment().directory() == "/h/.cache/softcuda");
}

} // namespace

int main() {
    test_large_functions_are_compiled_without_optimisation();
    test_many_constants_are_loaded_from_a_table(jit::Target::from_environment());
    test_sizes_of_frames_are_known();
    test_halves_are_compared_as_floats();
    test_choices_of_numbers_become_choices_of_bits();
    test_slots_become_values();
    test_constant_offsets_stay_with_their_gather();
    test_every_instruction_set();
    test_bad_objects();
    test_loading_in_many_threads();
    test_kernels_share_mappings();
    test_objects_without_code_are_small();
    test_cache_keeps_entries();
    test_damaged_entries_are_misses();
    test_cache_is_trimmed_by_use();
    test_unusable_folders_are_misses();
    test_cache_environment();
    return test::status();
}
