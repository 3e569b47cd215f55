// jit_options.h -- the options of calls that compile: where the client wants its logs.
#pragma once

#include "api/call.h"

#include <string>

namespace softcuda::api {

/// The options that matter here. Others (optimisation level, target, ...) are for another compiler;
/// they are checked to be options and accepted.
class JitOptions {
  public:
    /// Throws Error(invalid value). The arrays stay the client's and get the results.
    JitOptions(unsigned count, const CUjit_option *options, void **values);

    /// Writes the logs, cut to the client's buffers, and the times.
    void report(const std::string &errors, const std::string &infos, float milliseconds) const;

    /// What kernels may report at most; 0: no limit. Code here has no registers to save.
    [[nodiscard]] unsigned most_registers() const noexcept { return most_registers_; }

  private:
    struct Buffer {
        char *text = nullptr;
        void **size = nullptr; ///< in: the buffer's size, out: how much of it was used
        unsigned capacity = 0; ///< what it was in
    };
    static void write(const Buffer &buffer, const std::string &text);

    Buffer error_;
    Buffer info_;
    void **wall_time_ = nullptr;
    unsigned most_registers_ = 0;
};

} // namespace softcuda::api
