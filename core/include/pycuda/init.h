// init.h -- the process-wide switches: initialise, versions, finalize, interrupt.
#pragma once

namespace pycuda {

/// Initialises the driver. Must precede everything else; may be called again.
void init(unsigned flags = 0);

/// CUDA version that the driver supports: 13000 is 13.0. Works before init().
int driver_version();

/// CUDA version of the headers that this library was built with.
int header_version() noexcept;

/// Makes every destructor of this library inert: called when the interpreter or the program is
/// about to go away, where the driver may be gone already.
void set_finalizing() noexcept;
bool finalizing() noexcept;

/// Asks the driver to end the work that runs in the current context, where it can (softcuda can,
/// NVIDIA's cannot). True if the driver took the request.
bool interrupt_device_work() noexcept;

} // namespace pycuda
