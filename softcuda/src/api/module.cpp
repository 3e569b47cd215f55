// module.cpp -- modules.
#include "api/handles.h"
#include "api/jit_options.h"
#include "device/library.h"
#include "device/read_image.h"
#include "rt/grid.h"

#include <span>

using namespace softcuda;
using device::Context;
using device::Function;
using device::Module;

namespace softcuda::api {

std::shared_ptr<Function> find_function(CUfunction handle) {
    std::shared_ptr<Function> function = device::registry<Function>().find(handle);
    if (function)
        return function;
    // Calls with a function parameter also accept a kernel of a library.
    const auto kernel = device::registry<device::Kernel>().find(handle);
    device::require(kernel != nullptr, CUDA_ERROR_INVALID_HANDLE);
    return kernel->function(device::current_context::require_usable());
}

} // namespace softcuda::api

namespace {

CUmodule handle_of(Module &module) { return reinterpret_cast<CUmodule>(&module); }

/// Compiles an image and loads it into the context; passes the compiler's messages to the options.
/// `image` is an address, or the bytes of a file.
template <class Image>
CUresult load(Context &context, CUmodule *result, const Image &image,
              const api::JitOptions &options) {
    api::require_non_null(result);
    const int architecture = context.device().architecture();
    const std::uint64_t begin = rt::monotonic_nanoseconds();
    const auto milliseconds = [&] {
        return static_cast<float>(rt::monotonic_nanoseconds() - begin) / 1e6F;
    };
    std::string log;
    try {
        auto program = device::read_image(image, architecture, log);
        program->limit_registers(options.most_registers());
        auto module = std::make_shared<Module>(context, std::move(program));
        device::register_module(module);
        *result = handle_of(*module);
    } catch (...) {
        options.report(log, {}, milliseconds());
        throw;
    }
    options.report({}, log, milliseconds());
    return CUDA_SUCCESS;
}

} // namespace

CUresult cuModuleLoadDataEx(CUmodule *result, const void *image, unsigned int option_count,
                            CUjit_option *options, void **values) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        api::require_non_null(image);
        return load(context, result, image, api::JitOptions(option_count, options, values));
    });
}

CUresult cuModuleLoadData(CUmodule *result, const void *image) {
    return cuModuleLoadDataEx(result, image, 0, nullptr, nullptr);
}

CUresult cuModuleLoadFatBinary(CUmodule *result, const void *image) {
    return cuModuleLoadDataEx(result, image, 0, nullptr, nullptr);
}

CUresult cuModuleLoad(CUmodule *result, const char *path) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        api::require_non_null(path);
        const std::string image = device::read_file(path);
        return load(context, result, std::as_bytes(std::span(image)),
                    api::JitOptions(0, nullptr, nullptr));
    });
}

CUresult cuModuleUnload(CUmodule handle) {
    return api::with_context<api::InCapture::Refused>([&](Context &) {
        const std::shared_ptr<Module> module = api::find_module(handle);
        module->context().wait_for_all(); // its kernels may be running
        device::unregister_module(*module);
    });
}

CUresult cuModuleGetFunction(CUfunction *result, CUmodule handle, const char *name) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result, name);
        Function *function = api::find_module(handle)->function(name);
        device::require(function != nullptr, CUDA_ERROR_NOT_FOUND);
        *result = api::handle_of(*function);
    });
}

CUresult cuModuleGetGlobal(CUdeviceptr *address, std::size_t *size, CUmodule handle,
                           const char *name) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(name);
        const Module::Global global = api::find_module(handle)->global(name);
        device::require(global.address != 0, CUDA_ERROR_NOT_FOUND);
        if (address)
            *address = global.address;
        if (size)
            *size = global.size;
    });
}

CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(count);
        *count = static_cast<unsigned>(api::find_module(handle)->functions().size());
    });
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int count, CUmodule handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(functions);
        for (const std::unique_ptr<Function> &function : api::find_module(handle)->functions()) {
            if (count-- == 0)
                return;
            *functions++ = api::handle_of(*function);
        }
    });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(mode);
        *mode = CU_MODULE_LAZY_LOADING; // kernels are compiled at their first launch
    });
}
