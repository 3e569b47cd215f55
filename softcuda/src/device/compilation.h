// compilation.h -- the compilation of a kernel, which the commands that launch it wait for.
//
// A launch returns before its kernel is compiled. So the kernels of a program that launches several
// of them one after the other are compiled at the same time.
#pragma once

#include "compiler/program.h"
#include "device/command.h"
#include "rt/worker_pool.h"

#include <atomic>
#include <cuda.h>
#include <memory>
#include <string>

namespace softcuda::device {

/// The compilation of one kernel for one shape. It belongs to no stream. Any thread may call any
/// function.
class Compilation final : public Command, public rt::Job {
  public:
    /// Gives the job to the worker pool, unless it is finished. `kernel` is the name for messages.
    static std::shared_ptr<Compilation> begin(Context &context, const std::string &kernel,
                                              std::shared_ptr<compiler::CompileJob> job);
    Compilation(Context &context, std::string kernel, std::shared_ptr<compiler::CompileJob> job);

    /// When it is done: the code, or null if there was not enough memory.
    [[nodiscard]] const compiler::CompiledKernel *code() const noexcept { return code_.get(); }
    /// When it is done: whether it can be tried again.
    [[nodiscard]] bool failed() const noexcept { return done() && !code_; }
    /// The error of a launch if there is no code.
    [[nodiscard]] CUresult failure() const noexcept { return failure_; }

    /// Compiles the kernel on the calling thread, unless another thread has begun.
    void run() noexcept override;
    void start() noexcept override { run(); }

  private:
    void compile() noexcept;
    void fail(CUresult result, const char *reason) noexcept;

    std::string kernel_;
    std::shared_ptr<compiler::CompileJob> job_;
    std::atomic<bool> claimed_{false};
    std::shared_ptr<const compiler::CompiledKernel> code_;
    CUresult failure_ = CUDA_SUCCESS;
};

} // namespace softcuda::device
