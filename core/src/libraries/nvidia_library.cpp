// nvidia_library.cpp -- selects the libraries that may be opened, and names their failures.
#include "libraries/nvidia_library.h"

#include "compile/compilers/compiler_search.h"

#include <pycuda/array_libraries.h>
#include <pycuda/device_traits.h>
#include <pycuda/driver.h>
#include <pycuda/driver_calls.h>
#include <pycuda/error.h>

#include <dlfcn.h>

#include <filesystem>
#include <stdexcept>

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
    constexpr std::pair<ScalarType, int> types[] = {
        {ScalarType::Float32, 0},   {ScalarType::Float64, 1},    {ScalarType::Float16, 2},
        {ScalarType::Complex64, 4}, {ScalarType::Complex128, 5}, {ScalarType::BFloat16, 14}};
    for (const auto &[known, value] : types)
        if (known == type)
            return value;
    return {};
}

const void *library_constant(int number, ScalarType type) noexcept {
    static constexpr float single[][2] = {{0, 0}, {1, 0}};
    static constexpr double wide[][2] = {{0, 0}, {1, 0}};
    return is_wide_float(type) ? static_cast<const void *>(wide[number]) : single[number];
}

int narrow_extent(std::int64_t value, const char *what) {
    if (value > 0x7fffffff)
        throw std::invalid_argument(std::string(what) + " is " + std::to_string(value) +
                                    "; at most 2147483647 can be handled at once");
    return static_cast<int>(value);
}

void detail::finish_library_setup() {
    if (!capture_blocks_default_stream()) // else the launch of the graph waits for it
        driver().cuStreamSynchronize(nullptr);
}

bool host_has_arrays() {
    return runs_on_host() && LibraryChoice::get().kind == LibraryChoice::Kind::Found;
}

bool is_library_float(ScalarType type) noexcept {
    return type == ScalarType::Float32 || type == ScalarType::Float64 ||
           type == ScalarType::Complex64 || type == ScalarType::Complex128;
}

} // namespace pycuda
