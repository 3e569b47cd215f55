// runtime_operation.h -- instructions that a function of the runtime executes for generated code.
//
// The immediate of the IR's Opcode::RuntimeCall encodes one: the operation in the low byte, and the
// variant of the operation in the bits above.
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

/// Barrier numbers that programs cannot use: the arrivals at the cluster's barrier, without and
/// with an order of memory, and the wait.
inline constexpr std::uint32_t kClusterArriveRelaxed = 0xffff'fffd, kClusterArrive = 0xffff'fffe,
                               kClusterWait = 0xffff'ffff;

/// An operation and its variant as the immediate of a RuntimeCall.
[[nodiscard]] constexpr std::uint32_t runtime_word(RuntimeOperation operation,
                                                   std::uint32_t variant = 0) {
    return static_cast<std::uint32_t>(operation) | variant << 8;
}

} // namespace softcuda
