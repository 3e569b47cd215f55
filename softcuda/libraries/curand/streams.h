// streams.h -- the common part of the generators with many subsequences.
#pragma once

#include "engine.h"

namespace softcurand {

/// State is a subsequence's state. It has the functions bits(), uniform(), uniform_double(),
/// normal(float *) and normal(double *), each of which takes its next numbers.
template <class State> class Streams final : public Engine {
  public:
    /// The subsequences' states at number 0 of the result, and the first number.
    Streams(std::vector<State> states, std::uint64_t first)
        : states_(std::move(states)), next_(first % states_.size()) {}

    void bits(std::uint32_t *to, std::size_t count) override {
        for (std::size_t i = 0; i < count; ++i)
            to[i] = take().bits();
    }
    void uniform(float *to, std::size_t count) override {
        for (std::size_t i = 0; i < count; ++i)
            to[i] = take().uniform();
    }
    void uniform(double *to, std::size_t count) override {
        for (std::size_t i = 0; i < count; ++i)
            to[i] = take().uniform_double();
    }
    void normal(float *to, std::size_t count) override {
        for (std::size_t i = 0; i + 1 < count; i += 2)
            take().normal(to + i);
    }
    void normal(double *to, std::size_t count) override {
        for (std::size_t i = 0; i + 1 < count; i += 2)
            take().normal(to + i);
    }

  private:
    State &take() {
        State &state = states_[next_];
        next_ = next_ + 1 == states_.size() ? 0 : next_ + 1;
        return state;
    }

    std::vector<State> states_;
    std::size_t next_; ///< the subsequence of the next result
};

} // namespace softcurand
