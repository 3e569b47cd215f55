// parse_ir.h -- reads the text form of print.h, for tests and for edited dumps.
#pragma once

#include "ir/ir.h"

#include <memory>
#include <string>
#include <string_view>

namespace softcuda::ir {

/// Reads what to_text(Module) writes. `;` begins a comment. On an error returns null and sets
/// `error` to "line 3: ...". The result is not verified. Values get new ids in their order.
[[nodiscard]] std::unique_ptr<Module> parse_ir(std::string_view text, std::string &error);

} // namespace softcuda::ir
