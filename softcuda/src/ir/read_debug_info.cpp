// read_debug_info.cpp -- from DWARF entries to functions, variables and types.
//
// Addresses in the sections are names in the PTX text. They are given numbers first:
//
//     $L__tmp4          function << 32 | statement       a place in the code
//     table             kSymbol | n                      the n-th name that is no label
//     .debug_loc+250    250
//
// A register is `DW_OP_regx n`, where the bytes of n, highest first, are the register's name.
#include "ir/read_debug_info.h"

#include "ir/dwarf_reader.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace softcuda::ir {

namespace {

using dwarf::Entry;

constexpr std::uint64_t kSymbol = std::uint64_t{1} << 63;
constexpr std::uint64_t kMostMembers = 4096;

/// The bytes of the sections, with numbers in the place of names.
class ResolvedSections {
  public:
    explicit ResolvedSections(const ptx::Module &module) {
        for (std::uint32_t f = 0; f < module.functions.size(); ++f)
            for (const ptx::Label &label : module.functions[f].labels)
                code_.emplace(label.name, std::uint64_t{f} << 32 | label.statement);
        for (const ptx::DebugSection &section : module.debug_sections) {
            names_.emplace(section.name, 0);
            for (const auto &[label, at] : section.labels)
                names_.emplace(label, at);
        }
        for (const ptx::DebugSection &section : module.debug_sections)
            resolve(section);
    }

    [[nodiscard]] std::string_view bytes(std::string_view section) const {
        const auto found = sections_.find(section);
        return found == sections_.end() ? std::string_view() : found->second;
    }
    /// The name behind an address; empty for a place in the code.
    [[nodiscard]] std::string_view symbol(std::uint64_t address) const {
        const std::uint64_t index = address & ~kSymbol;
        return (address & kSymbol) != 0 && index < symbols_.size() ? symbols_[index]
                                                                   : std::string_view();
    }

  private:
    void resolve(const ptx::DebugSection &section) {
        std::string bytes = section.bytes;
        for (const ptx::DebugReference &reference : section.references) {
            const std::uint64_t value = number(reference.symbol) + reference.addend;
            for (std::uint32_t i = 0; i < reference.bytes && reference.offset + i < bytes.size();
                 ++i)
                bytes[reference.offset + i] = static_cast<char>(value >> (8 * i) & 0xff);
        }
        sections_.emplace(section.name, std::move(bytes));
    }

    std::uint64_t number(std::string_view name) {
        if (const auto code = code_.find(name); code != code_.end())
            return code->second;
        if (const auto place = names_.find(name); place != names_.end())
            return place->second;
        symbols_.emplace_back(name);
        return kSymbol | (symbols_.size() - 1);
    }

    std::unordered_map<std::string_view, std::uint64_t> code_, names_;
    std::map<std::string_view, std::string> sections_;
    std::vector<std::string> symbols_;
};

struct CodeRange {
    std::uint32_t function = 0, begin = 0, end = 0;
};

class DebugInfoReader {
  public:
    DebugInfoReader(const ptx::Module &module, const FileNumber &file)
        : module_(module), file_(file), sections_(module) {}

    std::map<std::uint32_t, std::shared_ptr<const DebugFunction>> run() {
        const std::unique_ptr<Entry> unit =
            dwarf::read_unit({.info = sections_.bytes(".debug_info"),
                              .abbreviations = sections_.bytes(".debug_abbrev"),
                              .strings = sections_.bytes(".debug_str")});
        if (!unit)
            return {};
        index(*unit);
        find_functions(*unit);
        std::map<std::uint32_t, std::shared_ptr<const DebugFunction>> result;
        const auto types = std::make_shared<const DebugTypes>(std::move(types_));
        for (auto &[number, function] : functions_) {
            function.types = types;
            result.emplace(number, std::make_shared<const DebugFunction>(std::move(function)));
        }
        return result;
    }

  private:
    void index(const Entry &entry) {
        entries_.emplace(entry.offset, &entry);
        for (const auto &child : entry.children)
            index(*child);
    }

    const Entry *referred(const Entry &entry, std::uint32_t attribute) const {
        const auto found =
            entry.find(attribute) ? entries_.find(entry.number(attribute)) : entries_.end();
        return found == entries_.end() ? nullptr : found->second;
    }

    // A definition may leave it to the declaration, an inlined copy to the function.
    const dwarf::Value *value_of(const Entry &entry, std::uint32_t attribute) const {
        const Entry *at = &entry;
        for (int hops = 0; at && hops < 4; ++hops) {
            if (const dwarf::Value *value = at->find(attribute))
                return value;
            const Entry *next = referred(*at, dwarf::kAbstractOrigin);
            at = next ? next : referred(*at, dwarf::kSpecification);
        }
        return nullptr;
    }
    std::string name_of(const Entry &entry) const {
        const dwarf::Value *value = value_of(entry, dwarf::kName);
        return value ? std::string(value->bytes) : std::string();
    }
    std::uint64_t number_of(const Entry &entry, std::uint32_t attribute) const {
        const dwarf::Value *value = value_of(entry, attribute);
        return value ? value->number : 0;
    }

    std::optional<CodeRange> range_of(const Entry &entry) const {
        const dwarf::Value *low = entry.find(dwarf::kLowPc), *high = entry.find(dwarf::kHighPc);
        if (!low || !high || ((low->number | high->number) & kSymbol) != 0 ||
            low->number >> 32 != high->number >> 32 ||
            low->number >> 32 >= module_.functions.size())
            return std::nullopt;
        return CodeRange{static_cast<std::uint32_t>(low->number >> 32),
                         static_cast<std::uint32_t>(low->number),
                         static_cast<std::uint32_t>(high->number)};
    }

    void find_functions(const Entry &entry) {
        if (entry.tag == dwarf::kSubprogram) {
            if (const auto range = range_of(entry))
                read_function(entry, functions_[range->function]);
            return;
        }
        for (const auto &child : entry.children)
            if (child->tag == dwarf::kVariable && entry.tag == dwarf::kCompileUnit)
                globals_.push_back(child.get());
        for (const auto &child : entry.children)
            find_functions(*child);
    }

    void read_function(const Entry &entry, DebugFunction &function) {
        function.name = name_of(entry);
        function.file = file_(static_cast<std::uint32_t>(number_of(entry, dwarf::kDeclFile)));
        function.line = static_cast<std::uint32_t>(number_of(entry, dwarf::kDeclLine));
        read_scope(entry, function, 0);
        for (const Entry *global : globals_)
            read_variable(*global, function, 0);
    }

    void read_scope(const Entry &entry, DebugFunction &function, std::uint32_t scope) {
        for (const auto &child : entry.children) {
            if (child->tag == dwarf::kFormalParameter || child->tag == dwarf::kVariable) {
                read_variable(*child, function, scope);
            } else if (child->tag == dwarf::kLexicalBlock ||
                       child->tag == dwarf::kInlinedSubroutine) {
                std::uint32_t inner = scope;
                if (const auto range = range_of(*child)) {
                    inner = static_cast<std::uint32_t>(function.scopes.size());
                    function.scopes.push_back({scope, range->begin, range->end});
                }
                read_scope(*child, function, inner);
            }
        }
    }

    void read_variable(const Entry &entry, DebugFunction &function, std::uint32_t scope) {
        DebugVariable made;
        made.name = name_of(entry);
        made.parameter = entry.tag == dwarf::kFormalParameter && scope == 0;
        made.scope = scope;
        made.file = file_(static_cast<std::uint32_t>(number_of(entry, dwarf::kDeclFile)));
        made.line = static_cast<std::uint32_t>(number_of(entry, dwarf::kDeclLine));
        if (const dwarf::Value *location = entry.find(dwarf::kLocation))
            read_location(*location, made);
        if (made.name.empty() || made.places.empty())
            return;
        made.type = type_of(entry);
        function.variables.push_back(std::move(made));
    }

    void read_location(const dwarf::Value &location, DebugVariable &variable) {
        if (location.kind == dwarf::Value::Kind::Block)
            return add_place(location.bytes, {}, variable);
        dwarf::Cursor at(sections_.bytes(".debug_loc"), location.number);
        while (at.good()) {
            const std::uint64_t begin = at.number(8), end = at.number(8);
            if ((begin == 0 && end == 0) || !at.good())
                break;
            const std::string_view expression = at.block(at.number(2));
            DebugPlace place;
            place.begin = static_cast<std::uint32_t>(begin);
            place.end = static_cast<std::uint32_t>(end);
            add_place(expression, place, variable);
        }
    }

    void add_place(std::string_view expression, DebugPlace place, DebugVariable &variable) const {
        dwarf::Cursor at(expression);
        switch (at.number(1)) {
        case dwarf::kRegx:
            place.kind = DebugPlace::Kind::Register;
            for (std::uint64_t bytes = at.uleb(); bytes != 0; bytes >>= 8)
                place.name.insert(place.name.begin(), static_cast<char>(bytes & 0xff));
            break;
        case dwarf::kAddr:
            place.kind = DebugPlace::Kind::Memory;
            place.name = sections_.symbol(at.number(8));
            if (!at.at_end() && at.number(1) == dwarf::kPlusUconst)
                place.offset = at.uleb();
            break;
        default:
            return;
        }
        if (!at.good() || !at.at_end() || place.name.empty())
            return;
        // In registers here and in memory there: not made by any compiler known.
        if (!variable.places.empty() && variable.places.front().kind != place.kind)
            return;
        variable.places.push_back(std::move(place));
    }

    // ---- types ----------------------------------------------------------------------------------

    std::uint32_t type_of(const Entry &entry) {
        const dwarf::Value *value = value_of(entry, dwarf::kType);
        const auto found = value ? entries_.find(value->number) : entries_.end();
        return found == entries_.end() ? kNoDebugIndex : read_type(*found->second);
    }

    std::uint32_t read_type(const Entry &entry) {
        using Kind = DebugType::Kind;
        static const std::map<std::uint32_t, Kind> kKinds = {
            {dwarf::kBaseType, Kind::Base},
            {dwarf::kPointerType, Kind::Pointer},
            {dwarf::kReferenceType, Kind::Reference},
            {dwarf::kRvalueReferenceType, Kind::Reference},
            {dwarf::kStructureType, Kind::Structure},
            {dwarf::kClassType, Kind::Structure},
            {dwarf::kUnionType, Kind::Union},
            {dwarf::kArrayType, Kind::Array},
            {dwarf::kEnumerationType, Kind::Enumeration},
            {dwarf::kTypedef, Kind::Typedef},
            {dwarf::kConstType, Kind::Const},
            {dwarf::kVolatileType, Kind::Volatile},
        };
        const auto [known, added] =
            type_numbers_.emplace(entry.offset, static_cast<std::uint32_t>(types_.size()));
        if (!added)
            return known->second;
        const std::uint32_t number = known->second;
        types_.emplace_back(); // a type may lead back to itself
        DebugType made;
        const auto kind = kKinds.find(entry.tag);
        made.kind = kind == kKinds.end() ? Kind::Opaque : kind->second;
        made.name = name_of(entry);
        made.bytes = entry.number(dwarf::kByteSize);
        made.encoding = static_cast<std::uint32_t>(entry.number(dwarf::kEncoding));
        if (made.bytes == 0 && (made.kind == Kind::Pointer || made.kind == Kind::Reference))
            made.bytes = 8;
        // NVRTC writes `void` as a base type without a size.
        if (made.kind == Kind::Base && (made.bytes == 0 || made.bytes > 16))
            made.kind = Kind::Opaque;
        made.target = type_of(entry);
        for (const auto &child : entry.children)
            read_part(*child, made);
        types_[number] = std::move(made);
        return number;
    }

    void read_part(const Entry &part, DebugType &type) {
        switch (part.tag) {
        case dwarf::kMember:
        case dwarf::kInheritance:
            if (part.find(dwarf::kMemberLocation) && type.members.size() < kMostMembers)
                type.members.push_back({name_of(part), type_of(part), member_offset(part)});
            else if (type.kind == DebugType::Kind::Union)
                type.members.push_back({name_of(part), type_of(part), 0});
            break;
        case dwarf::kSubrangeType:
            type.extents.push_back(part.find(dwarf::kUpperBound)
                                       ? part.number(dwarf::kUpperBound) + 1
                                       : part.number(dwarf::kCount));
            break;
        case dwarf::kEnumerator:
            type.enumerators.push_back(
                {name_of(part), static_cast<std::int64_t>(part.number(dwarf::kConstValue))});
            break;
        default:
            break;
        }
    }

    static std::uint64_t member_offset(const Entry &member) {
        const dwarf::Value &place = *member.find(dwarf::kMemberLocation);
        if (place.kind != dwarf::Value::Kind::Block)
            return place.number;
        dwarf::Cursor at(place.bytes);
        return at.number(1) == dwarf::kPlusUconst ? at.uleb() : 0;
    }

    const ptx::Module &module_;
    const FileNumber &file_;
    ResolvedSections sections_;
    std::unordered_map<std::uint64_t, const Entry *> entries_;
    std::unordered_map<std::uint64_t, std::uint32_t> type_numbers_;
    std::vector<const Entry *> globals_;
    DebugTypes types_;
    std::map<std::uint32_t, DebugFunction> functions_;
};

} // namespace

std::map<std::uint32_t, std::shared_ptr<const DebugFunction>>
read_debug_info(const ptx::Module &module, const FileNumber &file) {
    return DebugInfoReader(module, file).run();
}

} // namespace softcuda::ir
