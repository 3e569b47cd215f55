// version.cpp -- the version of this library; LIBRARY_MAJOR is 12 or 13.
#include "../common/version.h"

namespace softlib {
#if LIBRARY_MAJOR == 12
const int version = 11705;
const int version_parts[3] = {11, 7, 5};
#else
const int version = 12401;
const int version_parts[3] = {12, 4, 1};
#endif
} // namespace softlib
