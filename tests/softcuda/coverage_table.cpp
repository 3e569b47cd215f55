// coverage_table.cpp -- writes the table of the PTX instructions that the software device supports.
//
//     softcuda_coverage_table write FILE      writes the table
//     softcuda_coverage_table check FILE      fails if FILE is not up to date
//     softcuda_coverage_table operands        one line for each instruction of single registers,
//                                             with the classes of its operands
//     softcuda_coverage_table matrices        the same for mma and wmma.mma, with their fragments
//
// Each row of instructions.def is written as PTX with all combinations of its modifiers (for rows
// with very many, all pairs), parsed, checked, lowered, and compiled to LLVM IR. An instruction
// that is refused while a module is loaded counts as refused. A later failure is a defect, and this
// program reports it.
#include "instruction_writer.h"

#include "compiler/pipeline.h"

#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

namespace {

using namespace softcuda;

/// The newest target whose instructions the default device has.
constexpr unsigned kDeviceTarget = 86;

struct Outcome {
    enum class State { Supported, Refused, Broken } state = State::Supported;
    std::string reason;
};

/// The first diagnostic of a log, without its position.
std::string first_reason(const std::string &log) {
    for (const std::string_view before : {"in kernel `k`: ", "error: "})
        if (std::size_t at = log.find(before); at != std::string::npos) {
            at += before.size();
            return log.substr(at, log.find('\n', at) - at);
        }
    return log;
}

Outcome try_instruction(const ptx::Form &form, const test::WrittenInstruction &instruction,
                        const jit::Target &target) {
    std::string log;
    std::unique_ptr<ir::Module> module =
        compiler::read_ptx(test::complete_module(form, instruction), log);
    if (!module)
        return {Outcome::State::Refused, first_reason(log)};
    try {
        for (const auto &function : module->functions)
            if (function->name == "k")
                (void)compiler::make_llvm(*module, *function, {.block = {64, 1, 1}}, {}, target);
    } catch (const std::exception &error) {
        return {Outcome::State::Broken, error.what()};
    }
    return {};
}

struct Row {
    const ptx::Form *form;
    std::size_t supported = 0, total = 0;
    std::map<std::string, std::vector<std::string>> refused; ///< spellings by reason
};

struct Table {
    std::vector<Row> rows;
    std::size_t supported = 0, total = 0, broken = 0;
};

void add_outcome(Table &table, Row &row, const std::string &spelling, const Outcome &outcome) {
    ++row.total;
    if (outcome.state == Outcome::State::Supported) {
        ++row.supported;
        return;
    }
    row.refused[outcome.reason].push_back(spelling);
    if (outcome.state == Outcome::State::Broken) {
        ++table.broken;
        std::cerr << "not refused when loaded: " << spelling << ": " << outcome.reason << "\n";
    }
}

Table make_table() {
    Table table;
    const jit::Target target;
    for (const ptx::Form &form : ptx::forms()) {
        Row row{.form = &form, .refused = {}};
        for (const auto &instruction : test::write_form(form, test::Thoroughness::Combined))
            add_outcome(table, row, instruction.spelling,
                        try_instruction(form, instruction, target));
        if (form.sm <= kDeviceTarget) {
            table.supported += row.supported;
            table.total += row.total;
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

// Output.

/// `|` would end a cell, so it is escaped.
std::string cell(std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
        text.insert(at, "\\");
    return text;
}

/// A reason without the instruction's name, so that several instructions can share it.
std::string shared_reason(const std::string &reason, const std::string &spelling) {
    std::string text = reason;
    if (std::size_t at = text.find(spelling); at != std::string::npos)
        text.replace(at, spelling.size(), "…");
    return text;
}

std::string state_of(const Row &row) {
    if (row.supported == row.total)
        return ptx::syntax_of(*row.form).starts_with("multimem") ? "fails" : "yes";
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const auto &[reason, spellings] : row.refused)
        for (const std::string &spelling : spellings)
            by_reason[shared_reason(reason, spelling)].push_back(spelling);
    std::string text = row.supported == 0 ? "refused" : "in part; refused";
    for (const auto &[reason, spellings] : by_reason) {
        text += ": " + reason;
        if (row.supported == 0 && by_reason.size() == 1)
            continue;
        text += " (" + std::to_string(spellings.size()) + " of " + std::to_string(row.total) +
                ", as `" + spellings.front() + "`)";
    }
    return cell(text);
}

void print_rows(std::ostream &out, const Table &table, bool newer) {
    out << "| instruction | operands | variants | since | supported |\n|---|---|---|---|---|\n";
    for (const Row &row : table.rows) {
        const ptx::Form &form = *row.form;
        if ((form.sm > kDeviceTarget) != newer || row.total == 0)
            continue;
        out << "| `" << cell(ptx::syntax_of(form)) << "` | "
            << (form.operand_text.empty() ? "" : "`" + cell(std::string(form.operand_text)) + "`")
            << " | " << row.total << " | PTX " << form.ptx_version / 10 << "."
            << form.ptx_version % 10;
        if (form.sm != 0)
            out << ", sm_" << form.sm << (form.needs_suffix ? "a" : "");
        out << " | " << state_of(row) << " |\n";
    }
}

std::string to_markdown(const Table &table) {
    std::ostringstream out;
    out << "# PTX instructions in softcuda\n\n"
           "Made by `softcuda_coverage_table write docs/ptx_instructions.md` from\n"
           "`softcuda/src/ptx/instructions.def`. The program writes each instruction in PTX with "
           "all\n"
           "combinations of its modifiers (its *variants*), and compiles them. A test checks that "
           "the table is current.\n\n"
           "- `yes`: softcuda runs all variants.\n"
           "- `fails`: a kernel with this instruction runs, unless a thread executes it: no memory "
           "is "
           "multicast memory.\n"
           "- `refused`: a module with this instruction is not loaded. The error names the "
           "instruction and the line.\n"
           "- Operands: `=` is a destination. `T` `U` `V` `X` are the first to the fourth type, "
           "and `W` is a\n"
           "  type twice as wide as `T`. `[m]` is an address, and `p` a predicate. The top of\n"
           "  `instructions.def` explains the other letters.\n\n"
           "## Up to sm_86, the default compute capability of the device\n\n"
        << table.supported << " of " << table.total << " variants run.\n\n";
    print_rows(out, table, false);
    out << "\n## Newer instructions\n\nThese need a `.target` above sm_86. Compilers use such a "
           "target only if `SOFTCUDA_ARCH` selects it.\n\n";
    print_rows(out, table, true);
    out << "\n## Refused instructions\n\nsoftcuda knows only the names of these, and reports the "
           "reason:\n\n| instruction | reason "
           "|\n|---|---|\n";
#define REFUSED(prefix, reason) out << "| `" prefix "` | " reason " |\n";
#include "ptx/instructions.def"
    return out.str();
}

std::string read_file(const std::string &path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

void print_operands() {
    for (const ptx::Form &form : ptx::forms())
        if (form.sm <= kDeviceTarget)
            for (const auto &instruction : test::write_form(form, test::Thoroughness::Combined))
                if (std::string operands = test::register_operands(form, instruction);
                    !operands.empty())
                    std::cout << instruction.spelling << " " << operands << "\n";
}

void print_matrices() {
    for (const ptx::Form &form : ptx::forms())
        if (form.sm <= kDeviceTarget &&
            (form.opcode == ptx::Opcode::Mma || form.opcode == ptx::Opcode::MmaSp ||
             form.opcode == ptx::Opcode::WmmaMma))
            for (const auto &instruction : test::write_form(form, test::Thoroughness::Combined))
                std::cout << instruction.spelling << " " << form.operand_text << "\n";
}

int write_or_check(const std::string &mode, const std::string &path) {
    const Table table = make_table();
    const std::string text = to_markdown(table);
    if (mode == "write")
        return std::ofstream(path) << text ? table.broken != 0 : EXIT_FAILURE;
    if (read_file(path) != text) {
        std::cerr << path << " is out of date: run softcuda_coverage_table write " << path << "\n";
        return EXIT_FAILURE;
    }
    return table.broken != 0;
}

} // namespace

int main(int argc, char **argv) {
    const std::string mode = argc > 1 ? argv[1] : "";
    if (mode == "operands" && argc == 2) {
        print_operands();
        return EXIT_SUCCESS;
    }
    if (mode == "matrices" && argc == 2) {
        print_matrices();
        return EXIT_SUCCESS;
    }
    if ((mode == "write" || mode == "check") && argc == 3)
        return write_or_check(mode, argv[2]);
    std::cerr << "usage: softcuda_coverage_table write|check FILE, operands, or matrices\n";
    return 2;
}
