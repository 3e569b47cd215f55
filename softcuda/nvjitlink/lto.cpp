// lto.cpp -- finds NVIDIA's nvJitLink, and links LTO-IR with it.
//
// A client that asks for link-time optimisation (Numba does by default) has a compiler of NVIDIA's
// in its process, and usually NVIDIA's nvJitLink in the same toolkit or environment. That library
// does the optimisation, which needs no GPU; only the result must be PTX and not machine code.
#include "lto.h"

#include "failure.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <link.h>
#include <vector>

namespace softlink {

struct Nvidia {
    int (*create)(nvJitLinkHandle *, std::uint32_t, const char **);
    int (*destroy)(nvJitLinkHandle *);
    int (*add)(nvJitLinkHandle, int, const void *, std::size_t, const char *);
    int (*complete)(nvJitLinkHandle);
    int (*ptx_size)(nvJitLinkHandle, std::size_t *);
    int (*ptx)(nvJitLinkHandle, char *);
    int (*error_size)(nvJitLinkHandle, std::size_t *);
    int (*error)(nvJitLinkHandle, char *);
    int (*info_size)(nvJitLinkHandle, std::size_t *);
    int (*info)(nvJitLinkHandle, char *);
    int (*lto_ir_size)(nvJitLinkHandle, std::size_t *); ///< null in CUDA 12
    int (*lto_ir)(nvJitLinkHandle, void *);             ///< likewise
};

const char *const kNoNvidia =
    "LTO-IR, the intermediate code for link-time optimisation, becomes PTX by NVIDIA's nvJitLink, "
    "which was not found: install the package nvidia-nvjitlink, or name the library in "
    "SOFTCUDA_NVJITLINK; without link-time optimisation (no -dlto, no code=lto_XX, Numba's "
    "lto=False) there is PTX";

namespace {

namespace fs = std::filesystem;

/// Folders that may contain nvJitLink, for a compiler's library in a toolkit or in a wheel.
void add_folders_beside(const fs::path &library, std::vector<fs::path> &folders) {
    const std::string name = library.filename().string();
    const fs::path folder = library.parent_path();
    if (name.starts_with("libnvrtc.so")) {
        folders.push_back(folder); // lib64, nvidia/cu13/lib
        folders.push_back(folder.parent_path().parent_path() /
                          "nvjitlink/lib");      // wheels of CUDA 12
    } else if (name.starts_with("libnvvm.so")) { // nvvm/lib64
        const fs::path root = folder.parent_path().parent_path();
        folders.insert(folders.end(), {root / "lib64", root / "lib"});
        folders.push_back(root.parent_path() / "nvjitlink/lib");
    }
}

std::vector<fs::path> folders_to_search() {
    std::vector<fs::path> folders;
    dl_iterate_phdr(
        [](dl_phdr_info *info, std::size_t, void *found) {
            auto &known = *static_cast<std::vector<fs::path> *>(found);
            if (!info->dlpi_name || !*info->dlpi_name)
                return 0;
            add_folders_beside(info->dlpi_name, known);
            std::error_code failed; // softcuda-config makes folders of links
            const fs::path file = fs::canonical(info->dlpi_name, failed);
            if (!failed)
                add_folders_beside(file, known);
            return 0;
        },
        &folders);
    for (const char *variable : {"CUDA_PATH", "CUDA_HOME"})
        if (const char *root = std::getenv(variable))
            folders.insert(folders.end(), {fs::path(root) / "lib64", fs::path(root) / "lib"});
    folders.insert(folders.end(), {"/usr/local/cuda/lib64", "/usr/local/cuda/lib"});
    return folders;
}

template <class Function> void find(void *library, const char *name, Function &function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
}

/// A library of another name in memory; null if it is not NVIDIA's nvJitLink.
const Nvidia *open(const fs::path &path) {
    // A path is not compared with the names of libraries that are already loaded, such as this one.
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!library || dlsym(library, "softcuda_nvjitlink"))
        return nullptr;
    static Nvidia opened;
    find(library, "nvJitLinkCreate", opened.create);
    find(library, "nvJitLinkDestroy", opened.destroy);
    find(library, "nvJitLinkAddData", opened.add);
    find(library, "nvJitLinkComplete", opened.complete);
    find(library, "nvJitLinkGetLinkedPtxSize", opened.ptx_size);
    find(library, "nvJitLinkGetLinkedPtx", opened.ptx);
    find(library, "nvJitLinkGetErrorLogSize", opened.error_size);
    find(library, "nvJitLinkGetErrorLog", opened.error);
    find(library, "nvJitLinkGetInfoLogSize", opened.info_size);
    find(library, "nvJitLinkGetInfoLog", opened.info);
    find(library, "nvJitLinkGetLinkedLTOIRSize", opened.lto_ir_size);
    find(library, "nvJitLinkGetLinkedLTOIR", opened.lto_ir);
    return opened.create && opened.ptx ? &opened : nullptr;
}

const Nvidia *search() {
    if (const char *path = std::getenv("SOFTCUDA_NVJITLINK"); path && *path)
        return open(path);
    for (const fs::path &folder : folders_to_search())
        for (const char *name : {"libnvJitLink.so.13", "libnvJitLink.so.12"}) {
            std::error_code ignored; // a folder that cannot be read has no library for us
            if (fs::is_regular_file(folder / name, ignored))
                if (const Nvidia *found = open(folder / name))
                    return found;
        }
    return nullptr;
}

/// The text that a pair of functions (size, content) gives.
template <class Size, class Content>
std::string text_of(nvJitLinkHandle handle, Size size_of, Content content_of) {
    std::size_t size = 0;
    if (size_of(handle, &size) != 0 || size == 0)
        return {};
    std::string text(size, '\0');
    return content_of(handle, text.data()) == 0 ? text : std::string();
}

/// NVIDIA's library takes the whole program to be in LTO-IR, and removes functions that it neither
/// calls nor knows to be called: with the list, LLVM keeps these; with --device-c, its NVVM keeps
/// all.
std::vector<std::string> options_that_keep(const Needed &needed) {
    if (needed.all)
        return {"-Xnvvm=--device-c"};
    if (needed.names.empty())
        return {};
    std::string list = "-Xnvvm=-internalize-public-api-list=";
    for (const std::string &name : needed.names)
        list += name + ",";
    list.pop_back();
    return {"-Xnvvm=-Xlnk", list};
}

std::string without_nul(std::string text) {
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n'))
        text.pop_back();
    return text;
}

} // namespace

const Nvidia *nvidia() {
    static const Nvidia *const found = search();
    return found;
}

LtoLink::LtoLink(const Nvidia &library, std::span<const std::string> options) : library_(library) {
    for (const std::string &option : options)
        if (option != "-r" && !option.starts_with("-Xptxas")) // for the step after this one
            options_.push_back(option);
    if (std::ranges::find(options_, "-ptx") == options_.end())
        options_.push_back("-ptx");
    create();
}

void LtoLink::create() {
    std::vector<const char *> words;
    for (const std::string &option : options_)
        words.push_back(option.c_str());
    const int result =
        library_.create(&handle_, static_cast<std::uint32_t>(words.size()), words.data());
    if (result == 0)
        return;
    const std::string log =
        handle_ ? without_nul(text_of(handle_, library_.error_size, library_.error)) : "";
    destroy();
    throw Failure(static_cast<nvJitLinkResult>(result), log);
}

void LtoLink::destroy() noexcept {
    if (handle_)
        library_.destroy(&handle_);
    handle_ = nullptr;
}

LtoLink::~LtoLink() { destroy(); }

void LtoLink::check(int result) const {
    if (result != 0)
        throw Failure(static_cast<nvJitLinkResult>(result),
                      without_nul(text_of(handle_, library_.error_size, library_.error)));
}

void LtoLink::add(nvJitLinkInputType type, std::span<const std::byte> data,
                  const std::string &name) {
    Input input{type, {reinterpret_cast<const char *>(data.data()), data.size()}, name};
    add(input);
    inputs_.push_back(std::move(input));
}

void LtoLink::add(const Input &input) {
    check(library_.add(handle_, input.type, input.data.data(), input.data.size(),
                       input.name.c_str()));
}

/// The needed functions are known when all inputs are, and are options of a new link.
void LtoLink::keep(const Needed &needed) {
    const std::vector<std::string> options = options_that_keep(needed);
    if (options.empty())
        return;
    options_.insert(options_.end(), options.begin(), options.end());
    destroy();
    create();
    for (const Input &input : inputs_)
        add(input);
}

std::string LtoLink::complete(const Needed &needed) {
    keep(needed);
    check(library_.complete(handle_));
    std::string ptx = without_nul(text_of(handle_, library_.ptx_size, library_.ptx));
    if (ptx.empty())
        throw Failure(NVJITLINK_ERROR_NVVM_COMPILE, "NVIDIA's nvJitLink made no PTX");
    return ptx;
}

std::string LtoLink::lto_ir() const {
    return library_.lto_ir_size ? text_of(handle_, library_.lto_ir_size, library_.lto_ir)
                                : std::string();
}

std::string LtoLink::info_log() const {
    return without_nul(text_of(handle_, library_.info_size, library_.info));
}

} // namespace softlink
