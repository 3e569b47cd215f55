// print_names.h -- names for what a function declares, each its own.
#pragma once

#include "ptx/ast.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace softcuda::ptx {

/// Scopes are gone when a function is printed, so what had the same name in two scopes, or the name
/// of something of the module, gets a new one.
class PrintNames {
  public:
    enum class Clashes { Keep, Rename };
    PrintNames(const Module &module, const Function &function, Clashes clashes);

    const std::string &of_register(std::uint32_t index) const { return registers_[index]; }
    const std::string &of_label(std::uint32_t index) const { return labels_[index]; }
    const std::string &of_prototype(std::uint32_t index) const { return prototypes_[index]; }
    const std::string &of_targets(std::uint32_t index) const { return target_lists_[index]; }
    std::string of_symbol(SymbolRef symbol) const;

  private:
    /// Names that are used, with the suffix to try next for another of the same.
    using Taken = std::unordered_map<std::string, unsigned>;
    std::string choose(std::string name, Taken &taken) const;

    const Module &module_;
    Clashes clashes_;
    std::vector<std::string> returns_, parameters_, variables_;
    std::vector<std::string> registers_, labels_, prototypes_, target_lists_;
};

} // namespace softcuda::ptx
