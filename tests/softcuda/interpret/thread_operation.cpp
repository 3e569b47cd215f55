// thread_operation.cpp -- special registers, addresses, loads, stores, atomics of one thread.
#include "interpret/thread_operation.h"

#include "interpret/outcome.h"
#include "ir/float_semantics.h"
#include "ir/operation_semantics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace softcuda::interpret {

namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Space;
using ir::Special;
using Inputs = std::span<const std::uint64_t>;
using Outputs = std::span<std::uint64_t>;

std::uint64_t extended(std::uint64_t value, ir::Scalar type, unsigned width) {
    const unsigned unused = 64 - std::min(64u, std::max(ir::bits(type), 8u));
    const std::uint64_t high = value << unused;
    return cut(ir::is_signed(type)
                   ? static_cast<std::uint64_t>(static_cast<std::int64_t>(high) >> unused)
                   : high >> unused,
               width);
}

// ---- values that need no computation --------------------------------------------------------

std::uint32_t thread_index(const Thread &thread, unsigned dimension) {
    std::uint32_t rest = thread.number;
    for (unsigned d = 0; d < dimension; ++d)
        rest /= thread.launch.block[d];
    return rest % thread.launch.block[dimension];
}

std::uint32_t lanes_below(std::uint32_t lane) { return (std::uint32_t{1} << lane) - 1; }

std::uint64_t special(const Instruction &i, const Thread &t, std::uint32_t static_shared) {
    const Special which = i.attributes.special;
    auto dimension = [&](Special x) {
        return static_cast<unsigned>(which) - static_cast<unsigned>(x);
    };
    const std::uint32_t own = std::uint32_t{1} << t.lane(), below = lanes_below(t.lane());
    switch (which) {
    case Special::TidX:
    case Special::TidY:
    case Special::TidZ:
        return thread_index(t, dimension(Special::TidX));
    case Special::NtidX:
    case Special::NtidY:
    case Special::NtidZ:
        return t.launch.block.at(dimension(Special::NtidX));
    case Special::CtaidX:
    case Special::CtaidY:
    case Special::CtaidZ:
        return t.block.index.at(dimension(Special::CtaidX));
    case Special::NctaidX:
    case Special::NctaidY:
    case Special::NctaidZ:
        return t.launch.grid.at(dimension(Special::NctaidX));
    case Special::ClusterNctaidX:
    case Special::ClusterNctaidY:
    case Special::ClusterNctaidZ:
        return 1;
    case Special::ExplicitCluster:
        return 0;
    case Special::LaneId:
        return t.lane();
    case Special::LanemaskEq:
        return own;
    case Special::LanemaskLe:
        return own | below;
    case Special::LanemaskLt:
        return below;
    case Special::LanemaskGe:
        return ~below;
    case Special::LanemaskGt:
        return ~(own | below);
    case Special::WarpId:
        return t.warp();
    case Special::NwarpId:
        return t.launch.warps();
    case Special::DynamicSharedSize:
        return t.launch.dynamic_shared;
    case Special::TotalSharedSize:
        return t.launch.dynamic_shared + static_shared;
    case Special::EnvReg: // 1 and 2: the halves of the workspace's address
        return i.attributes.immediate == 1   ? t.launch.workspace >> 32
               : i.attributes.immediate == 2 ? cut(t.launch.workspace, 32)
                                             : 0;
    default:
        refuse("the special register " + std::string(ir::text(which)));
    }
}

std::uint64_t symbol_address(const Instruction &i, const Thread &t, std::uint64_t depth) {
    const ir::Attributes &a = i.attributes;
    const auto offset = static_cast<std::uint64_t>(a.offset);
    if (a.space != Space::Shared && a.space != Space::Local)
        return t.launch.symbols.at(a.symbol) + offset;
    const std::uint64_t at = i.block->function->variables.at(a.symbol).offset + offset;
    return a.space == Space::Local ? at + depth : at;
}

void load_parameter(const Instruction &i, const Thread &t, Outputs results) {
    const unsigned bytes = element_bytes(i);
    for (std::size_t n = 0; n < results.size(); ++n) {
        std::uint64_t value = 0;
        const auto at = static_cast<std::uint64_t>(i.attributes.offset) + n * bytes;
        const std::byte *from = find_bytes(t, kParameterWindow + at, bytes);
        if (!from)
            fault(i, "beyond the parameters");
        std::memcpy(&value, from, bytes);
        results[n] = extended(value, i.attributes.type, ir::bits(i.result(n)->type));
    }
}

// ---- memory ---------------------------------------------------------------------------------

/// Faults unless the bytes are there and the address is a multiple of their number.
std::byte *bytes_of(const Instruction &i, const Thread &t, std::uint64_t operand) {
    const unsigned size = access_bytes(i);
    const std::uint64_t address = generic_address(t, i, operand);
    std::byte *found = find_bytes(t, address, size);
    if (!found)
        fault(i, "thread " + std::to_string(t.number) + " accesses no memory");
    if (address % std::bit_ceil(size) != 0)
        fault(i, "thread " + std::to_string(t.number) + " accesses a misaligned address");
    return found;
}

void load(const Instruction &i, const Thread &t, Inputs operands, Outputs results) {
    const unsigned bytes = element_bytes(i);
    const std::byte *from = bytes_of(i, t, operands[0]);
    for (std::size_t n = 0; n < results.size(); ++n) {
        std::uint64_t value = 0;
        std::memcpy(&value, from + n * bytes, bytes);
        results[n] = extended(value, i.attributes.type, ir::bits(i.result(n)->type));
    }
}

void store(const Instruction &i, const Thread &t, Inputs operands) {
    const unsigned bytes = element_bytes(i);
    std::byte *to = bytes_of(i, t, operands[0]);
    for (std::size_t n = 1; n < operands.size(); ++n)
        std::memcpy(to + (n - 1) * bytes, &operands[n], bytes);
}

/// The new value that an operation of the table computes from the old one.
std::uint64_t by_table(const Instruction &i, Opcode opcode, std::uint64_t old, std::uint64_t b) {
    static thread_local ir::Function holder;
    const ir::Type type = ir::register_class(i.attributes.type);
    ir::Value *operand = holder.constant(type, 0);
    ir::Value result{.type = type};
    Instruction made;
    made.opcode = opcode;
    made.attributes.type = i.attributes.type;
    made.operands = {operand, operand};
    made.results = {&result};
    const std::array<std::uint64_t, 2> operands = {old, b};
    std::uint64_t bits = 0;
    if (!ir::compute(made, operands, std::span(&bits, 1)))
        refuse(i);
    return bits;
}

/// Sums of f32 flush denormals in global memory and not in shared memory (PTX ISA, atom).
std::uint64_t sum_of_floats(const Instruction &i, std::uint64_t address, std::uint64_t old,
                            std::uint64_t b) {
    const bool generic =
        i.attributes.type == ir::Scalar::F32 && i.attributes.space == Space::Generic;
    const bool flush = i.attributes.ftz || (generic && address - kSharedWindow >= kWindowBytes);
    const ir::Scalar element = ir::packed_element(i.attributes.type);
    const auto sum = element == ir::Scalar::None ? ir::add_floats(i.attributes.type, flush, old, b)
                                                 : std::nullopt;
    return sum ? *sum : by_table(i, Opcode::Add, old, b);
}

std::uint64_t combined(const Instruction &i, std::uint64_t address, std::uint64_t old,
                       Inputs operands) {
    const unsigned width = ir::bits(i.attributes.type);
    const std::uint64_t b = cut(operands[1], width);
    switch (i.attributes.atomic) {
    case ir::AtomicOp::Add:
        return ir::is_floating(i.attributes.type) ? sum_of_floats(i, address, old, b)
                                                  : by_table(i, Opcode::Add, old, b);
    case ir::AtomicOp::Inc:
        return old >= b ? 0 : old + 1;
    case ir::AtomicOp::Dec:
        return old == 0 || old > b ? b : old - 1;
    case ir::AtomicOp::Min:
        return by_table(i, Opcode::Min, old, b);
    case ir::AtomicOp::Max:
        return by_table(i, Opcode::Max, old, b);
    case ir::AtomicOp::And:
        return old & b;
    case ir::AtomicOp::Or:
        return old | b;
    case ir::AtomicOp::Xor:
        return old ^ b;
    case ir::AtomicOp::Exchange:
        return b;
    case ir::AtomicOp::CompareSwap:
        return old == b ? cut(operands[2], width) : old;
    default:
        refuse(i, "an arrival at an mbarrier");
    }
}

void update(const Instruction &i, const Thread &t, Inputs operands, Outputs results) {
    const unsigned bytes = element_bytes(i);
    if (i.attributes.vector > 1 || bytes > 8)
        refuse(i, "of several elements");
    std::byte *at = bytes_of(i, t, operands[0]);
    std::uint64_t old = 0;
    std::memcpy(&old, at, bytes);
    const std::uint64_t made = combined(i, generic_address(t, i, operands[0]), old, operands);
    std::memcpy(at, &made, bytes);
    if (!results.empty())
        results[0] = old;
}

/// A piece of the thread's local memory, aligned, and the start of the next one.
void allocate(const Instruction &i, const Thread &t, Inputs operands, Outputs results) {
    const std::uint64_t align = i.attributes.immediate, room = t.block.local_stride;
    results[0] = (operands[0] + align - 1) & ~(align - 1);
    results[1] = results[0] + operands[1];
    if (operands[1] > room || results[1] > room)
        fault(i, "a stack overflow");
}

// ---- the generic space ----------------------------------------------------------------------

std::uint64_t window_of(const Thread &t, Space space) {
    switch (space) {
    case Space::Shared:
        return kSharedWindow;
    case Space::Local:
        return t.local_window();
    default: // global and constant addresses are generic ones
        return 0;
    }
}

std::uint64_t to_generic(const Instruction &i, const Thread &t, std::uint64_t address) {
    const Space space = i.attributes.space;
    if (space != Space::Shared && space != Space::Local)
        return address;
    return window_of(t, space) +
           static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(address)});
}

bool is_in_space(const Instruction &i, std::uint64_t address) {
    auto inside = [&](std::uint64_t window) { return address - window < kWindowBytes; };
    switch (i.attributes.space) {
    case Space::Shared:
        return inside(kSharedWindow);
    case Space::Local:
        return inside(kLocalWindow);
    case Space::Param:
        return inside(kParameterWindow);
    case Space::Constant: // constants are ordinary device memory
        return false;
    default:
        return !inside(kSharedWindow) && !inside(kLocalWindow);
    }
}

} // namespace

unsigned element_bytes(const Instruction &i) {
    return std::max(ir::bits(i.attributes.type), 8u) / 8;
}
unsigned access_bytes(const Instruction &i) {
    return element_bytes(i) * std::max<unsigned>(i.attributes.vector, 1);
}

bool is_own_operation(const Instruction &i) {
    switch (i.opcode) {
    case Opcode::Load:
    case Opcode::Store:
    case Opcode::Atomic:
    case Opcode::Reduce:
    case Opcode::Fence:
    case Opcode::CopyGroup:
    case Opcode::DebugValue:
    case Opcode::Nanosleep:
    case Opcode::Trap:
    case Opcode::Alloca:
        return true;
    default:
        return ir::info(i.opcode).pure && !i.is(Opcode::Phi);
    }
}

void execute(const Instruction &i, Thread &thread, std::uint64_t depth, std::uint64_t frame_bytes,
             Inputs operands, Outputs results) {
    for (const ir::Value *result : i.results)
        if (ir::bits(result->type) > 64)
            refuse("values of 128 bits");
    if ((i.is(Opcode::Store) || i.is(Opcode::Load)) && element_bytes(i) > 8)
        refuse("values of 128 bits");
    switch (i.opcode) {
    case Opcode::Undef:
        results[0] = 0;
        return;
    case Opcode::Special:
        results[0] = cut(special(i, thread, i.block->function->static_shared_bytes),
                         ir::bits(i.result()->type));
        return;
    case Opcode::SymbolAddress:
        results[0] = cut(symbol_address(i, thread, depth), ir::bits(i.result()->type));
        return;
    case Opcode::LoadParam:
        return load_parameter(i, thread, results);
    case Opcode::ParamAddress:
        results[0] = kParameterWindow + static_cast<std::uint64_t>(i.attributes.offset);
        return;
    case Opcode::StackBase:
        results[0] = depth + frame_bytes;
        return;
    case Opcode::Load:
        return load(i, thread, operands, results);
    case Opcode::Store:
        return store(i, thread, operands);
    case Opcode::Atomic:
    case Opcode::Reduce:
        return update(i, thread, operands, results);
    case Opcode::Fence:
    case Opcode::CopyGroup:
    case Opcode::DebugValue:
    case Opcode::Nanosleep:
        return;
    case Opcode::ToGeneric:
        results[0] = to_generic(i, thread, operands[0]);
        return;
    case Opcode::FromGeneric:
        results[0] =
            cut(operands[0] - window_of(thread, i.attributes.space), ir::bits(i.result()->type));
        return;
    case Opcode::IsSpace:
        results[0] = is_in_space(i, operands[0]);
        return;
    case Opcode::Alloca:
        return allocate(i, thread, operands, results);
    case Opcode::Trap:
        fault(i, "a trap");
    default:
        if (!ir::compute(i, operands, results))
            refuse(i, i.attributes.precision == ir::Precision::Exact ? "" : "approximate");
    }
}

} // namespace softcuda::interpret
