// parse_ir.h -- the text form of print.h back to IR, for tests and for dumps that were edited.
#pragma once

#include "ir/ir.h"

#include <memory>
#include <string>
#include <string_view>

namespace softcuda::ir {

/// Reads what to_text(Module) writes. `;` begins a comment. On an error returns null and puts
/// "line 3: ..." into `error`. The result is not verified. Values get new ids in their order.
[[nodiscard]] std::unique_ptr<Module> parse_ir(std::string_view text, std::string &error);

} // namespace softcuda::ir
