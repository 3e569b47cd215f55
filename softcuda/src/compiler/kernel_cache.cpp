// kernel_cache.cpp -- an object file after a small header.

#include "compiler/kernel_cache.h"

#include <cstring>

namespace softcuda::compiler {

namespace {

struct Header {
    char magic[8] = {'s', 'c', 'u', 'k', 'e', 'r', 'n', '3'};
    std::uint64_t scratch_bytes = 0;
    std::uint64_t instructions_per_block = 0;
    std::uint64_t loops = 0;
    std::uint64_t tier = 0;
    std::uint64_t group_blocks = 1;
};

} // namespace

std::vector<char> pack(const GeneratedKernel &kernel) {
    Header header;
    header.scratch_bytes = kernel.scratch_bytes;
    header.instructions_per_block = kernel.instructions_per_block;
    header.loops = kernel.loops;
    header.tier = static_cast<std::uint64_t>(kernel.tier);
    header.group_blocks = kernel.group_blocks;
    std::vector<char> bytes(sizeof header + kernel.object.size());
    std::memcpy(bytes.data(), &header, sizeof header);
    std::memcpy(bytes.data() + sizeof header, kernel.object.data(), kernel.object.size());
    return bytes;
}

std::optional<GeneratedKernel> unpack(std::span<const char> bytes) {
    Header header, expected;
    if (bytes.size() <= sizeof header)
        return std::nullopt;
    std::memcpy(&header, bytes.data(), sizeof header);
    if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0)
        return std::nullopt;
    return GeneratedKernel{.object = {bytes.begin() + sizeof header, bytes.end()},
                           .tier = static_cast<rt::Tier>(header.tier),
                           .scratch_bytes = header.scratch_bytes,
                           .instructions_per_block = header.instructions_per_block,
                           .loops = header.loops != 0,
                           .group_blocks = static_cast<std::uint32_t>(header.group_blocks)};
}

} // namespace softcuda::compiler
