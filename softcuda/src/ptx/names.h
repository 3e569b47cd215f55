// names.h -- the meaning of names in nested scopes.
#pragma once

#include "ptx/ast.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace softcuda::ptx {

/// The kinds of meanings of a name. Labels are kept separately, because they can be used before
/// their definition.
struct Meaning {
    enum class Kind : std::uint8_t {
        Symbol,        ///< a variable, parameter or function: `symbol`
        Register,      ///< Function::registers[index]
        RegisterRange, ///< one `%r<100>`: BodyParser's ranges[index]
        Prototype,     ///< Function::prototypes[index]
        BranchTargets, ///< Function::target_lists[index]
        CallTargets,   ///< Function::target_lists[index]
    };
    Kind kind{};
    SymbolRef symbol;
    std::uint32_t index = no_index;
};

/// A table of names with nested scopes. Operations take constant time on average; closing a scope
/// takes time proportional to its names.
class NameTable {
  public:
    struct Found {
        Meaning meaning;
        std::uint32_t scope; ///< depth of the scope that declares it; 0 is the outermost
    };

    NameTable() { open(); }

    void open() { scopes_.emplace_back(); }
    void close();
    std::uint32_t depth() const { return static_cast<std::uint32_t>(scopes_.size()) - 1; }

    /// Returns false and changes nothing if the innermost scope already has the name.
    bool declare(std::string_view name, const Meaning &meaning);
    /// Declares it in an outer scope; no scope within may have the name.
    void declare_at(std::uint32_t scope, std::string_view name, const Meaning &meaning);
    /// The innermost meaning; null if there is none. Valid until the next declaration or close.
    const Found *find(std::string_view name) const;
    const Found *find_in_innermost(std::string_view name) const;
    /// The innermost meaning for which `accept` is true.
    template <typename Predicate>
    const Found *find_if(std::string_view name, Predicate accept) const {
        auto head = heads_.find(name);
        std::uint32_t index = head == heads_.end() ? no_index : head->second;
        while (index != no_index && !accept(entries_[index].found))
            index = entries_[index].shadowed;
        return index == no_index ? nullptr : &entries_[index].found;
    }

    /// The visible name that is most like `name`; empty if none is.
    std::string_view nearest(std::string_view name) const;

  private:
    struct Entry {
        std::string_view name;
        Found found;
        std::uint32_t shadowed; ///< the entry that it hides, or no_index
    };

    std::unordered_map<std::string_view, std::uint32_t> heads_;
    std::vector<Entry> entries_;
    std::vector<std::vector<std::uint32_t>> scopes_;
};

/// The edit distance of `a` and `b`; returns `limit + 1` if it exceeds `limit`.
unsigned edit_distance(std::string_view a, std::string_view b, unsigned limit);

/// Finds the candidate nearest to a misspelt word.
class Suggestion {
  public:
    explicit Suggestion(std::string_view word)
        : word_(word), limit_(word.size() < 3   ? 1
                              : word.size() < 8 ? 2
                                                : 3) {}
    void consider(std::string_view candidate);
    std::string_view best() const { return best_; }
    /// "did you mean `add`?", or nothing.
    std::string note() const;

  private:
    std::string_view word_;
    std::string_view best_;
    unsigned limit_; ///< the distance that a candidate must not exceed
    unsigned considered_ = 0;
};

} // namespace softcuda::ptx
