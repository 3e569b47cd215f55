// cleanup.cpp -- destroys driver objects in destructors.
//
// A destructor may run in any thread, with any current context or none, after its context was
// detached, in a forked child, or while the process ends. In all these cases it must not throw or
// abort.
#include "context/cleanup.h"

#include "context/context_owner.h"
#include "context/outside_captures.h"
#include "driver/one_of.h"

#include <pycuda/driver.h>
#include <pycuda/handle.h>

#include <cstdio>
#include <string>

namespace pycuda::detail {
namespace {

/// Errors that a failed kernel leaves in its context: every later call returns them.
bool is_sticky_error(CUresult result) noexcept {
    return is_one_of(result, CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_TIMEOUT,
                     CUDA_ERROR_ASSERT, CUDA_ERROR_HARDWARE_STACK_ERROR,
                     CUDA_ERROR_ILLEGAL_INSTRUCTION, CUDA_ERROR_MISALIGNED_ADDRESS,
                     CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC,
                     CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_ECC_UNCORRECTABLE);
}

bool is_of_dead_context(CUresult result) noexcept {
    return result == CUDA_ERROR_DEINITIALIZED || result == CUDA_ERROR_NOT_INITIALIZED ||
           result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

} // namespace

void report_cleanup(const char *function, CUresult result) noexcept {
    if (result == CUDA_SUCCESS || is_of_dead_context(result) || is_sticky_error(result))
        return;
    const char *text = "unknown error";
    if (const Driver *loaded = driver_for_cleanup())
        (void)loaded->cuGetErrorString.status(result, &text);
    std::fprintf(stderr,
                 "PyCUDA WARNING: a clean-up operation failed (dead context maybe?)\n"
                 "%s failed: %s\n",
                 function, text);
}

void throw_context_ended(const char *what) {
    throw Error(what, CUDA_ERROR_INVALID_CONTEXT,
                std::string("the context of the ") + what + " was detached");
}

void run_cleanup(const Context &context, const char *function, CUresult (*call)(void *),
                 void *data) noexcept {
    const Driver *loaded = driver_for_cleanup();
    if (!loaded || !context.usable())
        return;
    CUcontext current = nullptr;
    if (loaded->cuCtxGetCurrent.status(&current) != CUDA_SUCCESS)
        return;
    const bool elsewhere = current != context.get();
    CUresult result = elsewhere ? loaded->cuCtxPushCurrent.status(context.get()) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS) {
        const OutsideCaptures outside; // a destructor may run while this thread records a graph
        result = call(data);
        if (elsewhere)
            (void)loaded->cuCtxPopCurrent.status(&current);
    }
    report_cleanup(function, result);
}

} // namespace pycuda::detail
