// suppression.h -- findings that the user does not want to hear of.
//
// SOFTCUDA_CHECK_SUPPRESS names a file. Each line is a pattern `mode:kind:kernel:file:line`, where
// `*` stands for any text; a part that is left out matches everything. `#` begins a comment.
#pragma once

#include "check/finding.h"

namespace softcuda::check {

/// Whether a line of the file matches the finding: its file and line those of one of its accesses.
[[nodiscard]] bool is_suppressed(const Finding &finding);

} // namespace softcuda::check
