// stream.cpp -- streams, and their host functions.
#include "api/call.h"
#include "api/default_stream.h"
#include "device/event.h"
#include "device/graphs/capture.h"
#include "device/green_context.h"
#include "device/host_function.h"
#include "device/registry.h"

#include <algorithm>

using namespace softcuda;
using device::Context;
using device::HostFunction;
using device::Stream;

namespace softcuda::api {

std::shared_ptr<Stream> find_stream(Context &context, CUstream handle) {
    if (handle == CU_STREAM_PER_THREAD || (!handle && PerThreadDefaultStream::active()))
        return context.per_thread_stream();
    if (!handle || handle == CU_STREAM_LEGACY) {
        device::GreenContext *green = device::current_context::green();
        return green ? green->default_stream() : context.legacy_stream();
    }
    std::shared_ptr<Stream> stream = device::registry<Stream>().find(handle);
    device::require(stream != nullptr, CUDA_ERROR_INVALID_HANDLE);
    return stream;
}

ContextOfStream::ContextOfStream(CUstream handle) {
    const bool is_default = !handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
    if (is_default)
        device::refuse_in_host_function();
    if (is_default || device::current_context::get())
        return;
    if (const std::shared_ptr<Stream> stream = device::registry<Stream>().find(handle)) {
        device::current_context::push(stream->context());
        pushed_ = true;
    }
}

ContextOfStream::~ContextOfStream() {
    if (pushed_)
        device::current_context::pop();
}

} // namespace softcuda::api

namespace {

/// A call for one stream: body(stream).
template <class Body> CUresult with_stream(CUstream handle, Body &&body) noexcept {
    return api::with_context_of(
        handle, [&](Context &context) { return body(*api::find_stream(context, handle)); });
}

} // namespace

CUresult cuStreamCreateWithPriority(CUstream *result, unsigned int flags, int priority) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        api::require_non_null(result);
        device::require((flags & ~unsigned{CU_STREAM_NON_BLOCKING}) == 0, CUDA_ERROR_INVALID_VALUE);
        const int clamped = std::clamp(priority, device::kGreatestPriority, device::kLeastPriority);
        const Stream::Kind kind =
            flags & CU_STREAM_NON_BLOCKING ? Stream::Kind::NonBlocking : Stream::Kind::Blocking;
        if (device::GreenContext *green = device::current_context::green()) {
            *result = reinterpret_cast<CUstream>(green->create_stream(kind, clamped).get());
            return;
        }
        auto stream = std::make_shared<Stream>(context, kind, clamped);
        device::System::get().timeline().add_stream(stream);
        device::registry<Stream>().add(stream);
        *result = reinterpret_cast<CUstream>(stream.get());
    });
}

CUresult cuStreamCreate(CUstream *result, unsigned int flags) {
    return cuStreamCreateWithPriority(result, flags, device::kLeastPriority);
}

CUresult cuStreamDestroy(CUstream handle) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &system) {
        const std::shared_ptr<Stream> stream = device::registry<Stream>().remove(handle);
        device::require(stream != nullptr, CUDA_ERROR_INVALID_HANDLE);
        device::capture::forget(*stream);
        system.timeline().remove_stream(stream);
    });
}

CUresult cuStreamQuery(CUstream handle) {
    return with_stream(handle, [](Stream &stream) {
        device::capture::forbid(stream);
        device::capture::forbid_unsafe_calls();
        device::Timeline &timeline = device::System::get().timeline();
        if (!timeline.pending(stream).empty()) {
            timeline.let_advance();
            if (!timeline.pending(stream).empty())
                return api::not_ready_yet();
        }
        stream.context().collect_output();
        stream.context().throw_error();
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamSynchronize(CUstream handle) {
    return with_stream(handle, [](Stream &stream) {
        device::capture::forbid_unsafe_calls();
        stream.context().synchronize(stream);
    });
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned int flags) {
    return with_stream(handle, [&](Stream &stream) {
        device::require(flags == CU_EVENT_WAIT_DEFAULT || flags == CU_EVENT_WAIT_EXTERNAL,
                        CUDA_ERROR_INVALID_VALUE);
        auto event = device::registry<device::Event>().find(event_handle);
        device::require(event != nullptr, CUDA_ERROR_INVALID_HANDLE);
        if (flags == CU_EVENT_WAIT_DEFAULT)
            return event->hold(stream);
        device::require(
            device::capture::any() &&
                device::capture::add(
                    stream, device::EventWork{.event = std::move(event), .records = false}),
            CUDA_ERROR_ILLEGAL_STATE);
    });
}

CUresult cuStreamGetPriority(CUstream handle, int *priority) {
    return with_stream(handle, [&](Stream &stream) {
        api::require_non_null(priority);
        *priority = stream.priority();
    });
}

CUresult cuStreamGetFlags(CUstream handle, unsigned int *flags) {
    return with_stream(handle, [&](Stream &stream) {
        api::require_non_null(flags);
        device::capture::forbid(stream); // as on a GPU
        *flags =
            stream.kind() == Stream::Kind::NonBlocking ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT;
    });
}

CUresult cuStreamGetId(CUstream handle, unsigned long long *id) {
    return with_stream(handle, [&](Stream &stream) {
        api::require_non_null(id);
        *id = stream.id();
    });
}

#undef cuStreamGetCtx
SCU_EXPORT CUresult CUDAAPI cuStreamGetCtx(CUstream handle, CUcontext *context) {
    return with_stream(handle, [&](Stream &stream) {
        api::require_non_null(context);
        const auto green = stream.confined_to();
        *context = green ? reinterpret_cast<CUcontext>(green.get())
                         : reinterpret_cast<CUcontext>(&stream.context());
    });
}

SCU_EXPORT CUresult CUDAAPI cuStreamGetCtx_v2(CUstream handle, CUcontext *context,
                                              CUgreenCtx *green) {
    return with_stream(handle, [&](Stream &stream) {
        api::require_non_null(context);
        *context = reinterpret_cast<CUcontext>(&stream.context());
        if (green)
            *green = reinterpret_cast<CUgreenCtx>(stream.confined_to().get());
    });
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void *argument) {
    return with_stream(handle, [&](Stream &stream) {
        device::require(function != nullptr, CUDA_ERROR_INVALID_VALUE);
        if (device::capture::any() &&
            device::capture::add(stream, device::HostWork{function, argument}))
            return;
        device::enqueue_host_function(
            stream, [=](CUresult) { device::run_host_function([&] { function(argument); }); },
            HostFunction::OnError::Skip);
    });
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void *argument,
                             unsigned int flags) {
    return with_stream(handle, [&](Stream &stream) {
        device::require(callback != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
        device::capture::forbid(stream); // no node of a graph calls a callback
        device::enqueue_host_function(
            stream,
            [=](CUresult status) {
                device::run_host_function([&] { callback(handle, status, argument); });
            },
            HostFunction::OnError::Call);
    });
}

CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr address, std::size_t,
                                unsigned int flags) {
    return with_stream(handle, [&](Stream &stream) {
        device::capture::forbid(stream);
        const auto allocation = device::System::get().memory().find(address);
        device::require(allocation && allocation->is_managed() &&
                            flags <=
                                (CU_MEM_ATTACH_GLOBAL | CU_MEM_ATTACH_HOST | CU_MEM_ATTACH_SINGLE),
                        CUDA_ERROR_INVALID_VALUE);
    });
}
