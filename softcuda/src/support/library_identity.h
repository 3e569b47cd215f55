// library_identity.h -- which build of this library is running, for keys of caches on disk.
#pragma once

#include <string>

namespace softcuda {

/// Changes whenever the library's file does: its size and the time it was written. Empty if the
/// file cannot be found.
[[nodiscard]] std::string library_identity();

} // namespace softcuda
