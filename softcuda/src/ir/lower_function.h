// lower_function.h -- lowers the body of one kernel, with the functions that it calls, to IR.
//
// The families of instructions (lower_integer.cpp, lower_memory.cpp ...) are written against this
// class: read() gives an operand's value, emit() makes an operation, write() sets a register.
//
//     add.s32 %r3, %r1, 4;      f.write(d, f.emit(Opcode::Add, type, {f.read(a, type), ...}), type)
//     @%p add.s32 %r3, ...      the same; write() selects between the new and the old value
//     @%p st.global ...         the block is split and the store branched around
#pragma once

#include "ir/builder.h"
#include "ir/lower_module.h"
#include "ir/ssa_builder.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace softcuda::ir {

/// A .param variable of a call, or of the function that is called: SSA variables of `granule` bytes
/// each, or a variable in local memory if its address is needed.
struct ParamSlots {
    std::uint64_t bytes = 0;
    std::uint32_t granule = 1;
    std::vector<std::uint32_t> variables;
    std::optional<std::uint32_t> memory; ///< index in Function::variables
};

/// One activation of a PTX function's body: the kernel's own, or an inlined call's.
struct Frame {
    const ptx::Function *source = nullptr;
    std::vector<std::uint32_t> registers; ///< SSA variable of each register's first component
    std::vector<Block *> labels;
    std::vector<std::size_t> last_references; ///< by label: the last statement that branches to it
    std::map<std::pair<ptx::SymbolKind, std::uint32_t>, ParamSlots> slots;
    std::unordered_map<std::uint32_t, std::uint32_t> locals; ///< .local variables of this call
    /// The addresses in local memory of the caller's arguments for parameters such as `rest[]`.
    std::unordered_map<std::uint32_t, Value *> open_parameters;
    Block *return_block = nullptr; ///< of an inlined call
};

/// An address within its space: a base and bytes to add.
struct Address {
    Value *base = nullptr;
    std::int64_t offset = 0;
};

class FunctionLowering {
  public:
    FunctionLowering(ModuleLowering &module, Function &function, const ptx::Function &source);
    void run();
    /// For a function of ModuleLowering::dispatch(), instead of run().
    void run_dispatch(std::span<const std::uint32_t> targets);

    // Building instructions.
    Value *read(const ptx::Operand &operand, Scalar type);
    /// `type` determines how a value that is narrower than the register is extended.
    void write(const ptx::Operand &destination, Value *value, Scalar type);
    Value *emit(Opcode opcode, const Attributes &attributes,
                std::initializer_list<Value *> operands) {
        return builder_.emit(opcode, attributes, operands);
    }
    Value *emit(Opcode opcode, Scalar type, std::initializer_list<Value *> operands) {
        return builder_.emit(opcode, type, operands);
    }
    Builder &builder() { return builder_; }
    Value *constant(Type type, std::uint64_t bits) { return function_.constant(type, bits); }
    /// The class of the register that an operand is; none for sinks and vectors.
    [[nodiscard]] std::optional<Type> register_class(const ptx::Operand &operand) const;
    Value *carry();
    void set_carry(Value *value);
    /// The address of the thread's next alloca, 64 bits; null in modules without alloca.
    Value *stack_top();
    void set_stack_top(Value *value);

    // Memory.
    Address address(const ptx::Operand &operand, Space space);
    Value *symbol_address(ptx::SymbolRef symbol, std::int64_t offset, Type type);
    /// The address of a function or kernel: a number, see GlobalVariable::Content::Functions.
    Value *function_address(std::uint32_t index);
    void set_open_parameter(std::uint32_t index, Value *address) {
        frame_->open_parameters[index] = address;
    }
    Value *special(Special special, std::uint32_t number = 0);
    [[nodiscard]] bool is_slot(ptx::SymbolRef symbol) const;
    [[nodiscard]] const ptx::Variable *variable(ptx::SymbolRef symbol) const;
    [[nodiscard]] Space space_of(ptx::SymbolRef symbol) const;
    ParamSlots &slots(ptx::SymbolRef symbol);
    Value *load_slots(const ParamSlots &slots, std::uint64_t offset, Type type);
    void store_slots(const ParamSlots &slots, std::uint64_t offset, Value *value);

    // Control.
    Block *new_block(std::string name) { return function_.add_block(std::move(name)); }
    /// Continues in `block`, which must already have all its predecessors unless `more_follow`.
    enum class Predecessors { Complete, MoreFollow };
    void start(Block *block, Predecessors predecessors = Predecessors::Complete);
    void jump(Block *target);
    void branch(Value *condition, Block *if_true, Block *if_false);
    void add_edges(Instruction *terminator);
    /// Branches to `taken` if the guard is true, else to `otherwise`.
    void branch_on(const ptx::Guard &guard, Block *taken, Block *otherwise);
    /// Ends the block: what follows is unreachable up to the next label.
    void close() { builder_.set_block(nullptr); }
    [[nodiscard]] bool open() const { return builder_.block() != nullptr; }

    // Frames.
    Frame &frame() { return *frame_; }
    /// Sets the frame in which operands are looked up; returns the previous frame.
    Frame *exchange_frame(Frame *frame) { return std::exchange(frame_, frame); }
    [[nodiscard]] const ptx::Function &source() const { return *frame_->source; }
    [[nodiscard]] bool in_kernel() const { return frame_->source->is_entry(); }
    Function &function() { return function_; }
    ModuleLowering &module() { return module_; }
    /// Creates the registers, labels and slots of a body.
    std::unique_ptr<Frame> new_frame(const ptx::Function &source);
    /// Lowers the body in this frame; on return the current basic block is the one after it, or
    /// closed.
    void lower_body(Frame &frame);
    /// Starts a body's lowering unless too much has been inlined already.
    bool enter_call(const ptx::Instruction &call, const ptx::Function &callee);

    void error(const ptx::Instruction &at, const std::string &message);
    void unsupported(const ptx::Instruction &instruction);

  private:
    template <class LowerBody> void run(LowerBody lower_it);
    void lower_return();
    void lower_statement(const ptx::Statement &statement, std::size_t index);
    void lower_label(std::uint32_t label, std::size_t statement);
    void lower_instruction(const ptx::Instruction &instruction);
    void lower_guarded(const ptx::Instruction &instruction);
    void set_location(const ptx::Instruction &instruction);
    void finish_shared();
    void order_blocks();

    // For a debugger (lower_debug.cpp).
    void find_debug_registers();
    void emit_debug_values(std::size_t statement);
    void emit_debug_value(std::uint32_t variable, std::uint32_t register_variable);

    std::uint32_t variable_of(const ptx::Operand &operand) const;
    Value *read_register(const ptx::Operand &operand);
    Value *read_sum(const ptx::Operand &operand);
    Value *subscript_bytes(const ptx::Operand &operand, Type type);
    void write_variable(std::uint32_t variable, Value *value);
    Value *read_special(const ptx::Operand &operand);
    Value *read_cluster_special(ptx::SpecialRegister from, unsigned component);
    Value *fit(Value *value, Scalar type);
    Value *immediate(const ptx::Operand &operand, Scalar type);
    ParamSlots make_slots(const ptx::Variable &variable, ParamUse use);
    std::uint32_t shared_variable(const ptx::Function *owner, std::uint32_t index);
    std::uint32_t local_variable(std::string name, std::uint64_t size, std::uint32_t align);
    Value *in_entry(Opcode opcode, const Attributes &attributes);

    ModuleLowering &module_;
    Function &function_;
    const ptx::Function &top_;
    Builder builder_;
    Block *entry_ = nullptr; ///< values that are valid in the whole function are created here
    SsaBuilder ssa_;
    Frame *frame_ = nullptr;
    Value *guard_ = nullptr; ///< of the pure instruction being lowered
    std::uint32_t carry_ = 0, stack_top_ = 0;
    std::size_t statements_ = 0; ///< lowered so far, inlined ones each time
    std::map<SharedLayout::Key, std::uint32_t> shared_variables_;
    /// Indices in Function::variables. Those with a size are listed for kernels only.
    std::vector<std::pair<SharedLayout::Key, std::uint32_t>> shared_with_size_;
    std::vector<std::uint32_t> dynamic_shared_;
    std::map<std::tuple<Opcode, Space, std::uint32_t, std::int64_t, Scalar>, Value *> cached_;
    std::unordered_map<const Block *, std::size_t> placed_;
    std::uint32_t statement_ = 0;        ///< of the function's own body
    std::vector<std::uint32_t> written_; ///< SSA variables that the present statement has set
    /// The register of a variable of the source: by the SSA variable.
    struct DebugRegister {
        std::uint32_t variable = 0; ///< in DebugFunction::variables
        std::uint32_t begin = 0, end = 0;
    };
    std::multimap<std::uint32_t, DebugRegister> debug_registers_;
    std::multimap<std::uint32_t, std::pair<std::uint32_t, DebugRegister>> debug_starts_;
};

/// The elements of a vector operand, or the one operand.
inline std::span<const ptx::Operand> elements(const ptx::Operand &operand) {
    if (operand.is(ptx::OperandKind::Vector))
        return operand.elements;
    return {&operand, 1};
}

} // namespace softcuda::ir
