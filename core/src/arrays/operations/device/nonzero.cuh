// nonzero.cuh -- counts the elements of each tile that are not zero, and writes where they are.
//
// The generated text before this file defines:
//
//   A, C                      the type of an element in memory, and the type for the test
//   Word, WORDS               a word of a value, and how many words a value has
//   PARAMETERS                of the kernel
//   COUNT, PLACES             1 for the kernel that counts, 1 for the one that writes places; the
//                             third kernel writes values
//   AXES                      of the array, for places
//   PACKED                    1 if the elements are bytes that start at a multiple of 16
//   ROLLED                    1 if warps are vectors of a CPU
#pragma once

constexpr long long tile_size = 4096;

__device__ __forceinline__ bool is_found(A x) { return array_true(array_convert<C>(x)); }

#if PLACES
struct Geometry {
    long long extent[AXES];
};
/// The index of an element along each axis.
struct Place {
    long long at[AXES];
    __device__ __forceinline__ Place(long long i, const Geometry &g) {
#pragma unroll
        for (int axis = AXES - 1; axis > 0; --axis) {
            at[axis] = i % g.extent[axis];
            i /= g.extent[axis];
        }
        at[0] = i;
    }
    /// Advances by the number of elements whose index is `step`: an addition with carries.
    __device__ __forceinline__ void advance(const Place &step, const Geometry &g) {
        long long carry = 0;
#pragma unroll
        for (int axis = AXES - 1; axis >= 0; --axis) {
            at[axis] += step.at[axis] + carry;
            carry = axis > 0 && at[axis] >= g.extent[axis];
            at[axis] -= carry ? g.extent[axis] : 0;
        }
    }
    template <class Index>
    __device__ __forceinline__ void write(long long *out, long long total, Index here) const {
#pragma unroll
        for (int axis = 0; axis < AXES; ++axis)
            (out + axis * total)[here] = at[axis];
    }
};
#elif !COUNT
template <class Index>
__device__ __forceinline__ void write_value(Word *out, Index here, const Word *values,
                                            long long i) {
    for (long long word = 0; word < WORDS; ++word)
        out[here * WORDS + word] = values[i * WORDS + word];
}
#endif

#if PACKED
/// The number of bytes that are not zero, of the elements `from` to `from + 16`. Their upper bits
/// are set by the addition.
__device__ __forceinline__ unsigned count_bytes(const A *in, long long from, long long n) {
    unsigned mine = 0;
    if (from + 16 <= n) {
        const uint4 bytes = *reinterpret_cast<const uint4 *>(in + from);
        const unsigned words[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
#pragma unroll
        for (unsigned word : words)
            mine += __popc((((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) & 0x80808080u);
    } else {
        for (long long i = from; i < n && i < from + 16; ++i)
            mine += is_found(in[i]);
    }
    return mine;
}
#endif

/// The number of found elements of this warp's 512 elements, in all lanes. Lane 0 reads the first
/// one, `first - lane`.
__device__ __forceinline__ unsigned count_warp(const A *in, long long first, long long n,
                                               int lane) {
    unsigned mine = 0;
#if PACKED || ROLLED
#if PACKED
    mine = count_bytes(in, first - lane + lane * 16, n);
#else
#pragma unroll 1
    for (int row = 0; row < 16; ++row) {
        const long long i = first + row * 32;
        mine += i < n && is_found(in[i]);
    }
#endif
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        mine += __shfl_xor_sync(0xffffffffu, mine, distance);
#else
#pragma unroll
    for (int row = 0; row < 16; ++row) {
        const long long i = first + row * 32;
        mine += __popc(__ballot_sync(0xffffffffu, i < n && is_found(in[i])));
    }
#endif
    return mine;
}

#if COUNT || !ROLLED

extern "C" __global__ void __launch_bounds__(256) KERNEL(const A *__restrict__ in, PARAMETERS) {
    __shared__ unsigned warps[8];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const long long first = blockIdx.x * tile_size + warp * 512 + lane;
    const unsigned mine = count_warp(in, first, n, lane);
    if (lane == 0)
        warps[warp] = mine;
    __syncthreads();
#if COUNT
    if (threadIdx.x != 0)
        return;
    unsigned all = 0;
    for (int w = 0; w < 8; ++w)
        all += warps[w];
    counts[blockIdx.x] = all;
#else
    long long before = blockIdx.x == 0 ? 0 : ends[blockIdx.x - 1];
    for (int w = 0; w < warp; ++w)
        before += warps[w];
#pragma unroll
    for (int row = 0; row < 16; ++row) {
        const long long i = first + row * 32;
        const bool found = i < n && is_found(in[i]);
        const unsigned votes = __ballot_sync(0xffffffffu, found);
        const long long here = before + __popc(votes & ((1u << lane) - 1));
        if (found) {
#if PLACES
            Place(i, g).write(out, total, here);
#else
            write_value(out, here, values, i);
#endif
        }
        before += __popc(votes);
    }
#endif
}

#else

// One warp for a tile. The elements of a row that are found have adjacent places.
extern "C" __global__ void __launch_bounds__(32) KERNEL(const A *__restrict__ in, PARAMETERS) {
    const int lane = threadIdx.x;
    const long long first = blockIdx.x * tile_size;
    const int size = int(min(tile_size, n - first));
    const long long before = blockIdx.x == 0 ? 0 : ends[blockIdx.x - 1];
#if PLACES
    out += before;
    Place place(first + lane, g);
    const Place step(32, g);
#else
    out += before * WORDS;
#endif
#pragma unroll 1
    for (int row = 0; row < size; row += 32) {
        const bool found = row + lane < size && is_found(in[first + row + lane]);
        const unsigned votes = __ballot_sync(0xffffffffu, found);
        const int here = __popc(votes & ((1u << lane) - 1));
        if (found) {
#if PLACES
            place.write(out, total, here);
#else
            write_value(out, here, values, first + row + lane);
#endif
        }
#if PLACES
        place.advance(step, g);
        out += __popc(votes);
#else
        out += __popc(votes) * WORDS;
#endif
    }
}

#endif
