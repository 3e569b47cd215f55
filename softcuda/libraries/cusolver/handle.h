// handle.h -- cuSOLVER's handle, and the form of its exported functions.
//
// LAPACK's workspace is the host's: the size of each workspace of the device is 1 element.
#pragma once

#include "../common/emulation.h"
#include "../common/handle.h"
#include "../common/openblas.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

/// cusolverDnHandle_t points to it.
struct cusolverDnContext {
    static constexpr std::uint32_t alive = 0x5c501e;
    static constexpr bool needs_openblas = true;

    std::uint32_t state = alive; ///< `alive` until cusolverDnDestroy()
    softlib::Session session;
    int deterministic = 1; ///< CUSOLVER_DETERMINISTIC_RESULTS
    int math_mode = 1;     ///< CUSOLVER_DEFAULT_MATH
    softlib::Emulation emulation;
};

namespace softcusolver {

using softlib::check_batched;
using softlib::checked;
using softlib::Complex;
using softlib::Count;
using softlib::DoubleComplex;
using softlib::extent;
using softlib::extent_of_batch;
using softlib::Failure;
using softlib::is_complex;
using softlib::lapack;
using softlib::Name;
using softlib::narrow;
using softlib::operations;
using softlib::Real;
using softlib::require;
using softlib::statuses;

using Handle = cusolverDnContext *;

struct Call : softlib::HandleCall<cusolverDnContext> {
    using HandleCall::HandleCall;

    /// Checks a matrix of this shape, and its leading dimension.
    template <class T>
    void matrix(const T *address, int rows, int columns, int leading, const char *what) const {
        require(rows >= 0 && columns >= 0 && leading >= std::max(1, rows), what);
        check(address, extent(rows, columns, leading), what);
    }
};

/// Throws Failure(invalid value) unless the process can read the array.
template <class T> void check_host(const T *address, Count count, const char *what) {
    const Count bytes = count * sizeof(T);
    require(bytes.get() >= 0 &&
                softlib::is_readable(address, static_cast<std::size_t>(bytes.get())),
            what);
}

/// LAPACK's letters for cuBLAS's and cuSOLVER's numbers.
inline const char *fill(int mode) {
    require(mode == 0 || mode == 1, "fill mode");
    return mode == 0 ? "L" : "U";
}
template <class T> const char *operation(int op) {
    require(op >= 0 && op <= 2, "operation");
    return op == 0 ? "N" : op == 1 || !is_complex<T> ? "T" : "C";
}
inline const char *side_of(int side) {
    require(side == 0 || side == 1, "side");
    return side == 0 ? "L" : "R";
}
inline const char *vectors(int jobz) {
    require(jobz == 0 || jobz == 1, "jobz");
    return jobz == 0 ? "N" : "V";
}

/// Asks LAPACK for the size of a workspace, and calls `function(work, size)` with it.
template <class T, class Function> void with_workspace(Function function) {
    T wanted{};
    int size = -1;
    function(&wanted, &size);
    size = std::max(1, static_cast<int>(std::real(wanted)));
    std::vector<T> work(static_cast<std::size_t>(size));
    function(work.data(), &size);
}

/// The size of each workspace.
template <class Size> void give_size(Size *size) {
    require(size != nullptr, "the size's address");
    *size = 1;
}

} // namespace softcusolver

/// Defines an exported function. `handle` is one of its parameters; the body sees `call`.
#define CUSOLVER_DEFINE(name, parameters, ...)                                                     \
    SOFTLIB_HANDLE_FUNCTION(softcusolver::Call, name, parameters, __VA_ARGS__)
