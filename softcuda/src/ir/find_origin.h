// find_origin.h -- what an address was computed from: a parameter or a variable.
#pragma once

#include "ir/ir.h"

#include <optional>

namespace softcuda::ir {

struct Origin {
    enum class Kind : std::uint8_t {
        Parameter, ///< a pointer that is a kernel's parameter, or in one: its number
        Local,     ///< Function::variables: shared or local memory
        Global,    ///< Module::variables
    };
    Kind kind = Kind::Parameter;
    std::uint32_t number = 0;
    friend bool operator==(const Origin &, const Origin &) = default;
};

/// Where an address comes from, if it comes from one thing only.
[[nodiscard]] std::optional<Origin> find_origin(const Function &function, const Value &address);

/// What is done at an address. Atomics do both.
enum class AccessKind : std::uint8_t { Read, Write };

/// The origins of all accesses of a kind for a place in the source, each once. None where one of
/// them is not known.
[[nodiscard]] std::vector<Origin> find_origins(const Function &function, const Location &location,
                                               AccessKind kind);

} // namespace softcuda::ir
