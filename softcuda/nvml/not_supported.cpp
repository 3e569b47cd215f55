// not_supported.cpp -- the functions of nvml.def that are not supported. An invalid handle and a
// library that is not initialised are reported first.
#include "call.h"

using namespace softnvml;

#define NVML_OF_DEVICE(name)                                                                       \
    NVML_EXPORT name(nvmlDevice_t device) {                                                        \
        return with_device(device,                                                                 \
                           [](const ScuDevice &) { throw Failure(NVML_ERROR_NOT_SUPPORTED); });    \
    }
#define NVML_REFUSED(name)                                                                         \
    NVML_EXPORT name() {                                                                           \
        return initialized([] { throw Failure(NVML_ERROR_NOT_SUPPORTED); });                       \
    }
#include "nvml.def"
