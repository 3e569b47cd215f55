// print_names.cpp -- unique names for the declarations of a function.
#include "ptx/print_names.h"

namespace softcuda::ptx {

std::string PrintNames::choose(std::string name, Taken &taken) const {
    if (clashes_ == Clashes::Keep || name == "_")
        return name;
    auto [known, is_new] = taken.try_emplace(name, 2);
    if (is_new)
        return name;
    unsigned &suffix = known->second; // does not move when the table grows
    std::string chosen;
    do
        chosen = name + "$" + std::to_string(suffix++);
    while (!taken.try_emplace(chosen, 2).second);
    return chosen;
}

PrintNames::PrintNames(const Module &module, const Function &function, Clashes clashes)
    : module_(module), clashes_(clashes) {
    Taken taken, taken_labels;
    if (clashes == Clashes::Rename) {
        for (const Variable &variable : module.variables)
            taken.emplace(variable.name, 2);
        for (const Function &other : module.functions)
            taken.emplace(other.name, 2);
    }
    std::vector<bool> is_parameter(function.registers.size());
    registers_.resize(function.registers.size());
    auto name_list = [&](const std::vector<Variable> &list, std::vector<std::string> &names) {
        for (const Variable &variable : list) {
            names.push_back(choose(std::string(variable.name), taken));
            if (variable.reg != no_index) {
                registers_[variable.reg] = names.back();
                is_parameter[variable.reg] = true;
            }
        }
    };
    name_list(function.returns, returns_);
    name_list(function.parameters, parameters_);
    for (std::size_t i = 0; i < function.registers.size(); ++i)
        if (!is_parameter[i])
            registers_[i] = choose(function.registers[i].name(), taken);
    name_list(function.variables, variables_);
    for (const CallPrototype &prototype : function.prototypes)
        prototypes_.push_back(choose(std::string(prototype.name), taken));
    for (const TargetList &list : function.target_lists)
        target_lists_.push_back(choose(std::string(list.name), taken));
    for (const Label &label : function.labels)
        labels_.push_back(choose(std::string(label.name), taken_labels));
}

std::string PrintNames::of_symbol(SymbolRef symbol) const {
    switch (symbol.kind) {
    case SymbolKind::Global:
        return std::string(module_.variables[symbol.index].name);
    case SymbolKind::Function:
        return std::string(module_.functions[symbol.index].name);
    case SymbolKind::Local:
        return variables_[symbol.index];
    case SymbolKind::Parameter:
        return parameters_[symbol.index];
    case SymbolKind::Return:
        return returns_[symbol.index];
    case SymbolKind::None:
        break;
    }
    return {};
}

} // namespace softcuda::ptx
