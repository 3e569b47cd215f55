// print.cpp -- prints a syntax tree as PTX text.
#include "ptx/print.h"

#include "ptx/print_operand.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

namespace softcuda::ptx {

namespace {

std::string_view text_of(Linkage linkage) {
    constexpr std::string_view texts[] = {"", ".visible ", ".extern ", ".weak ", ".common "};
    return texts[static_cast<unsigned>(linkage)];
}

std::string_view text_of(Space space) {
    switch (plain_space(space)) {
    case Space::Reg:
        return ".reg";
    case Space::Const:
        return ".const";
    case Space::Global:
        return ".global";
    case Space::Local:
        return ".local";
    case Space::Param:
        return ".param";
    case Space::Tex:
        return ".tex";
    default:
        return ".shared";
    }
}

std::string vector_text(unsigned width) {
    return width > 1 ? ".v" + std::to_string(width) + " " : "";
}

/// Prints the values that a variable begins with, as nested lists.
class InitializerPrinter {
  public:
    InitializerPrinter(const Module &module, const Variable &variable)
        : module_(module), variable_(variable), extents_(variable.dimensions) {
        if (variable.vector > 1)
            extents_.push_back(variable.vector);
        std::uint64_t bytes = bytes_of(variable.type);
        for (std::size_t level = extents_.size(); level-- > 0;) {
            strides_.insert(strides_.begin(), bytes);
            bytes *= extents_[level];
        }
    }

    std::string text() {
        if (class_of(variable_.type) == TypeClass::Opaque && variable_.dimensions.empty())
            return properties();
        return extents_.empty() ? scalar(0) : list(0, 0);
    }

  private:
    /// Up to the last element that is not zero.
    std::string list(std::size_t level, std::uint64_t offset) {
        std::uint64_t end = offset + strides_[level] * extents_[level];
        std::string text = "{";
        do {
            text += text.size() > 1 ? ", " : "";
            text += level + 1 == extents_.size() ? scalar(offset) : list(level + 1, offset);
            offset += strides_[level];
        } while (next_ < variable_.initial.size() && variable_.initial[next_].offset < end);
        return text + "}";
    }

    std::string scalar(std::uint64_t offset) {
        if (next_ == variable_.initial.size() || variable_.initial[next_].offset != offset)
            return "0";
        const InitialValue &value = variable_.initial[next_++];
        return value.symbol ? address(value) : number(value.bits);
    }

    std::string number(std::uint64_t bits) const {
        char text[24];
        bool is_float = class_of(variable_.type) == TypeClass::Float;
        if (is_float && bits_of(variable_.type) == 32)
            std::snprintf(text, sizeof text, "0f%08X", static_cast<unsigned>(bits));
        else if (is_float)
            std::snprintf(text, sizeof text, "0d%016llX", static_cast<unsigned long long>(bits));
        else
            return std::to_string(bits);
        return text;
    }

    std::string address(const InitialValue &value) const {
        std::string name(value.symbol.kind == SymbolKind::Function
                             ? module_.functions[value.symbol.index].name
                             : module_.variables[value.symbol.index].name);
        if (value.generic)
            name = "generic(" + name + ")";
        if (value.bits != 0)
            name += "+" + std::to_string(static_cast<std::int64_t>(value.bits));
        if (value.mask_byte == InitialValue::no_mask)
            return name;
        return std::to_string(std::uint64_t{0xff} << (8 * value.mask_byte)) + "(" + name + ")";
    }

    std::string properties() const {
        std::string text = "{";
        for (const Property &property : variable_.properties)
            text += (text.size() > 1 ? ", " : "") + std::string(property.name) + " = " +
                    std::string(property.value);
        return text + "}";
    }

    const Module &module_;
    const Variable &variable_;
    std::vector<std::uint64_t> extents_;
    std::vector<std::uint64_t> strides_; ///< bytes of an element of each level
    std::size_t next_ = 0;               ///< the first value that is not printed yet
};

/// All but linkage, initialiser and `;`.
std::string declaration(const Variable &variable, std::string_view name) {
    std::string text(text_of(variable.space));
    if (variable.managed)
        text += " .attribute(.managed)";
    if (variable.explicit_alignment)
        text += " .align " + std::to_string(variable.alignment);
    text += " " + vector_text(variable.vector) + "." + std::string(name_of(variable.type));
    if (variable.pointer) {
        text += " .ptr ";
        if (variable.pointer->space != Space::None)
            text += std::string(text_of(variable.pointer->space)) + " ";
        text += ".align " + std::to_string(variable.pointer->alignment);
    }
    text += " " + std::string(name);
    for (std::uint64_t dimension : variable.dimensions)
        text += dimension == 0 ? "[]" : "[" + std::to_string(dimension) + "]";
    return text;
}

std::string definition(const Module &module, const Variable &variable, std::string_view name) {
    std::string text = std::string(text_of(variable.linkage)) + declaration(variable, name);
    if (variable.initialized)
        text += " = " + InitializerPrinter(module, variable).text();
    return text + ";\n";
}

class ModulePrinter {
  public:
    explicit ModulePrinter(const Module &module) : module_(module) {}

    std::string print() {
        head();
        prototypes();
        for (const Variable &variable : module_.variables)
            text_ += definition(module_, variable, variable.name);
        bodies();
        debug();
        return std::move(text_);
    }

    PrintedParts print_parts() {
        PrintedParts parts;
        prototypes();
        parts.prototypes = std::exchange(text_, {});
        for (const Variable &variable : module_.variables)
            if (variable.linkage != Linkage::Extern || variable.space == Space::Shared)
                text_ += definition(module_, variable, variable.name);
        parts.variables = std::exchange(text_, {});
        bodies();
        parts.bodies = std::move(text_);
        return parts;
    }

  private:
    void prototypes() {
        for (const Function &function : module_.functions)
            text_ += header(function, nullptr) + ";\n";
    }

    void bodies() {
        for (const Function &function : module_.functions)
            if (function.has_body)
                body(function);
        for (const Alias &alias : module_.aliases)
            text_ += ".alias " + std::string(module_.functions[alias.name].name) + ", " +
                     std::string(module_.functions[alias.aliasee].name) + ";\n";
    }

    void head() {
        text_ += ".version " + std::to_string(module_.version_major) + "." +
                 std::to_string(module_.version_minor) + "\n.target sm_" +
                 std::to_string(module_.target.sm);
        if (module_.target.suffix != 0)
            text_ += module_.target.suffix;
        if (module_.target.debug)
            text_ += ", debug";
        if (module_.target.texmode_independent)
            text_ += ", texmode_independent";
        if (module_.target.map_f64_to_f32)
            text_ += ", map_f64_to_f32";
        text_ += "\n.address_size " + std::to_string(module_.address_bits) + "\n";
        for (std::string_view pragma : module_.pragmas)
            text_ += ".pragma \"" + std::string(pragma) + "\";\n";
    }

    std::string parameters(const std::vector<Variable> &list, SymbolKind kind,
                           const PrintNames *names) {
        std::string text;
        for (std::uint32_t i = 0; i < list.size(); ++i)
            text += (i == 0 ? "" : ", ") + declaration(list[i], names != nullptr
                                                                    ? names->of_symbol({kind, i})
                                                                    : std::string(list[i].name));
        return "(" + text + ")";
    }

    std::string extent(const char *directive, const Extent &extent) {
        if (!extent)
            return "";
        return std::string(" ") + directive + " " + std::to_string(extent.x) + ", " +
               std::to_string(extent.y) + ", " + std::to_string(extent.z);
    }

    /// Without names: a declaration, whose parameters have those of the source.
    std::string header(const Function &function, const PrintNames *names) {
        std::string text(text_of(function.linkage));
        text += function.is_entry() ? ".entry " : ".func ";
        if (!function.returns.empty())
            text += parameters(function.returns, SymbolKind::Return, names) + " ";
        text += std::string(function.name) +
                parameters(function.parameters, SymbolKind::Parameter, names);
        if (function.no_return)
            text += " .noreturn";
        text += extent(".maxntid", function.max_threads);
        text += extent(".reqntid", function.required_threads);
        if (function.explicit_cluster)
            text += "\n.explicitcluster";
        text += extent(".reqnctapercluster", function.cluster);
        if (function.max_cluster_rank != 0)
            text += "\n.maxclusterrank " + std::to_string(function.max_cluster_rank);
        if (function.min_blocks_per_sm != 0)
            text += " .minnctapersm " + std::to_string(function.min_blocks_per_sm);
        if (function.max_registers != 0)
            text += " .maxnreg " + std::to_string(function.max_registers);
        for (std::string_view pragma : function.pragmas)
            text += " .pragma \"" + std::string(pragma) + "\";";
        return text;
    }

    void body(const Function &function) {
        PrintNames names(module_, function, PrintNames::Clashes::Rename);
        text_ += header(function, &names) + "\n{\n";
        registers(function, names);
        for (std::uint32_t i = 0; i < function.variables.size(); ++i)
            text_ +=
                definition(module_, function.variables[i], names.of_symbol({SymbolKind::Local, i}));
        for (std::uint32_t i = 0; i < function.prototypes.size(); ++i)
            prototype(function.prototypes[i], names.of_prototype(i));
        for (std::uint32_t i = 0; i < function.target_lists.size(); ++i)
            targets(function.target_lists[i], names.of_targets(i), names);
        next_line_ = 0;
        for (const Statement &statement : function.body)
            std::visit([&](const auto &one) { this->statement(function, one, names); }, statement);
        text_ += "}\n";
    }

    /// One declaration for each type, in the order in which the types first occur.
    void registers(const Function &function, const PrintNames &names) {
        std::vector<bool> done(function.registers.size());
        for (const std::vector<Variable> *list : {&function.returns, &function.parameters})
            for (const Variable &variable : *list)
                if (variable.reg != no_index)
                    done[variable.reg] = true;
        using Key = std::pair<ScalarType, unsigned>;
        std::vector<Key> order;
        std::map<Key, std::string> lists;
        for (std::uint32_t i = 0; i < function.registers.size(); ++i) {
            if (done[i])
                continue;
            const Register &reg = function.registers[i];
            auto [list, is_new] = lists.try_emplace({reg.type, reg.vector});
            if (is_new)
                order.push_back(list->first);
            list->second += (is_new ? "" : ", ") + names.of_register(i);
        }
        for (const Key &key : order)
            text_ += ".reg " + vector_text(key.second) + "." + std::string(name_of(key.first)) +
                     " " + lists[key] + ";\n";
    }

    void prototype(const CallPrototype &prototype, const std::string &name) {
        text_ += name + ": .callprototype ";
        if (!prototype.returns.empty())
            text_ += parameters(prototype.returns, SymbolKind::Return, nullptr) + " ";
        text_ += "_ " + parameters(prototype.parameters, SymbolKind::Parameter, nullptr);
        text_ += prototype.no_return ? " .noreturn;\n" : ";\n";
    }

    void targets(const TargetList &list, const std::string &name, const PrintNames &names) {
        bool calls = list.kind == TargetList::Kind::Functions;
        text_ += name + (calls ? ": .calltargets " : ": .branchtargets ");
        for (std::size_t i = 0; i < list.targets.size(); ++i)
            text_ += (i == 0 ? "" : ", ") +
                     (calls ? names.of_symbol({SymbolKind::Function, list.targets[i]})
                            : names.of_label(list.targets[i]));
        text_ += ";\n";
    }

    void statement(const Function &, const LabelStatement &label, const PrintNames &names) {
        text_ += names.of_label(label.label) + ":\n";
    }

    void statement(const Function &, const PragmaStatement &pragma, const PrintNames &) {
        text_ += ".pragma \"" + std::string(pragma.text) + "\";\n";
    }

    void statement(const Function &function, const Instruction &instruction,
                   const PrintNames &names) {
        // All up to the one in force: a line must have been named before another is inlined at it.
        while (instruction.line != no_index && next_line_ <= instruction.line)
            location(function.lines[next_line_++]);
        text_ += "    " + print_instruction(instruction, names) + ";\n";
    }

    void location(const LineInfo &info) {
        text_ += ".loc " + std::to_string(info.file) + " " + std::to_string(info.line) + " " +
                 std::to_string(info.column);
        if (info.inlined)
            text_ += ", function_name " + string_label(info.function_name) + ", inlined_at " +
                     std::to_string(info.inlined_file) + " " + std::to_string(info.inlined_line) +
                     " " + std::to_string(info.inlined_column);
        text_ += "\n";
    }

    std::string string_label(std::string_view string) {
        auto found = std::find(strings_.begin(), strings_.end(), string);
        std::size_t index = found - strings_.begin();
        if (found == strings_.end())
            strings_.push_back(string);
        return "$L__info_string" + std::to_string(index);
    }

    void debug() {
        for (const DebugFile &file : module_.files)
            text_ +=
                ".file " + std::to_string(file.index) + " \"" + std::string(file.name) + "\"\n";
        if (strings_.empty())
            return;
        text_ += ".section .debug_str\n{\n";
        for (std::size_t i = 0; i < strings_.size(); ++i) {
            text_ += "$L__info_string" + std::to_string(i) + ":\n.b8 ";
            for (unsigned char byte : strings_[i])
                text_ += std::to_string(byte) + ",";
            text_ += "0\n";
        }
        text_ += "}\n";
    }

    const Module &module_;
    std::string text_;
    std::uint32_t next_line_ = 0;           ///< the first .loc of the function not printed yet
    std::vector<std::string_view> strings_; ///< of .debug_str
};

} // namespace

std::string print(const Module &module) { return ModulePrinter(module).print(); }

PrintedParts print_parts(const Module &module) { return ModulePrinter(module).print_parts(); }

std::string print(const Module &module, const Function &function, const Instruction &instruction) {
    PrintNames names(module, function, PrintNames::Clashes::Keep);
    Instruction unguarded = instruction;
    unguarded.guard = {};
    return print_instruction(unguarded, names);
}

} // namespace softcuda::ptx
