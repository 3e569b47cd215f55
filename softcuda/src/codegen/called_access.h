// called_access.h -- accesses lane by lane in the runtime: rare ones, and those whose own code
// would be too long.
#pragma once

#include "codegen/address.h"
#include "codegen/lane_access.h"

namespace softcuda::codegen {

/// What each lane accesses.
struct Element {
    llvm::Type *type; ///< in memory
    unsigned bytes;
    unsigned count; ///< for each lane
};

/// Whether the call is expected, or only a way out.
enum class Often : std::uint8_t { No, Yes };

/// For each element, a vector over the lanes.
[[nodiscard]] Values load_by_call(WarpEmitter &w, const Address &address, const Element &element,
                                  Often often);

/// Returns no values, like other ways to store (codegen/answer.h).
Values store_by_call(WarpEmitter &w, const Address &address, const Element &element,
                     const Values &values, Often often);

} // namespace softcuda::codegen
