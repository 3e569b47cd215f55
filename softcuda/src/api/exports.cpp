// exports.cpp -- driver.def and graphics.def as a table of addresses. cuda.h must not be included
// here, because it defines the names of many functions as macros.
#include "api/exports.h"

#define PYCUDA_FUNCTION(name, symbol, version) extern "C" int symbol();
#define PYCUDA_EXPORT PYCUDA_FUNCTION
#define PYCUDA_PER_THREAD PYCUDA_FUNCTION
#include "abi/driver.def"
#define GRAPHICS_FUNCTION(name, symbol, version) extern "C" int symbol();
#define GRAPHICS_PER_THREAD GRAPHICS_FUNCTION
#include "api/graphics.def"

namespace softcuda::api {

std::span<const Export> exports() {
    static const Export table[] = {
#define PYCUDA_FUNCTION(name, symbol, version)                                                     \
    {#name, version, reinterpret_cast<void *>(&symbol), false},
#define PYCUDA_EXPORT PYCUDA_FUNCTION
#define PYCUDA_PER_THREAD(name, symbol, version)                                                   \
    {#name, version, reinterpret_cast<void *>(&symbol), true},
#include "abi/driver.def"
#define GRAPHICS_FUNCTION(name, symbol, version)                                                   \
    {#name, version, reinterpret_cast<void *>(&symbol), false},
#define GRAPHICS_PER_THREAD(name, symbol, version)                                                 \
    {#name, version, reinterpret_cast<void *>(&symbol), true},
#include "api/graphics.def"
    };
    return table;
}

} // namespace softcuda::api
