// green_context.cpp -- parts of a device's multiprocessors, and green contexts with these parts.
#include "device/green_context.h"
#include "api/call.h"
#include "api/default_stream.h"
#include "device/graphs/capture.h"
#include "device/registry.h"

#include <algorithm>
#include <cstring>
#include <span>

using namespace softcuda;
using device::Context;
using device::Event;
using device::GreenContext;
using device::MultiprocessorRange;
using device::ResourceDescription;
using device::Stream;

namespace {

/// The range of multiprocessors, stored in the padding of CUdevResource.
struct Hidden {
    char maker[8] = {'s', 'o', 'f', 't', 'c', 'u', 'd', 'a'};
    MultiprocessorRange range;
};
static_assert(sizeof(Hidden) <= sizeof(CUdevResource::_internal_padding));

/// The granularity of groups. As on GPUs of compute capability 8, it is two multiprocessors, unless
/// the client requests less or there is only one.
unsigned partition_of(const MultiprocessorRange &range) {
    const device::Device &device = device::System::get().device(range.device);
    return std::min(2U, device.multiprocessors());
}

/// The client's resource for a range; an empty range is a resource without a type.
CUdevResource resource_of(const MultiprocessorRange &range) {
    CUdevResource resource{};
    if (range.count == 0)
        return resource;
    Hidden hidden;
    hidden.range = range;
    resource.type = CU_DEV_RESOURCE_TYPE_SM;
    std::memcpy(resource._internal_padding, &hidden, sizeof hidden);
    resource.sm.smCount = range.count;
    resource.sm.minSmPartitionSize = partition_of(range);
    resource.sm.smCoscheduledAlignment = partition_of(range);
    return resource;
}

/// Throws Error(invalid resource type, invalid value) for a resource that this driver did not
/// create.
MultiprocessorRange range_of(const CUdevResource &resource) {
    device::require(resource.type == CU_DEV_RESOURCE_TYPE_SM, CUDA_ERROR_INVALID_RESOURCE_TYPE);
    Hidden hidden;
    std::memcpy(&hidden, resource._internal_padding, sizeof hidden);
    device::require(std::memcmp(hidden.maker, Hidden().maker, sizeof hidden.maker) == 0 &&
                        hidden.range.count == resource.sm.smCount,
                    CUDA_ERROR_INVALID_VALUE);
    return hidden.range;
}

MultiprocessorRange all_of(const device::Device &device) {
    return {.device = device.ordinal(), .first = 0, .count = device.multiprocessors()};
}

void give(CUdevResource *result, CUdevResourceType type, const MultiprocessorRange &range) {
    api::require_non_null(result);
    device::require(type == CU_DEV_RESOURCE_TYPE_SM, CUDA_ERROR_INVALID_RESOURCE_TYPE);
    *result = resource_of(range);
}

std::shared_ptr<GreenContext> find_green(CUgreenCtx handle) {
    std::shared_ptr<GreenContext> green = device::registry<GreenContext>().find(handle);
    device::require(green != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    return green;
}

CUgreenCtx handle_of(const std::shared_ptr<GreenContext> &green) {
    return reinterpret_cast<CUgreenCtx>(green.get());
}

std::shared_ptr<Event> find_event(CUevent handle) {
    std::shared_ptr<Event> event = device::registry<Event>().find(handle);
    device::require(event != nullptr, CUDA_ERROR_INVALID_HANDLE);
    return event;
}

/// The green context of a context's handle, or null; returns the context if the handle is that of a
/// context.
std::shared_ptr<GreenContext> green_behind(CUcontext handle) {
    return device::registry<GreenContext>().find(handle);
}

std::shared_ptr<Context> find_context(CUcontext handle) {
    std::shared_ptr<Context> context = device::registry<Context>().find(handle);
    device::require(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    return context;
}

} // namespace

CUresult cuDeviceGetDevResource(CUdevice ordinal, CUdevResource *result, CUdevResourceType type) {
    return api::with_device<api::InCapture::Permitted>(
        ordinal, [&](device::Device &device) { give(result, type, all_of(device)); });
}

CUresult cuCtxGetDevResource(CUcontext handle, CUdevResource *result, CUdevResourceType type) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        const auto green = green_behind(handle);
        give(result, type, green ? green->range() : all_of(find_context(handle)->device()));
    });
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx handle, CUdevResource *result,
                                  CUdevResourceType type) {
    return api::with_system<api::InCapture::Permitted>(
        [&](device::System &) { give(result, type, find_green(handle)->range()); });
}

CUresult cuDevSmResourceSplitByCount(CUdevResource *result, unsigned int *groups,
                                     const CUdevResource *input, CUdevResource *remaining,
                                     unsigned int flags, unsigned int least) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(groups, input);
        constexpr unsigned kAlone = 1,
                           kLargeClusters = 2; // CU_DEV_SM_RESOURCE_SPLIT_*, of CUDA 12.9
        device::require((flags & ~(kAlone | kLargeClusters)) == 0, CUDA_ERROR_INVALID_VALUE);
        const MultiprocessorRange whole = range_of(*input);
        least = rt::round_up(std::max(least, 1U), flags & kAlone ? 1 : partition_of(whole));
        device::require(least <= whole.count, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
        const unsigned most = whole.count / least;
        *groups = result ? std::min(*groups, most) : most;
        MultiprocessorRange part = {.device = whole.device, .first = whole.first, .count = least};
        for (unsigned group = 0; group < *groups; group++, part.first += least)
            if (result)
                result[group] = resource_of(part);
        part.count = whole.first + whole.count - part.first;
        if (remaining)
            *remaining = resource_of(part);
    });
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *result, CUdevResource *resources,
                                   unsigned int count) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(result, resources);
        device::require(count > 0, CUDA_ERROR_INVALID_VALUE);
        auto description = std::make_shared<ResourceDescription>();
        for (const CUdevResource &resource : std::span(resources, count)) {
            const MultiprocessorRange range = range_of(resource);
            for (const MultiprocessorRange &other : description->ranges)
                device::require(other.device == range.device && !other.overlaps(range),
                                CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
            description->ranges.push_back(range);
        }
        device::registry<ResourceDescription>().add(
            description); // CUDA has no function that frees one
        *result = reinterpret_cast<CUdevResourceDesc>(description.get());
    });
}

CUresult cuGreenCtxCreate(CUgreenCtx *result, CUdevResourceDesc handle, CUdevice ordinal,
                          unsigned int flags) {
    return api::with_device<api::InCapture::Permitted>(ordinal, [&](device::Device &device) {
        api::require_non_null(result);
        device::require(flags == CU_GREEN_CTX_DEFAULT_STREAM, CUDA_ERROR_INVALID_VALUE);
        const auto description = device::registry<ResourceDescription>().find(handle);
        device::require(description && description->ranges.front().device == device.ordinal(),
                        CUDA_ERROR_INVALID_VALUE);
        auto green = std::make_shared<GreenContext>(device, description->ranges);
        device::registry<GreenContext>().add(green);
        *result = handle_of(green);
    });
}

CUresult cuGreenCtxDestroy(CUgreenCtx handle) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        device::require(device::registry<GreenContext>().remove(handle) != nullptr,
                        CUDA_ERROR_INVALID_CONTEXT);
    });
}

CUresult cuCtxFromGreenCtx(CUcontext *result, CUgreenCtx handle) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(result);
        *result = reinterpret_cast<CUcontext>(find_green(handle).get());
    });
}

CUresult cuGreenCtxGetId(CUgreenCtx handle, unsigned long long *id) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(id);
        *id = find_green(handle)->id();
    });
}

CUresult cuGreenCtxStreamCreate(CUstream *result, CUgreenCtx handle, unsigned int flags,
                                int priority) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(result);
        device::require(flags == CU_STREAM_NON_BLOCKING, CUDA_ERROR_INVALID_VALUE);
        *result = reinterpret_cast<CUstream>(
            find_green(handle)
                ->create_stream(
                    Stream::Kind::NonBlocking,
                    std::clamp(priority, device::kGreatestPriority, device::kLeastPriority))
                .get());
    });
}

CUresult cuStreamGetGreenCtx(CUstream handle, CUgreenCtx *result) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        api::require_non_null(result);
        *result = handle_of(api::find_stream(context, handle)->confined_to());
    });
}

CUresult cuGreenCtxRecordEvent(CUgreenCtx handle, CUevent event) {
    return api::with_system<api::InCapture::Permitted>(
        [&](device::System &) { find_green(handle)->record(*find_event(event)); });
}

CUresult cuGreenCtxWaitEvent(CUgreenCtx handle, CUevent event) {
    return api::with_system<api::InCapture::Permitted>(
        [&](device::System &) { find_green(handle)->hold(*find_event(event)); });
}

CUresult cuCtxRecordEvent(CUcontext handle, CUevent event) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &system) {
        if (const auto green = green_behind(handle))
            return green->record(*find_event(event));
        const std::shared_ptr<Context> context = find_context(handle);
        device::capture::forbid(*context);
        device::capture::forbid_unsafe_calls();
        record_all(*context, system.timeline().streams(*context), *find_event(event));
    });
}

CUresult cuCtxWaitEvent(CUcontext handle, CUevent event) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &system) {
        if (const auto green = green_behind(handle))
            return green->hold(*find_event(event));
        for (const auto &stream : system.timeline().streams(*find_context(handle)))
            find_event(event)->hold(*stream);
    });
}
