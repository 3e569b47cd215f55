// kernel_cache.cpp -- a small header before the key of an object.

#include "compiler/kernel_cache.h"

#include "compiler/machine_code_sources.h"
#include "jit/digest.h"
#include "jit/target.h"

#include <algorithm>
#include <cstring>

namespace softcuda::compiler {

namespace {

struct Header {
    char magic[8] = {'s', 'c', 'u', 'k', 'e', 'r', 'n', '4'};
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
    std::vector<char> bytes(sizeof header + kernel.object_key.size());
    std::memcpy(bytes.data(), &header, sizeof header);
    std::ranges::copy(kernel.object_key, bytes.begin() + sizeof header);
    return bytes;
}

std::optional<GeneratedKernel> unpack(std::span<const char> bytes) {
    Header header, expected;
    if (bytes.size() <= sizeof header)
        return std::nullopt;
    std::memcpy(&header, bytes.data(), sizeof header);
    if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0)
        return std::nullopt;
    return GeneratedKernel{.object = {},
                           .object_key = {bytes.begin() + sizeof header, bytes.end()},
                           .tier = static_cast<rt::Tier>(header.tier),
                           .scratch_bytes = header.scratch_bytes,
                           .instructions_per_block = header.instructions_per_block,
                           .loops = header.loops != 0,
                           .group_blocks = static_cast<std::uint32_t>(header.group_blocks)};
}

std::string object_key(std::string_view bitcode, std::span<const jit::LlvmPass> passes,
                       const jit::Target &target) {
    std::string key = "object " SOFTCUDA_MACHINE_CODE_SOURCES " " + target.key();
    for (const jit::LlvmPass &pass : passes)
        key.append(" ").append(pass.name);
    return key + '\n' + jit::digest(bitcode);
}

} // namespace softcuda::compiler
