// stream_attribute.cpp -- attributes of streams. Only the priority has an effect here.
#include "api/call.h"
#include "api/default_stream.h"

#include <algorithm>
#include <array>

using namespace softcuda;
using device::Context;
using device::Stream;

namespace {

constexpr std::array kKept = {
    CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
    CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN};

/// Throws Error(invalid value) for an attribute that streams do not have.
void require_known(CUstreamAttrID attribute) {
    device::require(attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY ||
                        std::ranges::find(kKept, attribute) != kKept.end(),
                    CUDA_ERROR_INVALID_VALUE);
}

CUstreamAttrValue attribute_of(const Stream &stream, CUstreamAttrID attribute) {
    CUstreamAttrValue value = stream.attribute(attribute);
    if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY)
        value.priority = stream.priority();
    if (attribute == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY && value.syncPolicy == 0)
        value.syncPolicy = CU_SYNC_POLICY_AUTO;
    return value;
}

} // namespace

CUresult cuStreamGetAttribute(CUstream handle, CUstreamAttrID attribute, CUstreamAttrValue *value) {
    return api::with_context_of(handle, [&](Context &context) {
        api::require_non_null(value);
        require_known(attribute);
        *value = attribute_of(*api::find_stream(context, handle), attribute);
    });
}

CUresult cuStreamSetAttribute(CUstream handle, CUstreamAttrID attribute,
                              const CUstreamAttrValue *value) {
    return api::with_context_of(handle, [&](Context &context) {
        api::require_non_null(value);
        require_known(attribute);
        const std::shared_ptr<Stream> stream = api::find_stream(context, handle);
        if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY)
            stream->set_priority(
                std::clamp(value->priority, device::kGreatestPriority, device::kLeastPriority));
        else
            stream->set_attribute(attribute, *value);
    });
}

CUresult cuStreamCopyAttributes(CUstream destination, CUstream source) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        const std::shared_ptr<Stream> to = api::find_stream(context, destination);
        const std::shared_ptr<Stream> from = api::find_stream(context, source);
        for (const CUstreamAttrID attribute : kKept)
            to->set_attribute(attribute, from->attribute(attribute));
        to->set_priority(from->priority());
    });
}
