// mbarrier.h -- the 64 bits of an mbarrier, a barrier that is an object in shared memory.
//
// PTX does not specify the bits. softcuda uses this layout:
//
//     bits 0-19    arrivals that the present phase still waits for
//     bits 20-39   arrivals that each phase waits for
//     bits 40-60   transactions (bytes) that the present phase still waits for, with a sign: bytes
//                  may come before they are expected
//     bits 61-63   the number of the phase
//
// Arrivals and transactions are subtracted. When both are zero, the next phase begins.
#pragma once

#include <cstdint>

namespace softcuda::mbarrier {

inline constexpr unsigned kExpectedShift = 20, kTransactionShift = 40, kPhaseShift = 61;
/// The largest number of arrivals, and of transactions in one instruction.
inline constexpr std::uint64_t kMostArrivals = (1u << 20) - 1;
inline constexpr std::uint64_t kPhase = std::uint64_t{7} << kPhaseShift;
inline constexpr std::uint64_t kTransactions =
    (std::uint64_t{1} << kPhaseShift) - (std::uint64_t{1} << kTransactionShift);
/// The pending arrivals and transactions of the current phase.
inline constexpr std::uint64_t kPending = kTransactions | kMostArrivals;

/// The bits after `less` is subtracted from arrivals and transactions.
[[nodiscard]] constexpr std::uint64_t subtract(std::uint64_t bits, std::uint64_t less) {
    const std::uint64_t left = ((bits - less) & ~kPhase) | (bits & kPhase);
    if ((left & kPending) != 0)
        return left;
    const std::uint64_t expected = left >> kExpectedShift & kMostArrivals;
    return left + expected + (std::uint64_t{1} << kPhaseShift);
}

} // namespace softcuda::mbarrier
