// openblas.h -- BLAS and LAPACK of the CPU: OpenBLAS, loaded at the first call.
//
// The library is loaded at run time, so that the wheel can depend on the package scipy-openblas32
// instead of containing a copy, and a system's OpenBLAS works, too. Its functions are found by
// their names; a call's arguments are the function's signature:
//
//     blas<void, "?gemv", float>(order, transposition, m, n, alpha, a, lda, ...)   cblas_sgemv
//     lapack<"?potrf", float>(&uplo, &n, a, &lda, &info)                          spotrf_
//
// The question mark stands for the letter of the element type.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace softlib {

using Complex = std::complex<float>;
using DoubleComplex = std::complex<double>;

/// The letter of BLAS for an element type.
template <class T> constexpr char letter = '?';
template <> constexpr char letter<float> = 's';
template <> constexpr char letter<double> = 'd';
template <> constexpr char letter<Complex> = 'c';
template <> constexpr char letter<DoubleComplex> = 'z';

template <class T> constexpr bool is_complex = letter<T> == 'c' || letter<T> == 'z';

template <class T> struct RealOf {
    using Type = T;
};
template <class T> struct RealOf<std::complex<T>> {
    using Type = T;
};
/// float for float and Complex, double for double and DoubleComplex.
template <class T> using Real = typename RealOf<T>::Type;

/// A function's name as a template argument.
template <std::size_t N> struct Name {
    char text[N];
    constexpr Name(const char (&from)[N]) { std::copy_n(from, N, text); }
};

/// Throws Failure(not initialised) if there is no OpenBLAS. For the creation of handles, so that
/// later calls find it.
void require_openblas();

/// The address of OpenBLAS's function `start` + `name` + `end`, with the letter for `?`. Throws
/// Failure(not initialised) if there is no OpenBLAS, or none with this function.
void *find_in_openblas(const char *start, char letter, const char *name, const char *end);

/// Constants of the C interface.
constexpr int column_major = 102;
constexpr int no_transpose = 111;
constexpr int transpose = 112;
constexpr int conjugate_transpose = 113;
constexpr int upper = 121;
constexpr int lower = 122;
constexpr int non_unit = 131;
constexpr int unit = 132;
constexpr int left = 141;
constexpr int right = 142;

/// A scalar argument of the C interface: complex numbers are passed by address.
template <class T> auto scalar(const T &value) {
    if constexpr (is_complex<T>)
        return static_cast<const void *>(&value);
    else
        return value;
}

/// Calls the function of the C interface for elements of type T.
template <class Result, Name name, class T, class... Arguments>
Result blas(Arguments... arguments) {
    using Function = Result (*)(Arguments...);
    static const auto function =
        reinterpret_cast<Function>(find_in_openblas("cblas_", letter<T>, name.text, ""));
    return function(arguments...);
}

namespace detail {
template <class Argument>
constexpr bool is_letter =
    std::is_same_v<Argument, const char *> || std::is_same_v<Argument, char *>;
template <std::size_t> using Length = std::size_t;

template <Name name, class T, std::size_t... Letters, class... Arguments>
void lapack(std::index_sequence<Letters...>, Arguments... arguments) {
    using Function = void (*)(Arguments..., Length<Letters>...);
    static const auto function =
        reinterpret_cast<Function>(find_in_openblas("", letter<T>, name.text, "_"));
    function(arguments..., (static_cast<void>(Letters), std::size_t{1})...);
}
} // namespace detail

/// Calls the Fortran function of LAPACK for elements of type T. Fortran passes the lengths of text
/// arguments after the other arguments.
template <Name name, class T, class... Arguments> void lapack(Arguments... arguments) {
    constexpr std::size_t letters = (std::size_t{detail::is_letter<Arguments>} + ... + 0);
    detail::lapack<name, T>(std::make_index_sequence<letters>(), arguments...);
}

} // namespace softlib
