// batch.cpp -- many copies in one call, and copies with hints about the memory, which are ignored.
// CUDA leaves the order of the copies of a batch undefined; here it is kept.
#include "api/array.h"
#include "api/call.h"
#include "api/default_stream.h"

#include <algorithm>
#include <cuda.h>

using namespace softcuda;

namespace {

CUresult copy_all(const CUdeviceptr *to, const CUdeviceptr *from, const std::size_t *sizes,
                  std::size_t count, std::size_t *failed, CUstream stream) {
    if (failed)
        *failed = SIZE_MAX;
    // The legacy stream does not support batches.
    const bool is_legacy = !stream && !api::PerThreadDefaultStream::active();
    if (count == 0 || !to || !from || !sizes || is_legacy)
        return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < count; i++) {
        const CUresult result = cuMemcpyAsync(to[i], from[i], sizes[i], stream);
        if (result == CUDA_SUCCESS)
            continue;
        if (failed)
            *failed = i;
        return result;
    }
    return CUDA_SUCCESS;
}

bool is_order(CUmemcpySrcAccessOrder order) {
    return order == CU_MEMCPY_SRC_ACCESS_ORDER_STREAM ||
           order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL ||
           order == CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

/// The bytes of an element of an array; 1 for a pointer. Sets `result` if the array is none.
std::size_t bytes_of_element(const CUmemcpy3DOperand &operand, CUresult &result) {
    std::size_t bytes = 1;
    if (operand.type == CU_MEMCPY_OPERAND_TYPE_ARRAY)
        result = api::with_context<api::InCapture::Permitted>([&](device::Context &) {
            bytes = api::find_array(operand.op.array.array)->texel_bytes();
        });
    else if (operand.type != CU_MEMCPY_OPERAND_TYPE_POINTER)
        result = CUDA_ERROR_INVALID_VALUE;
    return bytes;
}

/// One side of a copy. Its lengths are in elements of `bytes` bytes.
struct Side {
    CUmemorytype type;
    CUdeviceptr pointer;
    CUarray array;
    std::size_t pitch, height, x, y, z;

    Side(const CUmemcpy3DOperand &operand, const CUextent3D &extent, std::size_t bytes)
        : type(CU_MEMORYTYPE_UNIFIED), pointer(0), array(nullptr), pitch(0), height(0), x(0), y(0),
          z(0) {
        if (operand.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
            const CUoffset3D &offset = operand.op.array.offset;
            type = CU_MEMORYTYPE_ARRAY;
            array = operand.op.array.array;
            x = offset.x * bytes;
            y = offset.y;
            z = offset.z;
            return;
        }
        const auto &rows = operand.op.ptr;
        pointer = rows.ptr;
        pitch = (rows.rowLength ? rows.rowLength : extent.width) * bytes;
        height = rows.layerHeight ? rows.layerHeight : extent.height;
    }
};

CUresult copy_box(const CUDA_MEMCPY3D_BATCH_OP &wanted, CUstream stream) {
    const CUextent3D &extent = wanted.extent;
    if (!is_order(wanted.srcAccessOrder) || !extent.width || !extent.height || !extent.depth)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = CUDA_SUCCESS;
    const std::size_t of_source = bytes_of_element(wanted.src, result);
    const std::size_t of_target = bytes_of_element(wanted.dst, result);
    const std::size_t bytes = std::max(of_source, of_target);
    const bool both_arrays = wanted.src.type == CU_MEMCPY_OPERAND_TYPE_ARRAY &&
                             wanted.dst.type == CU_MEMCPY_OPERAND_TYPE_ARRAY;
    if (result != CUDA_SUCCESS || (both_arrays && of_source != of_target))
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    const Side from(wanted.src, extent, bytes), to(wanted.dst, extent, bytes);
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = from.type;
    copy.srcDevice = from.pointer;
    copy.srcArray = from.array;
    copy.srcPitch = from.pitch;
    copy.srcHeight = from.height;
    copy.srcXInBytes = from.x;
    copy.srcY = from.y;
    copy.srcZ = from.z;
    copy.dstMemoryType = to.type;
    copy.dstDevice = to.pointer;
    copy.dstArray = to.array;
    copy.dstPitch = to.pitch;
    copy.dstHeight = to.height;
    copy.dstXInBytes = to.x;
    copy.dstY = to.y;
    copy.dstZ = to.z;
    copy.WidthInBytes = extent.width * bytes;
    copy.Height = extent.height;
    copy.Depth = extent.depth;
    return cuMemcpy3DAsync(&copy, stream);
}

} // namespace

// Of CUDA 13.2.
SCU_EXPORT CUresult CUDAAPI cuMemcpyWithAttributesAsync(CUdeviceptr to, CUdeviceptr from,
                                                        std::size_t size,
                                                        CUmemcpyAttributes *attributes,
                                                        CUstream stream) {
    if (!attributes || !is_order(attributes->srcAccessOrder))
        return CUDA_ERROR_INVALID_VALUE;
    return cuMemcpyAsync(to, from, size, stream);
}

SCU_EXPORT CUresult CUDAAPI cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP *copy,
                                                          unsigned long long flags,
                                                          CUstream stream) {
    return copy && flags == 0 ? copy_box(*copy, stream) : CUDA_ERROR_INVALID_VALUE;
}

#undef cuMemcpyBatchAsync
SCU_EXPORT CUresult CUDAAPI cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from,
                                               std::size_t *sizes, std::size_t count,
                                               CUmemcpyAttributes *, std::size_t *, std::size_t,
                                               std::size_t *failed, CUstream stream) {
    return copy_all(to, from, sizes, count, failed, stream);
}

SCU_EXPORT CUresult CUDAAPI cuMemcpyBatchAsync_v2(CUdeviceptr *to, CUdeviceptr *from,
                                                  std::size_t *sizes, std::size_t count,
                                                  CUmemcpyAttributes *, std::size_t *, std::size_t,
                                                  CUstream stream) {
    return copy_all(to, from, sizes, count, nullptr, stream);
}
