// pivots.h -- checks the row exchanges of a factorisation, which the client may have changed.
//
// LAPACK uses them as addresses without a check.
#pragma once

#include "failure.h"

#include <cstdint>

namespace softlib {

[[noreturn]] inline void refuse_pivot(std::int64_t value) {
    throw Failure(statuses.execution_failed,
                  "the pivot " + std::to_string(value) + " is no row of the matrix");
}

/// Throws Failure unless each pivot is a row from 1 to `last`. For use while the stream runs.
template <class Pivot> void check_pivots(const Pivot *pivots, std::int64_t count, Pivot last) {
    for (std::int64_t i = 0; i < count; ++i)
        if (pivots[i] < 1 || pivots[i] > last)
            refuse_pivot(pivots[i]);
}

/// The same for the pivots of an indefinite matrix: two equal negative numbers stand for a block of
/// two rows.
template <class Pivot> void check_block_pivots(const Pivot *pivots, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
        if (pivots[i] < -n || pivots[i] > n || pivots[i] == 0)
            refuse_pivot(pivots[i]);
        if (pivots[i] > 0)
            continue;
        if (i + 1 == n || pivots[i + 1] != pivots[i])
            refuse_pivot(pivots[i]);
        ++i;
    }
}

} // namespace softlib
