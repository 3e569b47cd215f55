// profile.cpp -- softcuda's profile.
#include <pycuda/profile.h>

#include "driver/extension_text.h"
#include "driver/wait_note.h"

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

/// As CLOCK_MONOTONIC has it, which is what steady_clock reads.
std::uint64_t nanoseconds(std::chrono::steady_clock::time_point time) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
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

void detail::note_wait(const char *function, std::chrono::steady_clock::time_point begin,
                       std::chrono::steady_clock::time_point end) noexcept {
    static const auto note = reinterpret_cast<PFN_scuNoteWait>(driver().symbol("scuNoteWait"));
    if (note)
        note(function, nanoseconds(begin), nanoseconds(end));
}

} // namespace pycuda
