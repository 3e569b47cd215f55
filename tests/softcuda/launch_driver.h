// launch_driver.h -- opens a driver library at run time, and executes launch files with it.
#pragma once

#include "launch_file.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace softcuda::test {

class Driver {
  public:
    explicit Driver(const std::string &path) : library_(dlopen(path.c_str(), RTLD_NOW)) {
        if (!library_)
            throw std::runtime_error(dlerror());
    }

    /// Calls cu`name`; throws if it fails.
    template <class... Arguments> void call(const char *name, Arguments... arguments) {
        const CUresult result = result_of(name, arguments...);
        if (result != CUDA_SUCCESS)
            throw std::runtime_error(std::string(name) + " failed: " + std::to_string(result));
    }

    template <class... Arguments> CUresult result_of(const char *name, Arguments... arguments) {
        auto *function = reinterpret_cast<CUresult (*)(Arguments...)>(dlsym(library_, name));
        if (!function)
            throw std::runtime_error(std::string("the driver has no ") + name);
        return function(arguments...);
    }

    [[nodiscard]] bool is_software() const { return dlsym(library_, "scuImageKind"); }

  private:
    void *library_;
};

/// Loads the file's module, fills its buffers and launches its kernel. Throws std::runtime_error if
/// the module does not load.
[[nodiscard]] CUresult load_and_launch(Driver &driver, LaunchFile &file, CUmodule *module);
/// The content of a buffer.
[[nodiscard]] std::vector<std::byte> read_buffer(Driver &driver, const Buffer &buffer);

} // namespace softcuda::test
