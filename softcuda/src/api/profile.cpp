// profile.cpp -- the profile for clients: see abi/extensions.h.
#include "api/call.h"
#include "profile/modes.h"
#include "profile/record.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <unistd.h>

using namespace softcuda;

SCU_EXPORT unsigned scuProfileModes() { return profile::modes(); }

SCU_EXPORT CUresult scuSetProfileModes(unsigned modes) {
    return api::guarded([&] {
        device::require((modes & ~profile::kAllModes) == 0, CUDA_ERROR_INVALID_VALUE);
        profile::set_modes(modes);
    });
}

SCU_EXPORT std::size_t scuProfileReport(char *json, std::size_t size) {
    std::size_t needed = 0;
    static_cast<void>(api::guarded([&] {
        const std::string text = profile::to_json();
        needed = text.size();
        if (json && size > 0) {
            const std::size_t count = std::min(text.size(), size - 1);
            std::memcpy(json, text.data(), count);
            json[count] = '\0';
        }
    }));
    return needed;
}

SCU_EXPORT void scuNoteWait(const char *function, std::uint64_t begin, std::uint64_t end) {
    if ((profile::modes() & profile::Timeline) == 0)
        return;
    static_cast<void>(api::guarded([&] {
        profile::add_event({.activity = profile::Activity::HostWait,
                            .name = function ? function : "",
                            .thread = gettid(),
                            .begin = begin,
                            .end = end});
    }));
}

SCU_EXPORT void scuForgetProfile() { profile::forget(); }
