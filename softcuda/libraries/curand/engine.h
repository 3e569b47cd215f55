// engine.h -- cuRAND's generators of pseudo-random numbers, and the order of their numbers.
//
// cuRAND computes many subsequences of one generator at the same time. XORWOW has 4096 of them,
// which begin 2^67 numbers after each other. Number n of the result is the next number of
// subsequence n mod 4096:
//
//     result         0    1   ...  4095   4096  4097
//     subsequence    0    1   ...  4095      0     1
//     its number     0    0   ...     0      1     1
//
// MRG32k3a has 81920 subsequences, 2^76 numbers apart, and 4096 in the legacy order.
//
// A result that needs two numbers, such as a double of XORWOW, takes the next two of its
// subsequence. Philox's 65536 subsequences give four numbers at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace softcurand {

/// The numbers of a generator from a seed and an offset on. A generator is used by one call at a
/// time.
class Engine {
  public:
    virtual ~Engine() = default;

    /// The numbers that the generator's functions of the same name give. Normal numbers have a
    /// mean of 0 and a deviation of 1; their count is even.
    virtual void bits(std::uint32_t *to, std::size_t count) = 0;
    virtual void uniform(float *to, std::size_t count) = 0;
    virtual void uniform(double *to, std::size_t count) = 0;
    virtual void normal(float *to, std::size_t count) = 0;
    virtual void normal(double *to, std::size_t count) = 0;
};

/// `own_seeds`: each subsequence has its own seed, which is quicker than 2^67 steps between them.
std::unique_ptr<Engine> make_xorwow(std::uint64_t seed, std::uint64_t offset, bool own_seeds);
std::unique_ptr<Engine> make_mrg32k3a(std::uint64_t seed, std::uint64_t offset,
                                      std::size_t subsequences);
std::unique_ptr<Engine> make_philox(std::uint64_t seed, std::uint64_t offset);

/// Two normal numbers from two uniform ones, of (0, 1].
void box_muller(float u, float v, float *to);
void box_muller(double u, double v, double *to);

/// Uniform numbers in (0, 1] from bits.
inline float uniform_of(std::uint32_t bits) {
    return static_cast<float>(bits) * 0x1p-32F + 0x1p-33F;
}
inline double uniform_of(std::uint32_t low, std::uint32_t high) {
    const std::uint64_t bits = std::uint64_t{low} ^ (std::uint64_t{high} << 21);
    return static_cast<double>(bits) * 0x1p-53 + 0x1p-54;
}

} // namespace softcurand
