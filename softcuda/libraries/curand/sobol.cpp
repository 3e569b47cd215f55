// sobol.cpp -- Sobol's quasi-random sequences: Joe and Kuo's direction numbers, and scrambled ones.
//
// Dimension k of point n is the exclusive or of the direction vectors of the dimension for the set
// bits of n's Gray code, so that the next point differs by one vector:
//
//     n           0    1    2    3    4
//     Gray code   000  001  011  010  110
//     next vector    0    1    0    2
//
// The result has all numbers of the first dimension, then those of the second one, and so on.
//
// joe_kuo.bin has the polynomials and initial numbers of dimensions 2 to 20000 (S. Joe, F. Y. Kuo,
// SIAM J. Sci. Comput. 30, 2635 (2008)); tools/joe_kuo_table says how. Scrambling is Matousek's: a
// random lower triangular matrix of bits for each dimension, and a constant.
#include "sobol.h"

#include "inverse_normal.h"

#include <bit>
#include <cmath>
#include <mutex>

// The table is a part of this object's read-only data.
asm(".pushsection .rodata\n"
    ".local softcurand_joe_kuo, softcurand_joe_kuo_end\n"
    "softcurand_joe_kuo:\n"
    ".incbin \"" SOFTCURAND_JOE_KUO "\"\n"
    "softcurand_joe_kuo_end:\n"
    ".popsection\n");
extern "C" const unsigned char softcurand_joe_kuo[] __attribute__((visibility("hidden")));
extern "C" const unsigned char softcurand_joe_kuo_end[] __attribute__((visibility("hidden")));

namespace softcurand {
namespace {

/// The number of dimensions with a polynomial of degree 1, 2, ...: of the primitive polynomials.
constexpr std::size_t of_degree[] = {1,  1,   2,   2,   6,   6,    18,   16,   48,
                                     60, 176, 144, 630, 756, 1800, 2048, 7710, 7776};

/// Reads the table's fields one after the other.
class Fields {
  public:
    std::uint32_t next(unsigned width) {
        std::uint32_t value = 0;
        for (unsigned i = 0; i < width; ++i, ++place_)
            value |= std::uint32_t{(softcurand_joe_kuo[place_ / 8] >> (place_ % 8)) & 1U} << i;
        return value;
    }

  private:
    std::size_t place_ = 0;
};

/// The vectors of a polynomial with the inner coefficients `inner`.
Directions directions_of(unsigned degree, std::uint32_t inner, const std::uint32_t *initial) {
    Directions v{};
    for (unsigned k = 0; k < 64; ++k) {
        if (k < degree) {
            v[k] = std::uint64_t{initial[k]} << (63 - k);
            continue;
        }
        v[k] = v[k - degree] ^ (v[k - degree] >> degree);
        for (unsigned i = 1; i < degree; ++i)
            if ((inner >> (degree - 1 - i)) & 1)
                v[k] ^= v[k - i];
    }
    return v;
}

std::vector<Directions> read_table() {
    std::vector<Directions> all;
    all.reserve(most_dimensions);
    Directions first{};
    for (unsigned k = 0; k < 64; ++k)
        first[k] = std::uint64_t{1} << (63 - k);
    all.push_back(first);
    Fields fields;
    for (unsigned degree = 1; degree <= std::size(of_degree); ++degree)
        for (std::size_t i = 0; i < of_degree[degree - 1] && all.size() < most_dimensions; ++i) {
            const std::uint32_t inner = fields.next(degree - 1);
            std::uint32_t initial[32];
            for (unsigned k = 0; k < degree; ++k)
                initial[k] = fields.next(k) << 1 | 1;
            all.push_back(directions_of(degree, inner, initial));
        }
    return all;
}

/// A random number of 64 bits for a place (splitmix64).
std::uint64_t hash(std::uint64_t place) {
    std::uint64_t z = (place + 1) * 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

/// The vectors multiplied by the random matrix of the dimension. Bit 0 of a row is the highest one:
/// a bit of the result depends on the bits above it, so that 32 bits are the upper half of 64.
Directions scrambled(const Directions &v, std::size_t dimension) {
    Directions result{};
    for (unsigned row = 0; row < 64; ++row) {
        const std::uint64_t diagonal = std::uint64_t{1} << (63 - row);
        const std::uint64_t above = ~(diagonal | (diagonal - 1));
        const std::uint64_t mask = (hash((dimension << 7) + row) & above) | diagonal;
        for (unsigned k = 0; k < 64; ++k)
            if (std::popcount(v[k] & mask) & 1)
                result[k] |= diagonal;
    }
    return result;
}

template <class T> T uniform_number(std::uint64_t bits, int width) {
    const auto high = static_cast<std::uint32_t>(bits >> 32);
    if constexpr (std::is_same_v<T, float>)
        return uniform_of(high);
    else
        return width == 32 ? high * 0x1p-32 + 0x1p-32
                           : static_cast<double>(bits >> 11) * 0x1p-53 + 0x1p-54;
}

template <class T> T normal_number(std::uint64_t bits, int width) {
    if (std::is_same_v<T, float> || width == 32)
        return inverse_normal_of<T>(static_cast<std::uint32_t>(bits >> 32));
    // The upper half by symmetry: its probabilities are too near to 1.
    const bool upper = (bits >> 63) != 0;
    const double p = static_cast<double>((upper ? ~bits : bits) >> 11) * 0x1p-53 + 0x1p-54;
    return static_cast<T>(upper ? -inverse_normal(p) : inverse_normal(p));
}

class Sobol final : public Engine {
  public:
    Sobol(const SobolKind &kind, std::size_t dimensions, std::uint64_t first)
        : width_(kind.width), next_(first) {
        for (std::size_t d = 0; d < dimensions; ++d) {
            const Directions &plain = joe_kuo()[d];
            directions_.push_back(kind.scrambled ? scrambled(plain, d) : plain);
            shifts_.push_back(kind.scrambled ? scramble_constant(d) : 0);
        }
    }

    void bits(std::uint32_t *to, std::size_t count) override {
        each(to, count, [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits >> 32); });
    }
    void bits(std::uint64_t *to, std::size_t count) {
        each(to, count, [](std::uint64_t bits) { return bits; });
    }
    void uniform(float *to, std::size_t count) override {
        each(to, count, [this](std::uint64_t b) { return uniform_number<float>(b, width_); });
    }
    void uniform(double *to, std::size_t count) override {
        each(to, count, [this](std::uint64_t b) { return uniform_number<double>(b, width_); });
    }
    void normal(float *to, std::size_t count) override {
        each(to, count, [this](std::uint64_t b) { return normal_number<float>(b, width_); });
    }
    void normal(double *to, std::size_t count) override {
        each(to, count, [this](std::uint64_t b) { return normal_number<double>(b, width_); });
    }

  private:
    template <class T, class Convert> void each(T *to, std::size_t count, Convert convert) {
        const std::size_t points = count / directions_.size();
        for (std::size_t d = 0; d < directions_.size(); ++d) {
            std::uint64_t number = shifts_[d];
            for (std::uint64_t gray = next_ ^ (next_ >> 1); gray != 0; gray &= gray - 1)
                number ^= directions_[d][static_cast<std::size_t>(std::countr_zero(gray))];
            for (std::size_t i = 0; i < points; ++i) {
                *to++ = convert(number);
                const auto next = static_cast<std::size_t>(std::countr_one(next_ + i));
                number ^= next < 64 ? directions_[d][next] : 0;
            }
        }
        next_ += points;
    }

    int width_;
    std::uint64_t next_; ///< the next point
    std::vector<Directions> directions_;
    std::vector<std::uint64_t> shifts_;
};

/// The table of a kind for programs: `width` vectors of `width` bits for each dimension.
template <class Word> const Word *table_of(bool with_scrambling) {
    constexpr unsigned width = 8 * sizeof(Word);
    std::vector<Word> table;
    table.reserve(most_dimensions * width);
    for (std::size_t d = 0; d < most_dimensions; ++d) {
        const Directions v = with_scrambling ? scrambled(joe_kuo()[d], d) : joe_kuo()[d];
        for (unsigned k = 0; k < width; ++k)
            table.push_back(static_cast<Word>(v[k] >> (64 - width)));
    }
    return (new std::vector<Word>(std::move(table)))->data(); // for the process's life
}

} // namespace

const std::vector<Directions> &joe_kuo() {
    static const auto *const made = new std::vector<Directions>(read_table());
    return *made;
}

std::uint64_t scramble_constant(std::size_t dimension) { return hash((dimension << 7) + 64); }

const std::uint32_t *direction_table_32(bool with_scrambling) {
    static const std::uint32_t *const plain = table_of<std::uint32_t>(false);
    if (!with_scrambling)
        return plain;
    static const std::uint32_t *const other = table_of<std::uint32_t>(true);
    return other;
}
const std::uint64_t *direction_table_64(bool with_scrambling) {
    static const std::uint64_t *const plain = table_of<std::uint64_t>(false);
    if (!with_scrambling)
        return plain;
    static const std::uint64_t *const other = table_of<std::uint64_t>(true);
    return other;
}

std::unique_ptr<Engine> make_sobol(const SobolKind &kind, std::size_t dimensions,
                                   std::uint64_t first) {
    return std::make_unique<Sobol>(kind, dimensions, first);
}

void sobol_bits(Engine &engine, std::uint64_t *to, std::size_t count) {
    static_cast<Sobol &>(engine).bits(to, count);
}

} // namespace softcurand
