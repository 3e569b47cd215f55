// instruction_writer.h -- writes the rows of instructions.def as PTX, for tests.
#pragma once

#include "ptx/forms.h"

#include <string>
#include <vector>

namespace test {

/// One way to write a row.
struct WrittenInstruction {
    std::string spelling; ///< "add.rn.ftz.f32"
    std::string operands; ///< " %f32_0, %f32_8, %f32_16"
    softcuda::ptx::Modifiers modifiers;
    std::size_t operand_count = 0;

    [[nodiscard]] std::string text() const { return spelling + operands; }
};

enum class Thoroughness {
    EachAlone, ///< each word of each modifier once, with the required modifiers only; and all
               ///< modifiers together
    Combined,  ///< all combinations; for rows with thousands of combinations, all pairs of words
};

/// The ways to write `form`, without duplicates and invalid combinations.
[[nodiscard]] std::vector<WrittenInstruction> write_form(const softcuda::ptx::Form &form,
                                                         Thoroughness thoroughness);

/// A kernel `k` with only the instruction, for the parser.
[[nodiscard]] std::string bare_module(const softcuda::ptx::Form &form,
                                      const std::string &instruction);

/// A kernel `k` that loads the instruction's operands and stores its results, so that the compiler
/// can neither fold nor remove it.
[[nodiscard]] std::string complete_module(const softcuda::ptx::Form &form,
                                          const WrittenInstruction &instruction);

/// The classes of registers in memory order, destinations after a `=`: "=f32 f32 b32"; empty for
/// instructions with operands other than single registers, or that depend on other threads.
[[nodiscard]] std::string register_operands(const softcuda::ptx::Form &form,
                                            const WrittenInstruction &instruction);

} // namespace test
