// declaration.h -- variables, parameters and their initialisers.
#pragma once

#include "ptx/context.h"

#include <functional>
#include <string_view>
#include <vector>

namespace softcuda::ptx {

/// Declared names of registers: `%p` alone, or with `count` the range `%r<100>`.
struct RegisterDeclaration {
    std::string_view name;
    SourceLocation location;
    ScalarType type = ScalarType::None;
    std::uint8_t vector = 1;
    bool is_range = false;
    std::uint32_t count = 0;
};

/// True for `.reg`, `.global`, `.local`, `.shared`, `.const`, `.param` and `.tex`.
bool is_state_space(const Token &token);

/// Reads the declaration after a linkage directive, from the state space (not .reg) to the `;`.
/// Calls `declare` for each variable.
void parse_variables(Context &context, Linkage linkage,
                     const std::function<void(Variable &&)> &declare);

/// Reads `.reg .b32 %a, %r<100>;` and calls `declare` for each declared name.
void parse_registers(Context &context,
                     const std::function<void(const RegisterDeclaration &)> &declare);

/// Reads `( .param .u64 a, .reg .b32 b )`; the name `_` is kept.
std::vector<Variable> parse_parameters(Context &context);

} // namespace softcuda::ptx
