// profile.cpp -- softcuda's profile.
#include <pycuda/profile.h>

#include "driver/extension_text.h"

#include <abi/extensions.h>
#include <pycuda/driver.h>

namespace pycuda {
namespace {

/// A function that only softcuda has.
template <class Pointer> Pointer function(const char *name) {
    if (void *symbol = driver().symbol(name))
        return reinterpret_cast<Pointer>(symbol);
    throw Error(
        name, CUDA_ERROR_NOT_SUPPORTED,
        "the driver " + driver().path() +
            " has no profile; softcuda has one: set PYCUDA_DRIVER=softcuda before the "
            "program starts. For an NVIDIA GPU there are Nsight Systems and Nsight Compute");
}

} // namespace

unsigned profile_modes() {
    void *ask = driver().symbol("scuProfileModes");
    return ask ? reinterpret_cast<PFN_scuProfileModes>(ask)() : 0;
}

void set_profile_modes(unsigned modes) {
    check(function<PFN_scuSetProfileModes>("scuSetProfileModes")(modes), "scuSetProfileModes");
}

std::string profile_report() {
    return detail::text_of(function<PFN_scuProfileReport>("scuProfileReport"));
}

void forget_profile() { function<PFN_scuForgetProfile>("scuForgetProfile")(); }

} // namespace pycuda
