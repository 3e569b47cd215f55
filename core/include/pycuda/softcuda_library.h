// softcuda_library.h -- sets the path of libsoftcuda.so.
#pragma once

#include <string>

namespace pycuda {

/// The path at which the search for a driver looks for softcuda first, before the places relative
/// to this library. A missing file is not an error: the search continues. PYCUDA_SOFTCUDA_LIBRARY
/// has precedence. Has an effect only before the first call that needs a driver. Any thread may
/// call.
void set_softcuda_library(std::string path);

} // namespace pycuda
