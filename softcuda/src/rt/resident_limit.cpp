// resident_limit.cpp -- reads the limits of the system.
#include "rt/resident_limit.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace softcuda::rt {

namespace {

/// The part of its stack that a warp uses before its first wait, including page tables.
constexpr std::uint64_t kBytesOfWarp = std::uint64_t{20} << 10;
/// A warp's stack and its guard; both windows of a block, each with the reserved addresses around
/// it.
constexpr std::uint64_t kMappingsOfWarp = 2, kMappingsOfBlock = 6;

/// The number behind a word in one of the kernel's text files; `otherwise` if it is not there.
std::uint64_t number_in(const char *file, const std::string &word, std::uint64_t otherwise) {
    std::ifstream in(file);
    std::string at;
    std::uint64_t number = 0;
    if (word.empty())
        return in >> number ? number : otherwise;
    while (in >> at)
        if (at == word)
            return in >> number ? number : otherwise;
    return otherwise;
}

} // namespace

std::uint64_t most_resident_blocks(const BlockMemory &memory, std::uint32_t warps,
                                   std::uint32_t threads) {
    constexpr std::uint64_t kGuessedKilobytes = 1 << 20, kGuessedMappings = 65530;
    const std::uint64_t bytes =
        number_in("/proc/meminfo", "MemAvailable:", kGuessedKilobytes) * 1024 / 2;
    const std::uint64_t mappings =
        number_in("/proc/sys/vm/max_map_count", "", kGuessedMappings) / 4 * 3;
    const std::uint64_t by_memory =
        bytes / (warps * kBytesOfWarp + memory.shared + memory.local + memory.scratch);
    const std::uint64_t by_mappings = mappings / (warps * kMappingsOfWarp + kMappingsOfBlock);
    return std::max<std::uint64_t>(1, std::min(by_memory, by_mappings) / std::max(1u, threads));
}

} // namespace softcuda::rt
