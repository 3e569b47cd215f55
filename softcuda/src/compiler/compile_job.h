// compile_job.h -- a compilation whose second part runs later, on any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace softcuda::compiler {

struct CompiledKernel;

/// The compilation of a kernel for one shape. Its first part is done, and any thread can do the
/// rest.
class CompileJob {
  public:
    using Kernel = std::shared_ptr<const CompiledKernel>;
    explicit CompileJob(Kernel kernel) : kernel_(std::move(kernel)), state_(State::Finished) {}
    explicit CompileJob(std::function<Kernel()> rest) : rest_(std::move(rest)) {}

    /// Does the rest at the first call, and returns the code. Throws std::runtime_error, or
    /// std::bad_alloc, at this call and later ones, if that fails.
    Kernel finish() {
        std::lock_guard lock(mutex_);
        if (const std::function<Kernel()> rest = std::exchange(rest_, nullptr)) {
            try {
                kernel_ = rest();
                state_ = State::Finished;
            } catch (...) {
                failure_ = std::current_exception();
                state_ = State::Failed;
            }
        }
        if (failure_)
            std::rethrow_exception(failure_);
        return kernel_;
    }
    [[nodiscard]] bool finished() const noexcept { return state_ == State::Finished; }
    [[nodiscard]] bool failed() const noexcept { return state_ == State::Failed; }

  private:
    enum class State : std::uint8_t { Begun, Finished, Failed };

    std::mutex mutex_;
    std::function<Kernel()> rest_; ///< empty when it was called
    Kernel kernel_;
    std::exception_ptr failure_;
    std::atomic<State> state_{State::Begun};
};

} // namespace softcuda::compiler
