// function_scope.h -- the names of one function's body: registers, variables, labels.
#pragma once

#include "ptx/context.h"
#include "ptx/declaration.h"

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace softcuda::ptx {

/// Assigns an index in the Function to each declaration of a body, through nested scopes.
///
/// A range `%r<100>` declares no register: each register is created at its first use, so
/// `%r<4000000000>` costs nothing.
class FunctionScope {
  public:
    FunctionScope(Context &context, Function &function);
    ~FunctionScope();
    FunctionScope(const FunctionScope &) = delete;
    FunctionScope &operator=(const FunctionScope &) = delete;

    /// Declares the parameters and return parameters of the function.
    void declare_parameters();

    void open();
    void close();
    std::uint32_t current() const { return path_.back(); }
    std::size_t nesting() const { return path_.size() - 1; }

    void declare_registers(const RegisterDeclaration &declaration);
    void declare_variable(Variable &&variable);
    void declare_label(const Token &name);
    /// A .callprototype, .branchtargets or .calltargets.
    void declare(const Token &name, const Meaning &meaning);

    /// The meaning of a name in the current scope. Abandons the statement if the name is unknown.
    Meaning find(const Token &name);
    /// The register of this name. Abandons the statement if the name is not a register.
    std::uint32_t find_register(const Token &name);

    /// resolve_labels() writes the label of this name to `*place`, because the label may be defined
    /// later.
    void refer_to_label(const Token &name, std::uint32_t *place);
    void resolve_labels();

    const Function &function() const { return function_; }

  private:
    struct Range {
        RegisterDeclaration declaration;
        std::string_view stem;
    };
    struct LabelReference {
        std::string_view name;
        SourceLocation location;
        std::uint32_t scope;
        std::uint32_t *place;
    };
    /// A label's name and its scope.
    struct LabelKey {
        std::uint32_t scope;
        std::string_view name;
        bool operator==(const LabelKey &) const = default;
    };
    struct LabelHash {
        std::size_t operator()(const LabelKey &key) const {
            return std::hash<std::string_view>{}(key.name) * 31 + key.scope;
        }
    };

    std::uint32_t add_register(std::string_view stem, std::uint32_t number,
                               const RegisterDeclaration &declaration, std::uint32_t scope);
    /// The register `%r12` of a range in scope `from` or further in; no_index if there is none.
    std::uint32_t find_in_ranges(std::string_view name, std::uint32_t from);
    void declare_or_report(std::string_view name, SourceLocation where, const Meaning &meaning);
    [[noreturn]] void report_unknown(const Token &name);
    void report_unknown_label(const LabelReference &reference);

    Context &context_;
    Function &function_;
    NameTable stems_; ///< of ranges: an index in ranges_
    std::vector<Range> ranges_;
    std::vector<std::uint32_t> parents_; ///< of each scope
    std::vector<std::uint32_t> path_;    ///< the scopes that are open
    std::unordered_map<LabelKey, std::uint32_t, LabelHash> labels_;
    std::vector<LabelReference> references_;
};

} // namespace softcuda::ptx
