// link.cpp -- the linker: links PTX to PTX.
//
// The result of cuLinkComplete is PTX text with a final NUL. The functions that load modules and
// libraries accept it like other PTX.
#include "api/handles.h"
#include "api/jit_options.h"
#include "compiler/program.h"
#include "device/read_image.h"
#include "rt/grid.h"

#include <cstring>
#include <span>

using namespace softcuda;
using device::Context;

namespace {

/// The link in progress that a handle represents.
struct Link {
    explicit Link(const api::JitOptions &wanted) : options(wanted) {}

    api::JitOptions options; ///< their buffers belong to the client
    int architecture = 0;
    std::mutex mutex;
    std::vector<compiler::LinkInput> inputs;
    std::string result;
};

std::shared_ptr<Link> find_link(CUlinkState handle) {
    std::shared_ptr<Link> link = device::registry<Link>().find(handle);
    device::require(link != nullptr, CUDA_ERROR_INVALID_HANDLE);
    return link;
}

/// The reason why inputs of a type cannot be linked, or null.
const char *refusal(CUjitInputType type) {
    switch (type) {
    case CU_JIT_INPUT_PTX:
    case CU_JIT_INPUT_FATBINARY:
    case CU_JIT_INPUT_CUBIN: // the result of an earlier link
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY: // may contain PTX of nvcc
        return nullptr;
    case CU_JIT_INPUT_NVVM:
        return "softcuda links PTX, not intermediate code for link-time optimisation";
    default:
        throw device::Error(CUDA_ERROR_INVALID_VALUE);
    }
}

/// Writes the messages of `body`, and of its exceptions, to the client's buffers.
template <class Body> void reporting(Link &link, Body &&body) {
    std::string log;
    try {
        body(log);
    } catch (...) {
        link.options.report(log, {}, 0);
        throw;
    }
}

void add(Link &link, CUjitInputType type, std::span<const std::byte> data, const char *name) {
    std::lock_guard lock(link.mutex);
    reporting(link, [&](std::string &log) {
        if (const char *reason = refusal(type)) {
            log = reason;
            throw device::Error(CUDA_ERROR_NOT_SUPPORTED);
        }
        const std::string named = name ? name : "input";
        if (type == CU_JIT_INPUT_OBJECT || type == CU_JIT_INPUT_LIBRARY) {
            for (device::Linkable &part : device::read_objects(data, named, link.architecture, log))
                link.inputs.push_back({std::move(part.name), std::move(part.ptx)});
            return;
        }
        std::string ptx = device::read_ptx_of(data, link.architecture, log);
        ptx.resize(std::strlen(ptx.c_str())); // the client's size may or may not include the NUL
        link.inputs.push_back({named, std::move(ptx)});
    });
}

/// A call for one link: body(link).
template <class Body> CUresult with_link(CUlinkState handle, Body &&body) noexcept {
    return api::with_context<api::InCapture::Permitted>(
        [&](Context &) { return body(*find_link(handle)); });
}

} // namespace

CUresult cuLinkCreate(unsigned int option_count, CUjit_option *options, void **values,
                      CUlinkState *result) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        api::require_non_null(result);
        auto link = std::make_shared<Link>(api::JitOptions(option_count, options, values));
        link->architecture = context.device().architecture();
        device::registry<Link>().add(link);
        *result = reinterpret_cast<CUlinkState>(link.get());
    });
}

CUresult cuLinkAddData(CUlinkState handle, CUjitInputType type, void *data, std::size_t bytes,
                       const char *name, unsigned int, CUjit_option *, void **) {
    return with_link(handle, [&](Link &link) {
        device::require(data != nullptr && bytes > 0, CUDA_ERROR_INVALID_VALUE);
        add(link, type, {static_cast<const std::byte *>(data), bytes}, name);
    });
}

CUresult cuLinkAddFile(CUlinkState handle, CUjitInputType type, const char *path, unsigned int,
                       CUjit_option *, void **) {
    return with_link(handle, [&](Link &link) {
        api::require_non_null(path);
        const std::string content = device::read_file(path);
        add(link, type, std::as_bytes(std::span(content)), path);
    });
}

CUresult cuLinkComplete(CUlinkState handle, void **image, std::size_t *bytes) {
    return with_link(handle, [&](Link &link) {
        api::require_non_null(image);
        std::lock_guard lock(link.mutex);
        const std::uint64_t begin = rt::monotonic_nanoseconds();
        reporting(link, [&](std::string &log) {
            device::require(!link.inputs.empty(), CUDA_ERROR_INVALID_VALUE);
            std::optional<compiler::Linked> linked =
                compiler::Program::link(link.inputs, log, link.options.most_registers());
            device::require(linked.has_value(), CUDA_ERROR_INVALID_PTX);
            // Undefined symbols are an error of the link.
            device::require(compiler::Program::from_ptx(linked->ptx, log) != nullptr,
                            CUDA_ERROR_INVALID_PTX);
            link.result = std::move(linked->ptx);
        });
        const std::uint64_t took = rt::monotonic_nanoseconds() - begin;
        link.options.report({}, {}, static_cast<float>(took) / 1e6F);
        *image = link.result.data();
        if (bytes)
            *bytes = link.result.size() + 1;
    });
}

CUresult cuLinkDestroy(CUlinkState handle) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        device::require(device::registry<Link>().remove(handle) != nullptr,
                        CUDA_ERROR_INVALID_HANDLE);
    });
}

#undef cuLinkCreate
#undef cuLinkAddData
#undef cuLinkAddFile
SCU_EXPORT CUresult CUDAAPI cuLinkCreate(unsigned int option_count, CUjit_option *options,
                                         void **values, CUlinkState *result) {
    return cuLinkCreate_v2(option_count, options, values, result);
}

SCU_EXPORT CUresult CUDAAPI cuLinkAddData(CUlinkState handle, CUjitInputType type, void *data,
                                          std::size_t bytes, const char *name, unsigned int count,
                                          CUjit_option *options, void **values) {
    return cuLinkAddData_v2(handle, type, data, bytes, name, count, options, values);
}

SCU_EXPORT CUresult CUDAAPI cuLinkAddFile(CUlinkState handle, CUjitInputType type, const char *path,
                                          unsigned int count, CUjit_option *options,
                                          void **values) {
    return cuLinkAddFile_v2(handle, type, path, count, options, values);
}
