// driver_names.cpp -- libcuda.so for linkers: the driver's names without code, like a toolkit's
// stubs.
//
// A program that is linked with it needs libcuda.so.1: the loader finds softcuda's or NVIDIA's.

#define PYCUDA_FUNCTION(name, symbol, version)                                                     \
    extern "C" __attribute__((visibility("default"))) void symbol() { __builtin_trap(); }
#define PYCUDA_EXPORT(name, symbol, version) PYCUDA_FUNCTION(name, symbol, version)
#define PYCUDA_PER_THREAD(name, symbol, version) PYCUDA_FUNCTION(name, symbol, version)
#include "abi/driver.def"
