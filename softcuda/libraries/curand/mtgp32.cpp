// mtgp32.cpp -- MTGP32: Mersenne twisters of period 2^11213 - 1 with different parameters.
//
// (M. Saito, M. Matsumoto, ACM Trans. Math. Softw. 39, 12 (2013).) The generators give 256 numbers
// each, in turn. The default ordering has 192 generators, the legacy one 64. A state has 351 words;
// a new word is computed from words 0, 1 and `position` of the state and replaces word 0.
#include "inverse_normal.h"
#include "mersenne.h"

#include <array>

namespace softcurand {
namespace {

constexpr std::size_t words = 351, run = 256;
constexpr std::uint32_t mask = 0xfff80000U;

struct Parameters {
    std::uint32_t position, left, right;
    std::array<std::uint32_t, 4> recursion, tempering; ///< of the bits 1, 2, 4 and 8
};
constexpr Parameters parameters[] = {
#include "mtgp32_parameters.inc"
};

std::uint32_t combined(const std::array<std::uint32_t, 4> &table, std::uint32_t bits) {
    std::uint32_t result = 0;
    for (std::size_t i = 0; i < 4; ++i)
        result ^= (bits >> i) & 1U ? table[i] : 0;
    return result;
}

class Twister {
  public:
    Twister(const Parameters &own, std::uint32_t seed) : own_(&own) {
        const std::uint32_t hidden = own.recursion[2] ^ (own.recursion[3] << 16);
        std::uint32_t fill = hidden;
        fill += fill >> 16;
        fill += fill >> 8;
        state_.fill((fill & 0xff) * 0x01010101U);
        state_[0] = seed;
        state_[1] = hidden;
        for (std::size_t i = 1; i < words; ++i)
            state_[i] ^= 1812433253U * (state_[i - 1] ^ (state_[i - 1] >> 30)) +
                         static_cast<std::uint32_t>(i);
    }
    std::uint32_t next() {
        std::uint32_t x = (at(0) & mask) ^ at(1);
        x ^= x << own_->left;
        x ^= at(own_->position) >> own_->right;
        x ^= combined(own_->recursion, x & 15);
        std::uint32_t t = at(own_->position - 1);
        t ^= t >> 16;
        t ^= t >> 8;
        state_[first_] = x;
        first_ = first_ + 1 == words ? 0 : first_ + 1;
        return x ^ combined(own_->tempering, t & 15);
    }

  private:
    [[nodiscard]] std::uint32_t at(std::size_t place) const {
        place += first_;
        return state_[place < words ? place : place - words];
    }

    const Parameters *own_;
    std::array<std::uint32_t, words> state_{};
    std::size_t first_ = 0;
};

class Twisters {
  public:
    Twisters(std::uint64_t seed, std::size_t count) {
        const auto start = static_cast<std::uint32_t>(seed ^ (seed >> 32));
        for (std::size_t i = 0; i < count; ++i)
            twisters_.emplace_back(parameters[i], start + static_cast<std::uint32_t>(i) + 1);
    }
    std::uint32_t next() {
        const std::size_t number = place_ / run;
        place_ = place_ + 1 == run * twisters_.size() ? 0 : place_ + 1;
        return twisters_[number].next();
    }

  private:
    std::vector<Twister> twisters_;
    std::size_t place_ = 0;
};

} // namespace

std::unique_ptr<Engine> make_mtgp32(std::uint64_t seed, std::size_t generators) {
    return std::make_unique<Sequence<Twisters>>(Twisters(seed, generators));
}

} // namespace softcurand
