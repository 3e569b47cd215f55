// forms.cpp -- reads instructions.def once, at the first use.
//
// The rows are text, so that they are readable and can be compared with NVIDIA's manual. This file
// converts them to arrays. A row that does not parse is a defect of the table; a unit test reads
// all rows.
#include "ptx/forms.h"

#include <cassert>
#include <charconv>
#include <cstddef>
#include <unordered_map>

namespace softcuda::ptx {

namespace {

struct Row {
    Opcode opcode;
    std::string_view spelling;
    std::string_view operands;
    unsigned ptx_version;
    unsigned sm;
};

/// For a row's target: added if its suffix `a` is required.
constexpr unsigned kOneArchitecture = 1000;

constexpr Row rows[] = {
#define FORM(name, spelling, operands, ptx, sm) {Opcode::name, spelling, operands, ptx, sm},
#include "ptx/instructions.def"
};

struct Refusal {
    std::string_view prefix;
    std::string_view reason;
};

constexpr Refusal refusals[] = {
#define REFUSED(prefix, reason) {prefix, reason},
#include "ptx/instructions.def"
};

/// A group of modifiers.def: the member for its value, and its possible words.
struct Group {
    std::string_view name;
    std::uint8_t field;
    std::vector<ModifierRule::Choice> choices;
    std::size_t alias_count = 0; ///< the last of `choices`: used only in rows that name them
};

std::vector<Group> make_groups() {
    std::vector<Group> groups;
#define MODIFIER_ENUM(Type, member) groups.push_back({#member, offsetof(Modifiers, member), {}, 0});
#define MODIFIER_VALUE(Type, Value, text)                                                          \
    groups.back().choices.push_back({text, static_cast<std::uint8_t>(Type::Value)});
#define MODIFIER_ALIAS(Type, Value, text)                                                          \
    groups.back().choices.push_back({text, static_cast<std::uint8_t>(Type::Value)});               \
    ++groups.back().alias_count;
#define MODIFIER_END(Type)
#define MODIFIER_FLAG(member, text)                                                                \
    groups.push_back({#member, offsetof(Modifiers, member), {{text, 1}}, 0});
#include "ptx/modifiers.def"

    Group types{"T", offsetof(Modifiers, types), {}, 0};
#define SCALAR_TYPE(name, text, bits, type_class)                                                  \
    types.choices.push_back({text, static_cast<std::uint8_t>(ScalarType::name)});
#include "ptx/types.def"
    for (std::string_view name : {"T", "U", "V", "X"}) {
        types.name = name;
        groups.push_back(types);
        ++types.field;
    }
    return groups;
}

const Group &group_named(std::string_view name) {
    static const std::vector<Group> groups = make_groups();
    for (const Group &group : groups)
        if (group.name == name)
            return group;
    assert(!"instructions.def names a group that modifiers.def has not");
    return groups.front();
}

/// Cuts the next word, up to `separator`, off `text`.
std::string_view cut(std::string_view &text, char separator) {
    std::size_t end = text.find(separator);
    std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return word;
}

bool cut_suffix(std::string_view &word, char suffix) {
    if (word.empty() || word.back() != suffix)
        return false;
    word.remove_suffix(1);
    return true;
}

bool cut_prefix(std::string_view &word, std::string_view prefix) {
    if (!word.starts_with(prefix))
        return false;
    word.remove_prefix(prefix.size());
    return true;
}

ModifierRule read_modifier(std::string_view word) {
    ModifierRule rule;
    rule.optional = cut_suffix(word, '?');
    rule.implied = cut_prefix(word, "!");
    if (cut_prefix(word, ".")) {
        rule.choices.push_back({word, 1});
        return rule;
    }
    const Group &group = group_named(cut(word, '='));
    rule.field = group.field;
    rule.is_type = group.name.size() == 1;
    if (word.empty())
        rule.choices.assign(group.choices.begin(), group.choices.end() - group.alias_count);
    while (!word.empty()) {
        std::string_view text = cut(word, '|');
        std::size_t before = rule.choices.size();
        for (const ModifierRule::Choice &choice : group.choices)
            if (choice.text == text)
                rule.choices.push_back(choice);
        assert(rule.choices.size() == before + 1 && "instructions.def: no such choice");
        (void)before;
    }
    return rule;
}

ScalarType type_named(std::string_view name) {
    for (const ModifierRule::Choice &choice : group_named("T").choices)
        if (choice.text == name)
            return static_cast<ScalarType>(choice.value);
    assert(!"instructions.def names no such type");
    return ScalarType::None;
}

OperandType read_type(std::string_view name) {
    constexpr std::string_view slots = "TUVX";
    if (name.size() == 1 && slots.find(name[0]) != std::string_view::npos)
        return {OperandType::Source::Slot, static_cast<std::uint8_t>(slots.find(name[0])), {}};
    if (name == "W")
        return {OperandType::Source::Wide, 0, {}};
    if (name == "A")
        return {OperandType::Source::Address, 0, {}};
    return {OperandType::Source::Named, 0, type_named(name)};
}

void read_bounds(OperandRule &rule, std::string_view text) {
    std::size_t dots = text.find("..");
    assert(dots != std::string_view::npos);
    std::from_chars(text.data(), text.data() + dots, rule.low);
    std::from_chars(text.data() + dots + 2, text.data() + text.size(), rule.high);
}

void read_vector(OperandRule &rule, std::string_view word) {
    rule.shape = OperandShape::Vector;
    if (cut_prefix(word, "{")) {
        cut_suffix(word, '}');
        rule.type = read_type(cut(word, ':'));
        rule.count_rule = word.empty() ? CountRule::Any : CountRule::Fixed;
        std::from_chars(word.data(), word.data() + word.size(), rule.count);
        return;
    }
    rule.count_rule = word.front() == 'v' ? CountRule::FromVector : CountRule::FromMatrix;
    rule.type = read_type(word.substr(1));
}

OperandRule read_operand(std::string_view word) {
    OperandRule rule;
    if (word == "_") {
        rule.shape = OperandShape::Sink;
        return rule;
    }
    rule.optional = cut_suffix(word, '?');
    rule.relaxed = cut_suffix(word, '*');
    rule.is_destination = cut_prefix(word, "=");
    rule.may_sink = cut_prefix(word, "_");
    rule.negatable = cut_prefix(word, "!");
    bool pair = word.ends_with("|p") || word.ends_with("|q");
    if (pair)
        word.remove_suffix(2);
    if (word == "[m]") {
        rule.shape = OperandShape::Address;
    } else if (cut_prefix(word, "D:")) {
        rule.shape = OperandShape::Vector;
        rule.count_rule = CountRule::FromGroup;
        rule.type = read_type(word);
    } else if (word == "[T]") {
        rule.shape = OperandShape::Tensor;
    } else if (word == "[t]") {
        rule.shape = OperandShape::Texture;
    } else if (word == "label") {
        rule.shape = OperandShape::Label;
    } else if (word == "targets") {
        rule.shape = OperandShape::Targets;
    } else if (word == "call") {
        rule.shape = OperandShape::Call;
    } else if (word == "h") {
        rule.shape = OperandShape::Source;
        rule.with_hint = true;
        rule.type = read_type("b64");
    } else if (word == "p") {
        rule.shape = rule.is_destination ? OperandShape::PredicatePair : OperandShape::Predicate;
        rule.type = read_type("pred");
    } else if (word == "P") {
        rule.shape = OperandShape::Packed;
        rule.type = read_type("T");
    } else if (cut_prefix(word, "#")) {
        rule.shape = OperandShape::Immediate;
        read_bounds(rule, word);
    } else if (cut_prefix(word, "~")) {
        rule.shape = OperandShape::Video;
        rule.type = read_type(word);
    } else if (cut_prefix(word, "&")) {
        rule.shape = OperandShape::SourceOrSymbol;
        rule.type = read_type(word);
    } else if (word.front() == '{' || word.front() == 'v' || word.front() == 'n') {
        read_vector(rule, word);
        rule.has_pair = pair;
    } else {
        rule.shape = !rule.is_destination ? OperandShape::Source
                     : pair               ? OperandShape::DestinationPair
                                          : OperandShape::Destination;
        rule.type = read_type(word);
    }
    return rule;
}

Form read_form(const Row &row) {
    Form form{row.opcode,
              {},
              {},
              {},
              row.operands,
              row.ptx_version,
              row.sm % kOneArchitecture,
              row.sm >= kOneArchitecture};
    std::string_view rest = row.spelling;
    form.word = cut(rest, ' ');
    while (!rest.empty())
        if (std::string_view word = cut(rest, ' '); !word.empty())
            form.modifiers.push_back(read_modifier(word));
    rest = row.operands;
    while (!rest.empty())
        form.operands.push_back(read_operand(cut(rest, ' ')));
    return form;
}

struct Table {
    std::vector<Form> forms;
    std::unordered_map<std::string_view, std::vector<std::uint16_t>> by_word;
};

const Table &table() {
    static const Table instance = [] {
        Table made;
        for (const Row &row : rows) {
            made.forms.push_back(read_form(row));
            auto index = static_cast<std::uint16_t>(made.forms.size() - 1);
            made.by_word[made.forms.back().word].push_back(index);
        }
        return made;
    }();
    return instance;
}

} // namespace

Form::Count Form::operand_count(const Modifiers &modifiers) const {
    Count count{0, 0};
    for (const OperandRule &rule : operands) {
        bool absent = rule.with_hint && !modifiers.cache_hint;
        count.most += !absent;
        count.least += !absent && !rule.optional;
    }
    return count;
}

std::span<const Form> forms() { return table().forms; }

std::span<const std::uint16_t> forms_of(std::string_view word) {
    auto found = table().by_word.find(word);
    return found == table().by_word.end() ? std::span<const std::uint16_t>{} : found->second;
}

std::optional<std::string_view> refusal_of(std::string_view spelling) {
    for (const Refusal &refusal : refusals)
        if (spelling.starts_with(refusal.prefix) &&
            (spelling.size() == refusal.prefix.size() || spelling[refusal.prefix.size()] == '.'))
            return refusal.reason;
    return std::nullopt;
}

ScalarType resolve(const OperandType &type, const Modifiers &modifiers, unsigned address_bits) {
    switch (type.source) {
    case OperandType::Source::None:
        return ScalarType::None;
    case OperandType::Source::Slot:
        return modifiers.types[type.slot];
    case OperandType::Source::Named:
        return type.named;
    case OperandType::Source::Address:
        return address_bits == 64 ? ScalarType::U64 : ScalarType::U32;
    case OperandType::Source::Wide:
        break;
    }
    switch (modifiers.type()) {
    case ScalarType::U16:
        return ScalarType::U32;
    case ScalarType::S16:
        return ScalarType::S32;
    case ScalarType::U32:
        return ScalarType::U64;
    default:
        return ScalarType::S64;
    }
}

} // namespace softcuda::ptx
