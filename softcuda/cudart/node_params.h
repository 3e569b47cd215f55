// node_params.h -- the parameters of graph nodes in both APIs.
#pragma once

#include "call.h"

namespace softcudart {

/// The thread's current context, to which nodes with copies or fills belong.
CUcontext current_context();

/// Throws Failure.
CUDA_KERNEL_NODE_PARAMS to_driver(const cudaKernelNodeParams &kernel);

/// The kernel is the stub of a program if there is one, else the driver's function.
cudaKernelNodeParams from_driver(const CUDA_KERNEL_NODE_PARAMS &kernel);

/// For nodes of all kinds. Throws Failure.
CUgraphNodeParams to_driver(const cudaGraphNodeParams &node);

/// Copies the driver's results to `node`: addresses of allocations, bodies of conditional nodes.
void take_results(cudaGraphNodeParams &node, const CUgraphNodeParams &made) noexcept;

} // namespace softcudart
