// call.h -- the common part of all functions of the runtime API: initialises, converts exceptions
// to errors, and stores the thread's last error.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <new>
#include <system_error>
#include <type_traits>

/// For exports that NVIDIA's headers do not declare.
#define CUDART_EXPORT extern "C" __attribute__((visibility("default")))

namespace softcudart {

/// An error that a function of the API returns.
class Failure {
  public:
    explicit Failure(cudaError_t error) noexcept : error_(error) {}
    [[nodiscard]] cudaError_t error() const noexcept { return error_; }

  private:
    cudaError_t error_;
};

/// Throws Failure(error) unless `condition` is true.
inline void require(bool condition, cudaError_t error = cudaErrorInvalidValue) {
    if (!condition)
        throw Failure(error);
}

/// Throws Failure(invalid value) if one of the pointers is null.
template <class... Pointers> void require_non_null(const Pointers *...pointers) {
    require(((pointers != nullptr) && ...));
}

/// Throws Failure for a failed driver call. Common errors have equal numbers in both APIs.
inline void check(CUresult result) { require(result == CUDA_SUCCESS, cudaError_t(result)); }

/// Stores an error as the thread's last error, unless it is success. Returns it.
cudaError_t remember(cudaError_t error) noexcept;

/// Initialises the driver once in a process. Throws Failure.
void initialize();

/// Initialises the driver. If the thread has no current context, makes the primary context of the
/// thread's device current. Throws Failure.
void require_context();

/// Runs `body`, catches all exceptions, and stores the error.
template <class Body> cudaError_t guarded(Body &&body) noexcept {
    try {
        body();
        return cudaSuccess;
    } catch (const Failure &failure) {
        return remember(failure.error());
    } catch (const std::bad_alloc &) {
        return remember(cudaErrorMemoryAllocation);
    } catch (const std::system_error &) {
        return remember(cudaErrorOperatingSystem);
    } catch (...) {
        return remember(cudaErrorUnknown);
    }
}

/// A call that needs the driver, but no context.
template <class Body> cudaError_t with_driver(Body &&body) noexcept {
    return guarded([&] {
        initialize();
        body();
    });
}

/// A call that needs a current context.
template <class Body> cudaError_t with_context(Body &&body) noexcept {
    return guarded([&] {
        require_context();
        body();
    });
}

/// A call that makes one driver call with the same arguments.
template <auto Function, class... Arguments> cudaError_t forward(Arguments... arguments) noexcept {
    return with_context([&] { check(Function(arguments...)); });
}

/// Converts a struct or an enumeration of this API to the driver's. Both have the same bytes.
template <class To, class From> To as(From from) noexcept {
    if constexpr (std::is_pointer_v<To> || std::is_pointer_v<From>)
        return reinterpret_cast<To>(from);
    else
        return static_cast<To>(from);
}

inline CUdeviceptr address_of(const void *pointer) noexcept {
    return reinterpret_cast<CUdeviceptr>(pointer);
}

} // namespace softcudart
