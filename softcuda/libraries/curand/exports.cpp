// exports.cpp -- cuRAND's C functions.
#include "../common/handle.h"
#include "../common/version.h"
#include "engine.h"
#include "mersenne.h"
#include "poisson.h"
#include "sobol.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

using softcurand::Engine;
using softlib::Failure;
using softlib::guarded;

namespace softlib {
// cuRAND has no status for what is not supported: the generator is of the wrong type.
const Statuses statuses = {"cuRAND", 0, 101, 104, 102, 201, 999, 103};
} // namespace softlib

namespace {

constexpr int type_error = 103, out_of_range = 104, not_a_multiple = 105;

/// cuRAND's numbers of generators and orderings.
enum Type {
    Default = 100,
    Xorwow = 101,
    Mrg32k3a = 121,
    Mtgp32 = 141,
    Mt19937 = 142,
    Philox = 161,
    DefaultSobol = 200,
    Sobol32 = 201,
    ScrambledSobol32 = 202,
    Sobol64 = 203,
    ScrambledSobol64 = 204
};
enum Ordering { Best = 100, Plain = 101, Seeded = 102, Legacy = 103, Dynamic = 104, Quasi = 201 };

bool is_quasi(int type) { return type >= Sobol32; }
bool is_wide(int type) { return type >= Sobol64; }
bool is_known(int type) {
    return type == Xorwow || type == Mrg32k3a || type == Mtgp32 || type == Mt19937 ||
           type == Philox || (type >= Sobol32 && type <= ScrambledSobol64);
}
/// Box and Muller's method makes two normal numbers at a time.
bool makes_pairs(int type) { return type == Xorwow || type == Mrg32k3a || type == Philox; }

/// An engine that one call at a time uses.
struct Shared {
    std::mutex mutex;
    std::unique_ptr<Engine> engine;
};

} // namespace

/// curandGenerator_t points to it.
struct curandGenerator_st {
    static constexpr std::uint32_t alive = 0x5c4a4d;

    std::uint32_t state = alive;
    int type = Xorwow;
    std::optional<softlib::Session> session; ///< none: numbers in the host's memory
    std::uint64_t seed = 0, offset = 0;
    int ordering = Best;
    std::size_t dimensions = 1; ///< of a quasi-random generator
    std::mutex mutex;
    std::shared_ptr<Shared> shared; ///< null: made at the next call

    std::shared_ptr<Shared> engine() {
        std::lock_guard lock(mutex);
        if (!shared) {
            auto made = std::make_shared<Shared>();
            made->engine = make();
            shared = std::move(made);
        }
        return shared;
    }
    [[nodiscard]] std::unique_ptr<Engine> make() const {
        switch (type) {
        case Mrg32k3a:
            return softcurand::make_mrg32k3a(seed, offset, ordering == Legacy ? 4096 : 81920);
        case Mtgp32:
            return softcurand::make_mtgp32(seed, ordering == Legacy ? 64 : 192);
        case Mt19937:
            return softcurand::make_mt19937(seed);
        case Philox:
            return softcurand::make_philox(seed, offset);
        case Xorwow:
            return softcurand::make_xorwow(seed, offset, ordering == Seeded);
        default:
            return softcurand::make_sobol(
                {is_wide(type) ? 64 : 32, type == ScrambledSobol32 || type == ScrambledSobol64},
                dimensions, offset);
        }
    }
    template <class T> void set(T curandGenerator_st::*setting, T value) {
        std::lock_guard lock(mutex);
        this->*setting = value;
        shared.reset();
    }
};

namespace {

using Generator = curandGenerator_st *;

using softlib::checked;

enum class Place { Device, Host };

int create(const char *function, Generator *generator, int type, Place place) {
    return guarded(function, [&] {
        if (generator == nullptr)
            throw Failure(out_of_range, "");
        *generator = nullptr;
        const int chosen = type == Default ? int{Xorwow} : type == DefaultSobol ? Sobol32 : type;
        if (!is_known(chosen))
            throw Failure(type_error, "");
        softlib::make_handle(generator);
        (*generator)->type = chosen;
        try {
            if (place == Place::Device)
                (*generator)->session.emplace();
        } catch (...) {
            softlib::destroy(std::exchange(*generator, nullptr));
            throw;
        }
        if (is_quasi(chosen))
            (*generator)->ordering = Quasi;
    });
}

/// Writes `count` numbers of type T to `to`, which `fill` makes with an engine.
template <class T, class Fill>
int generate(const char *function, Generator generator, T *to, std::size_t count, Fill fill) {
    return guarded(function, [&] {
        curandGenerator_st &own = checked(generator);
        if (count % own.dimensions != 0)
            throw Failure(not_a_multiple, "");
        if (count == 0)
            return;
        auto work = [shared = own.engine(), to, count, fill] {
            std::lock_guard lock(shared->mutex);
            fill(*shared->engine, to, count);
        };
        const std::size_t most = std::numeric_limits<std::size_t>::max() / sizeof(T);
        const std::size_t bytes = std::min(count, most) * sizeof(T);
        if (!own.session) {
            if (!softlib::is_readable(to, bytes))
                throw Failure(out_of_range, "");
            return work();
        }
        own.session->check_memory(to, bytes, "the output");
        own.session->enqueue(function, std::move(work), 8.0 * static_cast<double>(count),
                             softlib::Threads::One);
    });
}

template <class T>
int uniform(const char *function, Generator generator, T *to, std::size_t count) {
    return generate(function, generator, to, count,
                    [](Engine &engine, T *out, std::size_t n) { engine.uniform(out, n); });
}

enum class Scale { Linear, Exponential };

template <class T>
int normal(const char *function, Generator generator, T *to, std::size_t count, T mean, T deviation,
           Scale scale) {
    const int status = guarded(function, [&] {
        if (count % 2 != 0 && makes_pairs(checked(generator).type))
            throw Failure(not_a_multiple, "");
    });
    if (status != softlib::statuses.success)
        return status;
    return generate(function, generator, to, count, [=](Engine &engine, T *out, std::size_t n) {
        engine.normal(out, n);
        for (std::size_t i = 0; i < n; ++i) {
            const T value = mean + deviation * out[i];
            out[i] = scale == Scale::Linear ? value : std::exp(value);
        }
    });
}

} // namespace

SOFTLIB_EXPORT int curandCreateGenerator(Generator *generator, int type) {
    return create("curandCreateGenerator", generator, type, Place::Device);
}
SOFTLIB_EXPORT int curandCreateGeneratorHost(Generator *generator, int type) {
    return create("curandCreateGeneratorHost", generator, type, Place::Host);
}
SOFTLIB_FUNCTION(curandDestroyGenerator, (Generator generator), {
    softlib::destroy(generator); // work in the stream holds the engine
})

SOFTLIB_FUNCTION(curandGetVersion, (int *version), {
    softlib::require(version != nullptr, "version");
    *version = softlib::version;
})
SOFTLIB_PROPERTY(curandGetProperty)

SOFTLIB_FUNCTION(curandSetStream, (Generator generator, CUstream stream), {
    if (checked(generator).session)
        generator->session->set_stream(stream);
})
SOFTLIB_FUNCTION(curandSetPseudoRandomGeneratorSeed, (Generator generator, unsigned long long seed),
                 {
                     if (is_quasi(checked(generator).type))
                         throw Failure(type_error, "");
                     generator->set(&curandGenerator_st::seed, std::uint64_t{seed});
                 })
SOFTLIB_FUNCTION(curandSetGeneratorOffset, (Generator generator, unsigned long long offset), {
    if (checked(generator).type == Mtgp32 || generator->type == Mt19937)
        throw Failure(type_error, "");
    generator->set(&curandGenerator_st::offset, std::uint64_t{offset});
})
SOFTLIB_FUNCTION(curandSetGeneratorOrdering, (Generator generator, int ordering), {
    curandGenerator_st &own = checked(generator);
    // The dynamic ordering depends on the device. This device's is the default one.
    const bool fits = is_quasi(own.type)    ? ordering == Quasi
                      : ordering == Seeded  ? own.type == Xorwow
                      : own.type == Mt19937 ? ordering == Plain || ordering == Legacy
                                            : ordering == Best || ordering == Plain ||
                                                  ordering == Legacy || ordering == Dynamic;
    if (!fits)
        throw Failure(out_of_range, "");
    own.set(&curandGenerator_st::ordering, ordering);
})
SOFTLIB_FUNCTION(curandSetQuasiRandomGeneratorDimensions, (Generator generator, unsigned count), {
    if (!is_quasi(checked(generator).type))
        throw Failure(type_error, "");
    if (count == 0 || count > softcurand::most_dimensions)
        throw Failure(out_of_range, "");
    generator->set(&curandGenerator_st::dimensions, std::size_t{count});
})
/// The states are made at the first call otherwise.
SOFTLIB_FUNCTION(curandGenerateSeeds, (Generator generator), { checked(generator).engine(); })

SOFTLIB_EXPORT int curandGenerate(Generator generator, std::uint32_t *to, std::size_t count) {
    const int status = guarded("curandGenerate", [&] {
        if (is_wide(checked(generator).type))
            throw Failure(type_error, "");
    });
    if (status != softlib::statuses.success)
        return status;
    return generate("curandGenerate", generator, to, count,
                    [](Engine &engine, std::uint32_t *out, std::size_t n) { engine.bits(out, n); });
}
/// Only for quasi-random generators of 64 bits.
SOFTLIB_EXPORT int curandGenerateLongLong(Generator generator, unsigned long long *to,
                                          std::size_t count) {
    const int status = guarded("curandGenerateLongLong", [&] {
        if (!is_wide(checked(generator).type))
            throw Failure(type_error, "");
    });
    if (status != softlib::statuses.success)
        return status;
    return generate("curandGenerateLongLong", generator, reinterpret_cast<std::uint64_t *>(to),
                    count, softcurand::sobol_bits);
}
SOFTLIB_EXPORT int curandGenerateUniform(Generator generator, float *to, std::size_t count) {
    return uniform("curandGenerateUniform", generator, to, count);
}
SOFTLIB_EXPORT int curandGenerateUniformDouble(Generator generator, double *to, std::size_t count) {
    return uniform("curandGenerateUniformDouble", generator, to, count);
}
SOFTLIB_EXPORT int curandGenerateNormal(Generator generator, float *to, std::size_t count,
                                        float mean, float deviation) {
    return normal("curandGenerateNormal", generator, to, count, mean, deviation, Scale::Linear);
}
SOFTLIB_EXPORT int curandGenerateNormalDouble(Generator generator, double *to, std::size_t count,
                                              double mean, double deviation) {
    return normal("curandGenerateNormalDouble", generator, to, count, mean, deviation,
                  Scale::Linear);
}
SOFTLIB_EXPORT int curandGenerateLogNormal(Generator generator, float *to, std::size_t count,
                                           float mean, float deviation) {
    return normal("curandGenerateLogNormal", generator, to, count, mean, deviation,
                  Scale::Exponential);
}
SOFTLIB_EXPORT int curandGenerateLogNormalDouble(Generator generator, double *to, std::size_t count,
                                                 double mean, double deviation) {
    return normal("curandGenerateLogNormalDouble", generator, to, count, mean, deviation,
                  Scale::Exponential);
}
SOFTLIB_FUNCTION(curandGeneratePoisson,
                 (Generator generator, std::uint32_t *to, std::size_t count, double lambda), {
                     checked(generator);
                     if (!(lambda > 0 && lambda <= 1e9))
                         throw Failure(out_of_range, "");
                     const auto table = std::make_shared<const softcurand::Poisson>(lambda);
                     const int status =
                         generate("curandGeneratePoisson", generator, to, count,
                                  [table](Engine &engine, std::uint32_t *out, std::size_t n) {
                                      std::vector<double> uniform(n);
                                      engine.uniform(uniform.data(), n);
                                      for (std::size_t i = 0; i < n; ++i)
                                          out[i] = table->number(uniform[i]);
                                  });
                     if (status != softlib::statuses.success)
                         throw Failure(status, "");
                 })

/// The tables of CURAND_DIRECTION_VECTORS_32_JOEKUO6 and so on.
SOFTLIB_FUNCTION(curandGetDirectionVectors32, (const std::uint32_t **vectors, int set), {
    if (vectors == nullptr || (set != 101 && set != 102))
        throw Failure(out_of_range, "");
    *vectors = softcurand::direction_table_32(set == 102);
})
SOFTLIB_FUNCTION(curandGetDirectionVectors64, (const std::uint64_t **vectors, int set), {
    if (vectors == nullptr || (set != 103 && set != 104))
        throw Failure(out_of_range, "");
    *vectors = softcurand::direction_table_64(set == 104);
})
SOFTLIB_FUNCTION(curandGetScrambleConstants32, (const std::uint32_t **constants), {
    static const auto *const made = [] {
        auto *const all = new std::vector<std::uint32_t>;
        for (std::size_t d = 0; d < softcurand::most_dimensions; ++d)
            all->push_back(static_cast<std::uint32_t>(softcurand::scramble_constant(d) >> 32));
        return all;
    }();
    if (constants == nullptr)
        throw Failure(out_of_range, "");
    *constants = made->data();
})
SOFTLIB_FUNCTION(curandGetScrambleConstants64, (const std::uint64_t **constants), {
    static const auto *const made = [] {
        auto *const all = new std::vector<std::uint64_t>;
        for (std::size_t d = 0; d < softcurand::most_dimensions; ++d)
            all->push_back(softcurand::scramble_constant(d));
        return all;
    }();
    if (constants == nullptr)
        throw Failure(out_of_range, "");
    *constants = made->data();
})
