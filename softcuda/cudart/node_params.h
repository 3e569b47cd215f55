// node_params.h -- what a node of a graph does, as the two APIs write it.
#pragma once

#include "call.h"

namespace softcudart {

/// The thread's current context, which nodes that copy or fill belong to.
CUcontext current_context();

/// Throws Failure.
CUDA_KERNEL_NODE_PARAMS to_driver(const cudaKernelNodeParams &kernel);

/// The kernel is a program's stub where there is one, else the driver's function.
cudaKernelNodeParams from_driver(const CUDA_KERNEL_NODE_PARAMS &kernel);

/// Of any kind of node. Throws Failure.
CUgraphNodeParams to_driver(const cudaGraphNodeParams &node);

/// Puts into `node` what the driver found out: addresses of allocations, bodies of conditions.
void take_results(cudaGraphNodeParams &node, const CUgraphNodeParams &made) noexcept;

} // namespace softcudart
