// staged_arguments.h -- In, Out and InOut: host arrays as arguments of one call.
#pragma once

#include "host_buffer.h"

#include <pycuda/launch.h>

#include <vector>

namespace pycuda::python {

/// The argument handlers of one call. In, Out and InOut themselves are served here; a subclass
/// of a user has its pre_call() and post_call() called.
class StagedArguments {
  public:
    enum Direction { In = 1, Out = 2 };

    /// For a call in this stream.
    explicit StagedArguments(StreamRef queue) noexcept : queue_(queue) {}

    /// Adds an In, Out or InOut; returns the address of its stand-in on the device. Borrows the
    /// handler, which must outlive this.
    CUdeviceptr add(nb::handle handler, int direction);
    /// Adds an object with get_device_alloc(), pre_call() and perhaps post_call().
    CUdeviceptr add_custom(nb::handle handler);

    /// Copies in. `stream` is what Python code passed, for pre_call().
    void before_launch(nb::handle stream);
    /// Waits for the kernel where anything is to be done after it, then copies out.
    void after_launch(const Function &function, nb::handle stream);

  private:
    struct Stage {
        nb::handle handler;
        int direction;
        CUdeviceptr address;
        HostBuffer buffer; ///< empty for custom handlers
        bool custom;
    };
    bool anything_after() const;
    StreamRef queue_;
    std::vector<Stage> stages_;
};

/// Waits for what is in the queue; an error names the kernel that was launched last.
void wait_for_kernel(const Function &function, StreamRef queue);

} // namespace pycuda::python
