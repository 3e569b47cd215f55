// profile.cpp -- softcuda's profile, and the timeline that CUPTI records for an NVIDIA driver.
#include <pycuda/profile.h>

#include "driver/extension_text.h"
#include "driver/wait_note.h"
#include "libraries/cupti.h"

#include <abi/extensions.h>
#include <pycuda/driver.h>
#include <pycuda/noted_operation.h>

#include <atomic>
#include <new>
#include <string>

namespace pycuda {
namespace {

using detail::CuptiTimeline;

std::atomic<bool> cupti_is_on{false};

/// For a driver other than softcuda. Throws Error (not supported) if CUPTI is missing.
CuptiTimeline &cupti_timeline(const char *where) {
    if (CuptiTimeline *timeline = CuptiTimeline::get())
        return *timeline;
    throw Error(where, CUDA_ERROR_NOT_SUPPORTED,
                "the driver " + driver().path() +
                    " has no profile; softcuda has one: set PYCUDA_DRIVER=softcuda before the "
                    "program starts. A timeline alone needs CUPTI, which is not found: it comes "
                    "with the CUDA toolkit, or pip install nvidia-cuda-cupti");
}

/// The time on CLOCK_MONOTONIC, the clock that steady_clock reads.
std::uint64_t nanoseconds(std::chrono::steady_clock::time_point time) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

} // namespace

unsigned profile_modes() {
    if (const auto ask = driver().extensions().scuProfileModes)
        return ask();
    return cupti_is_on ? profile_mode::timeline : 0;
}

void set_profile_modes(unsigned modes) {
    if (const auto set = driver().extensions().scuSetProfileModes) {
        check(set(modes), "scuSetProfileModes");
        return note_operations(modes != 0);
    }
    CuptiTimeline &timeline = cupti_timeline("pycuda.profile");
    if (modes & profile_mode::counters)
        throw Error("pycuda.profile", CUDA_ERROR_NOT_SUPPORTED,
                    "the driver " + driver().path() +
                        " records a timeline alone: pycuda.profile(counters=False). softcuda has "
                        "counters: set PYCUDA_DRIVER=softcuda before the program starts. For an "
                        "NVIDIA GPU there is Nsight Compute");
    if (modes && !cupti_is_on)
        timeline.start();
    else if (!modes && cupti_is_on)
        timeline.stop();
    cupti_is_on = modes != 0;
    note_operations(cupti_is_on);
}

std::string profile_report() {
    if (const auto write = driver().extensions().scuProfileReport)
        return detail::text_of(write);
    return cupti_timeline("pycuda.profile").report();
}

void forget_profile() {
    forget_operation_launches();
    if (const auto forget = driver().extensions().scuForgetProfile)
        return forget();
    cupti_timeline("pycuda.profile").forget();
}

void detail::note_wait(const char *function, std::chrono::steady_clock::time_point begin,
                       std::chrono::steady_clock::time_point end) noexcept {
    if (const auto note = driver().extensions().scuNoteWait)
        note(function, nanoseconds(begin), nanoseconds(end));
    else if (cupti_is_on)
        CuptiTimeline::get()->note_wait(function, begin, end);
}

void note_host_work(const char *name, std::uint64_t begin, std::uint64_t end) noexcept {
    const auto note = driver().extensions().scuNoteWait;
    if (note == nullptr)
        return;
    if (!operations_are_noted())
        return note(name, begin, end);
    try {
        note((name + (": " + NotedOperation::describe(name))).c_str(), begin, end);
    } catch (const std::bad_alloc &) {
        note(name, begin, end);
    }
}

} // namespace pycuda
