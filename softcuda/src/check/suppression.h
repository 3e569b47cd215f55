// suppression.h -- suppresses findings by patterns of the user.
//
// SOFTCUDA_CHECK_SUPPRESS names a file. Each line is a pattern `mode:kind:kernel:file:line`, where
// `*` stands for any text; a missing part matches everything. `#` begins a comment.
#pragma once

#include "check/finding.h"

namespace softcuda::check {

/// Whether a line of the file matches the finding. File and line are compared with those of each
/// access.
[[nodiscard]] bool is_suppressed(const Finding &finding);

} // namespace softcuda::check
