// refactorisation.h -- LU factors whose pattern is kept while the values change: cusolverRf's.
#pragma once

#include "../common/session.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace softcusolver {

/// A sparse matrix at addresses of the host, rows first.
struct Pattern {
    int n, count;
    const int *rows, *columns; ///< indices start at 0
};

/// What a pivot near zero is replaced by.
struct Boost {
    double zero = 0;  ///< a smaller pivot counts as zero
    double value = 0; ///< 0: zero pivots end the factorisation
};

/// Memory of a device, for arrays whose addresses the client gets.
template <class T> class DeviceArray {
  public:
    explicit DeviceArray(std::size_t size);
    DeviceArray(const DeviceArray &) = delete;
    DeviceArray &operator=(const DeviceArray &) = delete;
    ~DeviceArray();

    [[nodiscard]] T *data() const noexcept { return reinterpret_cast<T *>(address_); }

  private:
    CUcontext context_ = nullptr;
    CUdeviceptr address_ = 0;
};

/// The matrix M = P A Q^T in CSR, which refactor() replaces by its factors: L below the diagonal,
/// U above. One of them has ones on its diagonal; the diagonal of the other one is M's. A batch has
/// several sets of values with one pattern.
class Refactorisation {
  public:
    /// The pattern has the elements of A, L and U, and those that elimination adds.
    Refactorisation(const Pattern &a, const Pattern &l, const Pattern &u, const int *p,
                    const int *q, bool unit_lower, int batch);

    [[nodiscard]] int n() const noexcept { return n_; }
    [[nodiscard]] int batch() const noexcept { return batch_; }
    [[nodiscard]] int count() const noexcept { return count_; }
    [[nodiscard]] int *rows() const noexcept { return rows_->data(); }
    [[nodiscard]] int *columns() const noexcept { return columns_->data(); }
    [[nodiscard]] double *values(int item = 0) const noexcept {
        return values_->data() + static_cast<std::ptrdiff_t>(item) * count_;
    }
    /// The place of row i's diagonal element.
    [[nodiscard]] int diagonal(int row) const { return diagonals_[static_cast<std::size_t>(row)]; }
    [[nodiscard]] bool unit_lower() const noexcept { return unit_lower_; }

    /// Gives M the values of A. Throws Failure for an element that the pattern lacks.
    void reset(const Pattern &a, const double *values, const int *p, const int *q, int item) const;
    /// Replaces M by its factors. Returns -1, or the row of the first zero pivot. `boosted` becomes
    /// true if a pivot was replaced.
    int refactor(int item, const Boost &boost, bool &boosted) const;
    /// Solves M y = b in place, or M^T y = b.
    void solve(int item, bool transposed, double *y) const;

  private:
    int n_, batch_, count_ = 0;
    bool unit_lower_;
    std::vector<int> diagonals_;
    std::unique_ptr<DeviceArray<int>> rows_, columns_;
    std::unique_ptr<DeviceArray<double>> values_;
};

} // namespace softcusolver
