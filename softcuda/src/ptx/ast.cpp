// ast.cpp -- small queries of the syntax tree.
#include "ptx/ast.h"

#include "ptx/special_registers.h"

namespace softcuda::ptx {

namespace {

template <typename T> const T *find_by_name(const std::vector<T> &list, std::string_view name) {
    for (const T &item : list)
        if (item.name == name)
            return &item;
    return nullptr;
}

} // namespace

std::string_view name_of(SpecialRegister special) {
    return special_rows[static_cast<unsigned>(special)].name;
}

ScalarType type_of(SpecialRegister special) {
    return special_rows[static_cast<unsigned>(special)].type;
}

bool has_components(SpecialRegister special) {
    return special_rows[static_cast<unsigned>(special)].count == 4;
}

std::uint64_t Variable::bytes() const {
    std::uint64_t total = element_bytes();
    for (std::uint64_t dimension : dimensions)
        total *= dimension;
    return total;
}

std::string Register::name() const {
    std::string text(stem);
    if (number != no_index)
        text += std::to_string(number);
    return text;
}

const Variable *Module::variable(const Function &function, SymbolRef symbol) const {
    switch (symbol.kind) {
    case SymbolKind::Global:
        return &variables[symbol.index];
    case SymbolKind::Local:
        return &function.variables[symbol.index];
    case SymbolKind::Parameter:
        return &function.parameters[symbol.index];
    case SymbolKind::Return:
        return &function.returns[symbol.index];
    case SymbolKind::None:
    case SymbolKind::Function:
        break;
    }
    return nullptr;
}

const Function *Module::find_function(std::string_view name) const {
    return find_by_name(functions, name);
}

const Variable *Module::find_variable(std::string_view name) const {
    return find_by_name(variables, name);
}

} // namespace softcuda::ptx
