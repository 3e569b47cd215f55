// product.cuh -- products of matrices of any type, tile by tile.
//
// A block computes 64 x 64 elements of the result, a warp 8 rows of them, a thread 8 x 2. The
// elements of a that a warp needs are the same in all its lanes; those of b are contiguous.
//
//                    b: 16 x 64
//     a: 64 x 16     result: 64 x 64; both factors pass through shared memory in steps of 16
//
// The text before this file defines the types A, B (in memory), L (converted to), T (of products
// and sums), O (in memory), and PRODUCT_AXES, the number of axes of the batch. PRODUCT_ROLLED is 1
// if a loop is better than copies of its body.
#pragma once

namespace pycuda {

constexpr int product_axes = PRODUCT_AXES;
constexpr int product_tile = 64;
constexpr int product_step = 16;
constexpr int product_rows = 8; ///< rows of a warp
constexpr int product_columns = product_tile / 32;
constexpr int product_unrolled = PRODUCT_ROLLED ? 1 : product_step; ///< for the copy of a tile
constexpr int product_depth = PRODUCT_ROLLED ? 2 : product_step;    ///< for the sums over a step

/// Strides are in bytes; the result is contiguous.
struct ProductGeometry {
    long long rows, columns, inner;
    long long a_row, a_inner, b_inner, b_column;
    long long extent[product_axes], stride[product_axes][2];
};

template <class V> __device__ __forceinline__ V multiply_add(V a, V b, V sum) {
    return V(sum + V(a * b));
}
__device__ __forceinline__ float multiply_add(float a, float b, float sum) {
    return fmaf(a, b, sum);
}
__device__ __forceinline__ double multiply_add(double a, double b, double sum) {
    return fma(a, b, sum);
}

/// Copies one step's part of a factor, 64 x 16 elements, to shared memory. Threads advance along
/// the contiguous side.
template <class From>
__device__ __forceinline__ void load_part(T (&part)[product_step][product_tile], const char *from,
                                          long long along, long long deep, long long first,
                                          long long length, long long depth_done, long long depth) {
    const bool deep_first = deep == sizeof(From);
    const long long length_left = length - first, depth_left = depth - depth_done;
    const int length_here = length_left < product_tile ? int(length_left) : product_tile;
    const int depth_here = depth_left < product_step ? int(depth_left) : product_step;
    from += first * along + depth_done * deep;
    constexpr int unrolled = sizeof(From) < 4 ? 4 : product_unrolled; // small types gain most
#pragma unroll unrolled
    for (int i = 0; i < product_tile * product_step / 256; ++i) {
        const int number = threadIdx.x + 256 * i;
        const int at = deep_first ? number / product_step : number % product_tile;
        const int k = deep_first ? number % product_step : number / product_tile;
        T value = T(0);
        if (at < length_here && k < depth_here)
            value = array_convert<T>(
                array_convert<L>(*reinterpret_cast<const From *>(from + at * along + k * deep)));
        part[k][at] = value;
    }
}

__device__ void matrix_product(const A *a, const B *b, O *out, const ProductGeometry &g) {
    __shared__ T a_part[product_step][product_tile], b_part[product_step][product_tile];
    const long long tiles_down = (g.rows + product_tile - 1) / product_tile;
    const long long tiles_across = (g.columns + product_tile - 1) / product_tile;
    long long rest = blockIdx.x;
    const long long first_column = rest % tiles_across * product_tile;
    rest /= tiles_across;
    const long long first_row = rest % tiles_down * product_tile;
    rest /= tiles_down;
    out += rest * g.rows * g.columns;
    const char *a_from = reinterpret_cast<const char *>(a);
    const char *b_from = reinterpret_cast<const char *>(b);
    FOR_EACH_AXIS(rest, product_axes - 1, g.extent, {
        a_from += at * g.stride[axis][0];
        b_from += at * g.stride[axis][1];
    })
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T sum[product_rows][product_columns];
#pragma unroll
    for (int i = 0; i < product_rows; ++i)
#pragma unroll
        for (int j = 0; j < product_columns; ++j)
            sum[i][j] = T(0);
    for (long long done = 0; done < g.inner; done += product_step) {
        load_part<A>(a_part, a_from, g.a_row, g.a_inner, first_row, g.rows, done, g.inner);
        load_part<B>(b_part, b_from, g.b_column, g.b_inner, first_column, g.columns, done, g.inner);
        __syncthreads();
#pragma unroll product_depth
        for (int k = 0; k < product_step; ++k) {
            T left[product_rows], right[product_columns];
#pragma unroll
            for (int i = 0; i < product_rows; ++i)
                left[i] = a_part[k][warp * product_rows + i];
#pragma unroll
            for (int j = 0; j < product_columns; ++j)
                right[j] = b_part[k][lane + 32 * j];
#pragma unroll
            for (int i = 0; i < product_rows; ++i)
#pragma unroll
                for (int j = 0; j < product_columns; ++j)
                    sum[i][j] = multiply_add(left[i], right[j], sum[i][j]);
        }
        __syncthreads();
    }
    const long long rows_left = g.rows - first_row - warp * product_rows;
    const long long columns_left = g.columns - first_column;
    out += (first_row + warp * product_rows) * g.columns + first_column;
#pragma unroll product_unrolled
    for (int i = 0; i < product_rows; ++i) {
#pragma unroll
        for (int j = 0; j < product_columns; ++j) {
            const int column = lane + 32 * j;
            if (i < rows_left && column < columns_left)
                out[column] = array_convert<O>(sum[PRODUCT_ROLLED ? 0 : i][j]);
            if (PRODUCT_ROLLED) // shifts the rows, so that each row has a fixed register
#pragma unroll
                for (int row = 0; row + 1 < product_rows; ++row)
                    sum[row][j] = sum[row + 1][j];
        }
        out += g.columns;
    }
}

} // namespace pycuda

extern "C" __global__ void __launch_bounds__(256)
    KERNEL(const A *a, const B *b, O *out, pycuda::ProductGeometry g) {
    pycuda::matrix_product(a, b, out, g);
}
