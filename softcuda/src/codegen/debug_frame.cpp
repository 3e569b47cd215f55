// debug_frame.cpp -- the variable for a debugger, and where DWARF finds the others.
#include "codegen/debug_frame.h"

#include "codegen/source_lines.h"
#include "codegen/warp_emitter.h"

#include <llvm/BinaryFormat/Dwarf.h>

#include <algorithm>

namespace softcuda::codegen {

namespace {

namespace op = llvm::dwarf;

// Offsets in the variable. Bytes.
constexpr std::uint64_t kLocal = 0, kShared = 8, kSymbols = 16, kParams = 24, kThreads = 32,
                        kLane = 40, kMask = 44, kWarp = 48, kBlockIndex = 52, kGridSize = 64,
                        kBlockSize = 76, kHomes = 128;
constexpr std::uint64_t kThreadIndexBytes = 12;

bool fits_register(std::uint64_t bytes) {
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

} // namespace

DebugFrame::DebugFrame(KernelEmitter &kernel, llvm::Value *warp)
    : kernel_(kernel), lines_(kernel.code.lines), source_(*kernel.plan.function.debug) {
    std::uint64_t size = kHomes;
    for (const ir::DebugVariable &variable : source_.variables) {
        const std::uint64_t bytes = source_.bytes_of(variable.type);
        const bool has_home = variable.in_registers() && fits_register(bytes);
        homes_.emplace_back(size, has_home ? bytes : 0);
        size += has_home ? (bytes * kLanes + 63) / 64 * 64 : 0;
    }
    frame_ =
        kernel.frame.stack_slot(llvm::ArrayType::get(kernel.builder.getInt8Ty(), size), "__warp");
    frame_->setAlignment(llvm::Align(64));
    kernel.builder.CreateMemSet(frame_, kernel.builder.getInt8(0), size, llvm::Align(64));
    fill(warp);
    declare_all();
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
    store(b.CreateGEP(b.getInt8Ty(), known.local, local), kLocal);
    store(known.shared, kShared);
    store(known.symbols, kSymbols);
    store(known.params, kParams);
    store(thread_table(), kThreads);
    store(warp, kWarp);
    for (std::uint64_t d = 0; d < 3; ++d) {
        store(known.block[d], kBlockIndex + 4 * d);
        store(known.grid[d], kGridSize + 4 * d);
        store(b.getInt32(kernel_.plan.launch.block[d]), kBlockSize + 4 * d);
    }
}

llvm::Constant *DebugFrame::thread_table() {
    const auto &block = kernel_.plan.launch.block;
    std::vector<std::uint32_t> words;
    for (std::uint32_t z = 0; z < block[2]; ++z)
        for (std::uint32_t y = 0; y < block[1]; ++y)
            for (std::uint32_t x = 0; x < block[0]; ++x)
                words.insert(words.end(), {x, y, z});
    // Lanes without a thread read on.
    words.resize(words.size() + std::size_t{3} * kLanes);
    return kernel_.code.constant(llvm::ConstantDataArray::get(kernel_.code.context, words),
                                 "threads");
}

// A lane that does not take part is no good choice.
void DebugFrame::set_mask(WarpEmitter &w, llvm::Value *mask) {
    llvm::Value *bits = w.bits_of(mask);
    store(bits, kMask);
    llvm::Value *chosen = w.b.CreateLoad(w.b.getInt32Ty(), member(kLane));
    llvm::Value *is_active = w.b.CreateTrunc(w.b.CreateLShr(bits, chosen), w.b.getInt1Ty());
    llvm::Value *first = w.b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, w.b.getFalse());
    first = w.b.CreateAnd(first, w.i32(kLanes - 1)); // no lane at all
    store(w.b.CreateSelect(is_active, chosen, first), kLane);
}

void DebugFrame::set_value(WarpEmitter &w, const ir::Instruction &i) {
    const auto [home, bytes] = homes_.at(i.attributes.symbol);
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

// ---- what DWARF says ----------------------------------------------------------------------------
//
// Expressions begin with the variable's address on the stack.

void DebugFrame::declare_all() {
    llvm::DIFile *file = lines_.file(source_.file);
    // Pointers first: the words begin behind them.
    declare("__warp", lines_.types().words("__warp_state", {"lane", "mask", "warp"}, file),
            {op::DW_OP_plus_uconst, kLane});
    declare_coordinates();
    declare_shared();
    for (std::size_t i = 0; i < source_.variables.size(); ++i)
        declare_source_variable(source_.variables[i], i);
    if (source_.variables.empty())
        declare_parameters();
}

void DebugFrame::declare_coordinates() {
    llvm::DIFile *file = lines_.file(source_.file);
    llvm::DIType *index = lines_.types().words("uint3", {"x", "y", "z"}, file);
    llvm::DIType *extent = lines_.types().words("dim3", {"x", "y", "z"}, file);
    declare("blockIdx", index, {op::DW_OP_plus_uconst, kBlockIndex});
    declare("gridDim", extent, {op::DW_OP_plus_uconst, kGridSize});
    declare("blockDim", extent, {op::DW_OP_plus_uconst, kBlockSize});
    // table + (warp * 32 + lane) * 12
    declare("threadIdx", index,
            {op::DW_OP_dup,
             op::DW_OP_plus_uconst,
             kThreads,
             op::DW_OP_deref,
             op::DW_OP_swap,
             op::DW_OP_dup,
             op::DW_OP_plus_uconst,
             kWarp,
             op::DW_OP_deref_size,
             4,
             op::DW_OP_constu,
             kLanes,
             op::DW_OP_mul,
             op::DW_OP_swap,
             op::DW_OP_plus_uconst,
             kLane,
             op::DW_OP_deref_size,
             4,
             op::DW_OP_plus,
             op::DW_OP_constu,
             kThreadIndexBytes,
             op::DW_OP_mul,
             op::DW_OP_plus});
}

// NVRTC does not describe them: they are bytes here, to be cast.
void DebugFrame::declare_shared() {
    for (const ir::LocalVariable &variable : kernel_.plan.function.variables) {
        const std::string name = ir::plain_name(variable.name);
        const bool known = std::ranges::any_of(
            source_.variables, [&](const ir::DebugVariable &v) { return v.name == name; });
        if (variable.space == ir::Space::Shared && !known)
            declare(name, lines_.types().bytes(variable.size),
                    {op::DW_OP_plus_uconst, kShared, op::DW_OP_deref, op::DW_OP_plus_uconst,
                     variable.offset});
    }
}

// Without -G: bits of the parameters, by number.
void DebugFrame::declare_parameters() {
    const auto &parameters = kernel_.plan.function.parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i)
        declare("param" + std::to_string(i),
                fits_register(parameters[i].size)
                    ? lines_.types().unsigned_integer(parameters[i].size)
                    : lines_.types().bytes(parameters[i].size),
                {op::DW_OP_plus_uconst, kParams, op::DW_OP_deref, op::DW_OP_plus_uconst,
                 parameters[i].offset});
}

void DebugFrame::declare_source_variable(const ir::DebugVariable &variable, std::size_t number) {
    const auto where = place_of(variable, number);
    if (!where || !source_.types)
        return;
    llvm::DIType *type =
        lines_.types().type(*source_.types, variable.type, lines_.file(source_.file));
    if (type)
        declare(variable.name, type, *where, &variable);
}

std::optional<DebugFrame::Operations> DebugFrame::place_of(const ir::DebugVariable &variable,
                                                           std::size_t number) const {
    const auto [home, bytes] = homes_.at(number);
    if (bytes != 0) // home + lane * bytes
        return Operations{op::DW_OP_dup,
                          op::DW_OP_plus_uconst,
                          kLane,
                          op::DW_OP_deref_size,
                          4,
                          op::DW_OP_constu,
                          bytes,
                          op::DW_OP_mul,
                          op::DW_OP_plus,
                          op::DW_OP_plus_uconst,
                          home};
    const ir::DebugPlace &place = variable.places.front();
    if (place.kind != ir::DebugPlace::Kind::Memory)
        return std::nullopt;
    if (place.symbol != ir::kNoDebugIndex)
        return Operations{op::DW_OP_plus_uconst, kSymbols,           op::DW_OP_deref,
                          op::DW_OP_plus_uconst, place.symbol * 8ul, op::DW_OP_deref,
                          op::DW_OP_plus_uconst, place.offset};
    for (const ir::LocalVariable &memory : kernel_.plan.function.variables) {
        if (memory.name != place.name)
            continue;
        if (memory.space == ir::Space::Shared)
            return Operations{op::DW_OP_plus_uconst, kShared, op::DW_OP_deref,
                              op::DW_OP_plus_uconst, memory.offset + place.offset};
        // local + lane * stride + offset
        return Operations{op::DW_OP_dup,
                          op::DW_OP_deref,
                          op::DW_OP_swap,
                          op::DW_OP_plus_uconst,
                          kLane,
                          op::DW_OP_deref_size,
                          4,
                          op::DW_OP_constu,
                          kernel_.plan.local_stride,
                          op::DW_OP_mul,
                          op::DW_OP_plus,
                          op::DW_OP_plus_uconst,
                          memory.offset + place.offset};
    }
    return std::nullopt;
}

void DebugFrame::declare(const std::string &name, llvm::DIType *type, const Operations &where,
                         const ir::DebugVariable *variable) {
    llvm::DIBuilder &builder = lines_.builder();
    llvm::DILocalScope *scope = lines_.scope(variable ? variable->scope : 0);
    llvm::DIFile *file = lines_.file(variable ? variable->file : source_.file);
    const unsigned line = variable ? variable->line : 0;
    llvm::DILocalVariable *made =
        variable && variable->parameter
            ? builder.createParameterVariable(scope, name, ++parameters_, file, line, type, true)
            : builder.createAutoVariable(scope, name, file, line, type, true);
    builder.insertDeclare(frame_, made, builder.createExpression(where),
                          llvm::DILocation::get(scope->getContext(), line, 0, scope),
                          kernel_.builder.GetInsertBlock());
}

} // namespace softcuda::codegen
