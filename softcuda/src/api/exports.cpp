// exports.cpp -- driver.def as a table of addresses. cuda.h must not be included here, because it
// defines the names of many functions as macros.
#include "api/exports.h"

#define PYCUDA_FUNCTION(name, symbol, version) extern "C" int symbol();
#define PYCUDA_EXPORT PYCUDA_FUNCTION
#define PYCUDA_PER_THREAD PYCUDA_FUNCTION
#include "abi/driver.def"

namespace softcuda::api {

std::span<const Export> exports() {
    static const Export table[] = {
#define PYCUDA_FUNCTION(name, symbol, version)                                                     \
    {#name, version, reinterpret_cast<void *>(&symbol), false},
#define PYCUDA_EXPORT PYCUDA_FUNCTION
#define PYCUDA_PER_THREAD(name, symbol, version)                                                   \
    {#name, version, reinterpret_cast<void *>(&symbol), true},
#include "abi/driver.def"
    };
    return table;
}

} // namespace softcuda::api
