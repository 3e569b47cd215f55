// warp_variable.cpp -- the layout of `__warp`, and DWARF's expressions for the variables in it.
#include "debug_data/warp_variable.h"

#include "debug_data/debug_types.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DIBuilder.h>

#include <algorithm>

namespace softcuda::debug_data {

namespace {

namespace op = llvm::dwarf;

constexpr std::uint64_t kLanes = 32, kThreadIndexBytes = 12;

bool fits_register(std::uint64_t bytes) {
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

} // namespace

WarpVariable::WarpVariable(const ir::Function &function, std::uint64_t local_stride,
                           SourceLines &lines)
    : function_(function), local_stride_(local_stride), lines_(lines), source_(*function.debug) {
    for (const ir::DebugVariable &variable : source_.variables) {
        const std::uint64_t bytes = source_.bytes_of(variable.type);
        const bool has_home = variable.in_registers() && fits_register(bytes);
        homes_.push_back({.offset = size_, .bytes = has_home ? bytes : 0});
        size_ += has_home ? (bytes * kLanes + 63) / 64 * 64 : 0;
    }
}

// ---- DWARF's descriptions
// ----------------------------------------------------------------------------
//
// Expressions begin with the address of `__warp`.

void WarpVariable::declare(llvm::Value *place, llvm::BasicBlock *block) {
    place_ = place;
    block_ = block;
    llvm::DIFile *file = lines_.file(source_.file);
    // Pointers first: the words begin after them.
    declare("__warp", lines_.types().words("__warp_state", {"lane", "mask", "warp"}, file),
            {op::DW_OP_plus_uconst, kLane});
    declare_coordinates();
    declare_shared();
    for (std::size_t i = 0; i < source_.variables.size(); ++i)
        declare_source_variable(source_.variables[i], i);
    if (source_.variables.empty())
        declare_parameters();
}

void WarpVariable::declare_coordinates() {
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

// NVRTC does not describe them: they are bytes here; a user may cast them.
void WarpVariable::declare_shared() {
    for (const ir::LocalVariable &variable : function_.variables) {
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
void WarpVariable::declare_parameters() {
    const auto &parameters = function_.parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i)
        declare("param" + std::to_string(i),
                fits_register(parameters[i].size)
                    ? lines_.types().unsigned_integer(parameters[i].size)
                    : lines_.types().bytes(parameters[i].size),
                {op::DW_OP_plus_uconst, kParams, op::DW_OP_deref, op::DW_OP_plus_uconst,
                 parameters[i].offset});
}

void WarpVariable::declare_source_variable(const ir::DebugVariable &variable, std::size_t number) {
    const auto where = place_of(variable, number);
    if (!where || !source_.types)
        return;
    llvm::DIType *type =
        lines_.types().type(*source_.types, variable.type, lines_.file(source_.file));
    if (type)
        declare(variable.name, type, *where, &variable);
}

std::optional<WarpVariable::Operations> WarpVariable::place_of(const ir::DebugVariable &variable,
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
    for (const ir::LocalVariable &memory : function_.variables) {
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
                          local_stride_,
                          op::DW_OP_mul,
                          op::DW_OP_plus,
                          op::DW_OP_plus_uconst,
                          memory.offset + place.offset};
    }
    return std::nullopt;
}

void WarpVariable::declare(const std::string &name, llvm::DIType *type, const Operations &where,
                           const ir::DebugVariable *variable) {
    llvm::DIBuilder &builder = lines_.builder();
    llvm::DILocalScope *scope = lines_.scope(variable ? variable->scope : 0);
    llvm::DIFile *file = lines_.file(variable ? variable->file : source_.file);
    const unsigned line = variable ? variable->line : 0;
    llvm::DILocalVariable *made =
        variable && variable->parameter
            ? builder.createParameterVariable(scope, name, ++parameters_, file, line, type, true)
            : builder.createAutoVariable(scope, name, file, line, type, true);
    builder.insertDeclare(place_, made, builder.createExpression(where),
                          llvm::DILocation::get(scope->getContext(), line, 0, scope), block_);
}

} // namespace softcuda::debug_data
