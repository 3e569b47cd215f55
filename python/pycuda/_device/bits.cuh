// bits.cuh -- packs elements to bits of bytes, and unpacks bits to bytes, as numpy.packbits and
// numpy.unpackbits.
//
// Defined before this file: using T, the type of the elements that are packed; BIG, whether the
// first element of a byte is its highest bit.
//
// Arrays are C-contiguous and have three axes: what is before the packed axis, this axis, and what
// is behind it.
#pragma once

using word = unsigned long long;

__device__ __forceinline__ int place_of(int k) { return BIG ? 7 - k : k; }

// extent: elements along the axis. packed: bytes along the axis, of 8 elements each. n: the number
// of all bytes.
extern "C" __global__ void __launch_bounds__(256)
    pack_bits(const T *from, unsigned char *out, long long n, long long extent, long long packed,
              long long behind) {
    const long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i >= n)
        return;
    const long long line = i / behind, column = i - line * behind;
    const long long before = line / packed, first = (line - before * packed) * 8;
    unsigned byte = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k)
        if (first + k < extent)
            byte |= unsigned(from[(before * extent + first + k) * behind + column] != T(0))
                    << place_of(k);
    out[i] = static_cast<unsigned char>(byte);
}

// As above for elements of one byte that fill all bits, at a multiple of 8 bytes.
extern "C" __global__ void __launch_bounds__(256)
    pack_words(const T *from, unsigned char *out, long long n) {
    const long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i >= n)
        return;
    constexpr word low = 0x7f7f7f7f7f7f7f7full;
    const word elements = reinterpret_cast<const word *>(from)[i];
    const word ones = ((((elements & low) + low) | elements) >> 7) & 0x0101010101010101ull;
    // Each bit is moved to its place in the highest byte. No two partial products meet.
    out[i] = static_cast<unsigned char>(
        (ones * (BIG ? 0x8040201008040201ull : 0x0102040810204080ull)) >> 56);
}

// extent: the elements of the result along the axis; those behind the last bit are 0. n: all
// elements.
extern "C" __global__ void __launch_bounds__(256)
    unpack_bits(const unsigned char *from, unsigned char *out, long long n, long long extent,
                long long packed, long long behind) {
    const long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i >= n)
        return;
    const long long line = i / behind, column = i - line * behind;
    const long long before = line / extent, place = line - before * extent;
    unsigned bit = 0;
    if (place / 8 < packed)
        bit = from[(before * packed + place / 8) * behind + column] >> place_of(place % 8) & 1u;
    out[i] = static_cast<unsigned char>(bit);
}

// As above for a vector of which all bits are unpacked. n: the number of bytes.
extern "C" __global__ void __launch_bounds__(256)
    unpack_words(const unsigned char *from, unsigned char *out, long long n) {
    const long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i >= n)
        return;
    const word byte = from[i];
    word elements = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k)
        elements |= (byte >> place_of(k) & 1u) << (8 * k);
    reinterpret_cast<word *>(out)[i] = elements;
}
