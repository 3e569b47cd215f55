// xorwow.cpp -- Marsaglia's XORWOW: a linear generator of 160 bits, and a counter.
//
// The linear part of a state n steps later is the state multiplied by the n-th power of a matrix
// over bits. Powers 2^k of the step's matrix are computed by squaring.
#include "streams.h"

#include <array>
#include <bit>

namespace softcurand {
namespace {

using Words = std::array<std::uint32_t, 5>;
constexpr std::uint32_t weyl = 362437;

/// One step of the linear part.
void step(Words &v) {
    const std::uint32_t t = v[0] ^ (v[0] >> 2);
    v = {v[1], v[2], v[3], v[4], v[4] ^ (v[4] << 4) ^ t ^ (t << 1)};
}

/// A matrix of bits: row i is what a state with only bit i becomes.
struct Matrix {
    std::array<Words, 160> rows{};

    [[nodiscard]] Words apply(const Words &v) const {
        Words result{};
        for (std::size_t word = 0; word < 5; ++word)
            for (std::uint32_t bits = v[word]; bits != 0; bits &= bits - 1) {
                const Words &row =
                    rows[word * 32 + static_cast<std::size_t>(std::countr_zero(bits))];
                for (std::size_t i = 0; i < 5; ++i)
                    result[i] ^= row[i];
            }
        return result;
    }
    [[nodiscard]] Matrix squared() const {
        Matrix result;
        for (std::size_t i = 0; i < rows.size(); ++i)
            result.rows[i] = apply(rows[i]);
        return result;
    }
};

/// The matrices of 2^k steps for k to 67.
const std::vector<Matrix> &powers() {
    static const std::vector<Matrix> made = [] {
        std::vector<Matrix> powers(68);
        for (std::size_t i = 0; i < 160; ++i) {
            Words unit{};
            unit[i / 32] = std::uint32_t{1} << (i % 32);
            step(unit);
            powers[0].rows[i] = unit;
        }
        for (std::size_t k = 1; k < powers.size(); ++k)
            powers[k] = powers[k - 1].squared();
        return powers;
    }();
    return made;
}

struct State {
    Words v{};
    std::uint32_t d = 0;

    static State seeded(std::uint64_t seed) {
        const std::uint32_t t0 = 1099087573U * (static_cast<std::uint32_t>(seed) ^ 0xaad26b49U);
        const std::uint32_t t1 =
            2591861531U * (static_cast<std::uint32_t>(seed >> 32) ^ 0xf7dcefddU);
        return {{123456789U + t0, 362436069U ^ t0, 521288629U + t1, 88675123U ^ t1, 5783321U + t0},
                6615241U + t1 + t0};
    }
    void skip(std::uint64_t count) {
        d += static_cast<std::uint32_t>(count) * weyl;
        for (std::size_t k = 0; count != 0; ++k, count >>= 1)
            if (count & 1)
                v = powers()[k].apply(v);
    }
    std::uint32_t bits() {
        step(v);
        d += weyl;
        return v[4] + d;
    }
    float uniform() { return uniform_of(bits()); }
    double uniform_double() {
        const std::uint32_t low = bits();
        return uniform_of(low, bits());
    }
    void normal(float *to) {
        const float u = uniform();
        box_muller(u, uniform(), to);
    }
    void normal(double *to) {
        const double u = uniform_double();
        box_muller(u, uniform_double(), to);
    }
};

constexpr std::size_t subsequences = 4096;

} // namespace

std::unique_ptr<Engine> make_xorwow(std::uint64_t seed, std::uint64_t offset, bool own_seeds) {
    std::vector<State> states(subsequences);
    State next = State::seeded(seed);
    for (std::size_t i = 0; i < subsequences; ++i) {
        if (own_seeds)
            next = State::seeded(seed + i * 0x9e3779b97f4a7c15ULL);
        states[i] = next;
        states[i].skip(offset / subsequences + (i < offset % subsequences ? 1 : 0));
        next.v = powers()[67].apply(next.v); // 2^67 steps add a multiple of 2^32 to d
    }
    return std::make_unique<Streams<State>>(std::move(states), offset);
}

} // namespace softcurand
