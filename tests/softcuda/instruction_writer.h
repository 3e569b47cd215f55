// instruction_writer.h -- writes the rows of instructions.def as PTX, for tests of all of them.
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
    EachAlone, ///< each modifier's each word once, beside only what must be there; and all at once
    Combined,  ///< all combinations; of rows with thousands of those, all pairs of words
};

/// Ways to write `form`, none twice; impossible combinations are left out.
[[nodiscard]] std::vector<WrittenInstruction> write_form(const softcuda::ptx::Form &form,
                                                         Thoroughness thoroughness);

/// A kernel `k` with nothing but the instruction: for the parser.
[[nodiscard]] std::string bare_module(const softcuda::ptx::Form &form,
                                      const std::string &instruction);

/// A kernel `k` that reads the instruction's operands from memory and stores its results there, so
/// that nothing of it is constant or superfluous.
[[nodiscard]] std::string complete_module(const softcuda::ptx::Form &form,
                                          const WrittenInstruction &instruction);

/// The classes of registers in memory order, destinations after a `=`: "=f32 f32 b32"; empty for
/// instructions with operands other than single registers, or that concern more than their thread.
[[nodiscard]] std::string register_operands(const softcuda::ptx::Form &form,
                                            const WrittenInstruction &instruction);

} // namespace test
