// copy_params.h -- descriptions of copies in both APIs.
#pragma once

#include "call.h"

namespace softcudart {

/// One side of a copy: memory with rows, or an array.
struct End {
    const void *memory = nullptr;
    std::size_t pitch = 0;  ///< bytes from row to row; 0 for memory without rows
    std::size_t height = 0; ///< rows per slice
    CUarray array = nullptr;
    std::size_t x = 0; ///< bytes
    std::size_t y = 0;
    std::size_t z = 0;
};

End memory_end(const void *memory, std::size_t pitch = 0);
End array_end(cudaArray_const_t array, std::size_t x, std::size_t y);

/// Bytes of an element of an array. Throws Failure.
std::size_t element_bytes(CUarray array);

/// `width` in bytes. Throws Failure(invalid direction) for an unknown kind.
CUDA_MEMCPY3D make_copy(const End &to, const End &from, std::size_t width, std::size_t height,
                        std::size_t depth, cudaMemcpyKind kind);

/// Throws Failure.
CUDA_MEMCPY3D to_driver(const cudaMemcpy3DParms &copy);
CUDA_MEMCPY3D_PEER to_driver(const cudaMemcpy3DPeerParms &copy);

/// Converts the driver's description of a copy, for example of a captured graph. Throws Failure.
cudaMemcpy3DParms from_driver(const CUDA_MEMCPY3D &copy);

} // namespace softcudart
