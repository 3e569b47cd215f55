// init.h -- the process-wide switches: initialise, versions, finalize, interrupt.
#pragma once

#include <pthread.h>

namespace pycuda {

/// Initialises the driver. Call it before all other functions. A second call does nothing.
void init(unsigned flags = 0);

/// CUDA version that the driver supports: 13000 is 13.0. Works before init().
int driver_version();

/// CUDA version of the headers that this library was built with.
int header_version() noexcept;

/// Makes every destructor of this library inert: called when the interpreter or the program is
/// about to go away, where the driver may be gone already.
void set_finalizing() noexcept;
bool finalizing() noexcept;

/// Requests the end of the work that runs in the current context. softcuda supports this, NVIDIA's
/// driver does not. True if the driver accepted the request.
bool interrupt_device_work() noexcept;

/// While calls of the driver in `thread` wait for work, drivers that can (softcuda can, NVIDIA's
/// cannot) ask `keep_waiting` every few milliseconds; 0 interrupts the work that they wait for.
/// Holds for drivers that are opened later, too. To be called before other threads use this
/// library.
void ask_while_waiting(int (*keep_waiting)(), pthread_t thread) noexcept;

} // namespace pycuda
