// logger.h -- the functions by which a client configures a library's log. Nothing is logged.
#pragma once

#include "call.h"

#include <cstdio>

namespace softlib {

inline void check_log_level(int level) { require(level >= 0 && level <= 5, "the level"); }
inline void check_log_mask(int mask) { require((mask & ~0x1f) == 0, "the mask"); }

} // namespace softlib

/// Defines PREFIXLoggerSetLevel and the others. A file is not opened, because nothing is written.
#define SOFTLIB_LOGGER(prefix)                                                                     \
    SOFTLIB_FUNCTION(prefix##LoggerSetCallback, (void (*)(int, const char *, const char *)), {})   \
    SOFTLIB_FUNCTION(prefix##LoggerSetFile, (std::FILE *), {})                                     \
    SOFTLIB_FUNCTION(prefix##LoggerOpenFile, (const char *path),                                   \
                     softlib::require(path != nullptr, "the file's name"))                         \
    SOFTLIB_FUNCTION(prefix##LoggerSetLevel, (int level), softlib::check_log_level(level))         \
    SOFTLIB_FUNCTION(prefix##LoggerSetMask, (int mask), softlib::check_log_mask(mask))             \
    SOFTLIB_FUNCTION(prefix##LoggerForceDisable, (), {})
