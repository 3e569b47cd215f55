// jacobi.h -- the settings and results of cuSOLVER's Jacobi methods.
#pragma once

#include <atomic>
#include <memory>

/// syevjInfo_t and gesvdjInfo_t point to it. The settings are kept: LAPACK's direct methods, which
/// compute the results, are exact to rounding, and their values are sorted.
struct SoftcusolverJacobi {
    double tolerance = 0;
    int sweeps = 100;
    int sorted = 1;
    /// The Frobenius norm of A V - V W or A V - U S of the last call. The call's work holds it,
    /// too.
    std::shared_ptr<std::atomic<double>> residual = std::make_shared<std::atomic<double>>(0.0);
};

using Jacobi = SoftcusolverJacobi *;
