// jit_linker.cpp -- links device code with NVIDIA's nvJitLink.
#include "pycuda/jit_linker.h"

#include <algorithm>
#include <utility>

#include "nvjitlink_library.h"

#include "driver/library_call.h"

namespace pycuda {

using compile_detail::describe_nvjitlink;
using compile_detail::NvJitLinkLibrary;

namespace detail {

/// A link that is not yet complete.
struct JitLink {
    explicit JitLink(std::vector<std::string> given)
        : library(NvJitLinkLibrary::open()), options(std::move(given)) {
        std::vector<const char *> pointers;
        for (const std::string &option : options)
            pointers.push_back(option.c_str());
        check(library.create(&handle, static_cast<std::uint32_t>(pointers.size()), pointers.data()),
              "cannot begin to link");
    }
    ~JitLink() { close(); }
    JitLink(const JitLink &) = delete;
    JitLink &operator=(const JitLink &) = delete;

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

namespace {

void add_missing(std::vector<std::string> &options, const std::string &option) {
    if (std::ranges::find(options, option) == options.end())
        options.push_back(option);
}

bool names_architecture(const std::vector<std::string> &options) {
    return std::ranges::any_of(options, [](const std::string &option) {
        return option.starts_with("-arch") || option.starts_with("--arch");
    });
}

/// The text without the terminating zero byte that the library appends.
std::string without_terminator(std::string text) {
    while (!text.empty() && text.back() == '\0')
        text.pop_back();
    return text;
}

} // namespace

JitLinker::JitLinker(const Target &target, std::vector<std::string> options) {
    if (!names_architecture(options))
        options.push_back("-arch=sm_" + std::to_string(target.device.number()));
    const bool makes_ptx = target.image == ImageKind::Ptx;
    if (makes_ptx) {
        add_missing(options, "-ptx");
        add_missing(options, "-lto"); // PTX requires it
    }
    link_ = std::make_unique<detail::JitLink>(std::move(options));
    link_->makes_ptx = makes_ptx;
}

JitLinker::~JitLinker() = default;
JitLinker::JitLinker(JitLinker &&) noexcept = default;
JitLinker &JitLinker::operator=(JitLinker &&) noexcept = default;

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
    linked.image = link.makes_ptx
                       ? without_terminator(link.fetch(link.library.ptx_size, link.library.ptx))
                       : link.fetch(link.library.cubin_size, link.library.cubin);
    linked.log = without_terminator(link.fetch(link.library.info_log_size, link.library.info_log));
    link.close();
    if (linked.image.empty())
        throw CompileError(link.library.name() + " produced no image");
    return linked;
}

std::string JitLinker::version() { return NvJitLinkLibrary::open().name(); }

} // namespace pycuda
