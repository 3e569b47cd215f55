// memset.cpp -- setting memory to a value.
#include "api/transfer.h"

using namespace softcuda;
using api::start_fill;
using device::Fill;
using device::Wait;

namespace {

template <class Element> Fill line(CUdeviceptr address, Element value, std::size_t count) {
    return {.address = address,
            .pitch = 0,
            .value = value,
            .element_bytes = sizeof(Element),
            .width = count,
            .height = 1};
}

template <class Element>
Fill plane(CUdeviceptr address, std::size_t pitch, Element value, std::size_t width,
           std::size_t height) {
    return {.address = address,
            .pitch = pitch,
            .value = value,
            .element_bytes = sizeof(Element),
            .width = width,
            .height = height};
}

} // namespace

CUresult cuMemsetD8(CUdeviceptr address, unsigned char value, std::size_t count) {
    return start_fill(line(address, value, count), nullptr, Wait::UntilDone);
}

CUresult cuMemsetD16(CUdeviceptr address, unsigned short value, std::size_t count) {
    return start_fill(line(address, value, count), nullptr, Wait::UntilDone);
}

CUresult cuMemsetD32(CUdeviceptr address, unsigned int value, std::size_t count) {
    return start_fill(line(address, value, count), nullptr, Wait::UntilDone);
}

CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, std::size_t count,
                         CUstream stream) {
    return start_fill(line(address, value, count), stream, Wait::No);
}

CUresult cuMemsetD16Async(CUdeviceptr address, unsigned short value, std::size_t count,
                          CUstream stream) {
    return start_fill(line(address, value, count), stream, Wait::No);
}

CUresult cuMemsetD32Async(CUdeviceptr address, unsigned int value, std::size_t count,
                          CUstream stream) {
    return start_fill(line(address, value, count), stream, Wait::No);
}

CUresult cuMemsetD2D8(CUdeviceptr address, std::size_t pitch, unsigned char value,
                      std::size_t width, std::size_t height) {
    return start_fill(plane(address, pitch, value, width, height), nullptr, Wait::UntilDone);
}

CUresult cuMemsetD2D16(CUdeviceptr address, std::size_t pitch, unsigned short value,
                       std::size_t width, std::size_t height) {
    return start_fill(plane(address, pitch, value, width, height), nullptr, Wait::UntilDone);
}

CUresult cuMemsetD2D32(CUdeviceptr address, std::size_t pitch, unsigned int value,
                       std::size_t width, std::size_t height) {
    return start_fill(plane(address, pitch, value, width, height), nullptr, Wait::UntilDone);
}

CUresult cuMemsetD2D8Async(CUdeviceptr address, std::size_t pitch, unsigned char value,
                           std::size_t width, std::size_t height, CUstream stream) {
    return start_fill(plane(address, pitch, value, width, height), stream, Wait::No);
}

CUresult cuMemsetD2D16Async(CUdeviceptr address, std::size_t pitch, unsigned short value,
                            std::size_t width, std::size_t height, CUstream stream) {
    return start_fill(plane(address, pitch, value, width, height), stream, Wait::No);
}

CUresult cuMemsetD2D32Async(CUdeviceptr address, std::size_t pitch, unsigned int value,
                            std::size_t width, std::size_t height, CUstream stream) {
    return start_fill(plane(address, pitch, value, width, height), stream, Wait::No);
}
