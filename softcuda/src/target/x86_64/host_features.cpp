// host_features.cpp -- LLVM asks the processor itself.
#include "target/host_features.h"

namespace softcuda::target {

std::span<const std::string_view> more_host_features() { return {}; }

} // namespace softcuda::target
