// parse.h -- parses PTX text to a checked syntax tree.
#pragma once

#include "ptx/ast.h"
#include "support/diagnostics.h"

#include <memory>
#include <optional>

namespace softcuda::ptx {

/// Parses and checks a PTX module. Empty if there are errors, which are in `diagnostics`; it must
/// belong to the same source. Errors in the text never throw.
///
///     auto source = std::make_shared<SourceText>("kernel.ptx", text);
///     Diagnostics diagnostics(*source);
///     std::optional<Module> module = parse(source, diagnostics);
std::optional<Module> parse(std::shared_ptr<const SourceText> source, Diagnostics &diagnostics);

} // namespace softcuda::ptx
