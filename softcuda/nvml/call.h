// call.h -- the common part of all NVML functions: checks that the library is initialised and that
// handles are devices, and converts exceptions to results.
#pragma once

#include "abi/extensions.h"
#include "nvml_api.h"

#include <new>
#include <string_view>
#include <system_error>

#define NVML_EXPORT extern "C" __attribute__((visibility("default"))) nvmlReturn_t

namespace softnvml {

/// A result that a function returns.
class Failure {
  public:
    explicit Failure(nvmlReturn_t result) noexcept : result_(result) {}
    [[nodiscard]] nvmlReturn_t result() const noexcept { return result_; }

  private:
    nvmlReturn_t result_;
};

/// Throws Failure(result) unless `condition` is true.
inline void require(bool condition, nvmlReturn_t result = NVML_ERROR_INVALID_ARGUMENT) {
    if (!condition)
        throw Failure(result);
}

/// Throws Failure(invalid argument) if one of the pointers is null.
template <class... Pointers> void require_non_null(const Pointers *...pointers) {
    require(((pointers != nullptr) && ...));
}

/// The version number that a caller writes to a versioned struct.
template <class Structure> constexpr unsigned version_of(unsigned number) {
    return static_cast<unsigned>(sizeof(Structure)) | number << 24;
}

/// Throws unless `structure` is not null and has this version.
template <class Structure> void require_version(const Structure *structure, unsigned number) {
    require_non_null(structure);
    require(structure->version == version_of<Structure>(number),
            NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
}

/// Throws Failure(uninitialised) before nvmlInit() and after nvmlShutdown().
void require_initialized();

/// The number of devices.
int device_count();
/// The ordinal of a device in the driver. Throws Failure for an invalid handle.
int ordinal_of(nvmlDevice_t device);
/// The handle of an ordinal below device_count().
nvmlDevice_t handle_of(int ordinal);
/// The driver's description of a device.
ScuDevice describe(int ordinal);

/// Copies a text to a caller's buffer. Throws Failure(insufficient size).
void give_text(std::string_view text, char *buffer, unsigned length);

/// Runs `body`; catches all exceptions.
template <class Body> nvmlReturn_t guarded(Body &&body) noexcept {
    try {
        body();
        return NVML_SUCCESS;
    } catch (const Failure &failure) {
        return failure.result();
    } catch (const std::bad_alloc &) {
        return NVML_ERROR_MEMORY;
    } catch (const std::system_error &) {
        return NVML_ERROR_OPERATING_SYSTEM;
    } catch (...) {
        return NVML_ERROR_UNKNOWN;
    }
}

/// A call that requires the initialised library.
template <class Body> nvmlReturn_t initialized(Body &&body) noexcept {
    return guarded([&] {
        require_initialized();
        body();
    });
}

/// A call for a device: body(description).
template <class Body> nvmlReturn_t with_device(nvmlDevice_t device, Body &&body) noexcept {
    return initialized([&] { body(describe(ordinal_of(device))); });
}

/// A call whose result is one number, which is equal for all devices.
template <class Number> nvmlReturn_t give(nvmlDevice_t device, Number *result, int value) noexcept {
    return with_device(device, [&](const ScuDevice &) {
        require_non_null(result);
        *result = static_cast<Number>(value);
    });
}

} // namespace softnvml
