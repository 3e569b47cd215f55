// link.h -- links several PTX modules to one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace softcuda::ptx {

/// A module's text, and its name in messages.
struct LinkInput {
    std::string name;
    std::string text;
};

/// The text of the link, and the names that it declares and does not define.
struct Linked {
    std::string text;
    std::vector<std::string> undefined;
};

/// Resolves external functions and variables by name. Internal symbols of a module stay separate
/// from others of the same name; of weak and common symbols the first counts. Nothing on failure;
/// `log` has the messages of the parser, or which symbol is defined twice or with another size. The
/// result has no line information. Symbols that remain external are left so. Kernels get
/// `.maxnreg` if `most_registers` is not 0 and they have no lower one.
[[nodiscard]] std::optional<Linked> link(std::span<const LinkInput> inputs, std::string &log,
                                         std::uint32_t most_registers);

} // namespace softcuda::ptx
