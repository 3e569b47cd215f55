// library.h -- a driver library in this process: search, opening, symbols.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace pycuda {

/// A shared library. It is never closed: driver libraries cannot be unloaded safely.
class Library {
  public:
    /// Null if the library cannot be opened; `why` is then the reason.
    static std::shared_ptr<Library> open(const std::string &path, std::string &why);

    const std::string &path() const noexcept { return path_; }
    /// Null if the library has no such symbol.
    void *symbol(const char *name) const noexcept;

  private:
    Library(void *handle, std::string path) : handle_(handle), path_(std::move(path)) {}
    void *handle_;
    std::string path_;
};

/// The settings of a search, from the environment; tests set them directly.
struct LibrarySearch {
    std::string choice = "auto";       ///< auto, nvidia, softcuda, or a path
    std::vector<std::string> nvidia;   ///< candidates in order
    std::vector<std::string> softcuda; ///< candidates in order
    bool quiet = false;                ///< no line about running on softcuda
    /// Files whose presence shows that the kernel has NVIDIA's driver.
    std::vector<std::string> device_nodes = {};
    std::string check = {}; ///< check modes that softcuda begins with, such as "mem,race"

    static LibrarySearch from_environment();
};

/// How "auto" finds out whether NVIDIA's driver has a device. A query of the driver initialises the
/// driver; afterwards the process cannot fork, and CUDA_VISIBLE_DEVICES has no effect. So before
/// the program's own init(), only device files of the operating system are checked.
enum class DeviceProbe { Driver, OperatingSystem };

/// The library that the search finds. Throws DriverNotFound with each attempt and its outcome.
std::shared_ptr<Library> find_library(const LibrarySearch &search,
                                      DeviceProbe probe = DeviceProbe::Driver);

} // namespace pycuda
