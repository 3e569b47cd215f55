// ptx_table_test.cpp -- writes each row of instructions.def in PTX and parses it.
//
// For each row there is an instruction with the required modifiers, one for each word of each
// optional modifier, and one with all modifiers. All must be parsed as that row, or as an earlier
// row that matches too, and be printed as they were written.
#include "check.h"
#include "instruction_writer.h"

#include "ptx/forms.h"
#include "ptx/parse.h"
#include "ptx/print.h"

#include <iostream>

namespace {

using namespace softcuda;
using namespace softcuda::ptx;

/// `printed` differs from the written text by words without a meaning (barrier.cta.sync).
void check_instruction(const Form &form, const std::string &instruction,
                       const std::string &expected) {
    auto source = std::make_shared<SourceText>("row", test::bare_module(form, instruction));
    Diagnostics diagnostics(*source);
    std::optional<Module> module = parse(source, diagnostics);
    CHECK(module.has_value());
    if (!module) {
        std::cout << diagnostics.render();
        return;
    }
    bool printed = print(*module).find("    " + expected + ";\n") != std::string::npos;
    CHECK(printed);
    if (!printed)
        std::cout << "wrote " << instruction << "\nread  " << print(*module);
}

std::size_t check_form(const Form &form) {
    const auto written = test::write_form(form, test::Thoroughness::EachAlone);
    for (const test::WrittenInstruction &instruction : written)
        check_instruction(form, instruction.text(),
                          spell(form, instruction.modifiers) + instruction.operands);
    return written.size();
}

} // namespace

int main() {
    std::size_t instructions = 0;
    for (const Form &form : forms()) {
        std::size_t written = check_form(form);
        instructions += written;
        bool special =
            form.opcode ==
            Opcode::Cvt; // some rows require a rounding modifier that is optional in others
        CHECK(written > 0 || special);
        if (written == 0)
            std::cout << "nothing written for " << syntax_of(form) << "\n";
    }
    std::cout << forms().size() << " rows, " << instructions << " instructions\n";
    CHECK(instructions > 2000);
    return test::status();
}
