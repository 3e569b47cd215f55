"""Eigenvalues and eigenvectors of square matrices that need not be symmetric.

By NumPy's LAPACK where the host has the arrays' memory (_array_host.py). Else a block of threads has a matrix. Householder's reflections make it an upper Hessenberg matrix, and Francis'
implicitly shifted QR steps, two shifts at once for real matrices, an upper triangle (Schur):

    x x x x      x x x x      x x x x
    x x x x  ->  x x x x  ->    x x x     real matrices keep a block of 2 by 2
    x x x x        x x x          x x     for each pair of complex eigenvalues
    x x x x          x x          x x

Eigenvectors come by back substitution, a thread for each, and are turned back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.linalg import LinAlgError

from pycuda import _array_host as _host
from pycuda._array_creation import arange_of, as_array, empty, eye, zeros
from pycuda._array_factoring import (
    BLOCK_SUM,
    check_square,
    inexact,
    largest,
    stacked,
)  # fmt: skip
from pycuda._array_indexing import broadcast_to
from pycuda._array_joining import roll
from pycuda._array_linalg import matmul
from pycuda._array_selecting import take_along_axis, where
from pycuda._array_ufuncs import UFUNCS
from pycuda._c_types import dtype_to_ctype
from pycuda._driver import ArrayBase
from pycuda.compiler import SourceModule
from pycuda.tools import context_dependent_memoize

_THREADS = 128
_SOURCE = """
#include <pycuda-complex.hpp>
typedef %(type)s T;
typedef %(real)s R;
constexpr int threads = 128;
constexpr bool is_complex = sizeof(T) != sizeof(R);

template <class X> __device__ R re(const X &x) { return real(x); }
template <class X> __device__ R im(const X &x) { return imag(x); }
template <class X> __device__ X conjugate(const X &x) { return conj(x); }
__device__ inline R re(const R &x) { return x; }
__device__ inline R im(const R &) { return 0; }
__device__ inline R conjugate(const R &x) { return x; }
template <class X> struct Number { static __device__ X of(R x, R y) { return X(x, y); } };
template <> struct Number<R> { static __device__ R of(R x, R) { return x; } };
template <class X> __device__ R square(const X &x) { return re(x) * re(x) + im(x) * im(x); }
template <class X> __device__ R size_of(const X &x) { return fabs(re(x)) + fabs(im(x)); }

%(block_sum)s

// I - factor v v^H with v = (1, scale * rest): its adjoint maps (first, rest) to (beta, 0).
struct Reflection {
    T factor, scale, beta;
    __device__ Reflection(T first, R rest) : factor(T(0)), scale(T(0)), beta(first)
    {
        if (rest == R(0) && im(first) == R(0))
            return;
        const R length = -copysign(sqrt(square(first) + rest), re(first));
        factor = T((T(length) - first) / length);
        scale = T(T(R(1)) / T(first - T(length)));
        beta = T(length);
    }
};

// Rows and columns `first` to `last` of h are reflected, whose column `first` - 1 has the vector; v is of
// the block, and h[i][first - 1] becomes beta and zeros.
__device__ void reduce_column(T *h, T *z, T *v, int n, int first)
{
    R squares = 0;
    for (int i = first + 1 + threadIdx.x; i < n; i += threads)
        squares += square(h[i * (long long)n + first - 1]);
    const T top = h[first * (long long)n + first - 1]; // before any thread writes there
    const Reflection by(top, block_sum(squares));
    for (int i = first + threadIdx.x; i < n; i += threads) {
        T &x = h[i * (long long)n + first - 1];
        v[i] = i == first ? T(R(1)) : T(x * by.scale);
        x = i == first ? by.beta : T(R(0));
    }
    __syncthreads();
    for (int c = first + threadIdx.x; c < n; c += threads) {
        T sum = T(R(0));
        for (int i = first; i < n; ++i)
            sum += conjugate(v[i]) * h[i * (long long)n + c];
        sum *= conjugate(by.factor);
        for (int i = first; i < n; ++i)
            h[i * (long long)n + c] -= v[i] * sum;
    }
    __syncthreads();
    for (int r = threadIdx.x; r < (z ? 2 * n : n); r += threads) {
        T *row = r < n ? h + r * (long long)n : z + (r - n) * (long long)n;
        T sum = T(R(0));
        for (int i = first; i < n; ++i)
            sum += row[i] * v[i];
        sum *= by.factor;
        for (int i = first; i < n; ++i)
            row[i] -= sum * conjugate(v[i]);
    }
    __syncthreads();
}

// One small reflection, of `count` (2 or 3) rows from k on, that chases the bulge (x, y, w) down.
__device__ void chase(T *h, T *z, int n, int low, int high, int k, int count, T x, T y, T w)
{
    const Reflection by(x, square(y) + square(w));
    const T v1 = T(y * by.scale), v2 = T(w * by.scale);
    const int from = k > low ? k - 1 : low;
    for (int c = from + threadIdx.x; c < n; c += threads) {
        T *a = h + k * (long long)n + c, *b = a + n, *d = b + n;
        T sum = T(*a + conjugate(v1) * *b);
        if (count == 3)
            sum += conjugate(v2) * *d;
        sum *= conjugate(by.factor);
        *a -= sum;
        *b -= v1 * sum;
        if (count == 3)
            *d -= v2 * sum;
        if (k > low && c == from) {
            *a = by.beta;
            *b = T(R(0));
            if (count == 3)
                *d = T(R(0));
        }
    }
    __syncthreads();
    const int last = min(k + 3, high) + 1, rows = z ? last + n : last;
    for (int r = threadIdx.x; r < rows; r += threads) {
        T *row = (r < last ? h + r * (long long)n : z + (r - last) * (long long)n) + k;
        T sum = T(row[0] + row[1] * v1);
        if (count == 3)
            sum += row[2] * v2;
        sum *= by.factor;
        row[0] -= sum;
        row[1] -= sum * conjugate(v1);
        if (count == 3)
            row[2] -= sum * conjugate(v2);
    }
    __syncthreads();
}

// The eigenvalue of the block (a, b; c, d) that lies closer to d.
template <class X> __device__ X near_shift(X a, X b, X c, X d)
{
    if constexpr (is_complex) {
        const X half = X((a - d) * R(0.5)), root = sqrt(X(half * half + b * c));
        const X one = X(half + root), other = X(half - root);
        return X(d + (size_of(one) < size_of(other) ? one : other));
    } else
        return d;
}

template <class X> __device__ void francis_step(X *h, X *z, int n, int low, int high, bool unusual)
{
    const X *tail = h + (high - 1) * (long long)n + high - 1, *head = h + low * (long long)n + low;
    const X a = tail[0], b = tail[1], c = tail[n], d = tail[n + 1];
    const R away = R(1.5) * (size_of(c) + (high - 1 > low ? size_of(tail[-1]) : R(0)));
    X x, y, w = X(R(0));
    if constexpr (is_complex) {
        const X shift = unusual ? X(d + X(away)) : near_shift(a, b, c, d);
        x = X(head[0] - shift);
        y = head[n];
    } else {
        const X sum = unusual ? away : a + d, product = unusual ? away * away : a * d - b * c;
        x = head[0] * head[0] + head[1] * head[n] - sum * head[0] + product;
        y = head[n] * (head[0] + head[n + 1] - sum);
        w = head[n] * head[2 * n + 1];
    }
    constexpr int most = is_complex ? 2 : 3;
    for (int k = low; k < high; ++k) {
        const int count = min(most, high - k + 1);
        if (k > low) {
            x = h[k * (long long)n + k - 1];
            y = h[(k + 1) * (long long)n + k - 1];
            w = count == 3 ? h[(k + 2) * (long long)n + k - 1] : X(R(0));
        }
        __syncthreads();
        chase(h, z, n, low, high, k, count, x, y, w);
    }
}

// Turns columns i and i + 1 of h and z, and rows of h, to the basis (q, p), (-p*, q*).
__device__ void turn_pair(T *h, T *z, int n, int i, T q, T p)
{
    for (int c = threadIdx.x; c < n; c += threads) {
        T &one = h[i * (long long)n + c], &other = h[(i + 1) * (long long)n + c];
        const T kept = one;
        one = T(conjugate(q) * kept + conjugate(p) * other);
        other = T(q * other - p * kept);
    }
    __syncthreads();
    for (int r = threadIdx.x; r < (z ? 2 * n : n); r += threads) {
        T *row = (r < n ? h + r * (long long)n : z + (r - n) * (long long)n) + i;
        const T kept = row[0];
        row[0] = T(kept * q + row[1] * p);
        row[1] = T(row[1] * conjugate(q) - kept * conjugate(p));
    }
    __syncthreads();
    if (threadIdx.x == 0)
        h[(i + 1) * (long long)n + i] = T(R(0));
    __syncthreads();
}

// A block with two real eigenvalues becomes a triangle.
template <class X> __device__ void split_real_pair(X *h, X *z, int n, int i)
{
    if constexpr (!is_complex) {
        const X *at = h + i * (long long)n + i;
        const X b = at[1], c = at[n], half = (at[0] - at[n + 1]) / 2, disc = half * half + b * c;
        if (c == X(0) || disc < X(0))
            return;
        const X out = half + copysign(sqrt(disc), half), length = hypot(out, c);
        __syncthreads();
        turn_pair(h, z, n, i, out / length, c / length);
    }
}

// Each matrix of h becomes its Schur form, and z (unless 0) is multiplied with its basis.
extern "C" __global__ void __launch_bounds__(threads) schur(T *h, T *z, T *v, int *failed, int n,
    R precision)
{
    const long long matrix = blockIdx.x;
    h += matrix * n * n;
    z = z ? z + matrix * n * n : z;
    v += matrix * n;
    for (int k = 1; k < n - 1; ++k)
        reduce_column(h, z, v, n, k);
    int high = n - 1, tries = 0;
    while (high > 0) {
        int low = high;
        for (; low > 0; --low) {
            const T *at = h + low * (long long)n + low;
            const R beside = size_of(at[0]) + size_of(at[-n - 1]);
            if (size_of(at[-1]) <= precision * (beside == R(0) ? R(1) : beside))
                break;
        }
        __syncthreads();
        if (low > 0 && threadIdx.x == 0)
            h[low * (long long)n + low - 1] = T(R(0));
        __syncthreads();
        if (low >= high - (is_complex ? 0 : 1)) {
            if (low < high)
                split_real_pair(h, z, n, low);
            high = low - 1;
            tries = 0;
            continue;
        }
        if (++tries > 60) {
            if (threadIdx.x == 0)
                failed[matrix] = 1;
            return;
        }
        francis_step(h, z, n, low, high, tries %% 10 == 0);
    }
}

// The eigenvalues on the diagonals of Schur forms, and of their blocks.
extern "C" __global__ void values(const T *h, R *real, R *imaginary, int n)
{
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= n)
        return;
    h += blockIdx.y * (long long)n * n;
    const T *at = h + i * (long long)n + i;
    R x = re(at[0]), y = im(at[0]);
    if (!is_complex) {
        const bool first = i + 1 < n && at[n] != R(0), second = i > 0 && at[-1] != R(0);
        if (first || second) {
            at = second ? at - n - 1 : at;
            const R half = re(T(at[0] - at[n + 1])) / 2;
            x = re(at[n + 1]) + half;
            y = sqrt(fabs(half * half + re(T(at[1] * at[n])))) * (first ? 1 : -1);
        }
    }
    real[blockIdx.y * (long long)n + i] = x;
    imaginary[blockIdx.y * (long long)n + i] = y;
}

// Blocks of complex pairs become triangles, in complex numbers.
extern "C" __global__ void __launch_bounds__(threads) split_pairs(T *h, T *z, int n)
{
    if constexpr (is_complex) {
        h += blockIdx.x * (long long)n * n;
        z += blockIdx.x * (long long)n * n;
        for (int i = 0; i + 1 < n; ++i) {
            const T *at = h + i * (long long)n + i;
            const T c = at[n];
            if (size_of(c) == R(0))
                continue;
            const R half = re(T(at[0] - at[n + 1])) / 2;
            const R turned = sqrt(fabs(half * half + re(T(at[1] * c))));
            const R length = sqrt(half * half + turned * turned + square(c));
            __syncthreads();
            turn_pair(h, z, n, i, Number<T>::of(half / length, turned / length), T(c / length));
        }
    }
}

// The eigenvectors of upper triangles, columns of y: a thread for each.
extern "C" __global__ void back_substitute(const T *h, T *y, int n, R least)
{
    const int k = blockIdx.x * threads + threadIdx.x;
    if (k >= n)
        return;
    h += blockIdx.y * (long long)n * n;
    y += blockIdx.y * (long long)n * n + k;
    const T own = h[k * (long long)n + k];
    y[k * (long long)n] = T(R(1));
    for (int i = k - 1; i >= 0; --i) {
        T sum = T(R(0));
        for (int j = i + 1; j <= k; ++j)
            sum += h[i * (long long)n + j] * y[j * (long long)n];
        T apart = T(own - h[i * (long long)n + i]);
        if (size_of(apart) < least) // equal eigenvalues: as if they were next to each other
            apart = T(least);
        const T x = T(sum / apart);
        y[i * (long long)n] = x;
        const R size = size_of(x);
        if (size > R(1e8)) // or it would overflow after some such
            for (int j = i; j <= k; ++j)
                y[j * (long long)n] *= R(1) / size;
    }
}
"""


class EigResult(NamedTuple):
    eigenvalues: ArrayBase
    eigenvectors: ArrayBase


@context_dependent_memoize
def _module(dtype: np.dtype):
    source = _SOURCE % {
        "block_sum": BLOCK_SUM,
        "type": dtype_to_ctype(dtype),
        "real": dtype_to_ctype(_real(dtype)),
    }
    return SourceModule(source, no_extern_c=True)


def _real(dtype) -> np.dtype:
    return np.dtype(dtype.type(0).real.dtype)


def _launch(name: str, kind, count: int, wide: int, *arguments) -> None:
    """For ``count`` matrices, each of ``wide`` blocks of threads along y, or of one along x."""
    grid = (wide, count) if wide else (count, 1)
    _module(kind).get_function(name)(*arguments, block=(_THREADS, 1, 1), grid=grid)


def _schur(a, vectors: bool):
    """The Schur forms of matrices that are scaled to elements up to 1, their bases, and the scales."""
    kind = inexact(a)
    if a.size and not bool(UFUNCS["isfinite"](a).all()):
        raise LinAlgError("Array must not contain infs or NaNs")
    work = stacked(a, kind)
    count, n = work.shape[:2]
    if work.size == 0:
        return work, work, 1
    scale = largest(work)
    work /= scale
    basis = None
    if vectors:
        basis = broadcast_to(eye(n, dtype=kind), (count, n, n)).copy("C")
    failed = zeros(count, np.int32)
    _launch(
        "schur", kind, count, 0, work, 0 if basis is None else basis,
        empty((count, n), kind), failed, n, float(np.finfo(kind).eps),
    )  # fmt: skip
    if bool(failed.any()):
        raise LinAlgError("Eigenvalues did not converge")
    return work, basis, scale[:, 0]


def _values(form, scale):
    """The real and imaginary parts of the eigenvalues, of shape (matrices, n)."""
    count, n = form.shape[:2]
    parts = [empty((count, n), _real(form.dtype)) for _ in range(2)]
    if form.size:
        for start in range(0, count, 65535):  # the grid's second extent
            some = slice(start, start + 65535)
            _launch(
                "values", form.dtype, form[some].shape[0], -(-n // _THREADS),
                form[some], parts[0][some], parts[1][some], n,
            )  # fmt: skip
    return [part * scale for part in parts]


def _complex(kind) -> np.dtype:
    return np.result_type(kind, np.complex64)


def _joined(real, imaginary, kind):
    result = empty(real.shape, _complex(kind))
    result.real, result.imag = real, imaginary
    return result


def eigvals(a):
    """The eigenvalues of square matrices: complex, unless the matrices are real and all of the eigenvalues
    are. In no order.

    Raises LinAlgError where an element is not finite.
    """
    a = as_array(a)
    check_square(a)
    inexact(a)
    result = _host.call(np.linalg.eigvals, a)
    if result is not None:
        return result
    form, _, scale = _schur(a, vectors=False)
    real, imaginary = _values(form, scale)
    if form.dtype.kind == "c" or bool((imaginary != 0).any()):
        real = _joined(real, imaginary, form.dtype)
    return real._reshape(a.shape[:-1])


def eig(a):
    """The eigenvalues of square matrices, in no order, and their eigenvectors as columns of length 1; complex
    unless the matrices are real and all of their eigenvalues are.

    Raises LinAlgError where an element is not finite.
    """
    a = as_array(a)
    check_square(a)
    inexact(a)
    result = _host.call(np.linalg.eig, a)
    if result is not None:
        return EigResult(*result)
    form, basis, scale = _schur(a, vectors=True)
    values, imaginary = _values(form, scale)
    count, n = form.shape[:2]
    real = form.dtype.kind != "c"
    pairs = real and bool((imaginary != 0).any())
    if pairs:
        kind = _complex(form.dtype)
        form, basis = form.astype(kind), basis.astype(kind)
        _launch("split_pairs", form.dtype, count, 0, form, basis, n)
    if not real or pairs:
        values = _joined(values, imaginary, form.dtype)
    vectors = zeros(form.shape, form.dtype)
    least = float(np.finfo(form.dtype).eps)
    if form.size:
        for start in range(0, count, 65535):
            some = slice(start, start + 65535)
            _launch(
                "back_substitute", form.dtype, form[some].shape[0], -(-n // _THREADS),
                form[some], vectors[some], n, least,
            )  # fmt: skip
        vectors = _normalized(matmul(basis, vectors))
    if pairs:  # exactly conjugate, and exactly real
        vectors.imag = where(imaginary[:, None, :] == 0, 0, vectors.imag)
        partner = roll(vectors, 1, -1).conj()
        vectors = where(imaginary[:, None, :] < 0, partner, vectors)
    return EigResult(values._reshape(a.shape[:-1]), vectors._reshape(a.shape))


def _normalized(columns):
    """Columns of length 1; of complex ones the largest element is real."""
    sizes = UFUNCS["absolute"](columns)
    length = UFUNCS["sqrt"]((sizes * sizes).sum(1, None, None, True))
    columns = columns / length
    if columns.dtype.kind == "c":
        place = sizes.argmax(1, None, True)
        top = take_along_axis(columns, place, 1)
        columns = columns * (top.conj() / UFUNCS["absolute"](top))
        imaginary = columns.imag
        rows = arange_of(columns.shape[1])[None, :, None]
        columns.imag = where(rows == place, 0, imaginary)
    return columns
