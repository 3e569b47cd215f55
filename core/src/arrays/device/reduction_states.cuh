// reduction_states.cuh -- the states of reductions, and how threads exchange them.
//
// The generated text before this file defines:
//
//   T, R            the type of the computation; for moments, the corresponding real type
//   Place           for INDEX: the type of an element's index in a state
//   INDEX, MOMENTS, COMPLEX, WORDS, ROLLED_ORDER, APART    1 for the parts that are needed
#pragma once

template <class T> __device__ __forceinline__ T array_lowest(T) {
    return T(-1) < T(0) ? T(T(1) << (8 * sizeof(T) - 1)) : T(0);
}
template <class T> __device__ __forceinline__ T array_highest(T x) { return T(~array_lowest(x)); }
template <class T> __device__ __forceinline__ T array_not_a_number(T x) { return x; }
#define LIMITS(T, infinity, nan)                                                                   \
    __device__ __forceinline__ T array_lowest(T) { return -infinity; }                             \
    __device__ __forceinline__ T array_highest(T) { return infinity; }                             \
    __device__ __forceinline__ T array_not_a_number(T) { return nan; }
LIMITS(float, __int_as_float(0x7f800000), __int_as_float(0x7fffffff))
LIMITS(double, __longlong_as_double(0x7ff0000000000000), __longlong_as_double(0x7fffffffffffffff))
__device__ __forceinline__ bool array_lowest(bool) { return false; }
__device__ __forceinline__ bool array_highest(bool) { return true; }
template <class T> __device__ __forceinline__ T array_square_of(T x) { return x * x; }
template <class S> __device__ __forceinline__ S array_first(S a, S b, bool a_wins, bool b_wins) {
    const bool b_precedes = b_wins | (!a_wins & (b.place < a.place)); // no branches
    return (b.place >= 0) & ((a.place < 0) | b_precedes) ? b : a;
}
/// As array_first(), if b comes after a and is valid.
template <class S> __device__ __forceinline__ S array_later(S a, S b, bool, bool b_wins) {
    return (a.place < 0) | b_wins ? b : a;
}

#if COMPLEX
#define COMPLEX_LIMIT(name)                                                                        \
    template <class T> __device__ __forceinline__ array_complex<T> name(array_complex<T>) {        \
        return {name(T(0)), name(T(0))};                                                           \
    }
COMPLEX_LIMIT(array_lowest)
COMPLEX_LIMIT(array_highest)
COMPLEX_LIMIT(array_not_a_number)
template <class T> __device__ __forceinline__ T array_square_of(array_complex<T> x) {
    return x.re * x.re + x.im * x.im;
}
template <class T, class R>
__device__ __forceinline__ array_complex<T> array_part(array_complex<T> x, R part) {
    return {x.re * part, x.im * part};
}
#endif

#if INDEX
#if ROLLED_ORDER
// For real numbers, with fewer masks, which are slow if a warp is a vector.
template <class T> __device__ __forceinline__ bool array_is_less(T a, T b) {
    return b == b && !(a >= b);
}
template <class T> __device__ __forceinline__ bool array_is_more(T a, T b) {
    return b == b && !(a <= b);
}
#else
template <class T> __device__ __forceinline__ bool array_is_less(T a, T b) {
    return array_nan(a) ? !array_nan(b) : a < b;
}
template <class T> __device__ __forceinline__ bool array_is_more(T a, T b) {
    return array_nan(a) ? !array_nan(b) : b < a;
}
#endif

struct State {
    T value;
    Place place;
};
/// A state that passes from one launch to the next.
struct Passed {
    T value;
    long long place;
};
#endif

#if WORDS
// The bytes of a word are processed at once. Counts are added up in two words, for the even and the
// odd bytes, with 16 bits for each sum. A sum holds 255 additions.
typedef unsigned long long Word;
constexpr Word every_byte = 0x0101010101010101, even_bytes = 0x00ff00ff00ff00ff;
/// 1 in each byte that is not 0.
__device__ __forceinline__ Word array_nonzero_bytes(Word x) {
    return ((((x & 0x7f * every_byte) + 0x7f * every_byte) | x) >> 7) & every_byte;
}
/// The sum of the four 16-bit numbers.
__device__ __forceinline__ long long array_sum_of_16(Word x) {
    x = (x & 0x0000ffff0000ffff) + (x >> 16 & 0x0000ffff0000ffff);
    return (long long)((x & 0xffffffff) + (x >> 32));
}
#endif

template <class S, class Shuffle>
__device__ __forceinline__ S array_shuffled(S state, const Shuffle &shuffle) {
    unsigned words[(sizeof(S) + 3) / 4] = {};
    memcpy(words, &state, sizeof(S));
#pragma unroll
    for (unsigned &word : words)
        word = shuffle(word);
    memcpy(&state, words, sizeof(S));
    return state;
}
/// The state of the lane whose number is greater by `distance`.
template <class S> __device__ __forceinline__ S array_from_above(S state, int distance) {
    return array_shuffled(
        state, [=](unsigned word) { return __shfl_down_sync(0xffffffffu, word, distance); });
}
/// The state of the lane with this number.
template <class S> __device__ __forceinline__ S array_from_lane(S state, int lane) {
    return array_shuffled(state,
                          [=](unsigned word) { return __shfl_sync(0xffffffffu, word, lane); });
}
template <bool Eights, bool Fours> struct array_unit {
    typedef unsigned char type;
};
template <bool Fours> struct array_unit<true, Fours> {
    typedef unsigned long long type;
};
template <> struct array_unit<false, true> {
    typedef unsigned type;
};
/// The states of a block's 256 threads in shared memory: first the first unit of all states, then
/// the second, and so on.
template <class S> struct array_states {
    typedef typename array_unit<sizeof(S) % 8 == 0, sizeof(S) % 4 == 0>::type Unit;
    Unit *memory;
    __device__ __forceinline__ void put(int i, const S &state) const {
        Unit units[sizeof(S) / sizeof(Unit)];
        memcpy(units, &state, sizeof(S));
#pragma unroll
        for (int k = 0; k < int(sizeof(S) / sizeof(Unit)); ++k)
            memory[k * 256 + i] = units[k];
    }
    __device__ __forceinline__ S get(int i, S state) const {
        Unit units[sizeof(S) / sizeof(Unit)];
#pragma unroll
        for (int k = 0; k < int(sizeof(S) / sizeof(Unit)); ++k)
            units[k] = memory[k * 256 + i];
        memcpy(&state, units, sizeof(S));
        return state;
    }
};

#if APART
// For states with padding, which must not be read: values and indices are stored separately.
template <> struct array_states<State> {
    typedef decltype(State::place) Unit;
    Unit *memory;
    __device__ __forceinline__ T *values() const { return reinterpret_cast<T *>(memory + 256); }
    __device__ __forceinline__ void put(int i, const State &state) const {
        memory[i] = state.place;
        values()[i] = state.value;
    }
    __device__ __forceinline__ State get(int i, State state) const {
        state.place = memory[i];
        state.value = values()[i];
        return state;
    }
};
#endif

#if MOMENTS
// A set of numbers is represented by its mean, the sum of the squared deviations from the mean, and
// its count. Two sets are combined as by Chan, Golub and LeVeque (Updating Formulae and a Pairwise
// Algorithm for Computing Sample Variances, 1979). The first number of the output's set is
// subtracted from all numbers. Means are then as small as deviations, and so are their rounding
// errors.
template <class T> __device__ __forceinline__ T array_part(T x, T part) { return x * part; }
struct State {
    T mean;
    R squares, count;
};
__device__ __forceinline__ State array_merge(State a, State b) {
    const R count = a.count + b.count, part = b.count / (count < R(1) ? R(1) : count);
    const T step = b.mean - a.mean;
    return {a.mean + array_part(step, part),
            a.squares + b.squares + array_square_of(step) * (a.count * part), count};
}
template <int N> __device__ __forceinline__ State array_group(const T (&x)[N]) {
    T sum = T(0);
#pragma unroll
    for (int k = 0; k < N; ++k)
        sum = sum + x[k];
    const T mean = array_part(sum, R(1) / N);
    R squares = R(0);
#pragma unroll
    for (int k = 0; k < N; ++k)
        squares = squares + array_square_of(T(x[k] - mean));
    return {mean, squares, R(N)};
}
#endif
