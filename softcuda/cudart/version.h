// version.h -- what differs between libcudart.so.12 and libcudart.so.13 in functions that both
// have.
#pragma once

namespace softcudart {

/// The version of CUDA that the library stands for, 12090 for 12.9.
extern const int runtime_version;

/// Structures of CUDA 13 end in fields that those of CUDA 12 lack. True where a caller has room for
/// them.
inline bool has_newer_fields() noexcept { return runtime_version >= 13000; }

} // namespace softcudart
