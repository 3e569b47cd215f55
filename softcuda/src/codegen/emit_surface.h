// emit_surface.h -- accesses to rows of surfaces.
#pragma once

#include "codegen/lane_access.h"

#include <functional>

namespace softcuda::codegen {

/// An access to a surface by rows of lanes in `groups` groups; emits `elsewhere` for places that
/// are not inside. The results of a load, in all lanes.
Values emit_surface_rows(WarpEmitter &w, const ir::Instruction &i, unsigned groups,
                         const std::function<Values()> &elsewhere);

} // namespace softcuda::codegen
