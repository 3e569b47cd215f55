// call.h -- the common part of all driver functions: checks the state, and converts exceptions to
// results.
#pragma once

#include "device/context.h"
#include "device/error.h"
#include "device/host_function.h"
#include "device/system.h"

#include <cuda.h>
#include <new>
#include <system_error>
#include <thread>
#include <type_traits>

/// For exports that cuda.h does not declare.
#define SCU_EXPORT extern "C" __attribute__((visibility("default")))

namespace softcuda::api {

/// Runs `body`, which returns nothing or a CUresult; catches all exceptions.
template <class Body> CUresult guarded(Body &&body) noexcept {
    try {
        if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
            body();
            return CUDA_SUCCESS;
        } else {
            return body();
        }
    } catch (const device::Error &error) {
        return error.result();
    } catch (const std::bad_alloc &) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    } catch (const std::system_error &) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    } catch (...) {
        return CUDA_ERROR_UNKNOWN;
    }
}

/// The rule of a call while a stream captures. Refused: the call may synchronise with recorded
/// work, which does not run, and invalidates the capture (capture::forbid_unsafe_calls()). Calls
/// with a stream or an event have rules of their own: those of their stream or event come first.
enum class InCapture { Permitted, Refused };

/// The beginning of a call, out of line: all calls contain it. Throws Error.
device::System &begin_call(InCapture rule);
device::Context &begin_call_in_context(InCapture rule);
device::Device &begin_call_for_device(InCapture rule, CUdevice ordinal);

/// A call that requires an initialised driver: body(system).
template <InCapture rule, class Body> CUresult with_system(Body &&body) noexcept {
    return guarded([&] { return body(begin_call(rule)); });
}

/// A call that requires a usable current context: body(context). Not permitted in host functions.
template <InCapture rule, class Body> CUresult with_context(Body &&body) noexcept {
    return guarded([&] { return body(begin_call_in_context(rule)); });
}

/// A call for one device: body(device). Not permitted in host functions.
template <InCapture rule, class Body> CUresult with_device(CUdevice ordinal, Body &&body) noexcept {
    return guarded([&] { return body(begin_call_for_device(rule, ordinal)); });
}

/// The result of a query that programs repeat. Yields, so that the device's threads can use the
/// core in between.
inline CUresult not_ready_yet() noexcept {
    std::this_thread::yield();
    return CUDA_ERROR_NOT_READY;
}

/// Throws Error(invalid value) if one of the pointers is null.
template <class... Pointers> void require_non_null(const Pointers *...pointers) {
    device::require(((pointers != nullptr) && ...), CUDA_ERROR_INVALID_VALUE);
}

} // namespace softcuda::api
