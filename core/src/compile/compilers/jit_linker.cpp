// jit_linker.cpp -- links device code with NVIDIA's nvJitLink.
#include "pycuda/jit_linker.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <dlfcn.h>

#include "compile/compilers/compiler_search.h"
#include "compile/compilers/nvrtc_library.h"

#include "driver/library_call.h"

#include <pycuda/caller_lock.h>

namespace pycuda {
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

    compile_detail::SymbolAddress find(const char *name) const {
        const std::string full = std::string("__nvJitLink") + name + suffix_;
        void *address = ::dlsym(library_, full.c_str());
        if (!address)
            throw JitLinkerNotFound("nvJitLink " + version_ + " has no function " + full);
        return {address};
    }

    const std::string &version() const noexcept { return version_; }

  private:
    void *library_;
    std::string version_;
    std::string suffix_;
};

void *open_library(const std::string &path) {
    void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
        throw JitLinkerNotFound("cannot open nvJitLink, NVIDIA's linker of device code: " +
                                std::string(::dlerror()));
    return library;
}

/// An opened libnvJitLink and its functions.
class NvJitLinkLibrary {
  public:
    using Handle = struct nvJitLink *;
    using Result = int;
    static constexpr Result success = 0;

    /// Opens the library, once for the process. Throws JitLinkerNotFound.
    static const NvJitLinkLibrary &open();

    /// "nvJitLink 13.5"
    std::string name() const { return "nvJitLink " + symbols_.version(); }

  private:
    explicit NvJitLinkLibrary(const std::string &path) : symbols_(open_library(path)) {}
    Symbols symbols_;

  public:
    Result (*const create)(Handle *, std::uint32_t, const char **) = symbols_.find("Create");
    Result (*const destroy)(Handle *) = symbols_.find("Destroy");
    Result (*const add_data)(Handle, int, const void *, std::size_t,
                             const char *) = symbols_.find("AddData");
    Result (*const add_file)(Handle, int, const char *) = symbols_.find("AddFile");
    Result (*const complete)(Handle) = symbols_.find("Complete");
    Result (*const cubin_size)(Handle, std::size_t *) = symbols_.find("GetLinkedCubinSize");
    Result (*const cubin)(Handle, void *) = symbols_.find("GetLinkedCubin");
    Result (*const ptx_size)(Handle, std::size_t *) = symbols_.find("GetLinkedPtxSize");
    Result (*const ptx)(Handle, char *) = symbols_.find("GetLinkedPtx");
    Result (*const error_log_size)(Handle, std::size_t *) = symbols_.find("GetErrorLogSize");
    Result (*const error_log)(Handle, char *) = symbols_.find("GetErrorLog");
    Result (*const info_log_size)(Handle, std::size_t *) = symbols_.find("GetInfoLogSize");
    Result (*const info_log)(Handle, char *) = symbols_.find("GetInfoLog");
};

const NvJitLinkLibrary &NvJitLinkLibrary::open() {
    static CallerMutex mutex;
    static std::unique_ptr<NvJitLinkLibrary> &library = *new std::unique_ptr<NvJitLinkLibrary>;
    std::scoped_lock lock(mutex);
    if (library)
        return *library;
    const std::optional<std::string> path = compile_detail::find_toolkit_library(library_names);
    if (!path)
        throw JitLinkerNotFound(
            "no nvJitLink, NVIDIA's linker of device code, was found; install "
            "it with 'pip install nvidia-nvjitlink', or set CUDA_HOME to a CUDA "
            "toolkit; looked for libnvJitLink.so.13 and libnvJitLink.so.12");
    library.reset(new NvJitLinkLibrary(*path));
    return *library;
}

/// The text for a result.
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

void add_missing(std::vector<std::string> &options, const std::string &option) {
    if (std::ranges::find(options, option) == options.end())
        options.push_back(option);
}

bool names_architecture(const std::vector<std::string> &options) {
    return std::ranges::any_of(options, [](const std::string &option) {
        return option.starts_with("-arch") || option.starts_with("--arch");
    });
}

} // namespace

namespace detail {

/// A link that is not yet complete.
struct JitLink {
    explicit JitLink(std::vector<std::string> given)
        : library(NvJitLinkLibrary::open()), options(std::move(given)) {
        std::vector<const char *> pointers = compile_detail::c_strings(options);
        check(library.create(&handle, static_cast<std::uint32_t>(pointers.size()), pointers.data()),
              "cannot begin to link");
    }
    ~JitLink() { close(); }
    JitLink &operator=(JitLink &&) = delete; // no copies either

    using Result = NvJitLinkLibrary::Result;

    void check(Result result, const std::string &what) const {
        if (result == NvJitLinkLibrary::success)
            return;
        std::vector<std::string> command = {"nvjitlink"};
        command.insert(command.end(), options.begin(), options.end());
        throw CompileError(what + ": " + library.name() + " says: " + describe_nvjitlink(result),
                           std::move(command), "",
                           handle ? fetch(library.error_log_size, library.error_log) : "");
    }

    NvJitLinkLibrary::Handle open_handle() const {
        if (!handle)
            throw CompileError("link_module() was already called; a linker links only once");
        return handle;
    }

    /// A text or image that the library copies to the caller's buffer after a query of the size.
    template <class Size, class Get> std::string fetch(Size size, Get get) const {
        std::size_t bytes = 0;
        if (size(handle, &bytes) != NvJitLinkLibrary::success || bytes == 0)
            return {};
        std::string data(bytes, '\0');
        return get(handle, data.data()) == NvJitLinkLibrary::success ? data : std::string();
    }

    void close() noexcept {
        if (handle)
            library.destroy(&handle);
        handle = nullptr;
    }

    const NvJitLinkLibrary &library;
    std::vector<std::string> options;
    NvJitLinkLibrary::Handle handle = nullptr;
    bool makes_ptx = false;
};

} // namespace detail

JitLinker::JitLinker(const Target &target, std::vector<std::string> options) {
    if (!names_architecture(options))
        options.push_back("-arch=sm_" + std::to_string(target.device.number()));
    const bool makes_ptx = target.image == ImageKind::Ptx;
    if (makes_ptx) {
        add_missing(options, "-ptx");
        add_missing(options, "-lto"); // PTX requires it
    }
    link_ = std::make_shared<detail::JitLink>(std::move(options));
    link_->makes_ptx = makes_ptx;
}

void JitLinker::add_data(std::span<const std::byte> data, Input kind, const std::string &name) {
    link_->check(link_->library.add_data(link_->open_handle(), static_cast<int>(kind), data.data(),
                                         data.size(), name.c_str()),
                 "cannot link " + name);
}

void JitLinker::add_file(const std::filesystem::path &path, Input kind) {
    link_->check(link_->library.add_file(link_->open_handle(), static_cast<int>(kind),
                                         path.string().c_str()),
                 "cannot link " + path.string());
}

JitLinker::Linked JitLinker::finish() {
    const LibraryCall call;
    detail::JitLink &link = *link_;
    link.check(link.library.complete(link.open_handle()), "linking failed");
    Linked linked;
    linked.image = link.makes_ptx ? compile_detail::without_terminator(
                                        link.fetch(link.library.ptx_size, link.library.ptx))
                                  : link.fetch(link.library.cubin_size, link.library.cubin);
    linked.log = compile_detail::without_terminator(
        link.fetch(link.library.info_log_size, link.library.info_log));
    link.close();
    if (linked.image.empty())
        throw CompileError(link.library.name() + " produced no image");
    return linked;
}

std::string JitLinker::version() { return NvJitLinkLibrary::open().name(); }

} // namespace pycuda
