// parse.h -- text to AST: the whole front half, checked.
#pragma once

#include "ptx/ast.h"
#include "support/diagnostics.h"

#include <memory>
#include <optional>

namespace softcuda::ptx {

/// Parses and checks a PTX module. Nothing if there are errors; those are in `diagnostics`, which
/// must be about the same source. Never throws for what the text says.
///
///     auto source = std::make_shared<SourceText>("kernel.ptx", text);
///     Diagnostics diagnostics(*source);
///     std::optional<Module> module = parse(source, diagnostics);
std::optional<Module> parse(std::shared_ptr<const SourceText> source, Diagnostics &diagnostics);

} // namespace softcuda::ptx
