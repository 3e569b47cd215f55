// version.cpp -- the version of this library; LIBRARY_MAJOR is 12 or 13.
#include "../common/version.h"

namespace softlib {
#if LIBRARY_MAJOR == 12
const int version = 120903;
const int version_parts[3] = {12, 9, 3};
#else
const int version = 131000;
const int version_parts[3] = {13, 10, 0};
#endif
} // namespace softlib
