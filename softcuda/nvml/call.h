// call.h -- what each function of NVML does around its own work: checks that the library is
// initialised and that handles are devices, and turns exceptions into results.
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

/// Throws Failure(result) unless `condition` holds.
inline void require(bool condition, nvmlReturn_t result = NVML_ERROR_INVALID_ARGUMENT) {
    if (!condition)
        throw Failure(result);
}

/// Throws Failure(invalid argument) for a null among the pointers.
template <class... Pointers> void require_non_null(const Pointers *...pointers) {
    require(((pointers != nullptr) && ...));
}

/// The version that a caller writes into a structure that has one.
template <class Structure> constexpr unsigned version_of(unsigned number) {
    return static_cast<unsigned>(sizeof(Structure)) | number << 24;
}

/// Throws unless `structure` is there and is of this version.
template <class Structure> void require_version(const Structure *structure, unsigned number) {
    require_non_null(structure);
    require(structure->version == version_of<Structure>(number),
            NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
}

/// Throws Failure(uninitialised) outside of nvmlInit() and nvmlShutdown().
void require_initialized();

/// How many devices there are.
int device_count();
/// The ordinal of a device in the driver. Throws Failure for what is no device's handle.
int ordinal_of(nvmlDevice_t device);
/// Of an ordinal below device_count().
nvmlDevice_t handle_of(int ordinal);
/// What the driver says of a device.
ScuDevice describe(int ordinal);

/// Copies a text into a caller's buffer. Throws Failure(insufficient size).
void give_text(std::string_view text, char *buffer, unsigned length);

/// Runs `body`; lets no exception out.
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

/// A call of the initialised library.
template <class Body> nvmlReturn_t initialized(Body &&body) noexcept {
    return guarded([&] {
        require_initialized();
        body();
    });
}

/// A call about a device: body(description).
template <class Body> nvmlReturn_t with_device(nvmlDevice_t device, Body &&body) noexcept {
    return initialized([&] { body(describe(ordinal_of(device))); });
}

/// A call whose answer is one number, which is the same for each device.
template <class Number> nvmlReturn_t give(nvmlDevice_t device, Number *result, int value) noexcept {
    return with_device(device, [&](const ScuDevice &) {
        require_non_null(result);
        *result = static_cast<Number>(value);
    });
}

} // namespace softnvml
