// instruction_writer.cpp -- writes the rows of instructions.def as PTX, for tests.
#include "instruction_writer.h"

#include "ptx/check_modifiers.h"

#include <cstring>
#include <set>

namespace test {

namespace {

using namespace softcuda::ptx;

/// If a row has more combinations of modifiers, only pairs are written.
constexpr std::size_t kMostCombinations = 600;

/// The selected alternative of each modifier of a row; -1: omitted.
using Choices = std::vector<int>;

int least_choice(const ModifierRule &rule) { return rule.optional ? -1 : 0; }
int choice_count(const ModifierRule &rule) { return static_cast<int>(rule.choices.size()); }

Choices least_choices(const Form &form) {
    Choices least;
    for (const ModifierRule &rule : form.modifiers)
        least.push_back(least_choice(rule));
    return least;
}

std::vector<Choices> each_alone(const Form &form) {
    std::size_t count = form.modifiers.size();
    std::vector<Choices> list{least_choices(form), Choices(count, 0)};
    for (std::size_t i = 0; i < count; ++i)
        for (int choice = 0; choice < choice_count(form.modifiers[i]); ++choice) {
            list.push_back(list.front());
            list.back()[i] = choice;
        }
    return list;
}

std::size_t combination_count(const Form &form) {
    std::size_t count = 1;
    for (const ModifierRule &rule : form.modifiers)
        count *= rule.choices.size() + rule.optional;
    return count;
}

std::vector<Choices> all_combinations(const Form &form) {
    std::vector<Choices> list{least_choices(form)};
    for (std::size_t i = 0; i < form.modifiers.size(); ++i)
        for (std::size_t n = list.size(); n-- > 0;)
            for (int choice = list[n][i] + 1; choice < choice_count(form.modifiers[i]); ++choice) {
                list.push_back(list[n]);
                list.back()[i] = choice;
            }
    return list;
}

std::vector<Choices> all_pairs(const Form &form) {
    std::vector<Choices> list = each_alone(form);
    Choices least = list.front();
    for (std::size_t i = 0; i < least.size(); ++i)
        for (std::size_t j = i + 1; j < least.size(); ++j)
            for (int a = 0; a < choice_count(form.modifiers[i]); ++a)
                for (int b = 0; b < choice_count(form.modifiers[j]); ++b) {
                    list.push_back(least);
                    list.back()[i] = a;
                    list.back()[j] = b;
                }
    return list;
}

std::vector<Choices> choices_of(const Form &form, Thoroughness thoroughness) {
    if (thoroughness == Thoroughness::EachAlone)
        return each_alone(form);
    return combination_count(form) <= kMostCombinations ? all_combinations(form) : all_pairs(form);
}

WrittenInstruction write_spelling(const Form &form, const Choices &choices) {
    WrittenInstruction written{.spelling = std::string(form.word), .operands = {}, .modifiers = {}};
    for (std::size_t i = 0; i < choices.size(); ++i) {
        const ModifierRule &rule = form.modifiers[i];
        if (choices[i] < 0)
            continue;
        const ModifierRule::Choice &choice = rule.choices[static_cast<std::size_t>(choices[i])];
        if (!rule.implied)
            written.spelling += "." + std::string(choice.text);
        if (rule.field != ModifierRule::no_field)
            std::memcpy(reinterpret_cast<char *>(&written.modifiers) + rule.field, &choice.value,
                        1);
        written.modifiers.type_count += rule.is_type;
    }
    return written;
}

/// A register of the type; `%b16_3` is declared as .b16, and so on.
std::string reg(ScalarType type, unsigned number) {
    std::string suffix = "_" + std::to_string(number);
    if (class_of(type) == TypeClass::Predicate)
        return "%pred" + suffix;
    bool is_float = type == ScalarType::F32 || type == ScalarType::F64;
    return (is_float ? "%f" : "%b") + std::to_string(std::max(bits_of(type), 8u)) + suffix;
}

std::string vector_of(ScalarType type, unsigned count, unsigned number) {
    std::string text = "{";
    for (unsigned i = 0; i < count; ++i)
        text += (i == 0 ? "" : ", ") + reg(type, number + i);
    return text + "}";
}

unsigned coordinates(Geometry geometry) {
    switch (geometry) {
    case Geometry::D1:
        return 1;
    case Geometry::D2:
    case Geometry::A1d:
        return 2;
    default:
        return 4;
    }
}

std::string write_vector(const OperandRule &rule, const Modifiers &modifiers, ScalarType type,
                         unsigned number) {
    switch (rule.count_rule) {
    case CountRule::Fixed:
        return vector_of(type, rule.count, number);
    case CountRule::FromVector:
        return modifiers.vector == VectorWidth::None
                   ? reg(type, number)
                   : vector_of(type, modifiers.vector_width(), number);
    case CountRule::FromMatrix:
        return vector_of(type, 1u << (static_cast<unsigned>(modifiers.matrix_count) - 1), number);
    case CountRule::FromGroup:
        return vector_of(type,
                         modifiers.group_columns() / (modifiers.type() == ScalarType::F16 ? 4 : 2),
                         number);
    case CountRule::Any:
        break;
    }
    return vector_of(type, coordinates(modifiers.geometry), number);
}

ScalarType packed_element(ScalarType whole) {
    switch (bits_of(whole)) {
    case 16:
        return ScalarType::B8;
    case 32:
        return ScalarType::B16;
    case 64:
        return ScalarType::B32;
    default:
        return ScalarType::B64;
    }
}

std::string write_operand(const OperandRule &rule, const Modifiers &modifiers, unsigned position) {
    ScalarType type = resolve(rule.type, modifiers, 64);
    unsigned number = position * 8;
    switch (rule.shape) {
    case OperandShape::DestinationPair:
        return reg(type, number) + "|%pred_1";
    case OperandShape::PredicatePair:
        return "%pred_0|%pred_1";
    case OperandShape::Address:
        return "[%b64_40+16]";
    case OperandShape::Texture:
        return modifiers.query != TextureQuery::None
                   ? "[%b64_41]"
                   : "[%b64_41, " +
                         vector_of(ScalarType::F32, coordinates(modifiers.geometry), 50) + "]";
    case OperandShape::Vector:
        return write_vector(rule, modifiers, type, number);
    case OperandShape::Packed:
        return position == 0 ? reg(type, 0) : vector_of(packed_element(type), 2, 8);
    case OperandShape::Tensor:
        return "[%b64_41, " + vector_of(ScalarType::B32, modifiers.dimensions(), 50) + "]";
    case OperandShape::Sink:
        return "_";
    case OperandShape::Immediate:
        return std::to_string(rule.high == 16 ? 16 : rule.low);
    case OperandShape::Label:
        return "here";
    case OperandShape::Targets:
        return "targets";
    case OperandShape::Call:
        return "f";
    default:
        return reg(type, number);
    }
}

std::string write_operands(const Form &form, const Modifiers &modifiers, std::size_t count) {
    std::string text;
    unsigned position = 0;
    for (const OperandRule &rule : form.operands) {
        if (position == count)
            break;
        if (rule.with_hint && !modifiers.cache_hint)
            continue;
        text += (position == 0 ? " " : ", ") + write_operand(rule, modifiers, position);
        ++position;
    }
    return text;
}

std::string header(const Form &form, unsigned least_version) {
    const unsigned version =
        form.names_no_rounding() ? 30 : std::max(form.ptx_version, least_version);
    const unsigned least_sm = form.names_no_members() ? 60 : 75;
    return ".version " + std::to_string(version / 10) + "." + std::to_string(version % 10) +
           "\n.target sm_" + std::to_string(std::max(form.sm, least_sm)) +
           (form.needs_suffix ? "a" : "") + "\n.address_size 64\n";
}

std::string register_declarations() {
    std::string text = ".reg .pred %pred_<160>;\n";
    for (const char *bits : {"8", "16", "32", "64", "128"})
        text += std::string(".reg .b") + bits + " %b" + bits + "_<160>;\n";
    return text + ".reg .f32 %f32_<160>;\n.reg .f64 %f64_<160>;\n";
}

/// The names of registers in a text.
std::set<std::string> registers_in(const std::string &text) {
    std::set<std::string> found;
    for (std::size_t at = text.find('%'); at != std::string::npos; at = text.find('%', at + 1)) {
        std::size_t end = text.find_first_of(" ,|]}+", at);
        found.insert(text.substr(at, end == std::string::npos ? end : end - at));
    }
    return found;
}

/// "b32" of %b32_7.
std::string register_type(const std::string &name) { return name.substr(1, name.find('_') - 1); }

std::string load_register(const std::string &name, unsigned offset) {
    std::string from = "[%b64_98+" + std::to_string(offset) + "];\n";
    if (register_type(name) == "pred")
        return "ld.global.b32 %b32_98, " + from + "setp.ne.b32 " + name + ", %b32_98, 0;\n";
    return "ld.global." + register_type(name) + " " + name + ", " + from;
}

std::string store_register(const std::string &name, unsigned offset) {
    std::string to = "[%b64_98+" + std::to_string(offset) + "], ";
    if (register_type(name) == "pred")
        return "selp.b32 %b32_98, 1, 0, " + name + ";\nst.global.b32 " + to + "%b32_98;\n";
    return "st.global." + register_type(name) + " " + to + name + ";\n";
}

/// Instructions that depend on other threads of the warp or block, or on the machine.
bool concerns_others(Opcode opcode) {
    switch (opcode) {
    case Opcode::Cvta:
    case Opcode::CvtaTo:
    case Opcode::Isspacep:
    case Opcode::Istypep:
    case Opcode::Createpolicy:
    case Opcode::Alloca:
    case Opcode::Stacksave:
        return true;
    default:
        return opcode >= Opcode::Membar && opcode <= Opcode::Movmatrix;
    }
}

} // namespace

std::vector<WrittenInstruction> write_form(const Form &form, Thoroughness thoroughness) {
    std::vector<WrittenInstruction> list;
    std::set<std::string> done;
    for (const Choices &choices : choices_of(form, thoroughness)) {
        WrittenInstruction written = write_spelling(form, choices);
        if (!check_modifiers(form.opcode, written.modifiers).empty())
            continue; // an invalid combination
        Form::Count count = form.operand_count(written.modifiers);
        for (std::size_t i = count.least; i <= count.most; ++i) {
            written.operands = write_operands(form, written.modifiers, i);
            written.operand_count = i;
            if (done.insert(written.text()).second)
                list.push_back(written);
        }
    }
    return list;
}

std::string bare_module(const Form &form, const std::string &instruction) {
    return header(form, 83) + ".func f;\n.entry k()\n{\n" + register_declarations() +
           "targets: .branchtargets here;\nhere:\n    " + instruction + ";\n}\n";
}

std::string complete_module(const Form &form, const WrittenInstruction &instruction) {
    std::string loads, stores;
    unsigned offset = 0;
    for (const std::string &name : registers_in(instruction.text())) {
        loads += load_register(name, offset);
        stores += store_register(name, offset);
        offset += 16;
    }
    return header(form, 90) + ".func f { ret; }\n.visible .entry k(.param .b64 memory)\n{\n" +
           register_declarations() + "ld.param.b64 %b64_98, [memory];\n" + loads +
           "targets: .branchtargets here;\n    " + instruction.text() + ";\nhere:\n" + stores +
           "ret;\n}\n";
}

std::string register_operands(const Form &form, const WrittenInstruction &instruction) {
    if (concerns_others(form.opcode) || form.operands.empty())
        return {};
    std::string text;
    for (std::size_t i = 0; i < instruction.operand_count; ++i) {
        const OperandRule &rule = form.operands[i];
        std::string type(name_of(resolve(rule.type, instruction.modifiers, 64)));
        switch (rule.shape) {
        case OperandShape::Destination:
            text += " =" + type;
            break;
        case OperandShape::DestinationPair:
            text += " =" + type + " =pred";
            break;
        case OperandShape::PredicatePair:
            text += " =pred =pred";
            break;
        case OperandShape::Video:
            text += (rule.is_destination ? " =~" : " ~") + type;
            break;
        case OperandShape::Source:
        case OperandShape::SourceOrSymbol:
        case OperandShape::Predicate:
            text += " " + type;
            break;
        case OperandShape::Immediate:
            text += " #" + std::to_string(rule.low) + ".." + std::to_string(rule.high);
            break;
        default:
            return {};
        }
    }
    return text.starts_with(" =") ? text.substr(1) : std::string(); // hints have no result
}

} // namespace test
