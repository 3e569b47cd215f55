// check.cpp -- selects the form of an instruction by its operands.
#include "ptx/check.h"

#include "ptx/check_call.h"
#include "ptx/check_operand.h"

#include <algorithm>

namespace softcuda::ptx {

namespace {

using Result = std::optional<Mismatch>;

std::string in_backticks(std::string_view text) { return "`" + std::string(text) + "`"; }

std::string version_text(unsigned version) {
    return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

/// Checks one instruction against one form.
class FormChecker {
  public:
    FormChecker(const Context &context, const Function &function, const Instruction &instruction,
                const Form &form, const Modifiers &modifiers)
        : module_(context.module), function_(function), instruction_(instruction), form_(form),
          modifiers_(modifiers), operand_checker_(module_, function, form.opcode, modifiers) {}

    Result check() {
        if (Result wrong = check_availability())
            return wrong;
        if (Result wrong = check_operands())
            return wrong;
        if (form_.opcode == Opcode::Call)
            return check_call(module_, function_, instruction_);
        if (form_.opcode == Opcode::CpAsync)
            return check_copy_size();
        if (form_.opcode == Opcode::St)
            return check_store();
        if (form_.opcode == Opcode::BarSync || form_.opcode == Opcode::BarArrive ||
            form_.opcode == Opcode::BarRed)
            return check_barrier();
        if (form_.opcode == Opcode::Setmaxnreg)
            return check_register_count();
        if (form_.opcode == Opcode::WgmmaMma)
            return check_scales();
        return std::nullopt;
    }

    /// How many operands were fine: of several forms, the one that got furthest is to be reported.
    std::size_t progress() const { return progress_; }

  private:
    Result check_availability() const {
        unsigned version = module_.version_major * 10 + std::min(module_.version_minor, 9u);
        if (module_.target.sm != 0 && module_.target.sm < form_.sm)
            return Mismatch{instruction_.location, in_backticks(instruction_.spelling) +
                                                       " needs sm_" + std::to_string(form_.sm) +
                                                       " or newer, the module's target is sm_" +
                                                       std::to_string(module_.target.sm)};
        if (form_.needs_suffix && module_.target.sm != 0 && module_.target.suffix == 0)
            return Mismatch{instruction_.location, in_backticks(instruction_.spelling) +
                                                       " needs sm_" + std::to_string(form_.sm) +
                                                       "a, the module's target is sm_" +
                                                       std::to_string(module_.target.sm)};
        if (version < form_.ptx_version)
            return Mismatch{instruction_.location, in_backticks(instruction_.spelling) +
                                                       " needs PTX " +
                                                       version_text(form_.ptx_version) +
                                                       " or newer, the module's .version is " +
                                                       std::to_string(module_.version_major) + "." +
                                                       std::to_string(module_.version_minor)};
        if (form_.names_no_rounding() && version >= 31)
            return Mismatch{
                instruction_.location,
                in_backticks(instruction_.spelling) +
                    " lacks `.rn`, `.rz`, `.rm` or `.rp`, which PTX 3.1 or newer needs"};
        if (form_.names_no_members() && version >= 64 && module_.target.sm >= 70)
            return Mismatch{instruction_.location,
                            in_backticks(instruction_.spelling) +
                                " lacks `.sync`, which PTX 6.4 or newer needs for sm_70 or newer"};
        return std::nullopt;
    }

    Result check_operands() {
        std::span<const Operand> operands = instruction_.operands;
        unsigned address_position = 0;
        std::size_t checked = std::min(operands.size(), form_.operands.size());
        if (form_.opcode == Opcode::Call)
            return std::nullopt;
        for (std::size_t i = 0; i < checked; ++i) {
            const OperandRule &rule = form_.operands[i];
            if (Result wrong = operand_checker_.check(rule, operands[i], address_position)) {
                wrong->message = "operand " + std::to_string(i + 1) + " of " +
                                 in_backticks(instruction_.spelling) + ": " + wrong->message;
                return wrong;
            }
            address_position +=
                rule.shape == OperandShape::Address || rule.shape == OperandShape::Tensor;
            progress_ = i + 1;
        }
        return check_count(operands.size());
    }

    Result check_count(std::size_t count) const {
        auto [least, most] = form_.operand_count(modifiers_);
        if (count >= least && count <= most)
            return std::nullopt;
        std::string wanted = std::to_string(least);
        if (most != least)
            wanted += (most == least + 1 ? " or " : " to ") + std::to_string(most);
        return Mismatch{instruction_.location,
                        in_backticks(instruction_.spelling) + " takes " + wanted +
                            (wanted == "1" ? " operand, got " : " operands, got ") +
                            std::to_string(count)};
    }

    Result check_store() const {
        const Operand &address = instruction_.operand(0);
        if (address.symbol.kind == SymbolKind::Parameter && function_.is_entry())
            return Mismatch{address.location, "a kernel's parameters cannot be written"};
        return std::nullopt;
    }

    /// There are 16 barriers, and only whole warps take part.
    Result check_barrier() const {
        bool has_result = form_.opcode == Opcode::BarRed;
        const Operand &number = instruction_.operand(has_result ? 1 : 0);
        if (number.is(OperandKind::Integer) && number.integer > 15)
            return Mismatch{number.location, "barrier " + std::to_string(number.signed_integer()) +
                                                 " is out of range: expected 0 to 15"};
        std::size_t at = has_result ? 2 : 1;
        bool has_count = instruction_.operands.size() > at + has_result;
        if (has_count && instruction_.operand(at).is(OperandKind::Integer) &&
            instruction_.operand(at).integer % 32 != 0)
            return Mismatch{instruction_.operand(at).location,
                            "a barrier counts whole warps: expected a multiple of 32, got " +
                                std::to_string(instruction_.operand(at).signed_integer())};
        return std::nullopt;
    }

    Result check_register_count() const {
        const Operand &count = instruction_.operand(0);
        if (count.integer % 8 == 0)
            return std::nullopt;
        return Mismatch{count.location,
                        "setmaxnreg counts registers in groups of 8: expected a multiple "
                        "of 8, got " +
                            std::to_string(count.integer)};
    }

    /// The two operands after scale-d, if present, are signs.
    Result check_scales() const {
        for (std::size_t at = 4; at < std::min<std::size_t>(instruction_.operands.size(), 6); ++at)
            if (const Operand &scale = instruction_.operand(at); scale.integer == 0)
                return Mismatch{scale.location, "expected 1 or -1 as the scale of a matrix, got 0"};
        return std::nullopt;
    }

    /// cp.async copies 4, 8 or 16 bytes, with .cg only 16.
    Result check_copy_size() const {
        const Operand &size = instruction_.operand(2);
        bool only_16 = modifiers_.cache == CacheOperator::Cg;
        bool fits = size.integer == 16 || (!only_16 && (size.integer == 4 || size.integer == 8));
        if (fits)
            return std::nullopt;
        return Mismatch{size.location, "cp.async copies " +
                                           std::string(only_16 ? "16" : "4, 8 or 16") +
                                           " bytes, got " + std::to_string(size.integer)};
    }

    const Module &module_;
    const Function &function_;
    const Instruction &instruction_;
    const Form &form_;
    const Modifiers &modifiers_;
    OperandChecker operand_checker_;
    std::size_t progress_ = 0;
};

} // namespace

bool check_instruction(Context &context, const Function &function, const SpellingMatch &match,
                       Instruction &instruction) {
    Result worst;
    std::size_t furthest = 0;
    for (const SpellingMatch::Candidate &candidate : match.candidates) {
        const Form &form = forms()[candidate.form];
        FormChecker checker(context, function, instruction, form, candidate.modifiers);
        Result wrong = checker.check();
        if (!wrong) {
            instruction.opcode = form.opcode;
            instruction.form = candidate.form;
            instruction.modifiers = candidate.modifiers;
            return true;
        }
        if (!worst || checker.progress() > furthest) {
            furthest = checker.progress();
            worst = std::move(wrong);
        }
    }
    if (worst)
        context.diagnostics.error(worst->location, worst->message, worst->note);
    return false;
}

} // namespace softcuda::ptx
