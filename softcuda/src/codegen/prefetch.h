// prefetch.h -- prefetches memory that is accessed later.
#pragma once

#include "codegen/address.h"

namespace softcuda::codegen {

/// Emits the prefetch instructions of an access, if its plan (warp/plan_prefetch.h) has any.
void emit_prefetch(WarpEmitter &w, const warp::PrefetchPlan &plan, const Address &address);

} // namespace softcuda::codegen
