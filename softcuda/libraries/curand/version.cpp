// version.cpp -- the version of this library; it is the same for both versions of CUDA.
#include "../common/version.h"

namespace softlib {
const int version = 10400;
const int version_parts[3] = {10, 4, 0};
} // namespace softlib
