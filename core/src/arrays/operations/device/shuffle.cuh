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

// A function of values of any type; words of 32 bits are taken by the instruction as they are, so
// that a kernel of many shuffles compiles in two thirds of the time.
#define SHUFFLE_OF_WORD(name, instruction, type)                                                   \
    __device__ __forceinline__ type name(const type &value, int number) {                          \
        return instruction(full_warp, value, number);                                              \
    }
#define SHUFFLE(name, instruction)                                                                 \
    template <class T> __device__ T name(const T &value, int number) {                             \
        Words<T> words = Words<T>::of(value);                                                      \
        for (unsigned &word : words.word)                                                          \
            word = instruction(full_warp, word, number);                                           \
        return words.value();                                                                      \
    }                                                                                              \
    SHUFFLE_OF_WORD(name, instruction, float)                                                      \
    SHUFFLE_OF_WORD(name, instruction, int)                                                        \
    SHUFFLE_OF_WORD(name, instruction, unsigned)
/// The value of a lane.
SHUFFLE(shuffle, __shfl_sync)
/// The value of the lane that is `number` below, or above; the own value if there is no such lane.
SHUFFLE(shuffle_up, __shfl_up_sync)
SHUFFLE(shuffle_down, __shfl_down_sync)
#undef SHUFFLE
#undef SHUFFLE_OF_WORD

/// Shared memory for values of types with any constructors.
template <class T, int Count> struct Storage {
    alignas(T) unsigned char bytes[Count * sizeof(T)];
    __device__ T *data() { return reinterpret_cast<T *>(bytes); }
};

} // namespace pycuda
