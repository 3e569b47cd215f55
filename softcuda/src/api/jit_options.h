// jit_options.h -- the options of calls that compile: the client's buffers for logs.
#pragma once

#include "api/call.h"

#include <string>

namespace softcuda::api {

/// The options that have an effect here. Other options (optimisation level, target, ...) are for
/// another compiler; they are checked and ignored.
class JitOptions {
  public:
    /// Throws Error(invalid value). The arrays belong to the client and get the results.
    JitOptions(unsigned count, const CUjit_option *options, void **values);

    /// Writes the logs, truncated to the client's buffers, and the times.
    void report(const std::string &errors, const std::string &infos, float milliseconds) const;

    /// The maximum number of registers that kernels report; 0: no limit. It does not affect code.
    [[nodiscard]] unsigned most_registers() const noexcept { return most_registers_; }

  private:
    struct Buffer {
        char *text = nullptr;
        void **size = nullptr; ///< in: the buffer's size; out: the number of bytes used
        unsigned capacity = 0; ///< the value of `size` on input
    };
    static void write(const Buffer &buffer, const std::string &text);

    Buffer error_;
    Buffer info_;
    void **wall_time_ = nullptr;
    unsigned most_registers_ = 0;
};

} // namespace softcuda::api
