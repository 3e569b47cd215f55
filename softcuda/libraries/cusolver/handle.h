// handle.h -- cuSOLVER's handle, and the form of its exported functions.
//
// LAPACK's workspace is the host's: the size of each workspace of the device is 1 element.
#pragma once

#include "../common/call.h"
#include "../common/openblas.h"
#include "../common/session.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

/// cusolverDnHandle_t points to it.
struct cusolverDnContext {
    static constexpr std::uint32_t alive = 0x5c501e;

    std::uint32_t state = alive; ///< `alive` until cusolverDnDestroy()
    softlib::Session session;
    int deterministic = 1; ///< CUSOLVER_DETERMINISTIC_RESULTS
};

namespace softcusolver {

using softlib::Complex;
using softlib::DoubleComplex;
using softlib::Failure;
using softlib::is_complex;
using softlib::lapack;
using softlib::Name;
using softlib::Real;
using softlib::require;
using softlib::statuses;

using Handle = cusolverDnContext *;

inline cusolverDnContext &checked(Handle handle) {
    if (handle == nullptr || handle->state != cusolverDnContext::alive)
        throw Failure(statuses.not_initialized, "");
    return *handle;
}

/// The number of elements from the first to the last of a matrix.
inline std::int64_t extent(std::int64_t rows, std::int64_t columns, std::int64_t leading) {
    return rows > 0 && columns > 0 ? (columns - 1) * leading + rows : 0;
}

/// A function's call: its handle, its name, and its checks.
struct Call {
    cusolverDnContext &handle;
    const char *function;

    Call(Handle handle, const char *function) : handle(checked(handle)), function(function) {}

    template <class T> void check(const T *address, std::int64_t count, const char *what) const {
        if (count > 0)
            handle.session.check_memory(address, static_cast<std::size_t>(count) * sizeof(T), what);
    }
    /// Checks a matrix of this shape, and its leading dimension.
    template <class T>
    void matrix(const T *address, int rows, int columns, int leading, const char *what) const {
        require(rows >= 0 && columns >= 0 && leading >= std::max(1, rows), what);
        check(address, extent(rows, columns, leading), what);
    }
    /// `operations` is the number of multiplications, about.
    template <class Work> void enqueue(double operations, Work &&work) const {
        handle.session.enqueue(function, std::forward<Work>(work), operations);
    }
};

/// The product of sizes, for Call::enqueue().
template <class... Sizes> double operations(Sizes... sizes) {
    return (static_cast<double>(sizes) * ...);
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
inline void give_size(int *size) {
    require(size != nullptr, "the size's address");
    *size = 1;
}

} // namespace softcusolver

/// Defines an exported function. `handle` is one of its parameters; the body sees `call`.
#define CUSOLVER_DEFINE(name, parameters, ...)                                                     \
    SOFTLIB_EXPORT int name parameters {                                                           \
        return softlib::guarded(#name, [&] {                                                       \
            [[maybe_unused]] const softcusolver::Call call(handle, #name);                         \
            __VA_ARGS__;                                                                           \
        });                                                                                        \
    }
