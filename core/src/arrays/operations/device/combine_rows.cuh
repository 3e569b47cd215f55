// combine_rows.cuh -- combines elements with the elements of rows that indices select.
//
// The text before this file defines:
//
//   I             the type of an index
//   Step          a struct of an operation: Step::operate(0, a, b); Step::O is the element's type
//   ONE, Count    as in rows.cuh, for elements
//   TASK_MEMORY   1: threads combine elements with atomic operations in memory
//   TASK_SHARED   1, for sums: a thread block adds to its own table in shared memory, and then the
//                 table to memory. `copies` neighbouring numbers of the table belong to one
//                 element, one for each of so many lanes, so that few lanes wait for each other
//   TASK_SERIAL   1, for a CPU: a thread combines a column of the elements in order. Several blocks
//                 have a part of the rows and a table each
//   SMALL         1 with TASK_MEMORY for one thread block, which checks the indices first
//   NATIVE_ADD    1 if the operation is a sum and atomicAdd() supports the type
//   PARTS         1 if it is a sum or a difference of complex numbers, whose parts are independent
//   AXES          0 if the elements of a row of the base are contiguous, else the number of axes
//                 along which they have strides
//   ADDS          -1 for differences, else 1
//
// Indices out of bounds are skipped. If `failed` is not null and *failed is not 0, nothing is
// written.
#pragma once

typedef Step::O T;

// Elements of all rows, elements of a row; steps in elements of `values` from row to row and within
// a row; rows of the base and their distance in bytes; elements of a table.
struct Geometry {
    long long n, width, extent, stride, value_row, value_column, cells;
    int copies, wrap; // wrap: whether negative indices count from the end
#if AXES
    long long extents[AXES], strides[AXES]; // of a row of the base, in elements and in bytes
#endif
};

/// The distance of an element from the beginning of its row, in bytes.
template <class Number>
__device__ __forceinline__ long long column_bytes(const Geometry &g, Number column) {
#if AXES
    long long bytes = 0;
    FOR_EACH_AXIS(column, AXES - 1, g.extents, bytes += (long long)at * g.strides[axis])
    return bytes;
#else
    return (long long)column * (long long)sizeof(T);
#endif
}

#if !TASK_SERIAL && !NATIVE_ADD && !PARTS
template <int size> struct Bits;
template <> struct Bits<1> {
    typedef unsigned char Type;
};
template <> struct Bits<2> {
    typedef unsigned short Type;
};
template <> struct Bits<4> {
    typedef unsigned Type;
};
template <> struct Bits<8> {
    typedef unsigned long long Type;
};

/// Repeats the step until no other thread has written between its load and its store. An element
/// that is smaller than a word is replaced within its word, by shifts: with a copy of bytes to a
/// place known at run time, NVRTC made wrong code for float16.
__device__ void exchange_step(T *element, T value) {
    typedef typename Bits<sizeof(T)>::Type Element;
    typedef typename Bits<sizeof(T) < 4 ? 4 : sizeof(T)>::Type Word;
    const unsigned long long address = reinterpret_cast<unsigned long long>(element);
    const int within = sizeof(T) < 4 ? int(address & 3) : 0, shift = 8 * within;
    const Word others = ~(Word(Element(~Element(0))) << shift);
    Word *const word = reinterpret_cast<Word *>(address - within);
    Word old = *reinterpret_cast<volatile Word *>(word);
    for (;;) {
        Element bits = Element(old >> shift);
        T before;
        memcpy(&before, &bits, sizeof(T));
        const T after = Step::operate(0, before, value);
        memcpy(&bits, &after, sizeof(T));
        const Word next = (old & others) | (Word(bits) << shift);
        if (next == old)
            return;
        const Word found = atomicCAS(word, old, next);
        if (found == old)
            return;
        old = found;
    }
}
#endif

#if !TASK_SERIAL
__device__ __forceinline__ void step_at(T *element, T value) {
#if NATIVE_ADD
    atomicAdd(reinterpret_cast<Native *>(element), Native(value));
#elif PARTS
    atomicAdd(reinterpret_cast<Native *>(element), ADDS * value.re);
    atomicAdd(reinterpret_cast<Native *>(element) + 1, ADDS * value.im);
#else
    exchange_step(element, value);
#endif
}
#endif

#define FIND_ELEMENT(i)                                                                            \
    const Count row = ONE ? i : i / Count(g.width);                                                \
    [[maybe_unused]] const Count column = ONE ? 0 : i - row * Count(g.width);                      \
    long long place = places[row];                                                                 \
    if (place < 0 && g.wrap)                                                                       \
        place += g.extent;                                                                         \
    const bool inside = place >= 0 && place < g.extent;

#if TASK_MEMORY
extern "C" __global__ void __launch_bounds__(256)
    KERNEL(char *base, const I *places, const T *values, int *failed, Geometry g) {
#if SMALL
    bool wrong = false;
    if (failed != nullptr)
        for (Count i = threadIdx.x; i < Count(g.n); i += 256) {
            FIND_ELEMENT(i)
            wrong = wrong || !inside;
        }
    if (__syncthreads_or(wrong)) {
        if (threadIdx.x == 0)
            *failed = 1;
        return;
    }
#else
    if (failed != nullptr && *failed)
        return;
#endif
    const Count threads = Count(gridDim.x) * 256;
    for (Count i = Count(blockIdx.x) * 256 + threadIdx.x; i < Count(g.n); i += threads) {
        FIND_ELEMENT(i)
        if (inside)
            step_at(reinterpret_cast<T *>(base + place * g.stride + column_bytes(g, column)),
                    values[row * g.value_row + column * g.value_column]);
    }
}
#elif TASK_SHARED
extern "C" __global__ void __launch_bounds__(256)
    KERNEL(char *base, const I *places, const T *values, int *failed, Geometry g) {
    extern __shared__ unsigned long long memory[];
    Native *const table = reinterpret_cast<Native *>(memory);
    if (failed != nullptr && *failed)
        return;
    for (int k = threadIdx.x; k < g.cells * g.copies; k += 256)
        table[k] = Native(0);
    __syncthreads();
    const int copy = threadIdx.x & (g.copies - 1);
    const Count threads = Count(gridDim.x) * 256;
    for (Count i = Count(blockIdx.x) * 256 + threadIdx.x; i < Count(g.n); i += threads) {
        FIND_ELEMENT(i)
        if (inside)
            atomicAdd(table + (int(place) * int(g.width) + int(column)) * g.copies + copy,
                      Native(values[row * g.value_row + column * g.value_column]));
    }
    __syncthreads();
    for (int k = threadIdx.x; k < g.cells; k += 256) {
        Native sum = Native(0);
        for (int c = 0; c < g.copies; ++c)
            sum += table[k * g.copies + c];
        const int row = k / int(g.width), column = k - row * int(g.width);
        if (sum != Native(0))
            atomicAdd(reinterpret_cast<Native *>(base + row * g.stride + column_bytes(g, column)),
                      sum);
    }
}
#else
extern "C" __global__ void __launch_bounds__(ONE ? 1 : 32)
    KERNEL(char *base, const I *places, const T *values, int *failed, Geometry g) {
    if (failed != nullptr && *failed)
        return;
    const long long rows = ONE ? g.n : g.n / g.width;
    const long long part = (rows + gridDim.y - 1) / gridDim.y, first = blockIdx.y * part;
    const long long last = min(rows, first + part);
    const long long column = ONE ? 0 : blockIdx.x * 32ll + threadIdx.x;
    if (!ONE && column >= g.width)
        return;
    base += blockIdx.y * g.cells * sizeof(T) + column_bytes(g, column);
    for (long long row = first; row < last; ++row) {
        long long place = places[row];
        if (place < 0 && g.wrap)
            place += g.extent;
        if (place < 0 || place >= g.extent)
            continue;
        T *const element = reinterpret_cast<T *>(base + place * g.stride);
        *element = Step::operate(0, *element, values[row * g.value_row + column * g.value_column]);
    }
}
#endif
