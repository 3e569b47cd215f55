// shuffle.cuh -- exchanges values of any type between the lanes of a warp.
#pragma once

namespace pycuda {

/// The 32-bit words of a value; the last one is padded.
template <class T> struct Words {
    static constexpr int count = (sizeof(T) + 3) / 4;
    unsigned word[count];

    __device__ static Words of(const T &value) {
        Words words;
        words.word[count - 1] = 0;
        memcpy(words.word, &value, sizeof(T));
        return words;
    }
    __device__ T value() const {
        alignas(T) unsigned char bytes[sizeof(T)];
        memcpy(bytes, word, sizeof(T));
        return *reinterpret_cast<const T *>(bytes);
    }
};

constexpr unsigned full_warp = 0xffffffffu;

/// The value of lane `lane`.
template <class T> __device__ T shuffle(const T &value, int lane) {
    Words<T> words = Words<T>::of(value);
    for (unsigned &word : words.word)
        word = __shfl_sync(full_warp, word, lane);
    return words.value();
}
/// The value of the lane `distance` below; the own value if there is no such lane.
template <class T> __device__ T shuffle_up(const T &value, unsigned distance) {
    Words<T> words = Words<T>::of(value);
    for (unsigned &word : words.word)
        word = __shfl_up_sync(full_warp, word, distance);
    return words.value();
}
/// The value of the lane `distance` above; the own value if there is no such lane.
template <class T> __device__ T shuffle_down(const T &value, unsigned distance) {
    Words<T> words = Words<T>::of(value);
    for (unsigned &word : words.word)
        word = __shfl_down_sync(full_warp, word, distance);
    return words.value();
}

// The same for words of 32 bits, which the instruction takes as they are. A kernel of many shuffles
// compiles in two thirds of the time.
#define SHUFFLES_OF_WORDS(type)                                                                    \
    __device__ __forceinline__ type shuffle(const type &value, int lane) {                         \
        return __shfl_sync(full_warp, value, lane);                                                \
    }                                                                                              \
    __device__ __forceinline__ type shuffle_up(const type &value, unsigned distance) {             \
        return __shfl_up_sync(full_warp, value, distance);                                         \
    }                                                                                              \
    __device__ __forceinline__ type shuffle_down(const type &value, unsigned distance) {           \
        return __shfl_down_sync(full_warp, value, distance);                                       \
    }
SHUFFLES_OF_WORDS(float)
SHUFFLES_OF_WORDS(int)
SHUFFLES_OF_WORDS(unsigned)
#undef SHUFFLES_OF_WORDS

/// Shared memory for values of types with any constructors.
template <class T, int Count> struct Storage {
    alignas(T) unsigned char bytes[Count * sizeof(T)];
    __device__ T *data() { return reinterpret_cast<T *>(bytes); }
};

} // namespace pycuda
