// mbarrier.h -- the 64 bits of an mbarrier, a barrier that is an object in shared memory.
//
// PTX leaves them to the machine. Here they are
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
/// As large as a number of arrivals, and a number of transactions in one instruction, may be.
inline constexpr std::uint64_t kMostArrivals = (1u << 20) - 1;
inline constexpr std::uint64_t kPhase = std::uint64_t{7} << kPhaseShift;
inline constexpr std::uint64_t kTransactions =
    (std::uint64_t{1} << kPhaseShift) - (std::uint64_t{1} << kTransactionShift);
/// What the present phase still waits for.
inline constexpr std::uint64_t kPending = kTransactions | kMostArrivals;

/// The bits when `less` has been subtracted from arrivals and transactions.
[[nodiscard]] constexpr std::uint64_t subtract(std::uint64_t bits, std::uint64_t less) {
    const std::uint64_t left = ((bits - less) & ~kPhase) | (bits & kPhase);
    if ((left & kPending) != 0)
        return left;
    const std::uint64_t expected = left >> kExpectedShift & kMostArrivals;
    return left + expected + (std::uint64_t{1} << kPhaseShift);
}

} // namespace softcuda::mbarrier
