// debug_info.h -- the debug information of a function: its variables, their types and scopes.
//
// Comes from the DWARF sections that NVRTC writes with -G (read_debug_info.h). This DWARF uses
// statement numbers of the PTX text as addresses, and PTX registers by name. In the IR, a variable
// is
//
//     in registers      lowering emits a DebugValue wherever the variable gets a new value
//     in memory         at an offset in a variable of local, shared or global memory
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace softcuda::ir {

inline constexpr std::uint32_t kNoDebugIndex = ~std::uint32_t{0};

struct DebugMember {
    std::string name;
    std::uint32_t type = kNoDebugIndex;
    std::uint64_t offset = 0; ///< in bytes
};

struct DebugEnumerator {
    std::string name;
    std::int64_t value = 0;
};

struct DebugType {
    enum class Kind : std::uint8_t {
        Base,
        Pointer,
        Reference,
        Structure,
        Union,
        Array,
        Enumeration,
        Typedef,
        Const,
        Volatile,
        Opaque, ///< nothing but its name is known
    };
    Kind kind = Kind::Opaque;
    std::uint32_t encoding = 0; ///< of a Base: a DW_ATE number
    std::string name;
    std::uint64_t bytes = 0;
    std::uint32_t target = kNoDebugIndex; ///< the type that it points to or consists of; none: void
    std::vector<DebugMember> members;
    std::vector<DebugEnumerator> enumerators;
    std::vector<std::uint64_t> extents; ///< of an Array, outermost first
};

/// The location of a variable between two statements of the function's body.
struct DebugPlace {
    enum class Kind : std::uint8_t { Register, Memory };
    Kind kind = Kind::Register;
    std::uint32_t symbol = kNoDebugIndex; ///< of a variable in Module::variables: its number
    std::uint32_t begin = 0, end = ~std::uint32_t{0};
    std::string name;         ///< of the PTX register or variable
    std::uint64_t offset = 0; ///< in the variable
};

struct DebugVariable {
    std::string name;
    std::uint32_t type = kNoDebugIndex;
    std::uint32_t scope = 0; ///< in DebugFunction::scopes
    std::uint32_t file = 0;  ///< in Module::files
    std::uint32_t line = 0;
    bool parameter = false;
    std::vector<DebugPlace> places;

    [[nodiscard]] bool in_registers() const {
        return !places.empty() && places.front().kind == DebugPlace::Kind::Register;
    }
};

/// A block `{ ... }` of the source. Scope 0 is the function's own.
struct DebugScope {
    std::uint32_t parent = 0;
    std::uint32_t begin = 0, end = ~std::uint32_t{0}; ///< statements
};

/// The last identifier of a mangled name: "tile" for "_ZZ4workE4tile". Another name is returned
/// unchanged.
[[nodiscard]] std::string plain_name(const std::string &name);

using DebugTypes = std::vector<DebugType>;

struct DebugFunction {
    std::string name; ///< in the source: `scaled`
    std::uint32_t file = 0, line = 0;
    std::shared_ptr<const DebugTypes> types;
    std::vector<DebugScope> scopes{DebugScope{}};
    std::vector<DebugVariable> variables;

    /// The size of a value of the type in bytes; 0 if unknown.
    [[nodiscard]] std::uint64_t bytes_of(std::uint32_t type) const;
    /// The innermost scope around a statement.
    [[nodiscard]] std::uint32_t scope_at(std::uint32_t statement) const;
};

} // namespace softcuda::ir
