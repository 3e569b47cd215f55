// ordering.h -- orders of a sparse matrix's rows, and its solution as a band matrix.
#pragma once

#include "handle.h"

#include <utility>

namespace softcusolver {

/// A square matrix in CSR at host addresses.
template <class T> struct Csr {
    int n;
    const int *rows, *columns;
    const T *values;
    int base; ///< of the indices: 0 or 1
};

/// Throws Failure(invalid value) unless the offsets ascend to `count` and the indices are columns.
void check_csr(int n, int columns, int count, const int *rows, const int *indices, int base);

/// Reverse Cuthill and McKee's order, which keeps elements near the diagonal: place k of the result
/// is the number of the row that comes to place k.
std::vector<int> reverse_cuthill_mckee(int n, const int *rows, const int *columns, int base);

enum class Factors { Lu, Cholesky };

/// L without its diagonal of ones, and U: the columns and elements of each row, in ascending order.
/// Zeros outside of the diagonal are left out.
template <class T> struct BandTriangles {
    std::vector<std::vector<std::pair<int, T>>> lower, upper;
};

/// The factors of a sparse matrix as LAPACK's band matrix, with rows and columns in reverse Cuthill
/// and McKee's order: A(order, order) = L L^H, or L U with exchanges of rows.
template <class T> class BandFactors {
  public:
    /// Factors A - shift I. Throws Failure(invalid value) for a matrix that is not square or whose
    /// indices are wrong. A zero pivot ends the factorisation, without an error.
    BandFactors(Factors factors, const Csr<T> &a, int count, T shift = {});

    [[nodiscard]] int n() const noexcept { return n_; }
    /// -1, or the place of the first pivot that is zero or whose absolute value is not above
    /// `tolerance`.
    [[nodiscard]] int zero_pivot(double tolerance) const;
    /// Solves A x = b. There must be no zero pivot. x may be b.
    void solve(const T *b, T *x) const;
    /// Cholesky's L_kk for each place k, or LU's U_kk.
    [[nodiscard]] T diagonal(int place) const { return at(place, place); }

    /// The triangles of LU's A(p, q) = L U.
    [[nodiscard]] BandTriangles<T> triangles() const;
    [[nodiscard]] std::vector<int> p() const; ///< the rows after all exchanges
    [[nodiscard]] const std::vector<int> &q() const noexcept { return order_; }

  private:
    [[nodiscard]] std::size_t index(int i, int j) const {
        return static_cast<std::size_t>(diagonal_ + i - j) +
               static_cast<std::size_t>(j) * static_cast<std::size_t>(lead_);
    }
    [[nodiscard]] const T &at(int i, int j) const { return band_[index(i, j)]; }
    /// exchanged[k]: the place in the order of the row that is at place k after all exchanges.
    [[nodiscard]] std::vector<int> exchanged() const;

    Factors factors_;
    int n_;
    int below_ = 0, above_ = 0;       ///< the widths of the band
    int diagonal_ = 0, lead_ = 0;     ///< of the array
    int failed_ = -1;                 ///< the place at which LAPACK found a zero pivot
    std::vector<int> order_, pivots_; ///< LAPACK's pivots, from 1
    std::vector<T> band_;
};

} // namespace softcusolver
