// library.cpp -- chooses the driver library of this process.
//
//     PYCUDA_DRIVER    libraries tried, in this order
//     auto             NVIDIA's, if cuInit succeeds and it reports a device; else softcuda
//     nvidia           NVIDIA's only
//     softcuda         softcuda only
//     a path           that library only
//
// PYCUDA_CHECK (check modes, such as "mem,race") chooses softcuda, as only softcuda has them.
#include "driver/library.h"

#include <abi/driver_types.h>
#include <pycuda/caller_lock.h>
#include <pycuda/check_modes.h>
#include <pycuda/error.h>
#include <pycuda/softcuda_library.h>

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <mutex>

namespace pycuda {
namespace {

std::string environment(const char *name, const char *otherwise = "") {
    const char *value = std::getenv(name);
    return value && *value ? value : otherwise;
}

/// The folder of the program or shared object that this code was linked into.
std::filesystem::path own_folder() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void *>(&own_folder), &info) == 0 || !info.dli_fname)
        return {};
    std::error_code ignored;
    return std::filesystem::weakly_canonical(info.dli_fname, ignored).parent_path();
}

/// The argument of set_softcuda_library(); empty before the call.
struct ChosenLibrary {
    CallerMutex mutex;
    std::string path;
};

ChosenLibrary &chosen_library() {
    static ChosenLibrary chosen;
    return chosen;
}

/// In this order: the application's choice, the folder of this library, the lib folder of an
/// installation, a build tree, the folders of the system.
std::vector<std::string> softcuda_candidates() {
    constexpr const char *name = "libsoftcuda.so";
    std::vector<std::string> candidates;
    if (std::string chosen = environment("PYCUDA_SOFTCUDA_LIBRARY"); !chosen.empty())
        return {chosen};
    {
        std::lock_guard lock(chosen_library().mutex);
        if (!chosen_library().path.empty())
            candidates.push_back(chosen_library().path);
    }
    if (std::filesystem::path folder = own_folder(); !folder.empty()) {
        for (const char *relative :
             {".", "../lib", "../softcuda", "../../softcuda", "../../../softcuda"})
            candidates.push_back((folder / relative / name).lexically_normal().string());
    }
    candidates.push_back(name);
    return candidates;
}

/// The attempts of one search, for the message when all of them fail.
class Attempts {
  public:
    void add(const std::string &what, const std::string &why) {
        // dlopen's message often starts with the path
        list_ += "\n  " + (why.starts_with(what) ? why : what + ": " + why);
        if (first_.empty())
            first_ = why;
    }
    const std::string &list() const { return list_; }
    const std::string &first() const { return first_; }

  private:
    std::string list_;
    std::string first_;
};

std::shared_ptr<Library> open_first(const std::vector<std::string> &paths, Attempts &attempts) {
    for (const std::string &path : paths) {
        std::string why;
        if (auto library = Library::open(path, why))
            return library;
        attempts.add(path, why);
    }
    return nullptr;
}

/// The reason why the operating system reports no device; empty if there may be one.
std::string why_no_device(const LibrarySearch &search) {
    if (const char *visible = std::getenv("CUDA_VISIBLE_DEVICES");
        visible && (!*visible || std::string(visible) == "-1"))
        return "CUDA_VISIBLE_DEVICES hides all devices";
    std::error_code ignored;
    for (const std::string &node : search.device_nodes)
        if (std::filesystem::exists(node, ignored))
            return "";
    return "the system has no device node of NVIDIA's";
}

/// The reason why an opened library cannot be used; empty if it can be used.
std::string why_unusable(const Library &library) {
    auto init = reinterpret_cast<PFN_cuInit_v2000>(library.symbol("cuInit"));
    auto count_devices =
        reinterpret_cast<PFN_cuDeviceGetCount_v2000>(library.symbol("cuDeviceGetCount"));
    if (!init || !count_devices)
        return "is not a CUDA driver";
    if (CUresult result = init(0); result != CUDA_SUCCESS)
        return "cuInit failed: " + result_text(result);
    int count = 0;
    if (CUresult result = count_devices(&count); result != CUDA_SUCCESS)
        return "cuDeviceGetCount failed: " + result_text(result);
    return count > 0 ? "" : "reports no device";
}

bool is_set(const char *variable) {
    const std::string value = environment(variable);
    return !value.empty() && value != "0";
}

/// True for all processes but the first of a program that mpirun or srun started: only the first
/// one prints the line about the CPU.
bool is_later_process_of_a_job() {
    constexpr const char *ranks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                     "MPI_LOCALRANKID", "SLURM_PROCID"};
    const char *const *known = std::ranges::find_if(
        ranks, [](const char *variable) { return !environment(variable).empty(); });
    return known != std::end(ranks) && is_set(*known);
}

void announce_software(std::string why_no_gpu) {
    constexpr std::string_view missing =
        ": cannot open shared object file: No such file or directory";
    if (why_no_gpu.ends_with(missing))
        why_no_gpu = "there is no " + why_no_gpu.substr(0, why_no_gpu.size() - missing.size());
    std::string line = "pycuda: no NVIDIA GPU found (" + why_no_gpu +
                       "); running on the CPU with softcuda. PYCUDA_DRIVER=softcuda hides this "
                       "line, PYCUDA_DRIVER=nvidia requires a GPU.\n";
    std::fputs(line.c_str(), stderr);
}

[[noreturn]] void throw_not_found(const char *wanted, const Attempts &attempts,
                                  const char *remedy) {
    throw DriverNotFound("driver library",
                         std::string(wanted) + "; tried:" + attempts.list() + "\n" + remedy);
}

constexpr const char *install_driver = "install NVIDIA's driver";
constexpr const char *point_to_softcuda =
    "set PYCUDA_SOFTCUDA_LIBRARY to the path of libsoftcuda.so";

/// The search for a driver with the requested check modes, which is softcuda.
LibrarySearch with_check_modes(LibrarySearch search) {
    parse_check_modes(search.check, "PYCUDA_CHECK");
    if (search.choice == "nvidia")
        throw Error("PYCUDA_CHECK", CUDA_ERROR_INVALID_VALUE,
                    "check modes need softcuda, but PYCUDA_DRIVER is nvidia; unset one of the two");
    if (search.choice == "auto")
        search.choice = "softcuda";
    // softcuda reads the variable when it is loaded, and prints its findings at exit.
    setenv("SOFTCUDA_CHECK", search.check.c_str(), 1);
    search.check.clear();
    return search;
}

std::shared_ptr<Library> find_automatically(const LibrarySearch &search, DeviceProbe probe) {
    Attempts attempts;
    std::string why_no_gpu;
    if (auto library = open_first(search.nvidia, attempts)) {
        why_no_gpu = probe == DeviceProbe::Driver ? why_unusable(*library) : why_no_device(search);
        if (why_no_gpu.empty())
            return library;
        attempts.add(library->path(), why_no_gpu);
    } else {
        why_no_gpu = attempts.first(); // of the first path tried, which is the usual one
    }
    auto library = open_first(search.softcuda, attempts);
    if (!library)
        throw_not_found("no CUDA driver with a device, and no softcuda", attempts,
                        "install NVIDIA's driver, or set PYCUDA_SOFTCUDA_LIBRARY to the path of "
                        "libsoftcuda.so to run on the CPU");
    if (!search.quiet && probe == DeviceProbe::Driver)
        announce_software(why_no_gpu);
    return library;
}

} // namespace

void set_softcuda_library(std::string path) {
    std::lock_guard lock(chosen_library().mutex);
    chosen_library().path = std::move(path);
}

std::shared_ptr<Library> Library::open(const std::string &path, std::string &why) {
    void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *message = dlerror();
        why = message ? message : "cannot be opened";
        return nullptr;
    }
    return std::shared_ptr<Library>(new Library(handle, path));
}

void *Library::symbol(const char *name) const noexcept { return dlsym(handle_, name); }

LibrarySearch LibrarySearch::from_environment() {
    LibrarySearch search;
    search.choice = environment("PYCUDA_DRIVER", "auto");
    // The second path is that of the Windows Subsystem for Linux.
    search.nvidia = {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};
    search.softcuda = softcuda_candidates();
    // The device files of a PC or server, of the Windows Subsystem for Linux, of a Jetson.
    search.device_nodes = {"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-gpu", "/dev/nvgpu"};
    search.quiet = is_set("PYCUDA_QUIET") || is_later_process_of_a_job();
    search.check = environment("PYCUDA_CHECK");
    return search;
}

std::shared_ptr<Library> find_library(const LibrarySearch &search, DeviceProbe probe) {
    if (!search.check.empty())
        return find_library(with_check_modes(search), probe);
    if (search.choice == "auto")
        return find_automatically(search, probe);
    Attempts attempts;
    if (search.choice == "nvidia") {
        if (auto library = open_first(search.nvidia, attempts))
            return library;
        throw_not_found("PYCUDA_DRIVER=nvidia, but there is no NVIDIA driver", attempts,
                        install_driver);
    }
    if (search.choice == "softcuda") {
        if (auto library = open_first(search.softcuda, attempts))
            return library;
        throw_not_found("PYCUDA_DRIVER=softcuda, but there is no libsoftcuda.so", attempts,
                        point_to_softcuda);
    }
    if (auto library = open_first({search.choice}, attempts))
        return library;
    throw_not_found("PYCUDA_DRIVER names a library that cannot be opened", attempts,
                    "PYCUDA_DRIVER is auto, nvidia, softcuda, or the path of a CUDA driver");
}

} // namespace pycuda
