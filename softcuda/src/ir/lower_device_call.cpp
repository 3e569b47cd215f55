// lower_device_call.cpp -- calls of the CUDA runtime in device code, which softcuda implements.
//
//     call (r), cudaLaunchDeviceV2, (buffer, stream);
//
// becomes two stores into local memory and the call, with the address of the first:
//
//     [0] = buffer   [8] = stream   r = malloc #1 + LaunchDeviceV2, generic(0)
//
// A `malloc` with a number is not an allocation, but the call with this number minus 1. Both pass
// one 64-bit word to the runtime and return one, and both may read and write any memory.
#include "ir/lower.h"
#include "ir/lower_calls.h"
#include "support/device_call.h"

#include <algorithm>
#include <string>

namespace softcuda::ir {
namespace {

std::string refusal(const ptx::Function &callee, std::size_t words, DeviceCall wanted) {
    return "'" + std::string(callee.name) + "' is declared with parameters that are " +
           std::to_string(words) + " words instead of " + std::to_string(words_of(wanted));
}

/// All that is passed, as words of 64 bits.
std::vector<Value *> words_passed(FunctionLowering &f, const ptx::Instruction &call,
                                  const ptx::Function &callee) {
    auto arguments = call.operand(2).elements;
    std::vector<Value *> words;
    for (std::size_t n = 0; n < callee.parameters.size() && n < arguments.size(); n++)
        for (const Piece &piece : pieces_of(callee.parameters[n])) {
            const unsigned width = bits(piece.type);
            Value *value =
                f.builder().bitcast(read_argument(f, arguments[n], piece), integer_class(width));
            words.push_back(width == 64 ? value : f.builder().resize(value, Type::I64, false));
        }
    return words;
}

Value *stored(FunctionLowering &f, const std::vector<Value *> &words) {
    Function &function = f.function();
    LocalVariable memory;
    memory.name = "device_call";
    memory.space = Space::Local;
    memory.offset = (function.local_bytes + 7) / 8 * 8;
    memory.size = kMostDeviceCallWords * 8;
    memory.align = 8;
    function.local_bytes = static_cast<std::uint32_t>(memory.offset + memory.size);
    Attributes symbol;
    symbol.space = Space::Local;
    symbol.symbol = static_cast<std::uint32_t>(function.variables.size());
    symbol.type = Scalar::B32;
    function.variables.push_back(std::move(memory));
    Value *address = f.emit(Opcode::SymbolAddress, symbol, {});
    for (std::size_t n = 0; n < words.size(); n++) {
        Attributes store;
        store.space = Space::Local;
        store.type = Scalar::B64;
        store.offset = static_cast<std::int64_t>(n * 8);
        f.builder().append(Opcode::Store, store, {address, words[n]});
    }
    Attributes local;
    local.space = Space::Local;
    return f.emit(Opcode::ToGeneric, local, {address});
}

} // namespace

bool lower_device_call(FunctionLowering &f, const ptx::Instruction &call,
                       const ptx::Function &callee) {
    const std::optional<DeviceCall> wanted = device_call_named(callee.name);
    if (!wanted)
        return false;
    const std::vector<Value *> words = words_passed(f, call, callee);
    if (words.size() != words_of(*wanted)) {
        f.error(call, refusal(callee, words.size(), *wanted));
        return true;
    }
    Attributes a;
    a.immediate = static_cast<std::uint32_t>(*wanted) + 1;
    Value *result = f.builder().append(Opcode::Malloc, a, {stored(f, words)})->result();
    auto results = call.operand(0).elements;
    if (callee.returns.empty() || results.empty())
        return true;
    const Piece piece = pieces_of(callee.returns[0])[0];
    if (bits(piece.type) != 64)
        result = f.builder().resize(result, integer_class(bits(piece.type)), false);
    write_result(f, results[0], piece, f.builder().bitcast(result, piece.type));
    return true;
}

} // namespace softcuda::ir
