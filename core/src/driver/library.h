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

    static LibrarySearch from_environment();
};

/// The library that the search finds. Throws DriverNotFound with each attempt and its outcome.
std::shared_ptr<Library> find_library(const LibrarySearch &search);

} // namespace pycuda
