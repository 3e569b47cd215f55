// not_supported.cpp -- a fallback for each function of the runtime API that is not written yet.
//
// A weak definition per row of cudart.def: where another file of the library defines the function,
// the linker takes that one. NVIDIA's headers must not be seen here: these functions have no
// parameters. CUDART_MAJOR is the library's version, 12 or 13.

#pragma GCC visibility push(default)

namespace softcudart {
/// Remembers cudaErrorNotSupported as the thread's last error and returns it.
int refuse() noexcept;
} // namespace softcudart

#define CUDART_FUNCTION(name)                                                                      \
    extern "C" __attribute__((weak)) int name() { return softcudart::refuse(); }
#if CUDART_MAJOR == 12
#define CUDART_FUNCTION_12(name) CUDART_FUNCTION(name)
#else
#define CUDART_FUNCTION_13(name) CUDART_FUNCTION(name)
#endif
#include "cudart.def"

#pragma GCC visibility pop
