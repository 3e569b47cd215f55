// small_rotations.cuh -- singular values and eigenvalues of many small matrices by rotations of
// their columns: a lane has a column, and holds it in registers.
//
// One-sided Jacobi (Hestenes 1958). In round r, lanes j and j ^ r turn their two columns so that
// these become orthogonal. Rounds 1 to side - 1 pair each lane with each other one:
//
//     round 1   0-1  2-3        round 2   0-2  1-3        round 3   0-3  1-2
//
// Such sweeps are repeated until no pair turns. The columns are then U S, and the same rotations
// of the columns of the identity give V.
//
// After small_matrices.cuh.
#pragma once

namespace pycuda {

constexpr int most_sweeps = 30;

/// sum + conj(x) y
__device__ __forceinline__ float with_product(float sum, float x, float y) {
    return fmaf(x, y, sum);
}
__device__ __forceinline__ double with_product(double sum, double x, double y) {
    return fma(x, y, sum);
}
/// c x + w y, with a real c
__device__ __forceinline__ float mixed(float c, float x, float w, float y) {
    return fmaf(w, y, c * x);
}
__device__ __forceinline__ double mixed(double c, double x, double w, double y) {
    return fma(w, y, c * x);
}
/// f x, with a real f
__device__ __forceinline__ float scaled(float f, float x) { return f * x; }
__device__ __forceinline__ double scaled(double f, double x) { return f * x; }
#if SMALL_COMPLEX
__device__ __forceinline__ T with_product(T sum, T x, T y) {
    return {with_product(with_product(sum.re, x.re, y.re), x.im, y.im),
            with_product(with_product(sum.im, x.re, y.im), -x.im, y.re)};
}
__device__ __forceinline__ T mixed(R c, T x, T w, T y) {
    return {without(mixed(c, x.re, w.re, y.re), w.im, y.im),
            with_product(mixed(c, x.im, w.re, y.im), w.im, y.re)};
}
__device__ __forceinline__ T scaled(R f, T x) { return {f * x.re, f * x.im}; }
#endif

__device__ __forceinline__ R squared_length(const T (&x)[side]) {
    T sum = T(R(0));
#pragma unroll
    for (int k = 0; k < side; ++k)
        sum = with_product(sum, x[k], x[k]);
    return real_part(sum);
}

/// The largest value in the lanes of a matrix; NaN is ignored.
__device__ __forceinline__ R largest_of(const Lane &lane, R value) {
#pragma unroll
    for (int distance = side / 2; distance > 0; distance /= 2)
        value = fmax(value, lane.from(value, lane.row ^ distance));
    return value;
}

/// The number of the first n lanes of the matrix that precede this one in descending order of
/// `value`.
__device__ __forceinline__ int rank_of(const Lane &lane, R value, int n) {
    int rank = 0;
#pragma unroll
    for (int k = 0; k < side; ++k) {
        const R other = lane.from(value, k);
        rank += k < n && (other > value || (other == value && k < lane.row));
    }
    return rank;
}

/// A power of two near 1 / size; products with it are near 1 and exact.
__device__ __forceinline__ R scale_for(R size) {
    constexpr int least = sizeof(R) == 4 ? -120 : -1000;
    const int exponent = size > R(0) ? ilogb(size) : 0;
    return ldexp(R(1), -(exponent > least ? exponent : least));
}

/// The rotation of a pair of columns x, y with squared lengths `mine` and `theirs`.
struct Turn {
    R cosine, change; ///< `change`: of `mine`
    T factor;         ///< x becomes cosine x + factor y
    bool is_needed;

    __device__ __forceinline__ Turn(const Lane &lane, int partner, T product, R mine, R theirs,
                                    R tolerance) {
        const bool is_first = lane.row < partner;
        // Both lanes use the first one's product, because the other's may be rounded differently.
        product = lane.from(product, is_first ? lane.row : partner);
        const R size = absolute(product);
        is_needed = size > tolerance * sqrt(mine) * sqrt(theirs);
        const R zeta = (is_first ? theirs - mine : mine - theirs) / (2 * size);
        const R tangent = copysign(R(1), zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
        cosine = is_needed ? R(1) / sqrt(1 + tangent * tangent) : R(1);
        const R sine = cosine * tangent / size;
        factor = !is_needed ? T(R(0))
                 : is_first ? scaled(-sine, conjugate(product))
                            : scaled(sine, product);
        change = !is_needed ? R(0) : is_first ? -tangent * size : tangent * size;
    }
};

/// Makes the columns x of each matrix orthogonal, and turns the columns v with them if `Vectors`.
/// False if a pair still turns in the last sweep.
template <bool Vectors>
__device__ __forceinline__ bool make_orthogonal(T (&x)[side], T (&v)[side], const Lane &lane,
                                                int rows) {
    const R epsilon = sizeof(R) == 4 ? R(0x1p-23) : R(0x1p-52);
    const R tolerance = epsilon * fmax(R(4), sqrt(R(rows)) / 2);
#pragma unroll 1
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
        R mine = squared_length(x);
        bool moved = false;
#pragma unroll 1
        for (int round = 1; round < side; ++round) {
            const int partner = lane.row ^ round;
            T y[side], product = T(R(0));
#pragma unroll
            for (int k = 0; k < side; ++k) {
                y[k] = lane.from(x[k], partner);
                product = with_product(product, x[k], y[k]);
            }
            const Turn turn(lane, partner, product, mine, lane.from(mine, partner), tolerance);
            moved = moved || turn.is_needed;
            if (!__any_sync(full_warp, turn.is_needed))
                continue;
            mine += turn.change;
#pragma unroll
            for (int k = 0; k < side; ++k) {
                x[k] = mixed(turn.cosine, x[k], turn.factor, y[k]);
                if (Vectors)
                    v[k] = mixed(turn.cosine, v[k], turn.factor, lane.from(v[k], partner));
            }
        }
        if (!__any_sync(full_warp, moved))
            return true;
    }
    return false;
}

#if !defined FORM_eigh
/// U, S and V^H of matrices a, (matrices, m, n); u: (matrices, m, k), vh: (matrices, k, n), with k
/// the smaller extent, not used without SMALL_VECTORS. Of a wide matrix, the columns of a^H are
/// turned. Sets `failed` to 1 if a matrix is not finite, or does not have full rank: its vectors
/// cannot be computed here.
SMALL_KERNEL(const T *a, T *u, R *s, T *vh, int *failed, int m, int n, long long count) {
    const Lane lane;
    const bool is_wide = m < n;
    const int rows = is_wide ? n : m, columns = is_wide ? m : n;
    const bool is_there = lane.matrix < count && lane.row < columns;
    a += lane.matrix * m * n;
    T x[side], v[side];
    R largest = 0;
    bool is_finite = true;
#pragma unroll
    for (int k = 0; k < side; ++k) {
        x[k] = T(R(0));
        v[k] = T(R(k == lane.row ? 1 : 0));
        if (is_there && k < rows)
            x[k] = is_wide ? conjugate(a[lane.row * n + k]) : a[k * n + lane.row];
        const R size = size_of(x[k]);
        is_finite = is_finite && size - size == R(0);
        largest = fmax(largest, size);
    }
    const R scale = scale_for(largest_of(lane, is_finite ? largest : R(0)));
#pragma unroll
    for (int k = 0; k < side; ++k)
        x[k] = is_finite ? scaled(scale, x[k]) : T(R(0));
    const bool is_done = make_orthogonal<SMALL_VECTORS>(x, v, lane, rows);
    const R length = sqrt(squared_length(x));
    if (is_there && (!is_done || !is_finite || (SMALL_VECTORS && length == R(0))))
        *failed = 1;
    const int rank = rank_of(lane, length, columns);
    if (!is_there)
        return;
    s[lane.matrix * columns + rank] = length / scale;
    if (!SMALL_VECTORS)
        return;
    u += lane.matrix * m * columns + rank;
    vh += (lane.matrix * columns + rank) * n;
    const R inverse = R(1) / length;
#pragma unroll
    for (int k = 0; k < side; ++k) {
        const T turned = scaled(inverse, x[k]);
        if (k < m)
            u[k * columns] = is_wide ? v[k] : turned;
        if (k < n)
            vh[k] = conjugate(is_wide ? turned : v[k]);
    }
}
#else
/// Hermitian matrices, of which one triangle is read.
struct Hermitian {
    const T *a;
    int n;
    bool upper;

    __device__ __forceinline__ T operator()(int row, int column) const {
        if (row == column)
            return T(real_part(a[row * n + row]));
        return (row > column) != upper ? a[row * n + column] : conjugate(a[column * n + row]);
    }
    /// q^H a q, for a vector q.
    __device__ __forceinline__ R quotient(T (&q)[side], R scale) const {
        R sum = 0;
#pragma unroll 1
        for (int row = 0; row < side; ++row) {
            if (row < n) {
                T image = T(R(0));
#pragma unroll
                for (int k = 0; k < side; ++k) {
                    const int column = (row + k) % side;
                    if (column < n)
                        image = with_product(image, (*this)(column, row), q[k]);
                }
                sum += real_part(with_product(T(R(0)), q[0], scaled(scale, image)));
            }
            turn<0>(q, T(q[0])); // the next row's element becomes the first
        }
        return sum;
    }
};

/// Eigenvalues in ascending order, and eigenvectors as columns (unless null), of Hermitian
/// matrices, (matrices, n, n). The matrix is scaled and shifted so that its eigenvalues are from 1
/// to 5: then its columns turn into its eigenvectors. Their quotients give the eigenvalues. Sets
/// `failed` to 1 if a matrix is not finite.
SMALL_KERNEL(const T *a, R *values, T *vectors, int *failed, int n, long long count, int upper) {
    const Lane lane;
    const bool is_there = lane.matrix < count && lane.row < n;
    const Hermitian matrix = {a + lane.matrix * n * n, n, upper != 0};
    T x[side];
    R sum = 0;
#pragma unroll
    for (int k = 0; k < side; ++k) {
        x[k] = is_there && k < n ? matrix(k, lane.row) : T(R(0));
        sum += absolute(x[k]);
    }
    const bool is_finite = sum - sum == R(0);
    const R scale = scale_for(largest_of(lane, is_finite ? sum : R(0)));
#pragma unroll
    for (int k = 0; k < side; ++k) {
        x[k] = is_finite ? scaled(scale, x[k]) : T(R(0));
        if (k == lane.row && k < n)
            x[k] = x[k] + T(R(3));
    }
    const bool is_done = make_orthogonal<false>(x, x, lane, n);
    const R inverse = R(1) / sqrt(squared_length(x));
#pragma unroll
    for (int k = 0; k < side; ++k)
        x[k] = is_there ? scaled(inverse, x[k]) : T(R(0));
    if (is_there && (!is_done || !is_finite))
        *failed = 1;
    const R value = is_there ? matrix.quotient(x, scale) : R(0);
    const int rank = rank_of(lane, -value, n);
    if (!is_there)
        return;
    values[lane.matrix * n + rank] = value / scale;
    if (vectors == nullptr)
        return;
    vectors += lane.matrix * n * n + rank;
#pragma unroll
    for (int k = 0; k < side; ++k)
        if (k < n)
            vectors[k * n] = x[k];
}

#endif

} // namespace pycuda
