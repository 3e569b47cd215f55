// driver.h -- the table of driver functions; a call throws, `.status()` returns the code.
//
//     driver().cuMemFree(pointer);                           // throws Error on failure
//     CUevent event = driver().cuEventCreate.value(flags);   // what it writes to &event
//     CUresult r = driver().cuEventQuery.status(event);      // pending is an answer here
#pragma once

#include <pycuda/caller_lock.h>
#include <pycuda/error.h>
#include <pycuda/image_kind.h>

#include <abi/driver_types.h>
#include <abi/extensions.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

namespace pycuda {

class Library;

/// What a function of the driver may wait for: the driver's own locks, or also work of the device.
enum class DriverWait { Locks, Work };

/// One function of the driver library. A call that can wait for work releases the caller's lock
/// (caller_lock.h), and each other call does while the driver may need that lock (CallerLockUse).
template <class Pointer, DriverWait wait = DriverWait::Locks> class DriverFunction;

/// One function of the driver library, of this signature.
template <class... Args, DriverWait wait> class DriverFunction<CUresult(CUDAAPI *)(Args...), wait> {
  public:
    /// The type of the library's function.
    using Pointer = CUresult(CUDAAPI *)(Args...);

    /// Throws Error on any result but success.
    void operator()(Args... args) const { check(status(args...), name_); }

    /// Returns the result. Throws only if the driver lacks the function.
    [[nodiscard]] CUresult status(Args... args) const {
        if (wait == DriverWait::Locks && !CallerLockUse::any()) [[likely]]
            return pointer_(args...);
        return unlocked(args...);
    }

    /// Calls the function and returns what it writes to its first argument, which is left out.
    template <class... Rest> auto value(Rest... rest) const {
        std::remove_pointer_t<std::tuple_element_t<0, std::tuple<Args...>>> result{};
        (*this)(&result, rest...);
        return result;
    }

    /// The function's name as NVIDIA's manual has it: "cuMemAlloc".
    const char *name() const noexcept { return name_; }

    /// False if the driver is too old for the function; a call then throws an Error.
    bool available() const noexcept { return available_; }

  private:
    friend struct DriverLoader;
    [[gnu::noinline]] CUresult unlocked(Args... args) const {
        const CallerUnlocked released;
        return pointer_(args...);
    }

    Pointer pointer_ = nullptr;
    const char *name_ = "";
    bool available_ = false;
};

/// The functions as members: driver().cuMemAlloc, and so on for each row of abi/driver.def.
struct DriverTable {
#define PYCUDA_FUNCTION(name, symbol, version) DriverFunction<PFN_##name##_v##version> name;
#define PYCUDA_WAITING(name, symbol, version)                                                      \
    DriverFunction<PFN_##name##_v##version, DriverWait::Work> name;
#include <abi/driver.def>
};

/// Functions that a driver library may export in addition to NVIDIA's (abi/extensions.h); null if
/// the library lacks them.
struct DriverExtensions {
#define PYCUDA_EXTENSION(name) PFN_##name name = nullptr;
#include <abi/extensions.def>
};

/// The driver library of this process: its functions, path and version.
class Driver : public DriverTable {
  public:
    /// The functions that only softcuda has. A null pointer for each function that the library
    /// lacks.
    const DriverExtensions &extensions() const noexcept { return extensions_; }

    /// The path of the library, as it was opened.
    const std::string &path() const noexcept { return path_; }

    /// CUDA version of the driver: 12040 is 12.4.
    int version() const noexcept { return version_; }

    /// The kind of code that the driver loads: machine code, or PTX for softcuda.
    ImageKind image_kind() const noexcept { return image_kind_; }

    /// The address of another symbol of the library; null if the library lacks it. Looked up in
    /// each call, which takes the time of a launch.
    void *symbol(const char *name) const noexcept;

  private:
    friend struct DriverLoader;
    Driver() = default;
    std::shared_ptr<Library> library_;
    DriverExtensions extensions_;
    std::string path_;
    int version_ = 0;
    ImageKind image_kind_ = ImageKind::Cubin;
    std::optional<CallerLockUse> tool_; ///< a tool that the driver calls may need the lock
};

namespace detail {
extern std::atomic<const Driver *> loaded_driver;
const Driver &load_driver();
} // namespace detail

/// The driver, opened on the first call as PYCUDA_DRIVER selects: auto (NVIDIA's if it reports a
/// device, else softcuda), nvidia, softcuda, or a path. This does not initialise the driver; init()
/// does. Before init(), "auto" looks for device files of the operating system. Throws
/// DriverNotFound; an Error in a process that was forked after init(). Any thread may call.
inline const Driver &driver() {
    if (const Driver *loaded = detail::loaded_driver.load(std::memory_order_acquire)) [[likely]]
        return *loaded;
    return detail::load_driver();
}

/// The driver if it can still be called; null before the first use, after a fork and after
/// set_finalizing(). For destructors.
const Driver *driver_for_cleanup() noexcept;

} // namespace pycuda
