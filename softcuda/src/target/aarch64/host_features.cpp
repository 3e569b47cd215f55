// host_features.cpp -- from the vector that the system passes to each program.
#include "target/host_features.h"

#include <sys/auxv.h>

namespace softcuda::target {

std::span<const std::string_view> more_host_features() {
    static constexpr std::string_view kAtomics[] = {"lse"};
    constexpr unsigned long kHasAtomics = 1 << 8; // HWCAP_ATOMICS of <asm/hwcap.h>
    if (getauxval(AT_HWCAP) & kHasAtomics)
        return kAtomics;
    return {};
}

std::span<const std::string_view> generator_options() { return {}; }

std::string_view preserving_features() { return ""; }

} // namespace softcuda::target
