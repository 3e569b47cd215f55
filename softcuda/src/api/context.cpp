// context.cpp -- contexts, and the calling thread's stack of contexts.
#include "api/call.h"

#include "device/green_context.h"
#include "device/registry.h"

using namespace softcuda;
using device::Context;

namespace {

constexpr unsigned kContextFlags = CU_CTX_FLAGS_MASK;

CUcontext handle_of(Context *context) { return reinterpret_cast<CUcontext>(context); }

std::shared_ptr<device::GreenContext> find_green(CUcontext handle) {
    return device::registry<device::GreenContext>().find(handle);
}

/// A green context has a separate handle, which represents it and the primary context.
CUcontext current_handle() {
    if (device::GreenContext *green = device::current_context::green())
        return reinterpret_cast<CUcontext>(green);
    return handle_of(device::current_context::get());
}

/// The context of a handle. Throws Error(invalid context).
std::shared_ptr<Context> find_context(CUcontext handle) {
    if (const auto green = find_green(handle))
        return green->context().shared_from_this();
    std::shared_ptr<Context> context = device::registry<Context>().find(handle);
    device::require(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    return context;
}

/// The context of a handle, or the current context for null.
std::shared_ptr<Context> find_or_current(CUcontext handle) {
    return handle ? find_context(handle)
                  : device::current_context::require_usable().shared_from_this();
}

CUresult create_context(CUcontext *result, unsigned flags, CUdevice ordinal) {
    return api::with_device<api::InCapture::Permitted>(ordinal, [&](device::Device &device) {
        api::require_non_null(result);
        device::require((flags & ~kContextFlags) == 0, CUDA_ERROR_INVALID_VALUE);
        auto context = std::make_shared<Context>(device, flags, Context::Role::Created);
        device::registry<Context>().add(context);
        device::current_context::push(*context);
        *result = handle_of(context.get());
    });
}

} // namespace

SCU_EXPORT CUresult CUDAAPI cuCtxCreate_v2(CUcontext *result, unsigned int flags,
                                           CUdevice ordinal) {
    return create_context(result, flags, ordinal);
}

SCU_EXPORT CUresult CUDAAPI cuCtxCreate_v3(CUcontext *result, CUexecAffinityParam *, int affinities,
                                           unsigned int flags, CUdevice ordinal) {
    if (affinities != 0) // a share of the multiprocessors, for which CUDA needs MPS
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return create_context(result, flags, ordinal);
}

SCU_EXPORT CUresult CUDAAPI cuCtxCreate_v4(CUcontext *result, CUctxCreateParams *params,
                                           unsigned int flags, CUdevice ordinal) {
    if (params && params->numExecAffinityParams != 0)
        return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return create_context(result, flags, ordinal);
}

CUresult cuCtxDestroy(CUcontext handle) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        const std::shared_ptr<Context> context = find_context(handle);
        device::require(!context->is_primary(), CUDA_ERROR_INVALID_CONTEXT);
        Context::destroy(context);
        if (device::current_context::get() == context.get())
            device::current_context::pop();
    });
}

CUresult cuCtxPushCurrent(CUcontext handle) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        device::refuse_in_host_function();
        device::current_context::push(*find_context(handle), find_green(handle));
    });
}

CUresult cuCtxPopCurrent(CUcontext *result) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        device::refuse_in_host_function();
        const CUcontext popped = current_handle();
        device::current_context::pop();
        if (result)
            *result = popped;
    });
}

CUresult cuCtxSetCurrent(CUcontext handle) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        device::refuse_in_host_function();
        device::current_context::set(handle ? find_context(handle).get() : nullptr,
                                     find_green(handle));
    });
}

CUresult cuCtxGetCurrent(CUcontext *result) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        device::refuse_in_host_function();
        api::require_non_null(result);
        *result = current_handle();
    });
}

CUresult cuCtxGetDevice(CUdevice *result) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(result);
        Context *context = device::current_context::get();
        device::require(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
        *result = context->device().ordinal();
    });
}

CUresult cuCtxGetFlags(unsigned int *flags) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        api::require_non_null(flags);
        *flags = context.flags();
    });
}

CUresult cuCtxSetFlags(unsigned int flags) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        device::require((flags & ~kContextFlags) == 0, CUDA_ERROR_INVALID_VALUE);
        context.set_flags(flags);
    });
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long *id) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(id);
        *id = find_or_current(handle)->id();
    });
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned int *version) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(version);
        find_or_current(handle);
        *version = 3020; // the version of the cuCtx functions, which has not changed since
    });
}

CUresult cuCtxSynchronize() {
    return api::with_context<api::InCapture::Permitted>(
        [](Context &context) { context.synchronize(); });
}

CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
    return api::with_context<api::InCapture::Refused>(
        [&](Context &context) { context.set_limit(limit, value); });
}

CUresult cuCtxGetLimit(std::size_t *value, CUlimit limit) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        api::require_non_null(value);
        *value = context.limit(limit);
    });
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *config) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(config);
        *config = CU_FUNC_CACHE_PREFER_NONE; // shared memory and cache are separate here
    });
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
    return api::with_context<api::InCapture::Refused>([&](Context &) {
        device::require(config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL,
                        CUDA_ERROR_INVALID_VALUE);
    });
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(config);
        *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    });
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        device::require(config >= CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE &&
                            config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE,
                        CUDA_ERROR_INVALID_VALUE);
    });
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        if (least)
            *least = device::kLeastPriority;
        if (greatest)
            *greatest = device::kGreatestPriority;
    });
}

CUresult cuCtxResetPersistingL2Cache() {
    return api::with_context<api::InCapture::Permitted>(
        [](Context &) {}); // no cache is reserved here
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        device::require(flags == 0, CUDA_ERROR_INVALID_VALUE);
        Context &other = *find_context(peer);
        device::require(&other.device() != &context.device(), CUDA_ERROR_INVALID_DEVICE);
        context.enable_peer(other);
    });
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
    return api::with_context<api::InCapture::Permitted>(
        [&](Context &context) { context.disable_peer(*find_context(peer)); });
}
