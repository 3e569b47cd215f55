// read_debug_info.h -- the DWARF sections of a PTX module, for a debugger.
#pragma once

#include "ir/debug_info.h"
#include "ptx/ast.h"

#include <functional>
#include <map>

namespace softcuda::ir {

/// The number in Module::files for one of the text's `.file` numbers.
using FileNumber = std::function<std::uint32_t(std::uint32_t)>;

/// What the sections say of each function that they know, by the function's place in
/// ptx::Module::functions. What is damaged or not understood is left out: a program must run
/// whether or not its debug data are right.
[[nodiscard]] std::map<std::uint32_t, std::shared_ptr<const DebugFunction>>
read_debug_info(const ptx::Module &module, const FileNumber &file);

} // namespace softcuda::ir
