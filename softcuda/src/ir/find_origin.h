// find_origin.h -- the origin of an address: the parameter or variable from which it was computed.
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

/// The origin of an address, if there is exactly one.
[[nodiscard]] std::optional<Origin> find_origin(const Function &function, const Value &address);

/// The kind of access. Atomics read and write.
enum class AccessKind : std::uint8_t { Read, Write };

/// The distinct origins of all accesses of a kind at a source location. Empty if one of them is
/// unknown.
[[nodiscard]] std::vector<Origin> find_origins(const Function &function, const Location &location,
                                               AccessKind kind);

} // namespace softcuda::ir
