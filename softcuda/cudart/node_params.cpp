// node_params.cpp -- the parameters of graph nodes in both APIs.
#include "node_params.h"

#include "copy_params.h"
#include "program.h"

#include <cstring>

namespace softcudart {
namespace {

/// For nodes whose structs have the same bytes in both APIs, and no context.
void copy_bytes_of(CUgraphNodeParams &made, const cudaGraphNodeParams &node) noexcept {
    static_assert(sizeof made == sizeof node);
    std::memcpy(&made, &node, sizeof made);
}

/// For kernels in every version of the structs, which have the same members.
template <class To, class From> void set_kernel(To &made, const From &kernel) {
    made.func = function_of(kernel.func);
    made.gridDimX = kernel.gridDim.x;
    made.gridDimY = kernel.gridDim.y;
    made.gridDimZ = kernel.gridDim.z;
    made.blockDimX = kernel.blockDim.x;
    made.blockDimY = kernel.blockDim.y;
    made.blockDimZ = kernel.blockDim.z;
    made.sharedMemBytes = kernel.sharedMemBytes;
    made.kernelParams = kernel.kernelParams;
    made.extra = kernel.extra;
}

} // namespace

CUcontext current_context() {
    CUcontext context = nullptr;
    check(cuCtxGetCurrent(&context));
    return context;
}

CUDA_KERNEL_NODE_PARAMS to_driver(const cudaKernelNodeParams &kernel) {
    CUDA_KERNEL_NODE_PARAMS made{};
    set_kernel(made, kernel);
    return made;
}

cudaKernelNodeParams from_driver(const CUDA_KERNEL_NODE_PARAMS &kernel) {
    cudaKernelNodeParams made{};
    made.func = const_cast<void *>(symbol_of(kernel.func));
    made.gridDim = {kernel.gridDimX, kernel.gridDimY, kernel.gridDimZ};
    made.blockDim = {kernel.blockDimX, kernel.blockDimY, kernel.blockDimZ};
    made.sharedMemBytes = kernel.sharedMemBytes;
    made.kernelParams = kernel.kernelParams;
    made.extra = kernel.extra;
    return made;
}

CUgraphNodeParams to_driver(const cudaGraphNodeParams &node) {
    CUgraphNodeParams made{};
    made.type = static_cast<CUgraphNodeType>(node.type);
    switch (node.type) {
    case cudaGraphNodeTypeKernel:
        set_kernel(made.kernel, node.kernel);
        return made;
    case cudaGraphNodeTypeMemcpy:
        made.memcpy.flags = node.memcpy.flags;
        made.memcpy.copyCtx = current_context();
        made.memcpy.copyParams = to_driver(node.memcpy.copyParams);
        return made;
    case cudaGraphNodeTypeMemset:
        copy_bytes_of(made, node);
        made.memset.ctx = current_context();
        return made;
    case cudaGraphNodeTypeConditional:
        copy_bytes_of(made, node);
        made.conditional.ctx = current_context();
        return made;
    default:
        copy_bytes_of(made, node);
        return made;
    }
}

void take_results(cudaGraphNodeParams &node, const CUgraphNodeParams &made) noexcept {
    if (node.type == cudaGraphNodeTypeMemAlloc)
        node.alloc.dptr = as<void *>(made.alloc.dptr);
    if (node.type == cudaGraphNodeTypeConditional)
        node.conditional.phGraph_out = made.conditional.phGraph_out;
}

} // namespace softcudart
