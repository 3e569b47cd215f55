// entry_points.cpp -- the exported functions: check, lock, forward, convert exceptions to results.
#include "failure.h"
#include "link.h"
#include "nvjitlink_api.h"

#include <cstring>
#include <map>
#include <new>

#define NVJITLINK_EXPORT extern "C" __attribute__((visibility("default"))) nvJitLinkResult

using namespace softlink;

namespace {

constexpr int kMajor = NVJITLINK_MAJOR;
constexpr unsigned kMinor = kMajor == 12 ? 9 : 5; ///< of the header whose functions these are

/// The result as the clients of this major version know it (nvJitLink.h of CUDA 12 has the table).
nvJitLinkResult known(nvJitLinkResult result) noexcept {
    if (kMajor > 12)
        return result;
    switch (result) {
    case NVJITLINK_ERROR_NULL_INPUT:
    case NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS:
    case NVJITLINK_ERROR_INCORRECT_INPUT_TYPE:
        return NVJITLINK_ERROR_INVALID_INPUT;
    case NVJITLINK_ERROR_UNRECOGNIZED_ARCH:
        return NVJITLINK_ERROR_UNRECOGNIZED_OPTION;
    case NVJITLINK_ERROR_ARCH_MISMATCH:
    case NVJITLINK_ERROR_LTO_NOT_ENABLED:
        return NVJITLINK_ERROR_INTERNAL;
    default:
        return result;
    }
}

/// Runs `body`; catches all exceptions. `log` gets the messages.
template <class Body> nvJitLinkResult guarded(Link *log, Body &&body) noexcept {
    try {
        try {
            body();
            return NVJITLINK_SUCCESS;
        } catch (const Failure &failure) {
            if (log)
                log->log_error(failure.message());
            return known(failure.result());
        } catch (const std::exception &error) {
            if (log)
                log->log_error(error.what());
        }
    } catch (const std::bad_alloc &) { // there is no memory for the message
    }
    return NVJITLINK_ERROR_INTERNAL;
}

/// The links that exist, so that an invalid handle is an error and not a crash.
class Links {
  public:
    nvJitLinkHandle add(std::shared_ptr<Link> link) {
        const std::lock_guard lock(mutex_);
        const auto handle = reinterpret_cast<nvJitLinkHandle>(link.get());
        links_[handle] = std::move(link);
        return handle;
    }
    std::shared_ptr<Link> find(nvJitLinkHandle handle) {
        require(handle != nullptr, NVJITLINK_ERROR_NULL_INPUT);
        const std::lock_guard lock(mutex_);
        const auto found = links_.find(handle);
        require(found != links_.end(), NVJITLINK_ERROR_INVALID_INPUT);
        return found->second;
    }
    void remove(nvJitLinkHandle handle) {
        std::shared_ptr<Link> removed = find(handle); // is destroyed without the lock
        const std::lock_guard lock(mutex_);
        links_.erase(handle);
    }

  private:
    std::mutex mutex_;
    std::map<nvJitLinkHandle, std::shared_ptr<Link>> links_;
};

Links &links() {
    static auto *const all = new Links; // never destroyed: threads may link while the process ends
    return *all;
}

/// A call for one link: body(link), whose messages go to the link's log.
template <class Body> nvJitLinkResult with_link(nvJitLinkHandle handle, Body &&body) noexcept {
    return guarded(nullptr, [&] {
        const std::shared_ptr<Link> link = links().find(handle);
        const std::lock_guard lock(link->mutex());
        const nvJitLinkResult result = guarded(link.get(), [&] { body(*link); });
        require(result == NVJITLINK_SUCCESS, result);
    });
}

template <class... Pointers> void require_non_null(const Pointers *...pointers) {
    require(((pointers != nullptr) && ...), NVJITLINK_ERROR_NULL_INPUT);
}

/// The size of a text with its final NUL; 0 if it is empty.
std::size_t size_of(const std::string &text) { return text.empty() ? 0 : text.size() + 1; }

using TextOf = const std::string &(Link::*)() const;

nvJitLinkResult give_size(nvJitLinkHandle handle, std::size_t *size, TextOf text) noexcept {
    return with_link(handle, [&](Link &link) {
        require_non_null(size);
        *size = size_of((link.*text)());
    });
}

nvJitLinkResult give_text(nvJitLinkHandle handle, void *to, TextOf text) noexcept {
    return with_link(handle, [&](Link &link) {
        require_non_null(to);
        const std::string &found = (link.*text)();
        std::memcpy(to, found.c_str(), size_of(found));
    });
}

nvJitLinkResult create(nvJitLinkHandle *handle, std::uint32_t count, const char **options) {
    require_non_null(handle);
    require(count == 0 || options != nullptr, NVJITLINK_ERROR_NULL_INPUT);
    auto link = std::make_shared<Link>();
    const nvJitLinkResult result = link->start({options, count}, kMajor);
    *handle = links().add(std::move(link)); // after a failure as well: it has the log
    return result;
}

} // namespace

/// A mark by which this library is not taken for NVIDIA's.
extern "C" __attribute__((visibility("default"))) const int softcuda_nvjitlink = kMajor;

NVJITLINK_EXPORT nvJitLinkCreate(nvJitLinkHandle *handle, std::uint32_t count,
                                 const char **options) {
    return guarded(nullptr, [&] {
        const nvJitLinkResult result = create(handle, count, options);
        require(result == NVJITLINK_SUCCESS, result);
    });
}

NVJITLINK_EXPORT nvJitLinkDestroy(nvJitLinkHandle *handle) {
    return guarded(nullptr, [&] {
        require_non_null(handle);
        links().remove(*handle);
        *handle = nullptr;
    });
}

NVJITLINK_EXPORT nvJitLinkAddData(nvJitLinkHandle handle, nvJitLinkInputType type, const void *data,
                                  std::size_t size, const char *name) {
    return with_link(handle, [&](Link &link) {
        require(data != nullptr, NVJITLINK_ERROR_INVALID_INPUT);
        link.add(type, {static_cast<const std::byte *>(data), size}, name ? name : "input");
    });
}

NVJITLINK_EXPORT nvJitLinkAddFile(nvJitLinkHandle handle, nvJitLinkInputType type,
                                  const char *path) {
    return with_link(handle, [&](Link &link) {
        require_non_null(path);
        link.add_file(type, path);
    });
}

NVJITLINK_EXPORT nvJitLinkComplete(nvJitLinkHandle handle) {
    return with_link(handle, [&](Link &link) { link.complete(); });
}

NVJITLINK_EXPORT nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, std::size_t *size) {
    return give_size(handle, size, &Link::cubin);
}

NVJITLINK_EXPORT nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void *cubin) {
    return give_text(handle, cubin, &Link::cubin);
}

NVJITLINK_EXPORT nvJitLinkGetLinkedPtxSize(nvJitLinkHandle handle, std::size_t *size) {
    return give_size(handle, size, &Link::ptx);
}

NVJITLINK_EXPORT nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char *ptx) {
    return give_text(handle, ptx, &Link::ptx);
}

NVJITLINK_EXPORT nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, std::size_t *size) {
    return give_size(handle, size, &Link::error_log);
}

NVJITLINK_EXPORT nvJitLinkGetErrorLog(nvJitLinkHandle handle, char *log) {
    return give_text(handle, log, &Link::error_log);
}

NVJITLINK_EXPORT nvJitLinkGetInfoLogSize(nvJitLinkHandle handle, std::size_t *size) {
    return give_size(handle, size, &Link::info_log);
}

NVJITLINK_EXPORT nvJitLinkGetInfoLog(nvJitLinkHandle handle, char *log) {
    return give_text(handle, log, &Link::info_log);
}

NVJITLINK_EXPORT nvJitLinkVersion(unsigned *major, unsigned *minor) {
    return guarded(nullptr, [&] {
        require_non_null(major, minor);
        *major = kMajor;
        *minor = kMinor;
    });
}

#if NVJITLINK_MAJOR == 13
NVJITLINK_EXPORT nvJitLinkGetLinkedLTOIRSize(nvJitLinkHandle handle, std::size_t *size) {
    return with_link(handle, [&](Link &link) {
        require_non_null(size);
        *size = link.lto_ir().size();
    });
}

NVJITLINK_EXPORT nvJitLinkGetLinkedLTOIR(nvJitLinkHandle handle, void *lto_ir) {
    return with_link(handle, [&](Link &link) {
        require_non_null(lto_ir);
        const std::string found = link.lto_ir();
        std::memcpy(lto_ir, found.data(), found.size());
    });
}
#endif

// The names with a version, which nvJitLink.h uses.
#define VERSIONED(name, version)                                                                   \
    extern "C"                                                                                     \
        __attribute__((visibility("default"), alias(#name))) decltype(name) __##name##_##version;
#if NVJITLINK_MAJOR == 13
#define NVJITLINK_FUNCTION(name)                                                                   \
    VERSIONED(name, 13_0)                                                                          \
    VERSIONED(name, 13_1)                                                                          \
    VERSIONED(name, 13_2) VERSIONED(name, 13_3) VERSIONED(name, 13_4) VERSIONED(name, 13_5)
#define NVJITLINK_FUNCTION_13(name) NVJITLINK_FUNCTION(name)
#else
#define NVJITLINK_FUNCTION(name)                                                                   \
    VERSIONED(name, 12_0)                                                                          \
    VERSIONED(name, 12_1)                                                                          \
    VERSIONED(name, 12_2)                                                                          \
    VERSIONED(name, 12_3)                                                                          \
    VERSIONED(name, 12_4)                                                                          \
    VERSIONED(name, 12_5)                                                                          \
    VERSIONED(name, 12_6)                                                                          \
    VERSIONED(name, 12_7) VERSIONED(name, 12_8) VERSIONED(name, 12_9)
#define NVJITLINK_FUNCTION_13(name)
#endif
#include "nvjitlink.def"
