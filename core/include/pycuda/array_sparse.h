// array_sparse.h -- NVIDIA's library of sparse matrices, opened when it is first used.
//
// A matrix is stored by rows (CSR): contiguous vectors of int32 index pointers, int32 columns, and
// values of float32, float64, complex64 or complex128. The same arrays are the transposed matrix by
// columns. Each function works in the context of its arrays, which must be current. A failure
// throws std::runtime_error with the library's function and status, or Error if memory runs out.
#pragma once

#include <pycuda/array.h>
#include <pycuda/stream.h>

#include <cstdint>
#include <optional>

namespace pycuda {

/// A matrix in compressed rows (CSR): the elements of row i have the indices starts[i] to starts[i
/// + 1] - 1 in `columns` and `values`.
struct SparseRows {
    const Array &starts;  ///< rows + 1 indices
    const Array &columns; ///< of each element
    const Array &values;  ///< of each element
    std::int64_t rows;    ///< of the matrix
    std::int64_t width;   ///< the number of columns of the matrix
};

/// Whether cuSPARSE was found and has matrices of this type.
bool sparse_library_takes(ScalarType type);

/// Rows: the matrix itself. Columns: its transpose.
enum class SparseSide { Rows, Columns };
/// Whether the product replaces the result, or is added to it.
enum class SparseResult { Set, Add };

/// out (+)= A x, or A^T x for Columns. The order of the sums, and so their last bits, may differ
/// from run to run. Does not wait. The matrix has elements.
void sparse_times_vector(const SparseRows &a, SparseSide side, const Array &x, const Array &out,
                         SparseResult result, StreamRef stream);

/// Writes the transposed matrix to `out`, with the same number of elements. Elements of one column
/// keep their order. Does not wait. The matrix has elements.
void sparse_transpose(const SparseRows &a, const SparseRows &out, StreamRef stream);

/// The arrays of a product in compressed rows, as in SparseRows.
struct SparseProduct {
    Array starts;  ///< rows + 1 indices
    Array columns; ///< of each element
    Array values;  ///< of each element
};

/// A B, without duplicates; rows of the product may be unsorted. Waits for the device, so throws
/// Error during a capture. Rows of A and B are sorted and have no duplicates. Empty if the
/// library needs more memory than there is: other algorithms need less.
std::optional<SparseProduct> sparse_times_sparse(const SparseRows &a, const SparseRows &b,
                                                 StreamRef stream);

} // namespace pycuda
