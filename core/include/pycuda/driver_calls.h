// driver_calls.h -- a few calls of the driver, without the table of all its functions (driver.h).
//
// A source that needs only these is not compiled again if the table changes.
#pragma once

#include <pycuda/image_kind.h>

#include <abi/driver_types.h>

#include <optional>
#include <string>

namespace pycuda {

/// True if the driver is loaded and can still be called: false before the first use, after a fork
/// and after set_finalizing(). For destructors, which make no call if this is false.
[[nodiscard]] bool driver_is_usable() noexcept;

/// The path of the driver library, as it was opened. Opens the library if this is the first use.
[[nodiscard]] const std::string &driver_path();

/// The kind of code that the driver loads: machine code, or PTX for softcuda.
[[nodiscard]] ImageKind loaded_image_kind();

/// True if a context is current in this thread. False if the driver is not loaded or not
/// initialised.
[[nodiscard]] bool has_current_context() noexcept;

/// Waits for the work of the current context. A failure is reported to the code that waits for the
/// kernels.
void settle_current_context() noexcept;

/// True if the work of the stream is being recorded. Throws Error if the stream is invalid.
[[nodiscard]] bool is_capturing(CUstream stream);

/// True while the default stream of the current context takes no work, because a stream that waits
/// for it is being captured. (The flags of such a stream cannot be read: a GPU's driver ends the
/// capture.)
[[nodiscard]] bool capture_blocks_default_stream();

/// True if the default stream of the current context has no work. False if a capture forbids the
/// question.
[[nodiscard]] bool default_stream_is_idle();

/// The context of a stream; null if the driver does not report it.
[[nodiscard]] CUcontext context_of(CUstream stream);

/// The device of an address; empty if the driver does not know the address.
[[nodiscard]] std::optional<int> device_of(CUdeviceptr address);
/// The device whose own memory an address is in. Empty for memory that all devices access (of the
/// host, managed), and if the driver does not know the address.
[[nodiscard]] std::optional<int> only_device_of(CUdeviceptr address);
/// The context that allocated the memory at an address; null if the driver does not report it.
[[nodiscard]] CUcontext context_of(CUdeviceptr address);

/// Starts and stops the collection of data by a profiler of NVIDIA that runs the program. Both do
/// nothing without one.
void start_profiler();
/// Ends what start_profiler() has begun.
void stop_profiler();

} // namespace pycuda
