// launch_setup.h -- the launch settings of a function, set by the launch functions of CUDA 3 and
// older.
//
//     cuFuncSetBlockShape(f, 64, 1, 1);      block
//     cuParamSetSize(f, 12);                 12 bytes of parameters
//     cuParamSetv(f, 0, &pointer, 8);        bytes 0 to 7
//     cuParamSeti(f, 8, count);              bytes 8 to 11
//     cuLaunchGrid(f, 100, 1);               launches with these settings
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace softcuda::device {

/// The most bytes that all parameters of a kernel may take (CUDA 12.1 and later).
inline constexpr std::size_t kLargestParameters = 32764;

/// The settings of one function, which later launches use. Any thread may call any function.
class LaunchSetup {
  public:
    struct Described {
        std::array<std::uint32_t, 3> block{}; ///< zeros: not set
        std::uint32_t dynamic_shared_bytes = 0;
        std::vector<std::byte> parameters;
    };

    /// Throws Error(invalid value) for an extent below 1.
    void set_block(int x, int y, int z);
    void set_dynamic_shared(std::uint32_t bytes);
    /// Throws Error(invalid value) for more than kLargestParameters. New bytes are 0 unless they
    /// were set before.
    void set_parameter_bytes(std::size_t bytes);
    /// Throws Error(invalid value) if the bytes end after kLargestParameters.
    void set_parameter(int offset, const void *from, std::size_t bytes);

    [[nodiscard]] Described described() const;

  private:
    mutable std::mutex mutex_;
    Described described_;
    std::size_t parameter_bytes_ = 0; ///< parameters may be set before their total size
};

} // namespace softcuda::device
