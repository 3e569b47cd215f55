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

bool parse_destroy() {
    const char *text = std::getenv("SOFTCUDA_CHECK_DESTROY");
    const std::string_view word = text ? text : "context";
    if (word != "kernel" && word != "context")
        throw std::invalid_argument("SOFTCUDA_CHECK_DESTROY is '" + std::string(word) +
                                    "'; expected kernel or context");
    return word == "kernel";
}

bool destroys_kernels() {
    static const bool kernels = parse_destroy();
    return kernels;
}

std::atomic<unsigned> &state() {
    static std::atomic<unsigned> modes = [] {
        static_cast<void>(destroys_kernels()); // so that a wrong word is reported early
        const char *text = std::getenv("SOFTCUDA_CHECK");
        return text ? parse_modes(text) : 0;
    }();
    return modes;
}

} // namespace

unsigned modes() { return state().load(std::memory_order_relaxed); }

void set_modes(unsigned modes) noexcept { state() = modes; }

bool spares_context() {
    return destroys_kernels() && (state().load(std::memory_order_relaxed) & Mem) != 0;
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
