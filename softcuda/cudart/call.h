// call.h -- what each function of the runtime API does around its own work: initialise, turn
// exceptions into errors, remember the thread's last error.
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

/// Throws Failure(error) unless `condition` holds.
inline void require(bool condition, cudaError_t error = cudaErrorInvalidValue) {
    if (!condition)
        throw Failure(error);
}

/// Throws Failure(invalid value) for a null among the pointers.
template <class... Pointers> void require_non_null(const Pointers *...pointers) {
    require(((pointers != nullptr) && ...));
}

/// Throws Failure for a failed call of the driver. Both APIs number shared errors equally.
inline void check(CUresult result) { require(result == CUDA_SUCCESS, cudaError_t(result)); }

/// Keeps an error as the thread's last one, unless it is success. Returns it.
cudaError_t remember(cudaError_t error) noexcept;

/// Initialises the driver, once in a process. Throws Failure.
void initialize();

/// Initialises the driver and gives the thread a current context where it has none: the primary
/// context of the thread's device. Throws Failure.
void require_context();

/// Runs `body`; lets no exception out, and remembers what goes wrong.
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

/// A call that needs the driver and no context.
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

/// A call that is one call of the driver with the same arguments.
template <auto Function, class... Arguments> cudaError_t forward(Arguments... arguments) noexcept {
    return with_context([&] { check(Function(arguments...)); });
}

/// A structure or an enumeration of this API as the driver's own. Both describe the same bytes.
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
