// version.h -- the differences between a library of CUDA 12 and that of CUDA 13.
#pragma once

#include "call.h"

namespace softlib {

/// The library's version, as its function GetVersion returns it.
extern const int version;

/// For GetProperty: the major, minor and patch numbers.
extern const int version_parts[3];

} // namespace softlib

/// Defines a library's function GetProperty.
#define SOFTLIB_PROPERTY(name)                                                                     \
    SOFTLIB_FUNCTION(name, (int type, int *value), {                                               \
        softlib::require(type >= 0 && type <= 2 && value != nullptr, "property");                  \
        *value = softlib::version_parts[type];                                                     \
    })
