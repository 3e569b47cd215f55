// compiler_search.cpp -- searches NVRTC, its headers and nvcc on this machine.
#include "compile/compilers/compiler_search.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include <dlfcn.h>
#include <unistd.h>

#include "compile/source/dependency.h"
#include "driver/never_destroyed.h"
#include "pycuda/compile_error.h"
#include "pycuda/compiler.h"

#include <pycuda/caller_lock.h>

namespace fs = std::filesystem;

namespace pycuda {
namespace compile_detail {
namespace {

constexpr const char *library_names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

// Folders of the library, relative to a toolkit, a site-packages folder, or a plain folder.
constexpr const char *library_folders[] = {"lib64",
                                           "lib",
                                           "nvidia/cu13/lib",
                                           "nvidia/cuda_nvrtc/lib",
                                           "nvidia/nvjitlink/lib",
                                           "nvidia/cublas/lib",
                                           "nvidia/cusolver/lib",
                                           "nvidia/cufft/lib",
                                           "",
                                           "targets/x86_64-linux/lib",
                                           "targets/sbsa-linux/lib"};

// Folders of the headers, relative to the library's folder: toolkit and CUDA 13 wheels; CUDA 12
// wheels.
constexpr const char *header_folders[] = {"../include", "../include/cccl",
                                          "../../cuda_runtime/include", "../../cuda_cccl/include",
                                          "../../curand/include"};

constexpr const char *settings[] = {"PYCUDA_NVRTC", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV",
                                    "CONDA_PREFIX"};

struct Search {
    CallerMutex mutex;
    std::vector<std::string> added_directories;
    std::atomic<unsigned> generation = 0; // counts changes of added_directories
    std::string remembered_settings;
    std::optional<NvrtcLocation> remembered;
};

Search &search() { return never_destroyed<Search>(); }

std::vector<std::string> split_path(const std::string &value) {
    std::vector<std::string> folders;
    std::size_t begin = 0;
    while (begin <= value.size() && !value.empty()) {
        std::size_t end = std::min(value.find(':', begin), value.size());
        if (end > begin)
            folders.push_back(value.substr(begin, end - begin));
        begin = end + 1;
    }
    return folders;
}

/// The site-packages folders of a virtual environment.
void add_site_packages(const std::string &prefix, std::vector<std::string> &roots) {
    std::error_code failed;
    for (const auto &entry : fs::directory_iterator(prefix + "/lib", failed))
        if (entry.path().filename().string().starts_with("python3"))
            roots.push_back(entry.path() / "site-packages");
}

/// If libpycuda was installed by pip: the site-packages folder that contains libpycuda's folder.
void add_own_neighbourhood(std::vector<std::string> &roots) {
    Dl_info info;
    if (::dladdr(reinterpret_cast<void *>(&add_own_neighbourhood), &info) && info.dli_fname)
        roots.push_back(fs::absolute(info.dli_fname).parent_path().parent_path());
}

std::vector<std::string> search_roots(const std::vector<std::string> &added_directories) {
    std::vector<std::string> roots;
    for (const char *name : {"CUDA_HOME", "CUDA_PATH"})
        if (std::string value = environment(name); !value.empty())
            roots.push_back(value);
    roots.insert(roots.end(), added_directories.begin(), added_directories.end());
    add_own_neighbourhood(roots);
    if (std::string prefix = environment("VIRTUAL_ENV"); !prefix.empty())
        add_site_packages(prefix, roots);
    if (std::string prefix = environment("CONDA_PREFIX"); !prefix.empty()) {
        roots.push_back(prefix);
        add_site_packages(prefix, roots);
    }
    for (std::string &folder : split_path(environment("LD_LIBRARY_PATH")))
        roots.push_back(std::move(folder));
    roots.insert(roots.end(), {"/usr/local/cuda", "/opt/cuda", "/usr/lib/x86_64-linux-gnu",
                               "/usr/lib/aarch64-linux-gnu", "/usr/lib64"});
    return roots;
}

using Names = std::span<const char *const>;

std::optional<std::string> library_in(const std::string &folder, Names names) {
    for (const char *name : names)
        if (std::string path = folder + "/" + name; stamp_file(path))
            return path;
    return std::nullopt;
}

std::optional<std::string> library_below(const std::string &root, Names names = library_names) {
    for (const char *folder : library_folders)
        if (auto path = library_in(*folder ? root + "/" + folder : root, names))
            return path;
    return std::nullopt;
}

/// The path of the library that the system's loader would open.
std::optional<std::string> library_of_the_loader() {
    for (const char *name : library_names) {
        void *library = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL);
        if (!library)
            continue;
        Dl_info info;
        void *symbol = ::dlsym(library, "nvrtcVersion");
        if (symbol && ::dladdr(symbol, &info) && info.dli_fname)
            return info.dli_fname;
    }
    return std::nullopt;
}

NvrtcLocation describe(const std::string &library) {
    std::error_code failed;
    NvrtcLocation location{library, {}, file_identity(library)};
    fs::path folder = fs::canonical(library, failed).parent_path();
    for (const char *name : header_folders) {
        fs::path headers = (folder / name).lexically_normal();
        // /usr/include contains the host's own headers, which are not for device code.
        if (headers != "/usr/include" && fs::is_directory(headers, failed))
            location.header_dirs.push_back(headers);
    }
    return location;
}

NvrtcLocation search_named_nvrtc(const std::string &named) {
    if (stamp_file(named))
        return describe(named);
    if (auto path = library_below(named))
        return describe(*path);
    throw CompileError("PYCUDA_NVRTC is '" + named +
                       "'; expected the path of an NVRTC library or of a folder that contains one");
}

NvrtcLocation search_nvrtc(const std::vector<std::string> &added_directories) {
    if (std::string named = environment("PYCUDA_NVRTC"); !named.empty())
        return search_named_nvrtc(named);
    const std::vector<std::string> roots = search_roots(added_directories);
    for (const std::string &root : roots)
        if (auto path = library_below(root))
            return describe(*path);
    if (auto path = library_of_the_loader())
        return describe(*path);
    throw_nvrtc_not_found(roots);
}

std::vector<std::string> added_directories() {
    std::scoped_lock lock(search().mutex);
    return search().added_directories;
}

/// The folders of Python packages, which may have wheels of NVIDIA.
std::vector<std::string> roots_of_wheels() {
    std::vector<std::string> roots = added_directories();
    add_own_neighbourhood(roots);
    if (const std::string prefix = environment("VIRTUAL_ENV"); !prefix.empty())
        add_site_packages(prefix, roots);
    return roots;
}

bool is_program(const std::string &path) {
    return stamp_file(path) && ::access(path.c_str(), X_OK) == 0;
}

} // namespace

void throw_nvrtc_not_found(const std::vector<std::string> &roots) {
    std::string message = "no NVRTC, the CUDA compiler library, was found; install it with "
                          "'pip install nvidia-cuda-nvrtc', or point PYCUDA_NVRTC at a "
                          "libnvrtc.so or CUDA_HOME at a CUDA toolkit; looked for "
                          "libnvrtc.so.13 and libnvrtc.so.12 in and below:";
    for (const std::string &root : roots)
        message += "\n  " + root;
    throw NvrtcNotFound(message + "\n  the system's library path");
}

std::optional<std::string> find_toolkit_library(Names names) {
    std::vector<std::string> roots = search_roots(added_directories());
    if (std::string nvrtc = environment("PYCUDA_NVRTC"); !nvrtc.empty())
        roots.insert(roots.begin(), {nvrtc, fs::path(nvrtc).parent_path()});
    for (const std::string &root : roots)
        if (auto path = library_below(root, names))
            return path;
    for (const char *name : names)
        if (::dlopen(name, RTLD_LAZY | RTLD_LOCAL))
            return name;
    return std::nullopt;
}

std::string environment(const char *name) {
    const char *value = std::getenv(name);
    return value ? value : "";
}

std::string search_settings() {
    std::string text = std::to_string(search().generation.load());
    for (const char *name : settings)
        text += '\n' + environment(name);
    return text;
}

std::string file_identity(const std::string &path) {
    std::error_code failed;
    std::string real = fs::canonical(path, failed);
    std::optional<FileStamp> stamp = stamp_file(failed ? path : real);
    if (!stamp)
        return path;
    return real + ":" + std::to_string(stamp->size) + ":" + std::to_string(stamp->modified_ns);
}

NvrtcLocation find_nvrtc() {
    Search &state = search();
    std::scoped_lock lock(state.mutex);
    std::string settings_now = search_settings();
    if (!state.remembered || state.remembered_settings != settings_now) {
        state.remembered = search_nvrtc(state.added_directories);
        state.remembered_settings = std::move(settings_now);
    }
    return *state.remembered;
}

std::optional<std::string> find_nvcc(const std::string &program) {
    if (program.find('/') != std::string::npos)
        return is_program(program) ? std::optional(program) : std::nullopt;
    std::vector<std::string> folders = split_path(environment("PATH"));
    if (program == "nvcc") {
        for (const char *name : {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"})
            if (std::string root = environment(name); !root.empty())
                folders.push_back(root + "/bin");
        for (const std::string &root : roots_of_wheels())
            for (const char *folder : {"/nvidia/cu13/bin", "/nvidia/cuda_nvcc/bin"})
                folders.push_back(root + folder);
        folders.push_back("/usr/local/cuda/bin");
    }
    for (const std::string &folder : folders)
        if (std::string path = folder + "/" + program; is_program(path))
            return path;
    return std::nullopt;
}

} // namespace compile_detail

void add_search_directory(const fs::path &directory) {
    compile_detail::Search &state = compile_detail::search();
    std::scoped_lock lock(state.mutex);
    std::string path = fs::absolute(directory).lexically_normal();
    for (const std::string &known : state.added_directories)
        if (known == path)
            return;
    state.added_directories.push_back(path);
    ++state.generation;
}

} // namespace pycuda
