// runtime_operation.h -- instructions that generated code leaves to a function of the runtime.
//
// Opcode::RuntimeCall of the IR has one in its immediate: the operation in the low byte, and what
// the operation makes of the rest above it.
#pragma once

#include <cstdint>

namespace softcuda {

enum class RuntimeOperation : std::uint8_t {
    MapRank,         ///< generic address of shared memory, rank -> that in the block of this rank
    RankOf,          ///< generic address of shared memory -> rank of the block that has it
    FromCluster,     ///< i32 address in shared::cluster -> generic address
    ToCluster,       ///< generic address -> i32 address in shared::cluster
    BulkCopy,        ///< to, from, bytes[, barrier][, mask]: bulk_copy.h
    AsyncStore,      ///< to, barrier, elements: bulk_copy.h
    LoadFactor,      ///< matrix descriptor -> registers: matrix_factor.h
    TensorLoad,      ///< to, map, barrier, i32 coordinates[, mask]: bulk_copy.h
    TensorStore,     ///< map, from, i32 coordinates: bulk_copy.h
    ReplaceField,    ///< address of a tensor map, i64 value: TensorMapField
    IsClusterShared, ///< generic address -> i32, 1 in the shared memory of a block of the cluster
};

/// Numbers of barriers that no program can name: the arrival at the cluster's barrier, and the wait
/// for it.
inline constexpr std::uint32_t kClusterArrive = 0xffff'fffe, kClusterWait = 0xffff'ffff;

/// An operation and its variant as the immediate of a RuntimeCall.
[[nodiscard]] constexpr std::uint32_t runtime_word(RuntimeOperation operation,
                                                   std::uint32_t variant = 0) {
    return static_cast<std::uint32_t>(operation) | variant << 8;
}

} // namespace softcuda
