// sparse.h -- the handle of cusolverSp, and the places of its arrays.
#pragma once

#include "../common/legacy_matrix.h"
#include "ordering.h"

/// cusolverSpHandle_t points to it.
struct cusolverSpContext {
    static constexpr std::uint32_t alive = 0x5c5a5e;
    static constexpr bool needs_openblas = true;

    std::uint32_t state = alive;
    softlib::Session session;
};

namespace softcusolver {

using SparseHandle = cusolverSpContext *;
using SparseCall = softlib::HandleCall<cusolverSpContext>;
using Descriptor = const cusparseMatDescr *;

enum class Place { Device, Host };

inline int base_of(Descriptor descriptor) {
    require(descriptor != nullptr, "descriptor");
    if (descriptor->type != 0)
        throw Failure(8, ""); // CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED
    return descriptor->base;
}

/// Runs `work` on arrays of the host now, on arrays of the device when the stream has reached it;
/// returns after its end.
template <class Work> void run_at(const SparseCall &call, Place place, Work &&work) {
    if (place == Place::Host)
        work();
    else
        call.run(std::forward<Work>(work));
}

/// Throws Failure unless `count` elements from `address` can be used.
template <class T>
void check_at(const SparseCall &call, Place place, const T *address, Count count,
              const char *what) {
    if (place == Place::Device)
        call.check(address, count, what);
    else
        check_host(address, count, what);
}

/// A square matrix at `place`, whose arrays are checked but not read.
template <class T>
Csr<T> matrix_at(const SparseCall &call, Place place, int n, int count, Descriptor descriptor,
                 const T *values, const int *rows, const int *columns) {
    require(n >= 0 && count >= 0, "n, nnz");
    check_at(call, place, rows, Count(n) + 1, "csrRowPtr");
    check_at(call, place, columns, count, "csrColInd");
    check_at(call, place, values, count, "csrVal");
    return {n, rows, columns, values, base_of(descriptor)};
}

} // namespace softcusolver

#define SPARSE_DEFINE(name, parameters, ...)                                                       \
    SOFTLIB_HANDLE_FUNCTION(softcusolver::SparseCall, cusolverSp##name, parameters, __VA_ARGS__)
