// driver_names.cpp -- libcuda.so for linkers: the driver's names without code, as the stubs of a
// toolkit.
//
// A program that is linked with it wants libcuda.so.1: softcuda's or NVIDIA's, whichever the loader
// finds.

#define PYCUDA_FUNCTION(name, symbol, version)                                                     \
    extern "C" __attribute__((visibility("default"))) void symbol() { __builtin_trap(); }
#define PYCUDA_EXPORT(name, symbol, version) PYCUDA_FUNCTION(name, symbol, version)
#define PYCUDA_PER_THREAD(name, symbol, version) PYCUDA_FUNCTION(name, symbol, version)
#include "abi/driver.def"
