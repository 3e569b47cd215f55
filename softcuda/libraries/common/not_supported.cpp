// not_supported.cpp -- definitions of a library's functions that are not implemented.
//
// A weak definition for each row of the library's table. If another file of the library defines the
// function, the linker uses that definition. Each returns the library's status "not supported", and
// says once on stderr which function it is. LIBRARY_TABLE is the table's file, LIBRARY_MAJOR the
// version of CUDA.

#pragma GCC visibility push(default)

namespace softlib {
int refuse(const char *function) noexcept;
} // namespace softlib

#define LIBRARY_FUNCTION(name)                                                                     \
    extern "C" __attribute__((weak)) int name() { return softlib::refuse(#name); }
#if LIBRARY_MAJOR == 12
#define LIBRARY_FUNCTION_12(name) LIBRARY_FUNCTION(name)
#define LIBRARY_FUNCTION_13(name)
#else
#define LIBRARY_FUNCTION_12(name)
#define LIBRARY_FUNCTION_13(name) LIBRARY_FUNCTION(name)
#endif
#include LIBRARY_TABLE

#pragma GCC visibility pop
