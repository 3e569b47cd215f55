// machine.cpp -- maps addresses to bytes.
#include "interpret/machine.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace softcuda::interpret {

using ir::Space;

namespace {

std::byte *within(std::vector<std::byte> &bytes, std::uint64_t offset, std::uint64_t size) {
    return offset <= bytes.size() && size <= bytes.size() - offset ? bytes.data() + offset
                                                                   : nullptr;
}

/// Only the low half of an offset into a window counts.
std::uint64_t in_window(std::uint64_t address, std::int64_t extra) {
    return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(address)} + extra);
}

} // namespace

void Memory::add(std::uint64_t address, std::vector<std::byte> bytes) {
    ranges_[address] = std::move(bytes);
}

std::byte *Memory::find(std::uint64_t address, std::uint64_t size) {
    auto range = ranges_.upper_bound(address);
    if (range == ranges_.begin())
        return nullptr;
    --range;
    return within(range->second, address - range->first, size);
}

BlockMemory::BlockMemory(const Launch &launch, const ir::Function &kernel,
                         std::uint64_t linear_index, std::uint64_t local_bytes)
    : local_stride(local_bytes) {
    for (unsigned d = 0; d < 3; ++d) {
        index[d] = static_cast<std::uint32_t>(linear_index % launch.grid[d]);
        linear_index /= launch.grid[d];
    }
    const std::uint64_t own = (std::uint64_t{kernel.static_shared_bytes} + 15) / 16 * 16;
    shared.resize(own + launch.dynamic_shared);
    local.resize(local_bytes * launch.threads());
}

std::uint64_t generic_address(const Thread &thread, const ir::Instruction &access,
                              std::uint64_t address) {
    const std::int64_t extra = access.attributes.offset;
    switch (access.attributes.space) {
    case Space::Shared:
        return kSharedWindow + in_window(address, extra);
    case Space::Local:
        return thread.local_window() + in_window(address, extra);
    case Space::Param:
        return kParameterWindow + in_window(address, extra);
    default:
        return address + static_cast<std::uint64_t>(extra);
    }
}

std::byte *find_bytes(const Thread &thread, std::uint64_t address, std::uint64_t size) {
    if (address - kSharedWindow < kWindowBytes)
        return within(thread.block.shared, address - kSharedWindow, size);
    if (address - kLocalWindow < kWindowBytes)
        return within(thread.block.local, address - kLocalWindow, size);
    if (address - kParameterWindow < kWindowBytes)
        return within(thread.launch.parameters, address - kParameterWindow, size);
    return thread.launch.memory.find(address, size);
}

} // namespace softcuda::interpret
