// names.h -- which name means what, in nested scopes.
#pragma once

#include "ptx/ast.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace softcuda::ptx {

/// What a name can mean. Labels are kept apart (labels.h): they may be used before they stand.
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

/// Names with scopes that open and close. Every operation takes constant time on average, closing
/// a scope as long as it has names.
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

    /// False, and nothing changes, if the innermost scope has the name already.
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

/// How many single edits make `a` from `b`; gives up and returns `limit + 1` past `limit`.
unsigned edit_distance(std::string_view a, std::string_view b, unsigned limit);

/// Keeps the candidate nearest to a misspelt word.
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
