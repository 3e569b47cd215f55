// not_supported.cpp -- a fallback for each function of the driver API that is not written yet.
//
// A weak definition per row of driver.def: where another file of this library defines the function,
// the linker takes that one. Neither C's calling convention nor a CUresult cares about the
// arguments that this one does not look at; cuda.h must not be seen here.

#pragma GCC visibility push(default)

namespace {

constexpr int kNotSupported = 801; // CUDA_ERROR_NOT_SUPPORTED

} // namespace

#define PYCUDA_FUNCTION(name, symbol, version)                                                     \
    extern "C" __attribute__((weak)) int symbol() { return kNotSupported; }
#define PYCUDA_EXPORT PYCUDA_FUNCTION
#define PYCUDA_PER_THREAD PYCUDA_FUNCTION
#include "abi/driver.def"

#pragma GCC visibility pop
