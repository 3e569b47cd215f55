// mersenne.h -- engines of generators that give one sequence of 32-bit numbers.
#pragma once

#include "engine.h"
#include "inverse_normal.h"

namespace softcurand {

/// Each number of a result takes the next number of the generator. Source has the function next().
template <class Source> class Sequence final : public Engine {
  public:
    explicit Sequence(Source source) : source_(std::move(source)) {}

    void bits(std::uint32_t *to, std::size_t count) override {
        for (std::size_t i = 0; i < count; ++i)
            to[i] = source_.next();
    }
    void uniform(float *to, std::size_t count) override {
        for (std::size_t i = 0; i < count; ++i)
            to[i] = uniform_of(source_.next());
    }
    void uniform(double *to, std::size_t count) override {
        for (std::size_t i = 0; i < count; ++i)
            to[i] = source_.next() * 0x1p-32 + 0x1p-32;
    }
    void normal(float *to, std::size_t count) override {
        for (std::size_t i = 0; i < count; ++i)
            to[i] = inverse_normal_of<float>(source_.next());
    }
    void normal(double *to, std::size_t count) override {
        for (std::size_t i = 0; i < count; ++i)
            to[i] = inverse_normal_of<double>(source_.next());
    }

  private:
    Source source_;
};

std::unique_ptr<Engine> make_mtgp32(std::uint64_t seed, std::size_t generators);
std::unique_ptr<Engine> make_mt19937(std::uint64_t seed);

} // namespace softcurand
