// link.cpp -- renames conflicting symbols, and joins the printed modules.
//
//     a.ptx   .extern .func f;  .global x (internal)       .visible .func f;      (both prototypes)
//                                                     =>   .global x;  .global x$1;
//     b.ptx   .visible .func f {...}  .global x            .visible .func f {...}
//
// The order of the result (prototypes, variables, bodies) makes each name known before its use.
#include "ptx/link.h"

#include "ptx/parse.h"
#include "ptx/print.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

namespace softcuda::ptx {
namespace {

/// A symbol that modules share.
struct Shared {
    Linkage linkage = Linkage::Extern;
    bool is_function = false;
    bool defined = false;
    std::uint64_t bytes = 0;
    std::size_t module = 0; ///< that defines it, or names it first
};

bool is_definition(const Function &function) { return function.has_body; }
bool is_definition(const Variable &variable) { return variable.linkage != Linkage::Extern; }
std::uint64_t bytes_of(const Function &) { return 0; }
std::uint64_t bytes_of(const Variable &variable) { return variable.bytes(); }

bool may_repeat(Linkage linkage) { return linkage == Linkage::Weak || linkage == Linkage::Common; }

class Linker {
  public:
    Linker(std::span<const LinkInput> inputs, std::string &log, std::uint32_t most_registers)
        : inputs_(inputs), log_(log), most_registers_(most_registers) {}

    std::optional<Linked> run() {
        for (const LinkInput &input : inputs_)
            if (!read(input))
                return std::nullopt;
        for (std::size_t index = 0; index < modules_.size(); index++) {
            for (const Function &function : modules_[index].functions)
                note(function, index, /*is_function=*/true);
            for (const Variable &variable : modules_[index].variables)
                if (variable.space != Space::Shared)
                    note(variable, index, /*is_function=*/false);
        }
        if (!log_.empty())
            return std::nullopt;
        for (std::size_t index = 0; index < modules_.size(); index++)
            drop_results(modules_[index], index);
        for (std::size_t index = 0; index < modules_.size(); index++)
            settle(modules_[index], index);
        return Linked{text(), undefined()};
    }

  private:
    bool read(const LinkInput &input) {
        auto source = std::make_shared<SourceText>(input.name, input.text);
        Diagnostics diagnostics(*source);
        std::optional<Module> module = parse(source, diagnostics);
        if (!module) {
            log_ += diagnostics.render();
            return false;
        }
        modules_.push_back(std::move(*module));
        return true;
    }

    template <class Symbol> void note(const Symbol &symbol, std::size_t module, bool is_function) {
        all_names_.insert(std::string(symbol.name));
        if (symbol.linkage == Linkage::Internal)
            return;
        const auto [position, is_new] = shared_.try_emplace(std::string(symbol.name));
        Shared &known = position->second;
        if (is_new)
            known.is_function = is_function;
        if (known.is_function != is_function) {
            log_ += "error: '" + std::string(symbol.name) + "' is a function in one of '" +
                    inputs_[known.module].name + "' and '" + inputs_[module].name +
                    "' and a variable in the other\n";
            return;
        }
        if (!is_definition(symbol))
            return;
        if (known.defined && !may_repeat(symbol.linkage) && !may_repeat(known.linkage)) {
            log_ += "error: '" + std::string(symbol.name) + "' is defined in '" +
                    inputs_[known.module].name + "' and again in '" + inputs_[module].name + "'\n";
            return;
        }
        // A strong definition takes a weak one's place, a larger common one a smaller one's.
        const bool better = !known.defined ||
                            (may_repeat(known.linkage) && !may_repeat(symbol.linkage)) ||
                            bytes_of(symbol) > known.bytes;
        if (better)
            known = {symbol.linkage, is_function, true, bytes_of(symbol), module};
    }

    /// A module may expect results of a function that has none (Numba does, of functions in C):
    /// NVIDIA's linker does not compare types. Nobody writes such results, here as there.
    void drop_results(Module &module, std::size_t index) {
        std::set<std::uint32_t> without;
        for (std::uint32_t number = 0; number < module.functions.size(); number++) {
            Function &function = module.functions[number];
            if (function.returns.empty() || !is_void_elsewhere(function, index))
                continue;
            function.returns.clear();
            without.insert(number);
        }
        for (Function &function : module.functions)
            for (Statement &statement : function.body)
                if (auto *call = std::get_if<Instruction>(&statement);
                    call && call->opcode == Opcode::Call && without.contains(callee_of(*call)))
                    drop_results(*call);
    }

    void drop_results(Instruction &call) {
        std::vector<Operand> &changed =
            operands_.emplace_back(call.operands.begin(), call.operands.end());
        changed.front().elements = {};
        call.operands = changed;
    }

    static std::uint32_t callee_of(const Instruction &call) {
        const Operand &target = call.operand(1);
        const bool is_name =
            target.is(OperandKind::Symbol) && target.symbol.kind == SymbolKind::Function;
        return is_name ? target.symbol.index : no_index;
    }

    /// Whether the function is defined in another module, without results.
    bool is_void_elsewhere(const Function &function, std::size_t index) const {
        const auto known = shared_.find(std::string(function.name));
        if (function.linkage == Linkage::Internal || known == shared_.end() ||
            !known->second.defined || known->second.module == index)
            return false;
        const std::vector<Function> &others = modules_[known->second.module].functions;
        return std::ranges::any_of(others, [&](const Function &other) {
            return other.name == function.name && other.has_body && other.returns.empty();
        });
    }

    void settle(Module &module, std::size_t index) {
        module.files.clear();
        for (Function &function : module.functions) {
            if (function.is_entry())
                limit_registers(function);
            if (function.linkage == Linkage::Internal)
                function.name = own_name(function.name, index);
            else
                settle_function(function, index);
            for (Statement &statement : function.body)
                if (auto *instruction = std::get_if<Instruction>(&statement))
                    instruction->line = no_index;
        }
        for (Variable &variable : module.variables) {
            // Dynamic shared memory is one, whatever each module calls it.
            if (variable.linkage == Linkage::Internal || variable.space == Space::Shared) {
                variable.name = own_name(variable.name, index);
            } else {
                const Shared &known = shared_.at(std::string(variable.name));
                if (known.defined && known.module != index)
                    variable.linkage = Linkage::Extern; // is not printed
            }
        }
    }

    void limit_registers(Function &kernel) const {
        if (most_registers_ != 0 &&
            (kernel.max_registers == 0 || kernel.max_registers > most_registers_))
            kernel.max_registers = most_registers_;
    }

    void settle_function(Function &function, std::size_t index) {
        const Shared &known = shared_.at(std::string(function.name));
        if (!known.defined)
            return;
        function.linkage = known.linkage;
        if (known.module != index)
            function.has_body = false;
    }

    /// A name for an internal symbol: its own name, unless another module uses it.
    std::string_view own_name(std::string_view name, std::size_t index) {
        if (index == 0 && !shared_.contains(std::string(name))) {
            taken_.insert(std::string(name));
            return name;
        }
        if (!shared_.contains(std::string(name)) && taken_.insert(std::string(name)).second)
            return name;
        std::string made = std::string(name) + "$" + std::to_string(index);
        while (all_names_.contains(made) || !taken_.insert(made).second)
            made += "$";
        return names_.emplace_back(std::move(made));
    }

    std::string text() const {
        const Module *newest = &modules_.front();
        const Module *highest = newest;
        for (const Module &module : modules_) {
            if (std::pair(module.version_major, module.version_minor) >
                std::pair(newest->version_major, newest->version_minor))
                newest = &module;
            if (module.target.sm > highest->target.sm)
                highest = &module;
        }
        std::string text = ".version " + std::to_string(newest->version_major) + "." +
                           std::to_string(newest->version_minor) + "\n.target sm_" +
                           std::to_string(highest->target.sm);
        if (highest->target.suffix != 0)
            text += highest->target.suffix;
        text += "\n.address_size " + std::to_string(newest->address_bits) + "\n";
        std::string variables, bodies;
        for (const Module &module : modules_) {
            const PrintedParts parts = print_parts(module);
            text += parts.prototypes;
            variables += parts.variables;
            bodies += parts.bodies;
        }
        return text + variables + bodies;
    }

    std::vector<std::string> undefined() const {
        std::vector<std::string> names;
        for (const auto &[name, symbol] : shared_)
            if (!symbol.defined)
                names.push_back(name);
        return names;
    }

    std::span<const LinkInput> inputs_;
    std::string &log_;
    std::uint32_t most_registers_; ///< of a kernel; 0: no limit
    std::deque<Module> modules_;
    std::map<std::string, Shared> shared_;
    std::set<std::string> all_names_, taken_;
    std::deque<std::string> names_;             ///< that were made here
    std::deque<std::vector<Operand>> operands_; ///< likewise
};

} // namespace

std::optional<Linked> link(std::span<const LinkInput> inputs, std::string &log,
                           std::uint32_t most_registers) {
    if (inputs.empty()) {
        log = "error: there is nothing to link\n";
        return std::nullopt;
    }
    return Linker(inputs, log, most_registers).run();
}

} // namespace softcuda::ptx
