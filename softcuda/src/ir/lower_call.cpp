// lower_call.cpp -- calls: inlined, or of functions that the device has itself.
//
//     { .param .b64 param0;                        the .param variables of caller and callee are
//       st.param.b64 [param0+0], %rd1;             sets of SSA variables; a call copies the one's
//       call.uni (retval0), f, (param0);     =>    to the other's, lowers the callee's body in
//       ld.param.f32 %f1, [retval0+0]; }           place, and copies the results back.
//
// A call through a pointer becomes comparisons with the functions of the module that have their
// address taken and fit, and a call of the one that it is: in place, or in one function for all
// calls of its type.
//
// A function that stays a function (call_graph.h) has its parameters split into pieces (a scalar is
// one, a struct is cut into words of its alignment), each of which is an argument.
#include "ir/lower_calls.h"
#include "ir/lower_families.h"
#include "ir/trap.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

namespace softcuda::ir {

namespace {

/// A piece for each component of a register.
std::vector<Piece> register_pieces(Type type, unsigned components) {
    std::vector<Piece> pieces;
    for (unsigned i = 0; i < components; i++)
        pieces.push_back({i * bits(type) / 8, type});
    return pieces;
}

/// Which component of a register a piece is.
std::size_t component_of(const Piece &piece) { return piece.offset * 8 / bits(piece.type); }

} // namespace

std::vector<Piece> pieces_of(const ptx::Variable &variable) {
    const Type type = register_class(scalar(variable.type));
    if (variable.is_open())
        return {{0, Type::I64}};
    if (variable.reg == ptx::no_index && variable.dimensions.empty() && variable.vector == 1)
        return {{0, type}};
    if (variable.reg != ptx::no_index)
        return register_pieces(type, variable.vector);
    std::uint64_t size = std::gcd(std::gcd(variable.bytes(), std::uint64_t{8}),
                                  std::uint64_t{std::max<std::uint32_t>(variable.alignment, 1)});
    std::vector<Piece> pieces;
    for (std::uint64_t at = 0; at < variable.bytes(); at += size)
        pieces.push_back({at, integer_class(static_cast<unsigned>(size * 8))});
    return pieces;
}

namespace {

/// The component of a parameter's or result's register that a piece is.
ptx::Operand register_operand(const ptx::Variable &variable, const Piece &piece) {
    ptx::Operand operand;
    operand.kind = ptx::OperandKind::Register;
    operand.index = variable.reg;
    if (variable.vector > 1)
        operand.component = static_cast<ptx::Component>(
            static_cast<std::size_t>(ptx::Component::X) + component_of(piece));
    return operand;
}

/// Of a vector of registers the one that a piece is; else the operand.
const ptx::Operand &element_of(const ptx::Operand &operand, const Piece &piece) {
    return operand.is(ptx::OperandKind::Vector) ? operand.elements[component_of(piece)] : operand;
}

bool is_symbol(const ptx::Operand &operand) { return operand.is(ptx::OperandKind::Symbol); }

} // namespace

Value *read_argument(FunctionLowering &f, const ptx::Operand &argument, const Piece &piece) {
    if (!is_symbol(argument) || !f.is_slot(argument.symbol))
        return f.builder().bitcast(f.read(element_of(argument, piece), bit_type(piece.type)),
                                   piece.type);
    ParamSlots &slots = f.slots(argument.symbol);
    if (piece.offset + bits(piece.type) / 8 > slots.bytes)
        return f.constant(piece.type, 0); // the caller passes fewer pieces
    return f.load_slots(slots, piece.offset, piece.type);
}

Value *read_argument(FunctionLowering &f, const ptx::Operand &argument,
                     const ptx::Variable &parameter, const Piece &piece) {
    return parameter.is_open() ? f.symbol_address(argument.symbol, 0, Type::I64)
                               : read_argument(f, argument, piece);
}

void write_result(FunctionLowering &f, const ptx::Operand &destination, const Piece &piece,
                  Value *value) {
    if (!is_symbol(destination))
        return f.write(element_of(destination, piece), value, bit_type(piece.type));
    ParamSlots &slots = f.slots(destination.symbol);
    if (piece.offset + bits(piece.type) / 8 <= slots.bytes)
        f.store_slots(slots, piece.offset, value);
}

namespace {

// ---- inlining -------------------------------------------------------------------------------

/// The size of the pieces in which a parameter is copied, which both sides can access.
std::vector<Piece> copy_steps(const ParamSlots &to) {
    std::uint64_t size = to.memory ? std::gcd(to.bytes, std::uint64_t{8}) : to.granule;
    std::vector<Piece> steps;
    for (std::uint64_t at = 0; at < to.bytes; at += size)
        steps.push_back({at, integer_class(static_cast<unsigned>(size * 8))});
    return steps;
}

void pass_argument(FunctionLowering &f, const ptx::Operand &argument, Frame &callee,
                   std::uint32_t index) {
    const ptx::Variable &parameter = callee.source->parameters[index];
    if (parameter.reg != ptx::no_index) {
        for (const Piece &piece : pieces_of(parameter)) {
            Value *value = read_argument(f, argument, piece);
            Frame *outer = f.exchange_frame(&callee);
            f.write(register_operand(parameter, piece), value, scalar(parameter.type));
            f.exchange_frame(outer);
        }
        return;
    }
    if (parameter.is_open()) {
        callee.open_parameters[index] = f.symbol_address(argument.symbol, 0, Type::I64);
        return;
    }
    Frame *outer = f.exchange_frame(&callee);
    const ParamSlots to = f.slots({ptx::SymbolKind::Parameter, index});
    f.exchange_frame(outer);
    if (!is_symbol(argument)) {
        f.store_slots(to, 0, read_argument(f, argument, pieces_of(parameter)[0]));
        return;
    }
    for (const Piece &step : copy_steps(to))
        f.store_slots(to, step.offset, read_argument(f, argument, step));
}

void fetch_result(FunctionLowering &f, const ptx::Operand &destination, Frame &callee,
                  std::uint32_t index) {
    const ptx::Variable &result = callee.source->returns[index];
    Frame *outer = f.exchange_frame(&callee);
    std::vector<std::pair<Piece, Value *>> values;
    if (result.reg != ptx::no_index) {
        for (const Piece &piece : pieces_of(result))
            values.emplace_back(piece,
                                f.read(register_operand(result, piece), bit_type(piece.type)));
    } else {
        const ParamSlots from = f.slots({ptx::SymbolKind::Return, index});
        f.exchange_frame(outer);
        std::vector<Piece> steps =
            is_symbol(destination) ? copy_steps(f.slots(destination.symbol)) : pieces_of(result);
        f.exchange_frame(&callee);
        for (const Piece &step : steps) {
            if (step.offset + bits(step.type) / 8 <= from.bytes)
                values.emplace_back(step, f.load_slots(from, step.offset, step.type));
        }
    }
    f.exchange_frame(outer);
    for (auto &[piece, value] : values)
        write_result(f, destination, piece, value);
}

void inline_call(FunctionLowering &f, const ptx::Instruction &call, const ptx::Function &callee) {
    if (!f.enter_call(call, callee))
        return;
    auto arguments = call.operand(2).elements, results = call.operand(0).elements;
    std::unique_ptr<Frame> frame = f.new_frame(callee);
    frame->return_block = f.new_block(std::string(callee.name) + ".return");
    for (std::uint32_t n = 0; n < callee.parameters.size() && n < arguments.size(); n++)
        pass_argument(f, arguments[n], *frame, n);
    Value *stack_top = f.stack_top();
    f.lower_body(*frame);
    if (frame->return_block->predecessors.empty())
        return; // the call does not return
    f.start(frame->return_block);
    f.set_stack_top(stack_top);
    for (std::uint32_t n = 0; n < callee.returns.size() && n < results.size(); n++)
        fetch_result(f, results[n], *frame, n);
}

// ---- calls that stay ------------------------------------------------------------------------

void keep_call(FunctionLowering &f, const ptx::Function &callee,
               std::span<const ptx::Operand> arguments, std::span<const ptx::Operand> results) {
    Attributes a;
    a.symbol = f.module().function_index(callee);
    std::vector<Value *> operands;
    for (std::size_t n = 0; n < callee.parameters.size() && n < arguments.size(); n++) {
        for (const Piece &piece : pieces_of(callee.parameters[n]))
            operands.push_back(read_argument(f, arguments[n], callee.parameters[n], piece));
    }
    std::vector<Type> types;
    for (const ptx::Variable &result : callee.returns) {
        for (const Piece &piece : pieces_of(result))
            types.push_back(piece.type);
    }
    Instruction *made = f.builder().append(Opcode::Call, a, operands, types);
    std::size_t next = 0;
    for (std::size_t n = 0; n < callee.returns.size() && n < results.size(); n++) {
        for (const Piece &piece : pieces_of(callee.returns[n]))
            write_result(f, results[n], piece, made->result(next++));
    }
}

// ---- the device's own functions -------------------------------------------------------------

struct OwnFunction {
    std::string_view name;
    Opcode opcode;
    std::array<Scalar, 4> parameters; ///< None: no more
    Scalar result;
};

constexpr OwnFunction kOwnFunctions[] = {
    {"vprintf", Opcode::Printf, {Scalar::B64, Scalar::B64}, Scalar::B32},
    {"__assertfail",
     Opcode::AssertFail,
     {Scalar::B64, Scalar::B64, Scalar::B32, Scalar::B64},
     Scalar::None},
    {"malloc", Opcode::Malloc, {Scalar::B64}, Scalar::B64},
    {"free", Opcode::Free, {Scalar::B64}, Scalar::None},
};

const OwnFunction *own_function(std::string_view name) {
    for (const OwnFunction &own : kOwnFunctions) {
        if (own.name == name)
            return &own;
    }
    return nullptr;
}

void call_own(FunctionLowering &f, const ptx::Instruction &call, const OwnFunction &own) {
    auto arguments = call.operand(2).elements, results = call.operand(0).elements;
    std::vector<Value *> operands;
    for (Scalar type : own.parameters) {
        if (type == Scalar::None)
            break;
        if (operands.size() == arguments.size())
            return f.error(call, "'" + std::string(own.name) + "' is called with " +
                                     std::to_string(arguments.size()) +
                                     " arguments, expected more");
        operands.push_back(read_argument(f, arguments[operands.size()], {0, register_class(type)}));
    }
    Instruction *made = f.builder().append(own.opcode, {}, operands);
    if (own.result != Scalar::None && !results.empty())
        write_result(f, results[0], {0, register_class(own.result)}, made->result());
}

/// aligned_alloc(): bytes and alignment. The heap's memory begins at multiples of 256; there is
/// none with a larger alignment, so the result is null then.
void allocate_aligned(FunctionLowering &f, const ptx::Instruction &call) {
    constexpr std::uint64_t kHeapAlignment = 256;
    auto arguments = call.operand(2).elements, results = call.operand(0).elements;
    if (arguments.size() != 2 || results.size() != 1)
        return f.error(call, "'__cuda_syscall_aligned_malloc' has " +
                                 std::to_string(arguments.size()) + " arguments and " +
                                 std::to_string(results.size()) + " results, expected two and one");
    Value *bytes = read_argument(f, arguments[0], {0, Type::I64});
    Value *fits = f.builder().compare(Compare::Le, Scalar::U64,
                                      read_argument(f, arguments[1], {0, Type::I64}),
                                      f.builder().constant(Type::I64, kHeapAlignment));
    Value *wanted = f.builder().select(fits, bytes, f.builder().constant(Type::I64, 0));
    write_result(f, results[0], {0, Type::I64},
                 f.builder().append(Opcode::Malloc, {}, {wanted})->result());
}

/// cudaGraphSetConditional(handle, value): the handle is the address of the value.
void set_conditional(FunctionLowering &f, const ptx::Instruction &call) {
    auto arguments = call.operand(2).elements;
    if (arguments.size() != 2)
        return f.error(call, "'cudaGraphSetConditional' is called with " +
                                 std::to_string(arguments.size()) + " arguments instead of 2");
    Attributes a;
    a.type = Scalar::U32;
    a.space = Space::Global;
    f.builder().append(Opcode::Store, a,
                       {read_argument(f, arguments[0], {0, Type::I64}),
                        read_argument(f, arguments[1], {0, Type::I32})});
}

// ---- calls through a pointer ----------------------------------------------------------------

void call_function(FunctionLowering &f, const ptx::Instruction &call, const ptx::Function &callee) {
    if (f.module().calls().stays(callee))
        keep_call(f, callee, call.operand(2).elements, call.operand(0).elements);
    else
        inline_call(f, call, callee);
}

void trap_without_function(FunctionLowering &f) {
    f.builder().append(Opcode::Trap, {.immediate = kTrapNoFunction}, {});
    f.add_edges(f.builder().append(Opcode::Exit, {}, {}));
}

/// Compares `pointer` with the addresses of `targets`, which rise, in a binary search.
void call_one_of(FunctionLowering &f, const ptx::Instruction &call, Value *pointer,
                 std::span<const std::uint32_t> targets, Block *after) {
    constexpr std::size_t kShort = 4;
    if (targets.size() > kShort) {
        const std::size_t half = targets.size() / 2;
        Block *low = f.new_block("low"), *high = f.new_block("high");
        f.branch(f.builder().compare(Compare::Lt, Scalar::U64, pointer,
                                     f.function_address(targets[half])),
                 low, high);
        f.start(low);
        call_one_of(f, call, pointer, targets.first(half), after);
        f.start(high);
        return call_one_of(f, call, pointer, targets.subspan(half), after);
    }
    for (const std::uint32_t index : targets) {
        const ptx::Function &callee = f.module().function(index);
        Value *same =
            f.builder().compare(Compare::Eq, Scalar::U64, pointer, f.function_address(index));
        Block *taken = f.new_block("call." + std::string(callee.name));
        Block *other = f.new_block("other");
        f.branch(same, taken, other);
        f.start(taken);
        call_function(f, call, callee);
        if (f.open())
            f.jump(after);
        f.start(other);
    }
    trap_without_function(f);
}

void call_pointer(FunctionLowering &f, const ptx::Instruction &call) {
    const CallGraph::IndirectCall made = f.module().calls().indirect_call(f.source(), call);
    if (f.module().calls().is_dispatched(made.type)) {
        std::vector<ptx::Operand> arguments{call.operand(1)};
        const auto passed = call.operand(2).elements;
        arguments.insert(arguments.end(), passed.begin(), passed.end());
        return keep_call(f, f.module().dispatch(made), arguments, call.operand(0).elements);
    }
    Block *after = f.new_block("called");
    call_one_of(f, call, f.read(call.operand(1), Scalar::B64), made.targets, after);
    if (!after->predecessors.empty())
        f.start(after);
}

/// An operand for each of a dispatch function's own parameters or results.
std::vector<ptx::Operand> own_symbols(ptx::SymbolKind kind, std::size_t first, std::size_t end) {
    std::vector<ptx::Operand> operands;
    for (std::size_t n = first; n < end; n++) {
        operands.emplace_back().kind = ptx::OperandKind::Symbol;
        operands.back().symbol = {kind, static_cast<std::uint32_t>(n)};
    }
    return operands;
}

} // namespace

void lower_call(FunctionLowering &f, const ptx::Instruction &call) {
    const ptx::Operand &target = call.operand(1);
    if (!is_symbol(target))
        return call_pointer(f, call);
    const ptx::Function &callee = f.module().function(target.symbol.index);
    if (callee.is_entry())
        return f.error(call,
                       "'" + std::string(callee.name) + "' is a kernel, which cannot be called");
    if (callee.has_body)
        return call_function(f, call, callee);
    if (const OwnFunction *own = own_function(callee.name))
        return call_own(f, call, *own);
    if (callee.name == "__cuda_syscall_aligned_malloc")
        return allocate_aligned(f, call);
    if (callee.name == "cudaGraphSetConditional")
        return set_conditional(f, call);
    if (lower_grid_sync(f, call, callee) || lower_device_call(f, call, callee))
        return;
    f.error(call, "function '" + std::string(callee.name) + "' is declared but not defined");
}

void lower_dispatch(FunctionLowering &f, std::span<const std::uint32_t> targets) {
    const ptx::Function &source = f.source();
    const auto results = own_symbols(ptx::SymbolKind::Return, 0, source.returns.size());
    const auto arguments = own_symbols(ptx::SymbolKind::Parameter, 1, source.parameters.size());
    std::array<ptx::Operand, 3> operands;
    operands[0].elements = results;
    operands[2].elements = arguments;
    ptx::Instruction call;
    call.opcode = ptx::Opcode::Call;
    call.operands = operands;
    Value *pointer = f.load_slots(f.slots({ptx::SymbolKind::Parameter, 0}), 0, Type::I64);
    Block *after = f.new_block("called");
    call_one_of(f, call, pointer, targets, after);
    if (!after->predecessors.empty())
        f.start(after);
}

void bind_arguments(FunctionLowering &f) {
    const ptx::Function &source = f.source();
    for (const ptx::Variable &result : source.returns) {
        for (const Piece &piece : pieces_of(result))
            f.function().returns.push_back(piece.type);
    }
    for (std::uint32_t n = 0; n < source.parameters.size(); n++) {
        const ptx::Variable &parameter = source.parameters[n];
        for (const Piece &piece : pieces_of(parameter)) {
            Value *value = f.function().argument(piece.type);
            if (parameter.is_open())
                f.set_open_parameter(n, value);
            else if (parameter.reg != ptx::no_index)
                f.write(register_operand(parameter, piece), value, bit_type(piece.type));
            else
                f.store_slots(f.slots({ptx::SymbolKind::Parameter, n}), piece.offset, value);
        }
    }
}

std::vector<Value *> returned_values(FunctionLowering &f) {
    const ptx::Function &source = f.source();
    std::vector<Value *> values;
    for (std::uint32_t n = 0; n < source.returns.size(); n++) {
        const ptx::Variable &result = source.returns[n];
        for (const Piece &piece : pieces_of(result)) {
            if (result.reg != ptx::no_index)
                values.push_back(f.read(register_operand(result, piece), bit_type(piece.type)));
            else
                values.push_back(
                    f.load_slots(f.slots({ptx::SymbolKind::Return, n}), piece.offset, piece.type));
        }
    }
    return values;
}

} // namespace softcuda::ir
