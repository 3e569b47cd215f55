// stream.cpp -- streams and events.
#include "call.h"
#include "default_stream.h"

using namespace softcudart;

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    return forward<cuStreamCreate>(stream, unsigned{CU_STREAM_DEFAULT});
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags) {
    return forward<cuStreamCreate>(stream, flags);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority) {
    return forward<cuStreamCreateWithPriority>(stream, flags, priority);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) { return forward<cuStreamDestroy>(stream); }

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority) {
    return forward<cuStreamGetPriority>(stream_of(stream), priority);
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags) {
    return forward<cuStreamGetFlags>(stream_of(stream), flags);
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id) {
    return forward<cuStreamGetId>(stream_of(stream), id);
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device) {
    return forward<cuStreamGetDevice>(stream_of(stream), device);
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
    return forward<cuStreamCopyAttributes>(stream_of(to), stream_of(from));
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   cudaStreamAttrValue *value) {
    return forward<cuStreamGetAttribute>(stream_of(stream), static_cast<CUstreamAttrID>(attribute),
                                         as<CUstreamAttrValue *>(value));
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   const cudaStreamAttrValue *value) {
    return forward<cuStreamSetAttribute>(stream_of(stream), static_cast<CUstreamAttrID>(attribute),
                                         as<const CUstreamAttrValue *>(value));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
    return forward<cuStreamWaitEvent>(stream_of(stream), event, flags);
}

// Callbacks of both APIs have the same arguments: a stream, the number of an error, a pointer.
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data,
                                  unsigned int flags) {
    return forward<cuStreamAddCallback>(stream_of(stream), as<CUstreamCallback>(callback), data,
                                        flags);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    return forward<cuStreamSynchronize>(stream_of(stream));
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    return forward<cuStreamQuery>(stream_of(stream));
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, std::size_t bytes,
                                     unsigned int flags) {
    return forward<cuStreamAttachMemAsync>(stream_of(stream), address_of(pointer), bytes, flags);
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
    return forward<cuEventCreate>(event, unsigned{CU_EVENT_DEFAULT});
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags) {
    return forward<cuEventCreate>(event, flags);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) { return forward<cuEventDestroy>(event); }

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return forward<cuEventRecord>(event, stream_of(stream));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
    return forward<cuEventRecordWithFlags>(event, stream_of(stream), flags);
}

cudaError_t cudaEventQuery(cudaEvent_t event) { return forward<cuEventQuery>(event); }

cudaError_t cudaEventSynchronize(cudaEvent_t event) { return forward<cuEventSynchronize>(event); }

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    return forward<cuEventElapsedTime>(milliseconds, start, end);
}
