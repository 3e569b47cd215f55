// host_features.cpp -- LLVM asks the processor itself for its features.
#include "target/host_features.h"

namespace softcuda::target {

std::span<const std::string_view> more_host_features() { return {}; }

std::span<const std::string_view> generator_options() {
    // It changes no code of the kernels that were tried, and takes up to 4 per cent of the time.
    static constexpr std::string_view kOptions[] = {"disable-x86-domain-reassignment"};
    return kOptions;
}

std::string_view preserving_features() { return "-vzeroupper"; }

} // namespace softcuda::target
