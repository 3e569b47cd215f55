// version.cpp -- the version of this library; LIBRARY_MAJOR is 12 or 13.
#include "../common/version.h"

namespace softlib {
#if LIBRARY_MAJOR == 12
const int version = 11401;
const int version_parts[3] = {11, 4, 1};
#else
const int version = 12500;
const int version_parts[3] = {12, 5, 0};
#endif
} // namespace softlib
