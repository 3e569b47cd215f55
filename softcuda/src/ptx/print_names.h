// print_names.h -- unique names for the declarations of a function.
#pragma once

#include "ptx/ast.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace softcuda::ptx {

/// A printed function has no nested scopes. So a declaration gets a new name if another scope or
/// the module uses the same name.
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
