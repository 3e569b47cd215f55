// machine.h -- the memory and the launch that both interpreters run on.
//
// Memory is a set of ranges of bytes at device addresses. Shared and local memory are windows at
// separate addresses, so that a generic address determines its memory.
#pragma once

#include "ir/ir.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace softcuda::interpret {

inline constexpr unsigned kLanes = 32;

/// The begin and the size of the windows. Each block has the same addresses.
inline constexpr std::uint64_t kSharedWindow = std::uint64_t{0x7a} << 56;
inline constexpr std::uint64_t kLocalWindow = std::uint64_t{0x7b} << 56;
inline constexpr std::uint64_t kParameterWindow = std::uint64_t{0x7c} << 56;
inline constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 32;

/// Device memory by address.
class Memory {
  public:
    void add(std::uint64_t address, std::vector<std::byte> bytes);
    /// Null if no range contains all of the bytes.
    [[nodiscard]] std::byte *find(std::uint64_t address, std::uint64_t size);
    [[nodiscard]] const std::map<std::uint64_t, std::vector<std::byte>> &ranges() const {
        return ranges_;
    }

  private:
    std::map<std::uint64_t, std::vector<std::byte>> ranges_;
};

/// One launch. `memory` is the memory that the kernel reads and writes.
struct Launch {
    std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
    std::uint32_t dynamic_shared = 0;   ///< bytes
    std::vector<std::byte> parameters;  ///< as PTX lays them out
    std::vector<std::uint64_t> symbols; ///< address of each of the module's variables
    std::uint64_t workspace = 0; ///< of a cooperative launch: zeroed memory for grid barriers
    Memory memory;

    [[nodiscard]] std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
    [[nodiscard]] std::uint32_t warps() const { return (threads() + kLanes - 1) / kLanes; }
    [[nodiscard]] std::uint64_t blocks() const {
        return std::uint64_t{grid[0]} * grid[1] * grid[2];
    }
};

/// The shared memory of a block, and the local memory of its threads.
struct BlockMemory {
    std::array<std::uint32_t, 3> index{};
    std::vector<std::byte> shared, local;
    std::uint64_t local_stride = 0; ///< bytes of a thread

    BlockMemory(const Launch &launch, const ir::Function &kernel, std::uint64_t linear_index,
                std::uint64_t local_bytes);
};

/// One thread of a launch.
struct Thread {
    Launch &launch;
    BlockMemory &block;
    std::uint32_t number = 0; ///< in its block

    [[nodiscard]] std::uint32_t lane() const { return number % kLanes; }
    [[nodiscard]] std::uint32_t warp() const { return number / kLanes; }
    /// The generic address of its local memory.
    [[nodiscard]] std::uint64_t local_window() const {
        return kLocalWindow + number * block.local_stride;
    }
};

/// The generic address of an access.
[[nodiscard]] std::uint64_t generic_address(const Thread &thread, const ir::Instruction &access,
                                            std::uint64_t address);
/// The bytes at a generic address; null: there is no such memory.
[[nodiscard]] std::byte *find_bytes(const Thread &thread, std::uint64_t address,
                                    std::uint64_t size);

} // namespace softcuda::interpret
