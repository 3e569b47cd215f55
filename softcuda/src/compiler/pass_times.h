// pass_times.h -- the processor time of each pass, for SOFTCUDA_TIMES=1.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace softcuda::compiler {

/// Prints one line to stderr when it is destroyed: what was compiled, and the milliseconds that the
/// calling thread spent in each pass. Passes that ran several times are added up.
///
///     softcuda: times of llvm of `saxpy`: sroa 0.41, early-cse 0.22
class PassTimes {
  public:
    enum class Print : bool { No, Yes };
    PassTimes(Print print, std::string title);
    ~PassTimes();
    PassTimes(const PassTimes &) = delete;
    PassTimes &operator=(const PassTimes &) = delete;

    /// The time since the last call, or since construction, was spent in this pass.
    void passed(std::string_view name);

  private:
    bool prints_;
    std::string title_;
    double last_ = 0;
    std::vector<std::pair<std::string, double>> times_;
};

} // namespace softcuda::compiler
