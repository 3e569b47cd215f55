// read_debug_info.h -- the DWARF sections of a PTX module, for a debugger.
#pragma once

#include "ir/debug_info.h"
#include "ptx/ast.h"

#include <functional>
#include <map>

namespace softcuda::ir {

/// The index in Module::files of a `.file` number of the text.
using FileNumber = std::function<std::uint32_t(std::uint32_t)>;

/// The debug information of each known function, by its index in ptx::Module::functions. Damaged or
/// unknown entries are skipped: a program must run even if its debug data are wrong.
[[nodiscard]] std::map<std::uint32_t, std::shared_ptr<const DebugFunction>>
read_debug_info(const ptx::Module &module, const FileNumber &file);

} // namespace softcuda::ir
