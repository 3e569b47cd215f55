// spelling.cpp -- matches `ld.global.v4.f32` against the rows of instructions.def, and prints
// spellings.
//
// A row lists its modifiers in the manual's order, but ptxas accepts them in any order (NVIDIA's
// own headers write `atom.add.release.gpu.u32`), so each word of a spelling is assigned to the
// first unused rule of the row that accepts it. Types are assigned in the order in which they are
// written.
#include "ptx/check_modifiers.h"
#include "ptx/forms.h"

#include <cstring>

namespace softcuda::ptx {

namespace {

constexpr std::size_t max_rules = 24;

void set_field(Modifiers &modifiers, std::uint8_t field, std::uint8_t value) {
    std::memcpy(reinterpret_cast<unsigned char *>(&modifiers) + field, &value, 1);
}

std::uint8_t field_of(const Modifiers &modifiers, std::uint8_t field) {
    std::uint8_t value = 0;
    std::memcpy(&value, reinterpret_cast<const unsigned char *>(&modifiers) + field, 1);
    return value;
}

const ModifierRule::Choice *choice_of(const ModifierRule &rule, std::string_view text) {
    for (const ModifierRule::Choice &choice : rule.choices)
        if (choice.text == text)
            return &choice;
    return nullptr;
}

/// How far a spelling got along one row.
struct Attempt {
    bool fits = false;
    std::size_t matched_to = 0; ///< offset of the first word that fits nowhere, or the end
    const ModifierRule *missing = nullptr;
    Modifiers modifiers;
};

/// Assigns `text` to the first unused rule of the row that accepts it. Types must be in the row's
/// order: `add.f16.f32` is not `add.f32.f16`.
bool place_word(const Form &form, std::string_view text, bool (&used)[max_rules],
                Modifiers &modifiers) {
    bool type_awaited = false;
    for (std::size_t i = 0; i < form.modifiers.size(); ++i) {
        const ModifierRule &rule = form.modifiers[i];
        if (used[i] || rule.implied || (rule.is_type && type_awaited))
            continue;
        const ModifierRule::Choice *choice = choice_of(rule, text);
        if (choice == nullptr) {
            type_awaited |= rule.is_type;
            continue;
        }
        used[i] = true;
        if (rule.field != ModifierRule::no_field)
            set_field(modifiers, rule.field, choice->value);
        modifiers.type_count += rule.is_type;
        return true;
    }
    return false;
}

Attempt try_form(const Form &form, std::string_view spelling) {
    Attempt attempt;
    bool used[max_rules] = {};
    std::size_t at = form.word.size();
    while (at < spelling.size()) {
        std::size_t end = std::min(spelling.find('.', at + 1), spelling.size());
        attempt.matched_to = at;
        if (!place_word(form, spelling.substr(at + 1, end - at - 1), used, attempt.modifiers))
            return attempt;
        at = end;
    }
    attempt.matched_to = at;
    for (std::size_t i = 0; i < form.modifiers.size(); ++i) {
        const ModifierRule &rule = form.modifiers[i];
        if (rule.implied)
            set_field(attempt.modifiers, rule.field, rule.choices[0].value);
        else if (!used[i] && !rule.optional) {
            attempt.missing = &rule;
            return attempt;
        }
    }
    attempt.fits = true;
    return attempt;
}

/// "`.lo`, `.hi` or `.wide`", of at most a dozen.
std::string list_of(const ModifierRule &rule) {
    std::string text;
    std::size_t count = rule.choices.size();
    for (std::size_t i = 0; i < count && i < 12; ++i) {
        if (i != 0)
            text += i + 1 == count ? " or " : ", ";
        text += "`." + std::string(rule.choices[i].text) + "`";
    }
    return count > 12 ? text + ", ..." : text;
}

void explain(SpellingMatch &result, std::string_view spelling, const Form &best,
             const Attempt &attempt) {
    std::string_view rest = spelling.substr(attempt.matched_to);
    result.error_offset = rest.empty() ? 0 : attempt.matched_to;
    if (attempt.missing != nullptr) {
        result.error = "`" + std::string(spelling) + "` lacks " + list_of(*attempt.missing);
    } else {
        std::string_view word = rest.substr(0, rest.find('.', 1));
        result.error = "`" + std::string(spelling.substr(0, attempt.matched_to)) +
                       "` does not take `" + std::string(word) + "`";
    }
    result.note = "expected " + syntax_of(best);
}

void accept(SpellingMatch &result, std::string_view spelling, std::uint16_t form,
            const Modifiers &modifiers) {
    std::string objection = check_modifiers(forms()[form].opcode, modifiers);
    if (objection.empty())
        result.candidates.push_back({form, modifiers});
    else
        result.error = "`" + std::string(spelling) + "`: " + objection;
}

} // namespace

SpellingMatch match_spelling(std::string_view spelling) {
    SpellingMatch result;
    const Form *best = nullptr;
    Attempt best_attempt;
    for (std::uint16_t index : forms_of(spelling.substr(0, spelling.find('.')))) {
        const Form &form = forms()[index];
        Attempt attempt = try_form(form, spelling);
        if (attempt.fits)
            accept(result, spelling, index, attempt.modifiers);
        else if (best == nullptr || attempt.matched_to > best_attempt.matched_to) {
            best = &form;
            best_attempt = attempt;
        }
    }
    if (result.candidates.empty() && result.error.empty() && best != nullptr)
        explain(result, spelling, *best, best_attempt);
    return result;
}

std::string spell(const Form &form, const Modifiers &modifiers) {
    std::string text(form.word);
    for (const ModifierRule &rule : form.modifiers) {
        if (rule.implied)
            continue;
        if (rule.field == ModifierRule::no_field) {
            if (!rule.optional)
                text += "." + std::string(rule.choices[0].text);
            continue;
        }
        for (const ModifierRule::Choice &choice : rule.choices)
            if (choice.value == field_of(modifiers, rule.field)) {
                text += "." + std::string(choice.text);
                break;
            }
    }
    return text;
}

std::string syntax_of(const Form &form) {
    std::string text(form.word);
    for (const ModifierRule &rule : form.modifiers) {
        if (rule.implied)
            continue;
        std::string choices;
        for (const ModifierRule::Choice &choice : rule.choices) {
            choices += choices.empty() ? "." : ",.";
            choices += choice.text;
        }
        if (rule.optional)
            text += "{" + choices + "}";
        else if (rule.choices.size() == 1)
            text += choices;
        else
            text += "(" + choices + ")";
    }
    return text;
}

} // namespace softcuda::ptx
