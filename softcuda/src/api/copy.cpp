// copy.cpp -- memory copies in one, two and three dimensions.
#include "api/array.h"
#include "api/transfer.h"

using namespace softcuda;
using api::start_copy;
using device::Copy;
using device::Side;
using device::Wait;

namespace {

std::uint64_t address_of(const void *pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

Copy linear(std::uint64_t destination, std::uint64_t source, std::size_t bytes) {
    return {.destination = {destination, bytes, bytes},
            .source = {source, bytes, bytes},
            .width = bytes};
}

/// One side of a two- or three-dimensional copy, with the members of cuda.h.
struct DescribedEnd {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    std::size_t x, y, z; ///< begin of the box: bytes, rows, slices
    std::size_t pitch;   ///< 0: rows are contiguous
    std::size_t height;  ///< rows per slice; 0: the number of copied rows
};

Side side_of(CUmemorytype type) {
    switch (type) {
    case CU_MEMORYTYPE_HOST:
        return Side::Host;
    case CU_MEMORYTYPE_DEVICE:
        return Side::Device;
    case CU_MEMORYTYPE_UNIFIED:
        return Side::Either;
    case CU_MEMORYTYPE_ARRAY: // its texels are in device memory
        return Side::Device;
    default:
        throw device::Error(CUDA_ERROR_INVALID_VALUE);
    }
}

/// The copied box.
struct Box {
    std::size_t width, height, depth;
};

Copy::End end_in_array(const DescribedEnd &end, const Box &box) {
    const std::shared_ptr<device::Array> array = api::find_array(end.array);
    const rt::Image &image = array->image();
    const auto fits = [](std::size_t first, std::size_t count, std::size_t all) {
        return count <= all && first <= all - count;
    };
    device::require(fits(end.x, box.width, image.pitch) &&
                        fits(end.y, box.height, image.extent[1]) &&
                        fits(end.z, box.depth, image.extent[2]),
                    CUDA_ERROR_INVALID_VALUE);
    device::require(end.x % array->texel_bytes() == 0 && box.width % array->texel_bytes() == 0,
                    CUDA_ERROR_INVALID_VALUE);
    return {image.address + end.z * image.slice + end.y * image.pitch + end.x, image.pitch,
            image.slice};
}

Copy::End end_of(const DescribedEnd &end, const Box &box) {
    if (end.type == CU_MEMORYTYPE_ARRAY)
        return end_in_array(end, box);
    const std::size_t width = box.width, height = box.height;
    const std::size_t pitch = end.pitch ? end.pitch : end.x + width;
    const std::size_t rows = end.height ? end.height : end.y + height;
    // x may exceed the pitch and select a later row: Dr.Jit addresses columns of its arrays in this
    // way.
    device::require(pitch >= width, CUDA_ERROR_INVALID_VALUE);
    const std::uint64_t base =
        end.type == CU_MEMORYTYPE_HOST ? address_of(end.host) : std::uint64_t{end.device};
    const std::uint64_t slice = pitch * rows;
    return {base + end.z * slice + end.y * pitch + end.x, pitch, slice};
}

struct CheckedCopy {
    Copy copy;
    Side destination;
    Side source;
};

CheckedCopy describe(const CUDA_MEMCPY2D &p) {
    const DescribedEnd destination = {
        p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstXInBytes,
        p.dstY,          0,         p.dstPitch,  0};
    const DescribedEnd source = {p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, p.srcXInBytes,
                                 p.srcY,          0,         p.srcPitch,  0};
    const Box box = {p.WidthInBytes, p.Height, 1};
    return {.copy = {.destination = end_of(destination, box),
                     .source = end_of(source, box),
                     .width = p.WidthInBytes,
                     .height = p.Height},
            .destination = side_of(p.dstMemoryType),
            .source = side_of(p.srcMemoryType)};
}

/// CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER use the same names for these members.
template <class Parameters> CheckedCopy describe_3d(const Parameters &p) {
    device::require(p.srcLOD == 0 && p.dstLOD == 0, CUDA_ERROR_INVALID_VALUE);
    const DescribedEnd destination = {p.dstMemoryType, p.dstHost,     p.dstDevice,
                                      p.dstArray,      p.dstXInBytes, p.dstY,
                                      p.dstZ,          p.dstPitch,    p.dstHeight};
    const DescribedEnd source = {p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, p.srcXInBytes,
                                 p.srcY,          p.srcZ,    p.srcPitch,  p.srcHeight};
    const Box box = {p.WidthInBytes, p.Height, p.Depth};
    return {.copy = {.destination = end_of(destination, box),
                     .source = end_of(source, box),
                     .width = p.WidthInBytes,
                     .height = p.Height,
                     .depth = p.Depth},
            .destination = side_of(p.dstMemoryType),
            .source = side_of(p.srcMemoryType)};
}

template <class Parameters> bool has_no_bytes(const Parameters &p) {
    if constexpr (requires { p.Depth; })
        return p.WidthInBytes == 0 || p.Height == 0 || p.Depth == 0;
    else
        return p.WidthInBytes == 0 || p.Height == 0;
}

template <class Parameters>
CUresult start_described(CheckedCopy (*describe)(const Parameters &), const Parameters *parameters,
                         CUstream stream, Wait wait) {
    return api::guarded([&] {
        api::require_non_null(parameters);
        if (has_no_bytes(*parameters))
            return CUDA_SUCCESS; // as a GPU's driver, which does not look at the sides then
        const CheckedCopy checked = describe(*parameters);
        return start_copy(checked.copy, checked.destination, checked.source, stream, wait);
    });
}

/// `bytes` bytes of an array from `offset` on, with contiguous rows.
std::uint64_t address_in_array(CUarray handle, std::size_t offset, std::size_t bytes) {
    const std::shared_ptr<device::Array> array = api::find_array(handle);
    device::require(bytes <= array->bytes() && offset <= array->bytes() - bytes,
                    CUDA_ERROR_INVALID_VALUE);
    return array->image().address + offset;
}

/// One side of a copy of which one side, or both, is an array.
struct LineEnd {
    LineEnd(CUarray of_array, std::size_t at) : array(of_array), offset(at) {}
    LineEnd(std::uint64_t at, Side kind) : address(at), side(kind) {}

    [[nodiscard]] std::uint64_t resolve(std::size_t bytes) const {
        return array ? address_in_array(array, offset, bytes) : address;
    }

    CUarray array = nullptr;
    std::size_t offset = 0;
    std::uint64_t address = 0;
    Side side = Side::Device;
};

CUresult copy_line(const LineEnd &to, const LineEnd &from, std::size_t bytes, CUstream stream,
                   Wait wait) {
    return api::guarded([&] {
        return start_copy(linear(to.resolve(bytes), from.resolve(bytes), bytes), to.side, from.side,
                          stream, wait);
    });
}

} // namespace

device::Copy softcuda::api::checked_copy(const CUDA_MEMCPY3D &parameters) {
    const CheckedCopy checked = describe_3d(parameters);
    check_copy(device::System::get().memory(), checked.copy, checked.destination, checked.source);
    return checked.copy;
}

CUresult cuMemcpy(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes) {
    return start_copy(linear(destination, source, bytes), Side::Either, Side::Either, nullptr,
                      Wait::UntilDone);
}

CUresult cuMemcpyAsync(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes,
                       CUstream stream) {
    return start_copy(linear(destination, source, bytes), Side::Either, Side::Either, stream,
                      Wait::No);
}

// All devices share one address space, so a copy between two devices is an ordinary copy.
CUresult cuMemcpyPeer(CUdeviceptr destination, CUcontext, CUdeviceptr source, CUcontext,
                      std::size_t bytes) {
    return cuMemcpyDtoD(destination, source, bytes);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr destination, CUcontext, CUdeviceptr source, CUcontext,
                           std::size_t bytes, CUstream stream) {
    return cuMemcpyDtoDAsync(destination, source, bytes, stream);
}

CUresult cuMemcpyHtoD(CUdeviceptr destination, const void *source, std::size_t bytes) {
    return start_copy(linear(destination, address_of(source), bytes), Side::Device, Side::Host,
                      nullptr, Wait::UntilDone);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr destination, const void *source, std::size_t bytes,
                           CUstream stream) {
    return start_copy(linear(destination, address_of(source), bytes), Side::Device, Side::Host,
                      stream, Wait::No);
}

CUresult cuMemcpyDtoH(void *destination, CUdeviceptr source, std::size_t bytes) {
    return start_copy(linear(address_of(destination), source, bytes), Side::Host, Side::Device,
                      nullptr, Wait::UntilDone);
}

CUresult cuMemcpyDtoHAsync(void *destination, CUdeviceptr source, std::size_t bytes,
                           CUstream stream) {
    return start_copy(linear(address_of(destination), source, bytes), Side::Host, Side::Device,
                      stream, Wait::No);
}

CUresult cuMemcpyDtoD(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes) {
    return start_copy(linear(destination, source, bytes), Side::Device, Side::Device, nullptr,
                      Wait::UntilDone);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes,
                           CUstream stream) {
    return start_copy(linear(destination, source, bytes), Side::Device, Side::Device, stream,
                      Wait::No);
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D *parameters) {
    return start_described(describe, parameters, nullptr, Wait::UntilDone);
}

CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *parameters) {
    return start_described(describe, parameters, nullptr, Wait::UntilDone);
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *parameters, CUstream stream) {
    return start_described(describe, parameters, stream, Wait::No);
}

CUresult cuMemcpy3D(const CUDA_MEMCPY3D *parameters) {
    return start_described(describe_3d<CUDA_MEMCPY3D>, parameters, nullptr, Wait::UntilDone);
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *parameters, CUstream stream) {
    return start_described(describe_3d<CUDA_MEMCPY3D>, parameters, stream, Wait::No);
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *parameters) {
    return start_described(describe_3d<CUDA_MEMCPY3D_PEER>, parameters, nullptr, Wait::UntilDone);
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *parameters, CUstream stream) {
    return start_described(describe_3d<CUDA_MEMCPY3D_PEER>, parameters, stream, Wait::No);
}

CUresult cuMemcpyDtoA(CUarray array, std::size_t offset, CUdeviceptr source, std::size_t bytes) {
    return copy_line({array, offset}, {source, Side::Device}, bytes, nullptr, Wait::UntilDone);
}

CUresult cuMemcpyAtoD(CUdeviceptr destination, CUarray array, std::size_t offset,
                      std::size_t bytes) {
    return copy_line({destination, Side::Device}, {array, offset}, bytes, nullptr, Wait::UntilDone);
}

CUresult cuMemcpyHtoA(CUarray array, std::size_t offset, const void *source, std::size_t bytes) {
    return copy_line({array, offset}, {address_of(source), Side::Host}, bytes, nullptr,
                     Wait::UntilDone);
}

CUresult cuMemcpyHtoAAsync(CUarray array, std::size_t offset, const void *source, std::size_t bytes,
                           CUstream stream) {
    return copy_line({array, offset}, {address_of(source), Side::Host}, bytes, stream, Wait::No);
}

CUresult cuMemcpyAtoH(void *destination, CUarray array, std::size_t offset, std::size_t bytes) {
    return copy_line({address_of(destination), Side::Host}, {array, offset}, bytes, nullptr,
                     Wait::UntilDone);
}

CUresult cuMemcpyAtoHAsync(void *destination, CUarray array, std::size_t offset, std::size_t bytes,
                           CUstream stream) {
    return copy_line({address_of(destination), Side::Host}, {array, offset}, bytes, stream,
                     Wait::No);
}

CUresult cuMemcpyAtoA(CUarray to, std::size_t to_offset, CUarray from, std::size_t from_offset,
                      std::size_t bytes) {
    return copy_line({to, to_offset}, {from, from_offset}, bytes, nullptr, Wait::UntilDone);
}
