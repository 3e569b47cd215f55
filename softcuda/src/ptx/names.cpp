// names.cpp -- the meaning of names in nested scopes.
#include "ptx/names.h"

#include <algorithm>

namespace softcuda::ptx {

void NameTable::close() {
    for (std::uint32_t index : scopes_.back()) {
        const Entry &entry = entries_[index];
        if (entry.shadowed == no_index)
            heads_.erase(entry.name);
        else
            heads_[entry.name] = entry.shadowed;
    }
    scopes_.pop_back();
    if (scopes_.size() == 1) {
        // Only the outermost scope is left: its entries all come before those that just went.
        std::size_t kept = scopes_.back().empty() ? 0 : scopes_.back().back() + std::size_t{1};
        entries_.resize(kept);
    }
}

bool NameTable::declare(std::string_view name, const Meaning &meaning) {
    if (find_in_innermost(name) != nullptr)
        return false;
    declare_at(depth(), name, meaning);
    return true;
}

void NameTable::declare_at(std::uint32_t scope, std::string_view name, const Meaning &meaning) {
    auto index = static_cast<std::uint32_t>(entries_.size());
    auto [head, is_new] = heads_.try_emplace(name, index);
    entries_.push_back({name, {meaning, scope}, is_new ? no_index : head->second});
    head->second = index;
    scopes_[scope].push_back(index);
}

const NameTable::Found *NameTable::find(std::string_view name) const {
    auto head = heads_.find(name);
    return head == heads_.end() ? nullptr : &entries_[head->second].found;
}

const NameTable::Found *NameTable::find_in_innermost(std::string_view name) const {
    const Found *found = find(name);
    return found != nullptr && found->scope == depth() ? found : nullptr;
}

std::string_view NameTable::nearest(std::string_view name) const {
    Suggestion suggestion(name);
    for (const auto &[candidate, head] : heads_)
        suggestion.consider(candidate);
    return suggestion.best();
}

unsigned edit_distance(std::string_view a, std::string_view b, unsigned limit) {
    if (a.size() > b.size())
        std::swap(a, b);
    if (b.size() - a.size() > limit)
        return limit + 1;
    std::vector<unsigned> row(a.size() + 1);
    for (unsigned i = 0; i < row.size(); ++i)
        row[i] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
        unsigned diagonal = row[0];
        row[0] = static_cast<unsigned>(j);
        unsigned least = row[0];
        for (std::size_t i = 1; i <= a.size(); ++i) {
            unsigned replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[i];
            row[i] = std::min({replaced, row[i] + 1, row[i - 1] + 1});
            least = std::min(least, row[i]);
        }
        if (least > limit)
            return limit + 1;
    }
    return row.back();
}

void Suggestion::consider(std::string_view candidate) {
    // A name of a megabyte has no typing errors, and a module of a million names has too many.
    constexpr std::size_t longest = 200;
    constexpr unsigned most = 5000;
    if (word_.size() > longest || candidate.size() > longest || ++considered_ > most)
        return;
    unsigned distance = edit_distance(word_, candidate, limit_);
    if (distance == 0 || distance > limit_)
        return;
    bool better = best_.empty() || distance < edit_distance(word_, best_, limit_) ||
                  (distance == edit_distance(word_, best_, limit_) && candidate < best_);
    if (better)
        best_ = candidate;
    limit_ = distance;
}

std::string Suggestion::note() const {
    return best_.empty() ? "" : "did you mean `" + std::string(best_) + "`?";
}

} // namespace softcuda::ptx
