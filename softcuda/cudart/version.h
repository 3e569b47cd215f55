// version.h -- the differences between libcudart.so.12 and libcudart.so.13 in functions that both
// have.
#pragma once

namespace softcudart {

/// The library's version of CUDA, 12090 for 12.9.
extern const int runtime_version;

/// Structs of CUDA 13 end with members that those of CUDA 12 lack. True if the caller's structs
/// have these members.
inline bool has_newer_fields() noexcept { return runtime_version >= 13000; }

} // namespace softcudart
