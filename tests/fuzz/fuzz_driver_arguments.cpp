// fuzz_driver_arguments.cpp -- the initial handles, and structs that point to the caller's memory.
#include "fuzz_driver_arguments.h"

#include "fuzz_graph_node.h"

#include "../softcuda/driver/fake_program.h"

#include <unistd.h>

namespace fuzz {

Handles::Handles() {
    cuInit(0);
    cuDevicePrimaryCtxRetain(&context_, 0);
    make_context_current();
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    CUstream stream = nullptr;
    CUevent event = nullptr;
    CUgraph graph = nullptr;
    CUdeviceptr memory = 0, managed = 0;
    cuModuleLoadData(&module, fake::kImage);
    cuModuleGetFunction(&function, module, "small_blocks");
    cuStreamCreate(&stream, 0);
    cuEventCreate(&event, 0);
    cuGraphCreate(&graph, 0);
    cuMemAlloc(&memory, 1 << 16);
    cuMemAllocManaged(&managed, 1 << 16, CU_MEM_ATTACH_GLOBAL);
    const auto keep = [&](void *handle) {
        handles_.push_back(reinterpret_cast<std::uint64_t>(handle));
    };
    keep(context_);
    keep(module);
    keep(function);
    keep(stream);
    keep(event);
    keep(graph);
    addresses_ = {memory, managed};
}

void Handles::make_context_current() const { cuCtxSetCurrent(context_); }

void Handles::tear_down() const {
    cuDevicePrimaryCtxReset(0);
    for (CUcontext left = nullptr; cuCtxPopCurrent(&left) == CUDA_SUCCESS;)
        cuCtxDestroy(left);
    unsigned flags = 0;
    int active = 1;
    while (cuDevicePrimaryCtxGetState(0, &flags, &active) == CUDA_SUCCESS && active != 0)
        cuDevicePrimaryCtxRelease(0);
}

void Handles::add(std::vector<std::uint64_t> &list, std::uint64_t value) {
    constexpr std::size_t kMost = 256; // a byte can select this many
    std::lock_guard lock(mutex_);
    if (list.size() < kMost)
        list.push_back(value);
    else
        list[value / 16 % kMost] = value;
}

std::uint64_t Handles::one(const std::vector<std::uint64_t> &list, std::uint8_t choice) const {
    std::lock_guard lock(mutex_);
    return list[choice % list.size()];
}

Handles::Block &Handles::new_block() {
    std::lock_guard lock(mutex_);
    return *blocks_.emplace_back(std::make_unique<Block>());
}

void no_host_function(void *) {}
void no_stream_callback(CUstream, CUresult, void *) {}

namespace {

template <class Params> void fill_kernel(Draw &draw, Params &params) {
    params.gridDimX = params.gridDimY = params.gridDimZ = small<unsigned>(draw);
    params.blockDimX = small<unsigned>(draw);
    params.blockDimY = params.blockDimZ = 1;
    params.sharedMemBytes = small<unsigned>(draw);
    params.kernelParams = static_cast<void **>(draw.pointers());
}

/// Sizes of blocks of the caller, also after any multiplication.
template <class Copy> void fill_copy(Draw &draw, Copy &copy) {
    copy.srcXInBytes = draw.number();
    copy.srcY = draw.number() & 7;
    copy.srcMemoryType = small<CUmemorytype>(draw);
    copy.srcHost = draw.block([] { return 0; });
    copy.srcDevice = draw.address();
    copy.srcArray = handle<CUarray>(draw);
    copy.srcPitch = draw.number();
    copy.dstXInBytes = draw.number();
    copy.dstY = draw.number() & 7;
    copy.dstMemoryType = small<CUmemorytype>(draw);
    copy.dstHost = draw.block([] { return 0; });
    copy.dstDevice = draw.address();
    copy.dstArray = handle<CUarray>(draw);
    copy.dstPitch = draw.number();
    copy.WidthInBytes = draw.number();
    copy.Height = draw.number() & 7;
}

template <class Copy> void fill_volume(Draw &draw, Copy &copy) {
    fill_copy(draw, copy);
    copy.srcHeight = draw.number() & 7;
    copy.dstHeight = draw.number() & 7;
    copy.srcZ = draw.number() & 3;
    copy.dstZ = draw.number() & 3;
    copy.Depth = draw.number() & 3;
}

} // namespace

void fill(Draw &draw, CUDA_KERNEL_NODE_PARAMS_v1 &params) {
    fill_kernel(draw, params);
    params.func = handle<CUfunction>(draw);
}

void fill(Draw &draw, CUDA_KERNEL_NODE_PARAMS_v2 &params) {
    fill_kernel(draw, params);
    params.func = handle<CUfunction>(draw);
    params.kern = handle<CUkernel>(draw);
    params.ctx = handle<CUcontext>(draw);
}

void fill(Draw &draw, CUDA_HOST_NODE_PARAMS_v1 &params) {
    params.fn = draw.byte() < 16 ? nullptr : &no_host_function;
}

void fill(Draw &draw, CUDA_MEMCPY2D_v2 &copy) { fill_copy(draw, copy); }
void fill(Draw &draw, CUDA_MEMCPY3D_v2 &copy) { fill_volume(draw, copy); }

void fill(Draw &draw, CUDA_MEMCPY3D_PEER_v1 &copy) {
    fill_volume(draw, copy);
    copy.srcContext = handle<CUcontext>(draw);
    copy.dstContext = handle<CUcontext>(draw);
}

void fill(Draw &draw, CUlaunchConfig &config) {
    config.gridDimX = config.gridDimY = config.gridDimZ = small<unsigned>(draw);
    config.blockDimX = small<unsigned>(draw);
    config.blockDimY = config.blockDimZ = 1;
    config.hStream = handle<CUstream>(draw);
    config.numAttrs = draw.byte() & 3;
    config.attrs = reinterpret_cast<CUlaunchAttribute *>(draw.block([&] { return draw.number(); }));
}

void fill(Draw &draw, CUgraphNodeParams &params) {
    const auto fill_node_kernel = [&](auto &kernel) {
        fill_kernel(draw, kernel);
        kernel.func = handle<CUfunction>(draw);
    };
    fill_graph_node(
        draw, params, fill_node_kernel, [&](auto &copy) { fill_volume(draw, copy); },
        [&] { return draw.address(); });
}

} // namespace fuzz
