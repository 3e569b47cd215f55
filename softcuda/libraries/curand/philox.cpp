// philox.cpp -- Philox 4x32-10: a number is a function of the seed and of its place.
//
// Four numbers come from one counter. Number n has the place n mod 4 in the counter of subsequence
// (n / 4) mod 65536, whose counter is n / 2^18. Four doubles take two counters: those after the
// counters that the generator's offset leaves out.
#include "engine.h"

#include <array>

namespace softcurand {
namespace {

using Four = std::array<std::uint32_t, 4>;

Four philox(Four c, std::uint64_t key) {
    auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t p0 = std::uint64_t{0xd2511f53} * c[0];
        const std::uint64_t p1 = std::uint64_t{0xcd9e8d57} * c[2];
        c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(p1),
             static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(p0)};
        k0 += 0x9e3779b9U;
        k1 += 0xbb67ae85U;
    }
    return c;
}

class Philox final : public Engine {
  public:
    Philox(std::uint64_t seed, std::uint64_t offset)
        : seed_(seed), skipped_(offset / 4), next_(offset) {}

    void bits(std::uint32_t *to, std::size_t count) override {
        each(to, count, [](std::uint32_t number) { return number; });
    }
    void uniform(float *to, std::size_t count) override {
        each(to, count, [](std::uint32_t number) { return uniform_of(number); });
    }
    void uniform(double *to, std::size_t count) override {
        for (std::size_t i = 0; i < count; ++i, ++next_)
            to[i] = double_at(next_);
    }
    void normal(float *to, std::size_t count) override {
        for (std::size_t i = 0; i + 1 < count; i += 2, next_ += 2)
            box_muller(uniform_of(number_at(next_)), uniform_of(number_at(next_ + 1)), to + i);
    }
    void normal(double *to, std::size_t count) override {
        for (std::size_t i = 0; i + 1 < count; i += 2, next_ += 2)
            box_muller(double_at(next_), double_at(next_ + 1), to + i);
    }

  private:
    [[nodiscard]] Four numbers(std::uint64_t subsequence, std::uint64_t counter) const {
        return philox({static_cast<std::uint32_t>(counter),
                       static_cast<std::uint32_t>(counter >> 32),
                       static_cast<std::uint32_t>(subsequence), 0},
                      seed_);
    }
    template <class T, class Convert> void each(T *to, std::size_t count, Convert convert) {
        Four four{};
        for (std::size_t i = 0; i < count; ++i, ++next_) {
            if (i == 0 || next_ % 4 == 0)
                four = numbers((next_ / 4) % 65536, next_ / 4 / 65536);
            to[i] = convert(four[next_ % 4]);
        }
    }
    [[nodiscard]] std::uint32_t number_at(std::uint64_t place) const {
        return numbers((place / 4) % 65536, place / 4 / 65536)[place % 4];
    }
    [[nodiscard]] double double_at(std::uint64_t place) const {
        const std::uint64_t subsequence = (place / 4) % 65536, row = place / 4 / 65536;
        const std::uint64_t first =
            skipped_ > subsequence ? (skipped_ - subsequence + 65535) / 65536 : 0;
        const Four four = numbers(subsequence, first + (row - first) * 2 + (place % 4) / 2);
        return place % 2 == 0 ? uniform_of(four[0], four[1]) : uniform_of(four[2], four[3]);
    }

    std::uint64_t seed_;
    std::uint64_t skipped_; ///< counters before the offset
    std::uint64_t next_;
};

} // namespace

std::unique_ptr<Engine> make_philox(std::uint64_t seed, std::uint64_t offset) {
    return std::make_unique<Philox>(seed, offset);
}

} // namespace softcurand
