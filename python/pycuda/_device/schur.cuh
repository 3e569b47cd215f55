// schur.cuh -- the real or complex Schur form of square matrices, with eigenvalues and
// eigenvectors.
//
// Defined before this file: using T, a real or complex type; using R, its real type.
#pragma once

#include "numbers.cuh"

constexpr int threads = 128;
#include "block_sum.cuh"

// I - factor v v^H with v = (1, scale * rest): its adjoint maps (first, rest) to (beta, 0).
struct Reflection {
    T factor, scale, beta;
    __device__ Reflection(T first, R rest) : factor(T(0)), scale(T(0)), beta(first) {
        if (rest == R(0) && im(first) == R(0))
            return;
        const R length = -copysign(sqrt(square(first) + rest), re(first));
        factor = T((T(length) - first) / length);
        scale = T(T(R(1)) / T(first - T(length)));
        beta = T(length);
    }
};

// Applies a reflection to rows and columns `first` to `last` of h. Its vector is in column `first`
// - 1. v is shared by the block; h[i][first - 1] becomes beta and zeros.
__device__ void reduce_column(T *h, T *z, T *v, int n, int first) {
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

// A small reflection of `count` (2 or 3) rows from k on, which moves the bulge (x, y, w) down.
__device__ void chase(T *h, T *z, int n, int low, int high, int k, int count, T x, T y, T w) {
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

// The eigenvalue of the block (a, b; c, d) that is closer to d.
template <class X> __device__ X near_shift(X a, X b, X c, X d) {
    if constexpr (is_complex) {
        const X half = X((a - d) * R(0.5)), root = sqrt(X(half * half + b * c));
        const X one = X(half + root), other = X(half - root);
        return X(d + (size_of(one) < size_of(other) ? one : other));
    } else
        return d;
}

template <class X>
__device__ void francis_step(X *h, X *z, int n, int low, int high, bool unusual) {
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

// Transforms columns i and i + 1 of h and z, and rows of h, to the basis (q, p), (-p*, q*).
__device__ void turn_pair(T *h, T *z, int n, int i, T q, T p) {
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

// Makes a block with two real eigenvalues triangular.
template <class X> __device__ void split_real_pair(X *h, X *z, int n, int i) {
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

// Replaces each matrix of h by its Schur form, and multiplies z (unless 0) by its basis.
extern "C" __global__ void __launch_bounds__(threads)
    schur(T *h, T *z, T *v, int *failed, int n, R precision) {
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
        francis_step(h, z, n, low, high, tries % 10 == 0);
    }
}

// Reads the eigenvalues from the diagonals of Schur forms, and from their blocks.
extern "C" __global__ void values(const T *h, R *real, R *imaginary, int n) {
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

// Makes blocks of complex pairs triangular, with complex numbers.
extern "C" __global__ void __launch_bounds__(threads) split_pairs(T *h, T *z, int n) {
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

// The eigenvectors of upper triangular matrices, as columns of y: one thread for each.
extern "C" __global__ void back_substitute(const T *h, T *y, int n, R least) {
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
