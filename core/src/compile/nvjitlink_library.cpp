// nvjitlink_library.cpp -- NVIDIA's linker of device code, opened when it is first used.
#include "nvjitlink_library.h"

#include <memory>
#include <mutex>
#include <optional>

#include <dlfcn.h>

#include "compiler_search.h"
#include "pycuda/jit_linker.h"

#include <pycuda/caller_lock.h>

namespace pycuda::compile_detail {
namespace {

constexpr const char *library_names[] = {"libnvJitLink.so.13", "libnvJitLink.so.12",
                                         "libnvJitLink.so"};

/// The library's functions. Their names contain the library's version: __nvJitLinkCreate_13_5.
class Symbols {
  public:
    explicit Symbols(void *library) : library_(library) {
        unsigned major = 12,
                 minor = 0; // the first version has no function that returns the version
        using Version = int (*)(unsigned *, unsigned *);
        if (auto ask = reinterpret_cast<Version>(::dlsym(library, "nvJitLinkVersion")))
            ask(&major, &minor);
        version_ = std::to_string(major) + "." + std::to_string(minor);
        suffix_ = "_" + std::to_string(major) + "_" + std::to_string(minor);
    }

    template <class Function> void find(const char *name, Function *&function) const {
        const std::string full = std::string("__nvJitLink") + name + suffix_;
        function = reinterpret_cast<Function *>(::dlsym(library_, full.c_str()));
        if (!function)
            throw JitLinkerNotFound("nvJitLink " + version_ + " has no function " + full);
    }

    const std::string &version() const noexcept { return version_; }

  private:
    void *library_;
    std::string version_;
    std::string suffix_;
};

} // namespace

const NvJitLinkLibrary &NvJitLinkLibrary::open() {
    static CallerMutex mutex;
    static std::unique_ptr<NvJitLinkLibrary> &library = *new std::unique_ptr<NvJitLinkLibrary>;
    std::scoped_lock lock(mutex);
    if (library)
        return *library;
    const std::optional<std::string> path = find_toolkit_library(library_names);
    if (!path)
        throw JitLinkerNotFound(
            "no nvJitLink, NVIDIA's linker of device code, was found; install "
            "it with 'pip install nvidia-nvjitlink', or set CUDA_HOME to a CUDA "
            "toolkit; looked for libnvJitLink.so.13 and libnvJitLink.so.12");
    library.reset(new NvJitLinkLibrary(*path));
    return *library;
}

NvJitLinkLibrary::NvJitLinkLibrary(const std::string &path) {
    void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
        throw JitLinkerNotFound("cannot open nvJitLink, NVIDIA's linker of device code: " +
                                std::string(::dlerror()));
    const Symbols symbols(library);
    name_ = "nvJitLink " + symbols.version();
    symbols.find("Create", create);
    symbols.find("Destroy", destroy);
    symbols.find("AddData", add_data);
    symbols.find("AddFile", add_file);
    symbols.find("Complete", complete);
    symbols.find("GetLinkedCubinSize", cubin_size);
    symbols.find("GetLinkedCubin", cubin);
    symbols.find("GetLinkedPtxSize", ptx_size);
    symbols.find("GetLinkedPtx", ptx);
    symbols.find("GetErrorLogSize", error_log_size);
    symbols.find("GetErrorLog", error_log);
    symbols.find("GetInfoLogSize", info_log_size);
    symbols.find("GetInfoLog", info_log);
}

const char *describe_nvjitlink(NvJitLinkLibrary::Result result) noexcept {
    static constexpr const char *words[] = {"success",
                                            "unknown option",
                                            "no -arch option",
                                            "invalid input",
                                            "PTX does not compile",
                                            "LTO IR does not compile",
                                            "internal error",
                                            "no threads",
                                            "input of an unknown kind",
                                            "the linker failed",
                                            "null input",
                                            "options that exclude each other",
                                            "the input is not of the given type",
                                            "input for another architecture",
                                            "input that is newer than this nvJitLink",
                                            "no fatbin in the input",
                                            "architecture of unknown form",
                                            "unknown architecture",
                                            "LTO IR without the option -lto"};
    const auto index = static_cast<unsigned>(result);
    return index < std::size(words) ? words[index] : "unknown error";
}

} // namespace pycuda::compile_detail
