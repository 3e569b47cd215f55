// mt19937.cpp -- the Mersenne twister MT19937, in the order of its authors' program.
//
// cuRAND interleaves 8192 subsequences of the generator, which begin 2^1000 numbers after each
// other. Its first number is the first number here; the others are in another order.
#include "mersenne.h"

#include <random>

namespace softcurand {
namespace {

struct Twister {
    std::mt19937 generator;
    std::uint32_t next() { return static_cast<std::uint32_t>(generator()); }
};

} // namespace

std::unique_ptr<Engine> make_mt19937(std::uint64_t seed) {
    return std::make_unique<Sequence<Twister>>(
        Twister{std::mt19937(static_cast<std::uint32_t>(seed ^ (seed >> 32)))});
}

} // namespace softcurand
