// ir.h -- the intermediate representation between PTX and machine code: SSA values, instructions,
// basic blocks, functions.
//
// The IR describes one thread, like PTX. Predicated operations with side effects are branches,
// other predicated operations are selects. Functions are inlined except recursive, indirect and
// very large ones. Passes are free functions over ir::Function&; their result must verify
// (verify.h).
#pragma once

#include "ir/attributes.h"
#include "ir/debug_info.h"
#include "ir/types.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace softcuda::ir {

struct Block;
struct Function;
struct Instruction;

/// A value: a result of an instruction, or a constant.
struct Value {
    Type type = Type::I32;
    bool constant = false;
    std::uint16_t index = 0; ///< which result of `definition`
    std::uint32_t id = 0;    ///< unique in the function, dense from 0: index for side tables
    Instruction *definition = nullptr; ///< null for constants
    std::uint64_t bits = 0;            ///< a constant's bits (float constants: their IEEE encoding)
};

/// A location in the user's source, from `.loc`; a location in PTX if there is none.
struct Location {
    std::uint32_t file = 0; ///< 0: the PTX text itself; else index into Module::files
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    std::uint32_t scope = 0; ///< in DebugFunction::scopes
};

struct Instruction {
    Opcode opcode = Opcode::Undef;
    Attributes attributes;
    Block *block = nullptr;
    std::vector<Value *> operands;
    std::vector<Value *> results;
    std::vector<Block *> blocks; ///< targets of a terminator; incoming blocks of a phi
    Location location;

    [[nodiscard]] Value *result(std::size_t i = 0) const { return results[i]; }
    [[nodiscard]] Value *operand(std::size_t i) const { return operands[i]; }
    [[nodiscard]] bool is(Opcode o) const { return opcode == o; }
};

/// The class of result `i` by the opcode's signature; empty if any class is allowed.
[[nodiscard]] std::optional<Type> result_type(const Instruction &instruction, std::size_t i);
/// True for an operation that uses the attribute `space`.
[[nodiscard]] bool has_space(Opcode opcode);
/// barrier, barrier_arrive, barrier_reduce: the barriers of the warps of a thread block.
[[nodiscard]] bool is_block_barrier(const Instruction &instruction);
/// The number of such a barrier, and its number of threads; null: the whole thread block.
[[nodiscard]] Value *barrier_number(const Instruction &barrier);
[[nodiscard]] Value *barrier_threads(const Instruction &barrier);

/// A basic block: phis first, one terminator last.
struct Block {
    std::uint32_t id = 0; ///< dense from 0 after renumber()
    std::string name;
    Function *function = nullptr;
    std::vector<Instruction *> instructions;
    std::vector<Block *> predecessors; ///< kept by Function::update_predecessors()

    [[nodiscard]] Instruction *terminator() const { return instructions.back(); }
    [[nodiscard]] std::span<Block *const> successors() const { return terminator()->blocks; }
};

/// A function-local array: .local or .shared, or the frame of an inlined call.
struct LocalVariable {
    std::string name;
    Space space = Space::Local; ///< Local or Shared
    std::uint64_t offset = 0;   ///< bytes from the start of the thread's (block's) window
    std::uint64_t size = 0;
    std::uint32_t align = 1;
};

struct KernelParameter {
    std::uint32_t offset = 0, size = 0, align = 1;
};

/// A kernel, or a function that could not be inlined.
struct Function {
    std::string name;
    bool kernel = false;
    std::vector<KernelParameter> parameters; ///< of a kernel
    std::uint32_t parameter_bytes = 0;
    std::vector<Value *> arguments; ///< of a function; no instruction defines them
    std::vector<Type> returns;
    std::array<std::uint32_t, 3> required_block{};
    std::uint32_t max_threads = 0; ///< 0: not stated
    /// For a kernel: the size of its clusters in thread blocks, 0 if the launch sets it; whether
    /// the launch must set it; the most thread blocks, 0 if not stated.
    struct ClusterRule {
        std::array<std::uint32_t, 3> required{};
        bool is_explicit = false;
        std::uint32_t most = 0;
        bool operator==(const ClusterRule &) const = default;
    };
    ClusterRule cluster;
    std::vector<LocalVariable> variables;
    std::uint32_t local_bytes = 0; ///< local memory per thread
    /// Local memory of the functions that it calls, and that these call: each once, if a recursion
    /// calls it again.
    std::uint32_t called_bytes = 0;
    /// 0: the local memory of each thread is contiguous. Otherwise the local memory of a warp is
    /// interleaved in pieces of this many bytes (transform/interleave_locals.h).
    std::uint32_t local_granule = 0;
    std::uint32_t static_shared_bytes = 0; ///< dynamic shared memory starts there, 16-aligned
    bool uses_dynamic_shared = false;
    std::uint32_t registers = 0; ///< estimate: the largest number of live 32-bit registers
    std::vector<Block *> blocks; ///< entry first
    /// Set if the module is compiled for a debugger.
    std::shared_ptr<const DebugFunction> debug;

    Function() = default;
    Function(const Function &) = delete;
    Function &operator=(const Function &) = delete;

    [[nodiscard]] Block *entry() const { return blocks.front(); }
    /// Appends a basic block. The name is made unique in the function, and valid in the text form.
    Block *add_block(std::string name);
    /// Makes an instruction with results of the given classes; it is not in a block yet.
    Instruction *create(Opcode opcode, std::span<Value *const> operands,
                        std::span<const Type> results);
    /// The constant with these bits; bits above the type's width are ignored. Equal constants are
    /// one value.
    Value *constant(Type type, std::uint64_t bits);
    Value *argument(Type type);

    /// One more than the largest Value::id.
    [[nodiscard]] std::uint32_t value_count() const { return next_value_; }
    [[nodiscard]] std::uint64_t instruction_count() const;
    void update_predecessors();
    /// Gives basic blocks dense ids in their current order, and removes unreachable ones, also from
    /// phis.
    void renumber();
    /// Gives values dense ids: arguments, results in their order, then constants in use.
    void renumber_values();
    void replace_all_uses(Value *from, Value *to);

  private:
    Value *new_value(Type type);
    std::deque<Block> block_storage_;
    std::deque<Instruction> instruction_storage_;
    std::deque<Value> value_storage_;
    std::map<std::pair<Type, std::uint64_t>, Value *> constants_;
    std::set<std::string, std::less<>> block_names_;
    std::uint32_t next_value_ = 0;
};

/// A module-level .global or .const variable; see compiler::Variable for the loaded form.
struct GlobalVariable {
    struct Address { ///< an 8-byte slot of the initialiser that holds an address
        std::uint64_t offset = 0;
        std::uint32_t variable = 0; ///< index into Module::variables
        std::int64_t addend = 0;
        bool operator==(const Address &) const = default;
    };
    std::string name;
    Space space = Space::Global; ///< Global or Constant
    bool managed = false;
    /// A .texref's handle, a .surfref's; or no memory, but the numbers that are the addresses of
    /// the module's functions (lower_module.h).
    enum class Content : std::uint8_t { Data, Texture, Surface, Functions };
    Content content = Content::Data;
    bool visible = true;
    bool external = false;
    std::uint64_t size = 0;
    std::uint32_t align = 1;
    std::vector<std::byte> initial;
    std::vector<Address> addresses;
};

struct Module {
    std::vector<std::string> files; ///< index 0 is the PTX text
    std::vector<GlobalVariable> variables;
    std::vector<std::unique_ptr<Function>> functions;
    bool debug = false; ///< compiled for a debugger: every Function::debug is set

    [[nodiscard]] const Function *find(std::string_view name) const;
};

} // namespace softcuda::ir
