// call_graph.h -- which functions of a module call each other, and which calls are inlined.
//
// Calls are inlined if the kernels do not become too large by that, because a call costs a save of
// the warp's registers, and a kernel with calls runs in fibers. A function stays a function if
//
//     it can call itself,
//     a debugger must show its frame, or
//     several calls of it would put a large body into each place:
//
//     f3: three calls of f2: three calls of f1 ...      f2 is inlined into f3, f3 stays
//
// A call through a pointer is a chain of comparisons with all functions of the call's type. If this
// is large, too, one *dispatch* function for each type has the chain, and each place calls it.
#pragma once

#include "ptx/ast.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace softcuda::ir {

class CallGraph {
  public:
    enum class Inlining : std::uint8_t { UpToLimit, Never };
    CallGraph(const ptx::Module &module, Inlining inlining);

    /// The function that a call of `index` reaches, aliases followed.
    [[nodiscard]] const ptx::Function &function(std::uint32_t index) const;
    /// Functions whose address the program takes, by index in Module::functions.
    [[nodiscard]] const std::vector<std::uint32_t> &address_taken() const { return address_taken_; }
    /// Whether calls of the function are calls in the IR.
    [[nodiscard]] bool stays(const ptx::Function &function) const {
        return staying_.contains(&function);
    }

    /// Whether the module has calls through pointers.
    [[nodiscard]] bool has_indirect() const { return !targets_.empty(); }
    /// A call through a pointer. The targets have no aliases, and are in the order of their
    /// addresses.
    struct IndirectCall {
        std::string type;                   ///< equal for calls that one dispatch can serve
        std::vector<std::uint32_t> targets; ///< all functions that it may call
        const std::vector<ptx::Variable> *returns = nullptr, *parameters = nullptr;
    };
    [[nodiscard]] IndirectCall indirect_call(const ptx::Function &caller,
                                             const ptx::Instruction &call) const;
    /// Whether calls of this type call the dispatch function.
    [[nodiscard]] bool is_dispatched(const std::string &type) const {
        return dispatched_.contains(type);
    }

  private:
    /// The calls in a body: of functions by name, and through pointers by type.
    struct Calls {
        std::vector<const ptx::Function *> direct;
        std::vector<std::string> indirect;
    };

    void find_taken_addresses();
    void find_calls();
    void find_recursion();
    void find_order();
    void choose(std::uint64_t limit);
    [[nodiscard]] std::uint64_t call_size(const ptx::Function &callee) const;
    [[nodiscard]] std::uint64_t targets_size(const std::string &type) const;
    [[nodiscard]] std::uint64_t size_of(const ptx::Function &function) const;
    [[nodiscard]] std::uint64_t total() const;
    [[nodiscard]] std::vector<const ptx::Function *> callees(const ptx::Function &function) const;

    const ptx::Module &module_;
    std::vector<std::uint32_t> address_taken_;
    std::map<const ptx::Function *, Calls> calls_;
    std::map<std::string, std::vector<const ptx::Function *>> targets_; ///< by type
    std::map<const ptx::Function *, std::uint64_t> uses_; ///< calls, also as one of the targets
    std::map<std::string, std::uint64_t> type_uses_;
    std::set<const ptx::Function *> recursive_, staying_;
    std::set<std::string> dispatched_;
    std::vector<const ptx::Function *> order_;            ///< callees first
    std::map<const ptx::Function *, std::uint64_t> size_; ///< with all that is inlined into it
};

} // namespace softcuda::ir
