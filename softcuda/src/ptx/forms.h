// forms.h -- instructions.def as data: the allowed modifiers and operands of each instruction.
#pragma once

#include "ptx/modifiers.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace softcuda::ptx {

/// One place in an instruction's spelling.
struct ModifierRule {
    struct Choice {
        std::string_view text; ///< without the dot
        std::uint8_t value;
    };
    static constexpr std::uint8_t no_field = 0xff;

    std::vector<Choice> choices;   ///< one of these
    std::uint8_t field = no_field; ///< the byte of Modifiers that gets the value; none: a word
    bool is_type = false;          ///< field is one of Modifiers::types
    bool optional = false;
    bool implied = false; ///< not part of the spelling: always choices[0]
};

enum class OperandShape : std::uint8_t {
    Destination,     ///< =T
    DestinationPair, ///< =T|p
    PredicatePair,   ///< =p|q
    Source,          ///< T
    SourceOrSymbol,  ///< &T
    Predicate,       ///< p, !p
    Address,         ///< [m]
    Texture,         ///< [t]
    Vector,          ///< vT, {T:4}, nT: source; with `is_destination` a destination
    Packed,          ///< P
    Video,           ///< ~T
    Immediate,       ///< #lo..hi
    Sink,            ///< _
    Tensor,          ///< [T]
    Label,
    Targets,
    Call,
};

/// The number of elements of a Vector.
enum class CountRule : std::uint8_t {
    Fixed,      ///< `count`
    FromVector, ///< from .v2 .v4; 1: no braces
    FromMatrix, ///< from .x1 .x2 .x4
    FromGroup,  ///< from wgmma's shape and D's type
    Any,        ///< from the geometry of the texture
};

/// The type of an operand.
struct OperandType {
    enum class Source : std::uint8_t { None, Slot, Named, Wide, Address };
    Source source = Source::None;
    std::uint8_t slot = 0;
    ScalarType named = ScalarType::None;
};

/// The rule for one operand.
struct OperandRule {
    OperandShape shape{};
    OperandType type;
    CountRule count_rule = CountRule::Fixed;
    std::uint8_t count = 0;
    bool is_destination = false;
    bool has_pair = false;  ///< a vector that may have `|p` after it
    bool may_sink = false;  ///< `_` is allowed
    bool negatable = false; ///< `!` is allowed
    bool relaxed = false;   ///< the register may be wider than the type
    bool optional = false;
    bool with_hint = false;         ///< present exactly if .L2::cache_hint is present
    std::int64_t low = 0, high = 0; ///< of an Immediate
};

/// One row of instructions.def.
struct Form {
    Opcode opcode;
    std::string_view word; ///< the first word of the spelling: "cp"
    std::vector<ModifierRule> modifiers;
    std::vector<OperandRule> operands;
    std::string_view operand_text; ///< as in the table
    unsigned ptx_version;          ///< 70 for 7.0
    unsigned sm;
    bool needs_suffix; ///< the target must be that of one architecture: sm_90a

    /// What lanes did together before sm_70: without a mask of those that take part. From PTX 6.4
    /// on only older targets have it.
    [[nodiscard]] bool names_no_members() const {
        return (opcode == Opcode::Vote && operands.size() == 2) ||
               (opcode == Opcode::Shfl && operands.size() == 4);
    }

    /// mad.f32 without a rounding, the form before PTX 3.1. The other forms of sm_10 begin with a
    /// modifier.
    [[nodiscard]] bool names_no_rounding() const {
        return opcode == Opcode::Mad && sm == 0 && modifiers.front().optional;
    }

    /// How many operands an instruction with these modifiers has.
    struct Count {
        std::size_t least, most;
    };
    Count operand_count(const Modifiers &modifiers) const;
};

/// Every row, in the order of the table; an Instruction's `form` is an index here.
std::span<const Form> forms();

/// The rows whose spelling begins with this word; empty if there is no such instruction.
std::span<const std::uint16_t> forms_of(std::string_view word);

/// The reason why an instruction is not supported; empty if it is not a REFUSED row.
std::optional<std::string_view> refusal_of(std::string_view spelling);

/// A parsed spelling: the matching rows, each with its modifiers.
struct SpellingMatch {
    struct Candidate {
        std::uint16_t form;
        Modifiers modifiers;
    };
    std::vector<Candidate> candidates;

    // The error, if there are no candidates.
    std::size_t error_offset = 0; ///< in the spelling
    std::string error;
    std::string note;
};

/// Matches `ld.global.f32` against the table. Takes microseconds, so callers cache the results.
SpellingMatch match_spelling(std::string_view spelling);

/// The spelling of an instruction of that form with those modifiers, in the table's order.
std::string spell(const Form &form, const Modifiers &modifiers);

/// For messages: "add{.rn,.rz}{.ftz}.f32".
std::string syntax_of(const Form &form);

/// The type that a rule gives for these modifiers. `address_bits` is 32 or 64.
ScalarType resolve(const OperandType &type, const Modifiers &modifiers, unsigned address_bits);

} // namespace softcuda::ptx
