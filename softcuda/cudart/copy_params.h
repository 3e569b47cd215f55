// copy_params.h -- descriptions of copies, as the two APIs write them.
#pragma once

#include "call.h"

namespace softcudart {

/// One end of a copy: memory in lines, or an array.
struct End {
    const void *memory = nullptr;
    std::size_t pitch = 0;  ///< bytes from line to line; 0 for memory without lines
    std::size_t height = 0; ///< lines of a slice
    CUarray array = nullptr;
    std::size_t x = 0; ///< bytes
    std::size_t y = 0;
    std::size_t z = 0;
};

End memory_end(const void *memory, std::size_t pitch = 0);
End array_end(cudaArray_const_t array, std::size_t x, std::size_t y);

/// Bytes of an element of an array. Throws Failure.
std::size_t element_bytes(CUarray array);

/// `width` in bytes. Throws Failure(invalid direction) for a kind that is none.
CUDA_MEMCPY3D make_copy(const End &to, const End &from, std::size_t width, std::size_t height,
                        std::size_t depth, cudaMemcpyKind kind);

/// Throws Failure.
CUDA_MEMCPY3D to_driver(const cudaMemcpy3DParms &copy);
CUDA_MEMCPY3D_PEER to_driver(const cudaMemcpy3DPeerParms &copy);

/// A copy that the driver describes, for example one of a captured graph. Throws Failure.
cudaMemcpy3DParms from_driver(const CUDA_MEMCPY3D &copy);

} // namespace softcudart
