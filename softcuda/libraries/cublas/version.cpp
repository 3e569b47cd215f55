// version.cpp -- the version of this library; LIBRARY_MAJOR is 12 or 13.
#include "version.h"

namespace softcublas {
#if LIBRARY_MAJOR == 12
const int version = 120902;
const int cuda_version = 12090;
#else
const int version = 130100;
const int cuda_version = 13050;
#endif
} // namespace softcublas
