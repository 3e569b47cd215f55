// print.h -- prints a syntax tree as PTX text.
#pragma once

#include "ptx/ast.h"

#include <string>

namespace softcuda::ptx {

/// The module as PTX that parses to the same module: declarations first, scopes flattened, names
/// that clash renamed, constants evaluated, debug sections reduced to lines and their functions.
std::string print(const Module &module);

/// The text in pieces, for a linker: each piece refers only to earlier pieces.
struct PrintedParts {
    std::string prototypes; ///< of all functions
    std::string variables;
    std::string bodies; ///< of functions, and aliases
};
/// Without lines, files and the module's head. Leaves out variables that are external.
PrintedParts print_parts(const Module &module);

/// One instruction of `function`, without guard and line end, for messages and dumps. Names are
/// those of the source.
std::string print(const Module &module, const Function &function, const Instruction &instruction);

} // namespace softcuda::ptx
