// library_identity.h -- identifies the build of this library, for keys of caches on disk.
#pragma once

#include <string>

namespace softcuda {

/// The build-id of the ELF image that contains this code, in hexadecimal digits. It differs between
/// different builds, and is equal for copies of one build. Empty if the image was linked without a
/// build-id.
[[nodiscard]] std::string library_identity();

} // namespace softcuda
