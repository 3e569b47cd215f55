// not_supported.cpp -- fallbacks for functions of the runtime API that are not implemented.
//
// A weak definition for each row of cudart.def. If another file of the library defines the
// function, the linker uses that definition. NVIDIA's headers must not be included here, because
// these functions have no parameters. CUDART_MAJOR is the library's version, 12 or 13.

#pragma GCC visibility push(default)

namespace softcudart {
/// Stores cudaErrorNotSupported as the thread's last error and returns it.
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
