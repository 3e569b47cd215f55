// modes.cpp -- the names of the modes, and the enabled modes.
#include "check/modes.h"

#include "rt/watch_abi.h"

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

namespace softcuda::check {
namespace {

constexpr std::pair<std::string_view, unsigned> kNames[] = {
    {"mem", Mem}, {"race", Race}, {"init", Init}, {"sync", Sync}, {"all", kAllModes}};

/// Whether an environment variable is the word `on`; it is `normal` if it is not set.
bool is_word(const char *variable, std::string_view on, std::string_view off,
             std::string_view normal) {
    const char *text = std::getenv(variable);
    const std::string_view word = text ? text : normal;
    if (word != on && word != off)
        throw std::invalid_argument(std::string(variable) + " is '" + std::string(word) +
                                    "'; expected " + std::string(on) + " or " + std::string(off));
    return word == on;
}

bool destroys_kernels() {
    static const bool kernels = is_word("SOFTCUDA_CHECK_DESTROY", "kernel", "context", "context");
    return kernels;
}

std::atomic<unsigned> &state() {
    static std::atomic<unsigned> modes = [] {
        static_cast<void>(destroys_kernels()); // so that a wrong word is reported early
        static_cast<void>(finds_leaks());
        const char *text = std::getenv("SOFTCUDA_CHECK");
        return text ? parse_modes(text) : 0;
    }();
    return modes;
}

} // namespace

unsigned modes() { return state().load(std::memory_order_relaxed); }

void set_modes(unsigned modes) noexcept { state() = modes; }

bool fails_kernel_only() {
    return destroys_kernels() && (state().load(std::memory_order_relaxed) & Mem) != 0;
}

bool finds_leaks() {
    static const bool leaks = is_word("SOFTCUDA_CHECK_LEAKS", "yes", "no", "yes");
    return leaks;
}

std::uint32_t needs(unsigned modes) noexcept {
    std::uint32_t needed = 0;
    if (modes & Init)
        needed |= rt::kWatchBounds | rt::kWatchWrites;
    if (modes & Mem)
        needed |= rt::kWatchBounds;
    if (modes & (Race | Sync))
        needed |= rt::kWatchOrder;
    if (modes & Sync)
        needed |= rt::kWatchMeetings;
    return needed;
}

unsigned parse_modes(std::string_view text) {
    unsigned modes = 0;
    while (!text.empty()) {
        const std::size_t end = text.find(',');
        const std::string_view word = text.substr(0, end);
        text = end == std::string_view::npos ? "" : text.substr(end + 1);
        if (word.empty())
            continue;
        unsigned found = 0;
        for (const auto &[name, bits] : kNames)
            if (word == name)
                found = bits;
        if (found == 0)
            throw std::invalid_argument("unknown check mode '" + std::string(word) +
                                        "'; expected mem, race, init, sync or all");
        modes |= found;
    }
    return modes;
}

std::string_view name(Mode mode) {
    for (const auto &[name, bits] : kNames)
        if (bits == mode)
            return name;
    return "";
}

} // namespace softcuda::check
