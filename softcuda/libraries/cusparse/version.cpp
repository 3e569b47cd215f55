// version.cpp -- the version of this library, which is the same for CUDA 12 and 13.
#include "../common/version.h"

namespace softlib {
const int version = 12510;
const int version_parts[3] = {12, 5, 10};
} // namespace softlib
