// special_registers.h -- the table of special registers.
#pragma once

#include "ptx/operand.h"

#include <string_view>

namespace softcuda::ptx {

struct SpecialRow {
    SpecialRegister special;
    std::string_view name; ///< with the `%`
    ScalarType type;
    unsigned count; ///< as in special_registers.def

    /// Whether several registers share the spelling: %envreg0 to %envreg31.
    [[nodiscard]] constexpr bool is_numbered() const { return count != 1 && count != 4; }
};

/// In the order of SpecialRegister.
inline constexpr SpecialRow special_rows[] = {
#define SPECIAL_REGISTER(name, text, type, count)                                                  \
    {SpecialRegister::name, text, ScalarType::type, count},
#include "ptx/special_registers.def"
};

} // namespace softcuda::ptx
