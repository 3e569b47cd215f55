// lower_module.h -- the module's data for the lowering of one function.
#pragma once

#include "ir/call_graph.h"
#include "ir/ir.h"
#include "ptx/ast.h"
#include "support/diagnostics.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace softcuda::ir {

/// How one .func body uses one of its .param variables.
struct ParamUse {
    std::uint32_t granule = 8;  ///< bytes; divides every offset and size of an access
    bool address_taken = false; ///< the variable must then be in memory
};

/// The uses of all .param variables in a function body, by symbol.
class ParamUses {
  public:
    ParamUses(const ptx::Module &module, const ptx::Function &function);
    [[nodiscard]] ParamUse use(ptx::SymbolRef symbol) const;

  private:
    void note(const ptx::Instruction &instruction, const ptx::Operand &operand);
    void note_call(const ptx::Instruction &call);

    const ptx::Module &module_;
    const ptx::Function &function_;
    std::map<std::pair<ptx::SymbolKind, std::uint32_t>, ParamUse> uses_;
};

/// Bytes of .shared variables with a size, of one variable and of all in a kernel.
inline constexpr std::uint64_t kMostStaticShared = 48 * 1024;

/// The next multiple of `align`, which is not 0.
inline std::uint64_t aligned(std::uint64_t offset, std::uint64_t align) {
    return (offset + align - 1) / align * align;
}

/// Offsets of .shared variables in a thread block's window. A variable is named by the function
/// that declares it (null: the module) and its index there.
struct SharedLayout {
    using Key = std::pair<const ptx::Function *, std::uint32_t>;
    std::map<Key, std::uint64_t> offsets;
    std::uint64_t size = 0;

    std::uint64_t place(Key key, std::uint64_t size, std::uint32_t align);
};

/// The .shared variables that a kernel uses, by their indices in Function::variables. A function
/// that it calls may use the same ones. So they are placed when everything is lowered.
struct KernelShared {
    const ptx::Function &source;
    Function &kernel;
    std::vector<std::pair<SharedLayout::Key, std::uint32_t>> with_size;
    std::vector<std::uint32_t> dynamic;
};

class ModuleLowering {
  public:
    /// `target.debug`: whether the module is lowered for a debugger.
    ModuleLowering(const ptx::Module &source, Module &target, Diagnostics &diagnostics);
    void run();

    [[nodiscard]] const ptx::Module &source() const { return source_; }
    [[nodiscard]] Module &target() const { return target_; }
    /// Reports each location once, even if its code is inlined several times.
    void error(SourceLocation where, const std::string &message);

    [[nodiscard]] const CallGraph &calls() const { return calls_; }
    /// The function that a call of `index` reaches, aliases followed.
    [[nodiscard]] const ptx::Function &function(std::uint32_t index) const {
        return calls_.function(index);
    }
    /// The variable (Module::variables) whose begin is the first number that is an address of a
    /// function. It exists if the module takes an address.
    [[nodiscard]] std::uint32_t functions_variable() const { return *functions_variable_; }
    /// The distance from there to the address of a function or kernel, aliases followed.
    [[nodiscard]] std::uint64_t function_offset(std::uint32_t index) const;
    /// The IR function of a function that stays.
    std::uint32_t function_index(const ptx::Function &function);
    /// The function through which calls of this type go. Its first parameter is the address of the
    /// function to call, its others are those of the call. The first call creates it.
    const ptx::Function &dispatch(const CallGraph::IndirectCall &call);
    /// Module::variables index of a .global or .const variable, also of a function's own.
    std::uint32_t variable_index(const ptx::Function *owner, std::uint32_t index);
    [[nodiscard]] const ParamUses &param_uses(const ptx::Function &function);
    [[nodiscard]] std::uint32_t file_index(std::uint32_t ptx_file) const;
    /// Whether the file is one of CUDA's headers, not the user's.
    /// The location of a `.loc` line; for an inlined function of CUDA's headers, that of the
    /// user's call. `line` is an index of `function.lines`.
    [[nodiscard]] Location users_location(const ptx::Function &function, std::uint32_t line);
    /// Whether a function of the module takes memory by alloca.
    [[nodiscard]] bool uses_stack() const { return uses_stack_; }
    /// Shared variables of functions that are not inlined: at the same place in every kernel.
    SharedLayout &common_shared() { return common_shared_; }
    /// A function that kernels call uses dynamic shared memory: it has this alignment in all.
    void use_dynamic_shared(std::uint32_t align) {
        dynamic_shared_align_ = std::max(dynamic_shared_align_, align);
    }
    void place_later(KernelShared variables) { kernels_shared_.push_back(std::move(variables)); }
    /// Null if the module is not lowered for a debugger.
    [[nodiscard]] std::shared_ptr<const DebugFunction>
    debug_function(const ptx::Function &function);

  private:
    /// A GPU has an own, small memory for constant variables.
    void check_constant_data();
    void lower_variables();
    [[nodiscard]] bool is_library(std::uint32_t ptx_file) const;
    [[nodiscard]] std::vector<Location> find_users_locations(const ptx::Function &function) const;
    GlobalVariable lower_variable(const ptx::Variable &variable);
    void lower_initializer(const ptx::Variable &variable, GlobalVariable &made);
    void add_functions_variable();
    void lower_address(const ptx::Variable &variable, const ptx::InitialValue &value,
                       GlobalVariable &made);
    void read_debug_data();
    void add_function(const ptx::Function &function);
    void lower_functions();
    void lower_dispatches();
    void place_shared(const KernelShared &variables);
    void lower_kernel(const ptx::Function &kernel);
    void lay_out_parameters(const ptx::Function &kernel, Function &made);

    const ptx::Module &source_;
    Module &target_;
    Diagnostics &diagnostics_;
    std::set<std::pair<std::uint32_t, std::string>> reported_;
    std::map<std::pair<const ptx::Function *, std::uint32_t>, std::uint32_t> variables_;
    CallGraph calls_;
    std::optional<std::uint32_t> functions_variable_;
    struct Dispatch {
        ptx::Function function; ///< without a body
        std::vector<std::uint32_t> targets;
    };
    std::map<std::string, std::unique_ptr<Dispatch>> dispatches_; ///< by type of call
    std::vector<const Dispatch *> dispatches_to_lower_;
    std::map<const ptx::Function *, std::uint32_t> functions_;
    std::map<const ptx::Function *, ParamUses> param_uses_;
    std::unordered_map<const ptx::Function *, std::vector<Location>> users_locations_; ///< by line
    std::unordered_map<std::uint32_t, std::uint32_t> files_;
    SharedLayout common_shared_;
    std::vector<KernelShared> kernels_shared_;
    std::uint32_t dynamic_shared_align_ = 1;
    bool uses_stack_ = false;
    std::map<const ptx::Function *, std::shared_ptr<const DebugFunction>> debug_functions_;
};

} // namespace softcuda::ir
