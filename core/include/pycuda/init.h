// init.h -- process-wide functions: initialise, versions, finalize, interrupt.
#pragma once

#include <pthread.h>

namespace pycuda {

/// Initialises the driver. Call it before all other functions. A second call does nothing.
void init(unsigned flags = 0);

/// CUDA version that the driver supports: 13000 is 13.0. Works before init().
int driver_version();

/// CUDA version of the headers that this library was built with.
int header_version() noexcept;

/// Makes all destructors of this library do nothing. Call it when the program or its interpreter is
/// about to end, because the driver may already be unloaded. Waits for compilations that other
/// threads have begun, whose library the end of the process would destroy; threads that begin one
/// later wait for the end.
void set_finalizing() noexcept;
/// True after set_finalizing().
bool finalizing() noexcept;

/// Requests that the work that runs in the current context ends. softcuda supports this, NVIDIA's
/// driver does not. True if the driver accepted the request.
bool interrupt_device_work() noexcept;

/// Makes softcuda call `keep_waiting` every few milliseconds while a driver call of `thread` waits
/// for work; a result of 0 interrupts this work. NVIDIA's driver does not support this. Also
/// applies to drivers that are opened later. Call it before other threads use this library.
void ask_while_waiting(int (*keep_waiting)(), pthread_t thread) noexcept;

} // namespace pycuda
