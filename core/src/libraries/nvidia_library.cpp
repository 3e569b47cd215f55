// nvidia_library.cpp -- selects the libraries that may be opened, and names their failures.
#include "libraries/nvidia_library.h"

#include "compile/compiler_search.h"

#include <pycuda/array_libraries.h>
#include <pycuda/device_traits.h>
#include <pycuda/driver_calls.h>
#include <pycuda/error.h>

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string_view>

namespace pycuda {
namespace {

std::optional<std::string> find_in(const std::string &folder, std::span<const char *const> files) {
    for (const char *file : files) {
        std::error_code failed;
        std::string path = folder + "/" + file;
        if (std::filesystem::exists(path, failed))
            return path;
    }
    return {};
}

/// A library in the driver's own folder. softcuda brings its own NCCL.
std::optional<std::string> find_beside_driver(const LibraryDescription &description) {
    std::error_code failed;
    const std::filesystem::path opened = std::filesystem::canonical(driver_path(), failed);
    if (failed)
        return {};
    return find_in(opened.parent_path(), description.files);
}

std::optional<std::string> find_library(const LibraryDescription &description) {
    const LibraryChoice &choice = LibraryChoice::get();
    if (choice.kind == LibraryChoice::Kind::Folder)
        return find_in(choice.folder, description.files);
    if (choice.kind == LibraryChoice::Kind::None)
        return {};
    if (runs_on_host())
        return find_beside_driver(description);
    return compile_detail::find_toolkit_library(description.files);
}

} // namespace

const LibraryChoice &LibraryChoice::get() {
    static const LibraryChoice choice = [] {
        const std::string text = compile_detail::environment("PYCUDA_LIBRARIES");
        if (text.empty() || text == "auto")
            return LibraryChoice{Kind::Found, {}};
        if (text == "none")
            return LibraryChoice{Kind::None, {}};
        if (!std::filesystem::is_directory(text))
            throw std::invalid_argument("PYCUDA_LIBRARIES is '" + text +
                                        "'; expected \"auto\", \"none\" or a folder");
        return LibraryChoice{Kind::Folder, text};
    }();
    return choice;
}

std::unique_ptr<NvidiaLibrary> NvidiaLibrary::open(const LibraryDescription &description) {
    const std::optional<std::string> path = find_library(description);
    void *handle = path ? ::dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (handle == nullptr)
        return nullptr;
    return std::unique_ptr<NvidiaLibrary>(new NvidiaLibrary(description, handle));
}

void *NvidiaLibrary::symbol(const char *name) const noexcept { return ::dlsym(handle_, name); }

void NvidiaLibrary::fail(const char *function, int status) const {
    std::string name = "status " + std::to_string(status);
    for (const LibraryStatus &one : description_.statuses)
        if (one.code == status)
            name = one.name;
    if (name.ends_with("ALLOC_FAILED") || name.ends_with("INSUFFICIENT_RESOURCES"))
        throw Error(function, CUDA_ERROR_OUT_OF_MEMORY, name);
    throw std::runtime_error(std::string(function) + " of " + description_.name +
                             " failed: " + name);
}

std::optional<int> library_type(ScalarType type) noexcept {
    switch (type) {
    case ScalarType::Float16:
        return 2;
    case ScalarType::BFloat16:
        return 14;
    case ScalarType::Float32:
        return 0;
    case ScalarType::Float64:
        return 1;
    case ScalarType::Complex64:
        return 4;
    case ScalarType::Complex128:
        return 5;
    default:
        return {};
    }
}

bool host_has_arrays() {
    return runs_on_host() && LibraryChoice::get().kind == LibraryChoice::Kind::Found;
}

bool is_library_float(ScalarType type) noexcept {
    return type == ScalarType::Float32 || type == ScalarType::Float64 ||
           type == ScalarType::Complex64 || type == ScalarType::Complex128;
}

} // namespace pycuda
