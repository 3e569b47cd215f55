// version.h -- the differences between a library of CUDA 12 and that of CUDA 13.
#pragma once

namespace softlib {

/// The library's version, as its function GetVersion returns it.
extern const int version;

/// For GetProperty: the major, minor and patch numbers.
extern const int version_parts[3];

} // namespace softlib
