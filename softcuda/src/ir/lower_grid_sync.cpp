// lower_grid_sync.cpp -- the grid's barrier, for PTX that calls the CUDA runtime for it.
//
// CUDA's C++ headers contain the code of this_grid().sync(). Numba and older compilers call two
// functions instead:
//
//     call (h), cudaCGGetIntrinsicHandle, (1);   h = address of the grid's workspace
//     call (e), cudaCGSynchronize, (h, 0);
//
//           if h == 0 goto done        the launch is not cooperative, e = cudaErrorInvalidValue
//           barrier 0
//           if this is not the block's first thread goto meet
//           old = atomic add h+4, 1;   the first block adds 0x80000000 - (blocks - 1)
//     spin: if the top bit of (old ^ load h+4) is 0 goto spin
//     meet: barrier 0
//     done:                            e = cudaSuccess
#include "ir/lower_calls.h"

#include <string>

namespace softcuda::ir {
namespace {

constexpr std::uint64_t kScopeGrid = 1;         // cudaCGScopeGrid
constexpr std::uint64_t kInvalidValue = 1;      // cudaErrorInvalidValue
constexpr std::int64_t kArrivals = 4;           // offset in the workspace
constexpr std::uint64_t kFlipped = 0x80000000u; // changes once all blocks have arrived

Value *product(FunctionLowering &f, Special x, Special y, Special z) {
    Value *of_two = f.emit(Opcode::Mul, Scalar::U32, {f.special(x), f.special(y)});
    return f.emit(Opcode::Mul, Scalar::U32, {of_two, f.special(z)});
}

Value *all_zero(FunctionLowering &f, Special x, Special y, Special z) {
    Value *of_two = f.emit(Opcode::Or, Scalar::B32, {f.special(x), f.special(y)});
    return f.builder().compare(Compare::Eq, Scalar::U32,
                               f.emit(Opcode::Or, Scalar::B32, {of_two, f.special(z)}),
                               f.constant(Type::I32, 0));
}

Value *workspace(FunctionLowering &f) {
    Value *low = f.builder().resize(f.special(Special::EnvReg, 2), Type::I64, false);
    Value *high = f.builder().resize(f.special(Special::EnvReg, 1), Type::I64, false);
    high = f.emit(Opcode::Shl, Scalar::B64, {high, f.constant(Type::I32, 32)});
    return f.emit(Opcode::Or, Scalar::B64, {low, high});
}

void get_handle(FunctionLowering &f, const ptx::Instruction &call) {
    Value *scope = read_argument(f, call.operand(2).elements[0], {0, Type::I32});
    Value *is_grid =
        f.builder().compare(Compare::Eq, Scalar::U32, scope, f.constant(Type::I32, kScopeGrid));
    Value *handle = f.builder().select(is_grid, workspace(f), f.constant(Type::I64, 0));
    const auto &results = call.operand(0).elements;
    if (!results.empty())
        write_result(f, results[0], {0, Type::I64}, handle);
}

void barrier(FunctionLowering &f) {
    Attributes a;
    a.apart = true;
    f.builder().append(Opcode::Barrier, a, {f.constant(Type::I32, 0)});
}

Attributes arrivals(Order order) {
    Attributes a;
    a.space = Space::Generic;
    a.type = Scalar::U32;
    a.offset = kArrivals;
    a.order = order;
    a.scope = Scope::Device;
    return a;
}

Value *arrive(FunctionLowering &f, Value *handle) {
    Value *blocks = product(f, Special::NctaidX, Special::NctaidY, Special::NctaidZ);
    Value *rest = f.emit(Opcode::Sub, Scalar::U32, {f.constant(Type::I32, kFlipped + 1), blocks});
    Value *is_first = all_zero(f, Special::CtaidX, Special::CtaidY, Special::CtaidZ);
    Attributes a = arrivals(Order::Release);
    a.atomic = AtomicOp::Add;
    return f.emit(Opcode::Atomic, a,
                  {handle, f.builder().select(is_first, rest, f.constant(Type::I32, 1))});
}

void synchronize(FunctionLowering &f, const ptx::Instruction &call) {
    Value *handle = read_argument(f, call.operand(2).elements[0], {0, Type::I64});
    Value *is_null =
        f.builder().compare(Compare::Eq, Scalar::U64, handle, f.constant(Type::I64, 0));
    Value *error =
        f.builder().select(is_null, f.constant(Type::I32, kInvalidValue), f.constant(Type::I32, 0));
    Block *wait = f.new_block("grid.sync"), *count = f.new_block("grid.arrive"),
          *spin = f.new_block("grid.wait"), *meet = f.new_block("grid.meet"),
          *done = f.new_block("grid.synced");
    f.branch(is_null, done, wait);

    f.start(wait);
    barrier(f);
    f.branch(all_zero(f, Special::TidX, Special::TidY, Special::TidZ), count, meet);

    f.start(count);
    Value *old = arrive(f, handle);
    f.jump(spin);

    f.start(spin, FunctionLowering::Predecessors::MoreFollow);
    Value *now = f.emit(Opcode::Load, arrivals(Order::Acquire), {handle});
    Value *changed = f.emit(Opcode::Xor, Scalar::B32, {old, now});
    f.branch(f.builder().compare(Compare::Lt, Scalar::S32, changed, f.constant(Type::I32, 0)), meet,
             spin);

    f.start(meet);
    barrier(f);
    f.jump(done);

    f.start(done);
    const auto &results = call.operand(0).elements;
    if (!results.empty())
        write_result(f, results[0], {0, Type::I32}, error);
}

} // namespace

bool lower_grid_sync(FunctionLowering &f, const ptx::Instruction &call,
                     const ptx::Function &callee) {
    const bool gets = callee.name == "cudaCGGetIntrinsicHandle";
    if (!gets && callee.name != "cudaCGSynchronize")
        return false;
    const std::size_t wanted = gets ? 1 : 2, passed = call.operand(2).elements.size();
    if (passed != wanted)
        f.error(call, "'" + std::string(callee.name) + "' is called with " +
                          std::to_string(passed) + " arguments instead of " +
                          std::to_string(wanted));
    else
        gets ? get_handle(f, call) : synchronize(f, call);
    return true;
}

} // namespace softcuda::ir
