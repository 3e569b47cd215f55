// modes.cpp -- the names of the modes, and the enabled modes.
#include "profile/modes.h"

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

namespace softcuda::profile {
namespace {

constexpr std::pair<std::string_view, unsigned> kNames[] = {
    {"timeline", Timeline}, {"counters", Counters}, {"all", kAllModes}};

std::atomic<unsigned> &state() {
    static std::atomic<unsigned> modes = [] {
        const char *text = std::getenv("SOFTCUDA_PROFILE");
        return text ? parse_modes(text) : 0;
    }();
    return modes;
}

unsigned mode_of(std::string_view word) {
    for (const auto &[name, bits] : kNames)
        if (word == name)
            return bits;
    throw std::invalid_argument("unknown profile mode '" + std::string(word) +
                                "'; expected timeline, counters or all");
}

} // namespace

unsigned modes() { return state().load(std::memory_order_relaxed); }

void set_modes(unsigned modes) noexcept { state() = modes; }

unsigned parse_modes(std::string_view text) {
    unsigned modes = 0;
    while (!text.empty()) {
        const std::size_t end = text.find(',');
        if (const std::string_view word = text.substr(0, end); !word.empty())
            modes |= mode_of(word);
        text = end == std::string_view::npos ? "" : text.substr(end + 1);
    }
    return modes;
}

} // namespace softcuda::profile
