// transfer.h -- copies and fills as commands of a stream.
#pragma once

#include "device/command.h"
#include "device/copy.h"
#include "device/stream.h"
#include "rt/grid.h"

#include <cstddef>
#include <cuda.h>
#include <memory>
#include <utility>
#include <variant>

namespace softcuda::device {

enum class Wait { No, UntilDone };

/// A copy or fill. Worker threads process its pieces; the caller processes a small one.
class Transfer final : public Command {
  public:
    Transfer(Context &context, const Copy &copy);
    Transfer(Context &context, const Fill &fill);

    void start() noexcept override;

    /// Does all of the work on the calling thread, instead of start().
    void run_here() noexcept;
    [[nodiscard]] bool is_small() const noexcept { return grid_.work().blocks <= 1; }

    /// Declares that the caller will read the result. Otherwise a failure becomes the context's
    /// error.
    void will_be_waited_for() noexcept { is_waited_for_ = true; }
    /// Keeps memory that the operation accesses.
    void keep(std::unique_ptr<std::byte[]> memory) noexcept { kept_ = std::move(memory); }
    /// CUDA_SUCCESS, or the error of an invalid memory access. Valid after the transfer is done.
    [[nodiscard]] CUresult result() const noexcept { return result_; }

  private:
    struct Pieces final : rt::Grid {
        explicit Pieces(Transfer &owner) : owner_(owner) {}
        void finished() noexcept override { owner_.complete(); }
        Transfer &owner_;
    };

    void prepare(rt::KernelEntry entry, std::uint64_t pieces);
    void complete() noexcept;
    void notify_checks() const noexcept;
    void fail(CUresult result) noexcept;
    void help() override;
    [[nodiscard]] profile::Event described() const override;

    std::variant<Copy, Fill> operation_;
    rt::LaunchFrame frame_{};
    Pieces grid_{*this};
    std::unique_ptr<std::byte[]> kept_;
    bool is_waited_for_ = false;
    CUresult result_ = CUDA_SUCCESS;
};

/// Puts a transfer into a stream. The client may reuse memory that is not page-locked when the call
/// returns, so the call waits for copies of such memory. Throws Error if it waited and the copy
/// failed.
void enqueue(Stream &stream, const Copy &copy, Wait wait);
void enqueue(Stream &stream, const Fill &fill, Wait wait);

/// As above for memory that the client promises not to change: does not wait.
void enqueue_unwatched(Stream &stream, const Copy &copy);

} // namespace softcuda::device
