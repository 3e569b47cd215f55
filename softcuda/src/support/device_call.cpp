// device_call.cpp -- finds calls by their names.
#include "support/device_call.h"

namespace softcuda {
namespace {

struct Row {
    std::string_view name;
    std::size_t words;
};

constexpr Row kRows[] = {
#define DEVICE_CALL(Name, words) {#Name, words},
#include "support/device_calls.def"
};

} // namespace

std::optional<DeviceCall> device_call_named(std::string_view function) noexcept {
    for (const std::string_view prefix : {"__cudaCDP2", "cuda"}) {
        if (!function.starts_with(prefix))
            continue;
        std::string_view name = function.substr(prefix.size());
        if (constexpr std::string_view suffix = "_ptsz"; name.ends_with(suffix))
            name.remove_suffix(suffix.size());
        for (std::size_t row = 0; row < std::size(kRows); row++)
            if (kRows[row].name == name)
                return static_cast<DeviceCall>(row);
    }
    return std::nullopt;
}

std::size_t words_of(DeviceCall call) noexcept {
    return kRows[static_cast<std::size_t>(call)].words;
}

} // namespace softcuda
