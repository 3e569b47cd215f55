// event.cpp -- events.
#include "device/event.h"
#include "api/call.h"
#include "api/default_stream.h"
#include "device/graphs/capture.h"
#include "device/registry.h"

using namespace softcuda;
using device::Context;
using device::Event;

namespace {

std::shared_ptr<Event> find_event(CUevent handle) {
    std::shared_ptr<Event> event = device::registry<Event>().find(handle);
    device::require(event != nullptr, CUDA_ERROR_INVALID_HANDLE);
    return event;
}

CUresult elapsed_time(float *milliseconds, CUevent begin, CUevent end) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(milliseconds);
        const std::shared_ptr<Event> first = find_event(begin), last = find_event(end);
        device::capture::require_not_captured(*first);
        device::capture::require_not_captured(*last);
        *milliseconds = last->milliseconds_since(*first);
    });
}

} // namespace

CUresult cuEventCreate(CUevent *result, unsigned int flags) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        constexpr unsigned known =
            CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
        api::require_non_null(result);
        device::require((flags & ~known) == 0, CUDA_ERROR_INVALID_VALUE);
        const bool shared = (flags & CU_EVENT_INTERPROCESS) != 0;
        device::require(!shared || (flags & CU_EVENT_DISABLE_TIMING) != 0,
                        CUDA_ERROR_INVALID_VALUE);
        auto event = std::make_shared<Event>(
            context, flags, shared ? std::make_shared<device::EventShare>() : nullptr);
        device::registry<Event>().add(event);
        *result = reinterpret_cast<CUevent>(event.get());
    });
}

CUresult cuEventDestroy(CUevent handle) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        const std::shared_ptr<Event> event = device::registry<Event>().remove(handle);
        device::require(event != nullptr, CUDA_ERROR_INVALID_HANDLE);
        device::capture::forget(*event);
    });
}

CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream, unsigned int flags) {
    return api::with_context_of(stream, [&](Context &context) {
        device::require(flags == CU_EVENT_RECORD_DEFAULT || flags == CU_EVENT_RECORD_EXTERNAL,
                        CUDA_ERROR_INVALID_VALUE);
        std::shared_ptr<Event> event = find_event(handle);
        const std::shared_ptr<device::Stream> in = api::find_stream(context, stream);
        if (flags == CU_EVENT_RECORD_DEFAULT)
            return event->record(*in);
        device::require(device::capture::any() &&
                            device::capture::add(
                                *in, device::EventWork{.event = std::move(event), .records = true}),
                        CUDA_ERROR_ILLEGAL_STATE);
    });
}

CUresult cuEventRecord(CUevent handle, CUstream stream) {
    return cuEventRecordWithFlags(handle, stream, CU_EVENT_RECORD_DEFAULT);
}

CUresult cuEventQuery(CUevent handle) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        const std::shared_ptr<Event> event = find_event(handle);
        device::capture::forbid(*event);
        device::capture::forbid_unsafe_calls();
        if (!event->query())
            return api::not_ready_yet();
        event->context().collect_output();
        event->context().throw_error();
        return CUDA_SUCCESS;
    });
}

SCU_EXPORT CUresult scuEventIsOver(CUevent handle) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        return find_event(handle)->is_over() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    });
}

CUresult cuEventSynchronize(CUevent handle) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        const std::shared_ptr<Event> event = find_event(handle);
        device::capture::forbid(*event);
        device::capture::forbid_unsafe_calls();
        event->synchronize();
        event->context().collect_output();
        event->context().throw_error();
    });
}

#undef cuEventElapsedTime
SCU_EXPORT CUresult CUDAAPI cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end) {
    return elapsed_time(milliseconds, begin, end);
}

SCU_EXPORT CUresult CUDAAPI cuEventElapsedTime_v2(float *milliseconds, CUevent begin, CUevent end) {
    return elapsed_time(milliseconds, begin, end);
}
