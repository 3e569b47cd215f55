// mrg32k3a.cpp -- L'Ecuyer's MRG32k3a: two recurrences of three numbers, modulo two primes.
//
// A state n steps later is the state multiplied by the n-th power of the recurrence's matrix.
#include "streams.h"

#include <array>

namespace softcurand {
namespace {

constexpr std::uint64_t m1 = 4294967087, m2 = 4294944443;

using Vector = std::array<std::uint64_t, 3>;

struct Matrix {
    std::array<Vector, 3> rows;
    std::uint64_t modulus;

    [[nodiscard]] Vector apply(const Vector &v) const {
        Vector result{};
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 3; ++j)
                result[i] = (result[i] + rows[i][j] * v[j]) % modulus;
        return result;
    }
    [[nodiscard]] Matrix squared() const {
        Matrix result = {{}, modulus};
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 3; ++j)
                for (std::size_t k = 0; k < 3; ++k)
                    result.rows[i][j] = (result.rows[i][j] + rows[i][k] * rows[k][j]) % modulus;
        return result;
    }
};

/// The matrices of 2^k steps for k to 76.
struct Powers {
    std::vector<Matrix> first, second;

    Powers()
        : first{{{{{0, 1, 0}, {0, 0, 1}, {m1 - 810728, 1403580, 0}}}, m1}},
          second{{{{{0, 1, 0}, {0, 0, 1}, {m2 - 1370589, 0, 527612}}}, m2}} {
        for (std::size_t k = 1; k <= 76; ++k) {
            first.push_back(first.back().squared());
            second.push_back(second.back().squared());
        }
    }
    static const Powers &get() {
        static const Powers made;
        return made;
    }
};

struct State {
    Vector s1{}, s2{};

    static State seeded(std::uint64_t seed) {
        State state = {{12345, 12345, 12345}, {12345, 12345, 12345}};
        if (seed == 0)
            return state;
        const std::uint64_t x1 = static_cast<std::uint32_t>(seed) ^ 0x55555555U;
        const std::uint64_t x2 = static_cast<std::uint32_t>(seed >> 32) ^ 0xaaaaaaaaU;
        const std::array<std::uint64_t, 3> first = {x1, x2, x1}, second = {x2, x1, x2};
        for (std::size_t i = 0; i < 3; ++i) {
            state.s1[i] = first[i] * state.s1[i] % m1;
            state.s2[i] = second[i] * state.s2[i] % m2;
        }
        return state;
    }
    void skip_power(std::size_t k) {
        s1 = Powers::get().first[k].apply(s1);
        s2 = Powers::get().second[k].apply(s2);
    }
    void skip(std::uint64_t count) {
        for (std::size_t k = 0; count != 0; ++k, count >>= 1)
            if (count & 1)
                skip_power(k);
    }
    /// A number of 1 to m1.
    std::uint64_t next() {
        const std::uint64_t p1 = (1403580 * s1[1] + (m1 - s1[0]) * 810728) % m1;
        const std::uint64_t p2 = (527612 * s2[2] + (m2 - s2[0]) * 1370589) % m2;
        s1 = {s1[1], s1[2], p1};
        s2 = {s2[1], s2[2], p2};
        return p1 > p2 ? p1 - p2 : p1 + m1 - p2;
    }
    static constexpr double norm = 2.3283065498378288e-10; ///< as cuRAND rounds 1 / m1
    std::uint32_t bits() {
        return static_cast<std::uint32_t>(static_cast<double>(next()) * 1.000000048662);
    }
    float uniform() { return static_cast<float>(static_cast<double>(next()) * norm); }
    double uniform_double() { return static_cast<double>(next()) * norm; }
    void normal(float *to) {
        const float u = uniform();
        box_muller(u, uniform(), to);
    }
    void normal(double *to) {
        const double u = uniform_double();
        box_muller(u, uniform_double(), to);
    }
};

} // namespace

std::unique_ptr<Engine> make_mrg32k3a(std::uint64_t seed, std::uint64_t offset,
                                      std::size_t subsequences) {
    std::vector<State> states(subsequences);
    State next = State::seeded(seed);
    for (std::size_t i = 0; i < subsequences; ++i) {
        states[i] = next;
        states[i].skip(offset / subsequences + (i < offset % subsequences ? 1 : 0));
        next.skip_power(76);
    }
    return std::make_unique<Streams<State>>(std::move(states), offset);
}

} // namespace softcurand
