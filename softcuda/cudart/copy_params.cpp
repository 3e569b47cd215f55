// copy_params.cpp -- descriptions of copies in both APIs.
#include "copy_params.h"

#include "channel.h"
#include "device.h"

namespace softcudart {
namespace {

struct Kinds {
    CUmemorytype from;
    CUmemorytype to;
};

Kinds kinds_of(cudaMemcpyKind kind) {
    switch (kind) {
    case cudaMemcpyHostToHost:
        return {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST};
    case cudaMemcpyHostToDevice:
        return {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE};
    case cudaMemcpyDeviceToHost:
        return {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST};
    case cudaMemcpyDeviceToDevice:
        return {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE};
    case cudaMemcpyDefault:
        return {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED};
    }
    throw Failure(cudaErrorInvalidMemcpyDirection);
}

/// One side of a copy in cudaMemcpy3DParms. Positions in arrays are in elements.
End end_of(cudaArray_t array, const cudaPos &position, const cudaPitchedPtr &memory) {
    require((array != nullptr) != (memory.ptr != nullptr));
    End end;
    end.y = position.y;
    end.z = position.z;
    if (array) {
        end.array = as<CUarray>(array);
        end.x = position.x * element_bytes(end.array);
        return end;
    }
    end.memory = memory.ptr;
    end.pitch = memory.pitch;
    end.height = memory.ysize;
    end.x = position.x;
    return end;
}

/// Bytes of a row. The extents of a copy with an array are in elements.
std::size_t width_of(const cudaExtent &extent, const End &to, const End &from) {
    if (to.array && from.array)
        require(element_bytes(to.array) == element_bytes(from.array));
    const CUarray array = to.array ? to.array : from.array;
    return array ? extent.width * element_bytes(array) : extent.width;
}

template <class Copy>
void set_ends(Copy &copy, const End &to, const End &from, const Kinds &kinds) {
    copy.srcXInBytes = from.x;
    copy.srcY = from.y;
    copy.srcZ = from.z;
    copy.srcMemoryType = from.array ? CU_MEMORYTYPE_ARRAY : kinds.from;
    copy.srcHost = from.memory;
    copy.srcDevice = address_of(from.memory);
    copy.srcArray = from.array;
    copy.srcPitch = from.pitch;
    copy.srcHeight = from.height;
    copy.dstXInBytes = to.x;
    copy.dstY = to.y;
    copy.dstZ = to.z;
    copy.dstMemoryType = to.array ? CU_MEMORYTYPE_ARRAY : kinds.to;
    copy.dstHost = const_cast<void *>(to.memory);
    copy.dstDevice = address_of(to.memory);
    copy.dstArray = to.array;
    copy.dstPitch = to.pitch;
    copy.dstHeight = to.height;
}

cudaPitchedPtr pitched(CUmemorytype type, const void *host, CUdeviceptr device, std::size_t pitch,
                       std::size_t height) {
    void *memory = type == CU_MEMORYTYPE_HOST ? const_cast<void *>(host) : as<void *>(device);
    return {memory, pitch, pitch, height};
}

cudaMemcpyKind kind_of(CUmemorytype from, CUmemorytype to) {
    if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED)
        return cudaMemcpyDefault;
    if (from == CU_MEMORYTYPE_HOST)
        return to == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
    return to == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

} // namespace

End memory_end(const void *memory, std::size_t pitch) {
    End end;
    end.memory = memory;
    end.pitch = pitch;
    return end;
}

End array_end(cudaArray_const_t array, std::size_t x, std::size_t y) {
    require(array != nullptr, cudaErrorInvalidResourceHandle);
    End end;
    end.array = as<CUarray>(const_cast<cudaArray *>(array));
    end.x = x;
    end.y = y;
    return end;
}

std::size_t element_bytes(CUarray array) {
    CUDA_ARRAY3D_DESCRIPTOR description{};
    check(cuArray3DGetDescriptor(&description, array));
    return bytes_of(description.Format) * description.NumChannels;
}

CUDA_MEMCPY3D make_copy(const End &to, const End &from, std::size_t width, std::size_t height,
                        std::size_t depth, cudaMemcpyKind kind) {
    CUDA_MEMCPY3D copy{};
    set_ends(copy, to, from, kinds_of(kind));
    copy.WidthInBytes = width;
    copy.Height = height;
    copy.Depth = depth;
    return copy;
}

CUDA_MEMCPY3D to_driver(const cudaMemcpy3DParms &copy) {
    const End to = end_of(copy.dstArray, copy.dstPos, copy.dstPtr);
    const End from = end_of(copy.srcArray, copy.srcPos, copy.srcPtr);
    return make_copy(to, from, width_of(copy.extent, to, from), copy.extent.height,
                     copy.extent.depth, copy.kind);
}

CUDA_MEMCPY3D_PEER to_driver(const cudaMemcpy3DPeerParms &copy) {
    const End to = end_of(copy.dstArray, copy.dstPos, copy.dstPtr);
    const End from = end_of(copy.srcArray, copy.srcPos, copy.srcPtr);
    require_device(copy.srcDevice);
    require_device(copy.dstDevice);
    CUDA_MEMCPY3D_PEER made{};
    set_ends(made, to, from, kinds_of(cudaMemcpyDeviceToDevice));
    made.srcContext = primary_context(copy.srcDevice);
    made.dstContext = primary_context(copy.dstDevice);
    made.WidthInBytes = width_of(copy.extent, to, from);
    made.Height = copy.extent.height;
    made.Depth = copy.extent.depth;
    return made;
}

cudaMemcpy3DParms from_driver(const CUDA_MEMCPY3D &copy) {
    cudaMemcpy3DParms made{};
    const std::size_t from_unit = copy.srcArray ? element_bytes(copy.srcArray) : 1;
    const std::size_t to_unit = copy.dstArray ? element_bytes(copy.dstArray) : 1;
    made.srcArray = as<cudaArray_t>(copy.srcArray);
    made.srcPos = {copy.srcXInBytes / from_unit, copy.srcY, copy.srcZ};
    if (!copy.srcArray)
        made.srcPtr = pitched(copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcPitch,
                              copy.srcHeight);
    made.dstArray = as<cudaArray_t>(copy.dstArray);
    made.dstPos = {copy.dstXInBytes / to_unit, copy.dstY, copy.dstZ};
    if (!copy.dstArray)
        made.dstPtr = pitched(copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstPitch,
                              copy.dstHeight);
    made.extent = {copy.WidthInBytes / (copy.dstArray ? to_unit : from_unit), copy.Height,
                   copy.Depth};
    made.kind = kind_of(copy.srcMemoryType, copy.dstMemoryType);
    return made;
}

} // namespace softcudart
