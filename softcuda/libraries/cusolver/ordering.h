// ordering.h -- orders of a sparse matrix's rows, and its solution as a band matrix.
#pragma once

#include "handle.h"

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

/// Solves A x = b. Returns -1, or the place of the first pivot that is not above `tolerance`; then
/// x is not written.
template <class T>
int solve_sparse(Factors factors, const Csr<T> &a, const T *b, double tolerance, T *x);

} // namespace softcusolver
