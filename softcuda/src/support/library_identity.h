// library_identity.h -- which build of this library is running, for keys of caches on disk.
#pragma once

#include <string>

namespace softcuda {

/// The build-id of the ELF image that this code is in, in hexadecimal digits: another one for each
/// build that differs, the same for copies of one. Empty if it was linked without one.
[[nodiscard]] std::string library_identity();

} // namespace softcuda
