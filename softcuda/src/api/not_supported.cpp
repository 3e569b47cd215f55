// not_supported.cpp -- fallbacks for functions of the driver API that are not implemented.
//
// A weak definition for each row of driver.def and graphics.def. If another file of this library
// defines the function, the linker uses that definition. The fallback ignores its arguments, which
// C's calling convention allows. cuda.h must not be included here.

#pragma GCC visibility push(default)

namespace {

constexpr int kNotSupported = 801; // CUDA_ERROR_NOT_SUPPORTED

} // namespace

#define PYCUDA_FALLBACK(symbol)                                                                    \
    extern "C" __attribute__((weak)) int symbol() { return kNotSupported; }

#define PYCUDA_FUNCTION(name, symbol, version) PYCUDA_FALLBACK(symbol)
#define PYCUDA_EXPORT PYCUDA_FUNCTION
#define PYCUDA_PER_THREAD PYCUDA_FUNCTION
#include "abi/driver.def"

#define GRAPHICS_FUNCTION(name, symbol, version) PYCUDA_FALLBACK(symbol)
#define GRAPHICS_PER_THREAD(name, symbol, version) PYCUDA_FALLBACK(symbol)
#include "api/graphics.def"

#pragma GCC visibility pop
