// peer.cpp -- access to other devices' memory, and memory that processes share.
#include "device.h"

#include <cstring>

namespace softcudart {
namespace {

/// A handle that processes exchange: it has the same bytes in both APIs.
template <class To, class From> To same_bytes(const From &from) noexcept {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

} // namespace
} // namespace softcudart

using namespace softcudart;

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    return with_driver([&] { check(cuDeviceCanAccessPeer(can, device, peer)); });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
    return with_context([&] {
        require_device(peer);
        check(cuCtxEnablePeerAccess(primary_context(peer), flags));
    });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    return with_context([&] {
        require_device(peer);
        check(cuCtxDisablePeerAccess(primary_context(peer)));
    });
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, cudaDeviceP2PAttr attribute, int from, int to) {
    return with_driver([&] {
        check(cuDeviceGetP2PAttribute(value, static_cast<CUdevice_P2PAttribute>(attribute), from,
                                      to));
    });
}

cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned int *capabilities,
                                               const cudaAtomicOperation *operations,
                                               unsigned int count, int from, int to) {
    return with_driver([&] {
        check(cuDeviceGetP2PAtomicCapabilities(
            capabilities, as<const CUatomicOperation *>(operations), count, from, to));
    });
}

cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned int *capabilities,
                                                const cudaAtomicOperation *operations,
                                                unsigned int count, int device) {
    return with_driver([&] {
        check(cuDeviceGetHostAtomicCapabilities(
            capabilities, as<const CUatomicOperation *>(operations), count, device));
    });
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event) {
    return forward<cuIpcGetEventHandle>(as<CUipcEventHandle *>(handle), event);
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle) {
    return forward<cuIpcOpenEventHandle>(event, same_bytes<CUipcEventHandle>(handle));
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *pointer) {
    return forward<cuIpcGetMemHandle>(as<CUipcMemHandle *>(handle), address_of(pointer));
}

cudaError_t cudaIpcOpenMemHandle(void **pointer, cudaIpcMemHandle_t handle, unsigned int flags) {
    return forward<cuIpcOpenMemHandle>(as<CUdeviceptr *>(pointer),
                                       same_bytes<CUipcMemHandle>(handle), flags);
}

cudaError_t cudaIpcCloseMemHandle(void *pointer) {
    return forward<cuIpcCloseMemHandle>(address_of(pointer));
}
