// library.cpp -- libraries and their kernels.
#include "device/library.h"
#include "api/handles.h"
#include "api/jit_options.h"
#include "device/read_image.h"
#include "rt/grid.h"

#include <span>

using namespace softcuda;
using device::Context;
using device::Kernel;
using device::Library;

namespace {

std::shared_ptr<Library> find_library(CUlibrary handle) {
    std::shared_ptr<Library> library = device::registry<Library>().find(handle);
    device::require(library != nullptr, CUDA_ERROR_INVALID_HANDLE);
    return library;
}

std::shared_ptr<Kernel> find_kernel(CUkernel handle) {
    std::shared_ptr<Kernel> kernel = device::registry<Kernel>().find(handle);
    device::require(kernel != nullptr, CUDA_ERROR_INVALID_HANDLE);
    return kernel;
}

CUkernel handle_of(Kernel &kernel) { return reinterpret_cast<CUkernel>(&kernel); }

/// `code` is an address, or the bytes of a file. The device is not yet known.
template <class Code>
CUresult load(CUlibrary *result, const Code &code, const api::JitOptions &options) {
    api::require_non_null(result);
    const int architecture = device::System::get().device(0).architecture();
    const std::uint64_t begin = rt::monotonic_nanoseconds();
    const auto milliseconds = [&] {
        return static_cast<float>(rt::monotonic_nanoseconds() - begin) / 1e6F;
    };
    std::string log;
    try {
        auto program = device::read_image(code, architecture, log);
        program->limit_registers(options.most_registers());
        auto library = std::make_shared<Library>(std::move(program));
        device::registry<Library>().add(library);
        for (const std::unique_ptr<Kernel> &kernel : library->kernels())
            device::registry<Kernel>().add(std::shared_ptr<Kernel>(library, kernel.get()));
        *result = reinterpret_cast<CUlibrary>(library.get());
    } catch (...) {
        options.report(log, {}, milliseconds());
        throw;
    }
    options.report({}, log, milliseconds());
    return CUDA_SUCCESS;
}

/// A variable of the library's module in the current context. Throws Error(not found).
device::Module::Global find_global(CUlibrary handle, Context &context, const char *name,
                                   bool managed) {
    api::require_non_null(name);
    const device::Module::Global global = find_library(handle)->module(context)->global(name);
    const bool is_managed = global.space == compiler::VariableSpace::Managed;
    device::require(global.address != 0 && is_managed == managed, CUDA_ERROR_NOT_FOUND);
    return global;
}

CUresult get_variable(CUdeviceptr *address, std::size_t *size, CUlibrary handle, const char *name,
                      bool managed) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        const device::Module::Global global = find_global(handle, context, name, managed);
        if (address)
            *address = global.address;
        if (size)
            *size = global.size;
    });
}

} // namespace

CUresult cuLibraryLoadData(CUlibrary *result, const void *code, CUjit_option *options,
                           void **values, unsigned int option_count, CUlibraryOption *, void **,
                           unsigned int) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        device::refuse_in_host_function();
        api::require_non_null(code);
        return load(result, code, api::JitOptions(option_count, options, values));
    });
}

CUresult cuLibraryLoadFromFile(CUlibrary *result, const char *path, CUjit_option *options,
                               void **values, unsigned int option_count, CUlibraryOption *, void **,
                               unsigned int) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(path);
        const std::string code = device::read_file(path);
        return load(result, std::as_bytes(std::span(code)),
                    api::JitOptions(option_count, options, values));
    });
}

CUresult cuLibraryUnload(CUlibrary handle) {
    return api::with_system<api::InCapture::Refused>([&](device::System &) {
        const std::shared_ptr<Library> library = find_library(handle);
        for (const std::shared_ptr<device::Module> &module : library->modules()) {
            module->context().wait_for_all();
            device::unregister_module(*module);
        }
        for (const std::unique_ptr<Kernel> &kernel : library->kernels())
            device::registry<Kernel>().remove(kernel.get());
        device::registry<Library>().remove(handle);
    });
}

CUresult cuLibraryGetKernel(CUkernel *result, CUlibrary handle, const char *name) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(result, name);
        Kernel *kernel = find_library(handle)->kernel(name);
        device::require(kernel != nullptr, CUDA_ERROR_NOT_FOUND);
        *result = handle_of(*kernel);
    });
}

CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary handle) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(count);
        *count = static_cast<unsigned>(find_library(handle)->kernels().size());
    });
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int count, CUlibrary handle) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(kernels);
        for (const std::unique_ptr<Kernel> &kernel : find_library(handle)->kernels()) {
            if (count-- == 0)
                return;
            *kernels++ = handle_of(*kernel);
        }
    });
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        api::require_non_null(module);
        *module = reinterpret_cast<CUmodule>(find_library(handle)->module(context).get());
    });
}

CUresult cuLibraryGetGlobal(CUdeviceptr *address, std::size_t *size, CUlibrary handle,
                            const char *name) {
    return get_variable(address, size, handle, name, false);
}

CUresult cuLibraryGetManaged(CUdeviceptr *address, std::size_t *size, CUlibrary handle,
                             const char *name) {
    return get_variable(address, size, handle, name, true);
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        api::require_non_null(function);
        *function = api::handle_of(*find_kernel(handle)->function(context));
    });
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel handle,
                              CUdevice) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        api::require_non_null(value);
        *value = find_kernel(handle)->function(context)->attribute(attribute);
    });
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel handle,
                              CUdevice) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        find_kernel(handle)->function(context)->set_attribute(attribute, value);
    });
}

CUresult cuKernelGetName(const char **name, CUkernel handle) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(name, handle);
        *name = find_kernel(handle)->info().name.c_str();
    });
}

CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel handle) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(library);
        *library = reinterpret_cast<CUlibrary>(&find_kernel(handle)->library());
    });
}

CUresult cuKernelSetCacheConfig(CUkernel handle, CUfunc_cache config, CUdevice ordinal) {
    return api::with_device<api::InCapture::Permitted>(ordinal, [&](device::Device &) {
        find_kernel(handle); // a hint, which a CPU's caches do not support
        device::require(config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL,
                        CUDA_ERROR_INVALID_VALUE);
    });
}

// Added in CUDA 13.2.
SCU_EXPORT CUresult CUDAAPI cuKernelGetParamCount(CUkernel handle, std::size_t *count) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(count);
        *count = find_kernel(handle)->info().parameters.size();
    });
}

CUresult cuKernelGetParamInfo(CUkernel handle, std::size_t index, std::size_t *offset,
                              std::size_t *size) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(offset);
        const compiler::KernelInfo &info = find_kernel(handle)->info();
        device::require(index < info.parameters.size(), CUDA_ERROR_INVALID_VALUE);
        *offset = info.parameters[index].offset;
        if (size)
            *size = info.parameters[index].size;
    });
}
