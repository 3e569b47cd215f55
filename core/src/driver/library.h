// library.h -- a driver library in this process: searched for, opened, asked for symbols.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pycuda {

/// A shared library, open for as long as the process lives: driver libraries cannot be unloaded
/// safely.
class Library {
  public:
    /// Null where it cannot be opened; `why` then says the reason.
    static std::shared_ptr<Library> open(const std::string &path, std::string &why);

    const std::string &path() const noexcept { return path_; }
    /// Null where the library has no such symbol.
    void *symbol(const char *name) const noexcept;

  private:
    Library(void *handle, std::string path) : handle_(handle), path_(std::move(path)) {}
    void *handle_;
    std::string path_;
};

/// What a search was asked to do. Filled from the environment; tests fill it themselves.
struct LibrarySearch {
    std::string choice = "auto";       ///< auto, nvidia, softcuda, or a path
    std::vector<std::string> nvidia;   ///< candidates in order
    std::vector<std::string> softcuda; ///< candidates in order
    bool quiet = false;                ///< no line about falling back to softcuda
    /// Files whose presence shows that the kernel has NVIDIA's driver.
    std::vector<std::string> device_nodes = {};
    std::string check = {}; ///< check modes that softcuda begins with, such as "mem,race"

    static LibrarySearch from_environment();
};

/// How "auto" finds out whether NVIDIA's driver has a device. Asking the driver initialises it,
/// after which the process cannot fork and CUDA_VISIBLE_DEVICES is read no more; so before the
/// program's own init() only the operating system is asked.
enum class DeviceProbe { Driver, OperatingSystem };

/// The library that the search finds. Throws DriverNotFound with each attempt and its outcome.
std::shared_ptr<Library> find_library(const LibrarySearch &search,
                                      DeviceProbe probe = DeviceProbe::Driver);

} // namespace pycuda
