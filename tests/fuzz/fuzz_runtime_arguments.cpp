// fuzz_runtime_arguments.cpp -- the program, and structs that point to memory.
#include "fuzz_runtime_arguments.h"

#include "fuzz_graph_node.h"

#include "../softcuda/driver/fake_program.h"

extern "C" {
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *,
                            void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, std::size_t, int, int);
void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, std::size_t, int, int);
}

namespace fuzz {
namespace {

/// As large as any copy, because a wrong program may read and write them.
struct Stub {
    alignas(8) char bytes[Handles::kBlockBytes];
};
Stub stubs[5];

/// The struct that nvcc writes: {magic number, version, device code, name of a file}.
struct Wrapper {
    int magic = 0x466243b1;
    int version = 1;
    const void *code = fake::kImage;
    const void *file = nullptr;
};
Wrapper wrapper;

void *caller_block(Draw &draw) {
    return draw.block([] { return 0; });
}

/// Sizes of blocks of the caller, also after any multiplication.
template <class Copy> void fill_copy(Draw &draw, Copy &copy) {
    copy.srcArray = handle<cudaArray_t>(draw);
    fill(draw, copy.srcPtr);
    copy.srcPos = {draw.number(), draw.number() & 7, draw.number() & 3};
    copy.dstArray = handle<cudaArray_t>(draw);
    fill(draw, copy.dstPtr);
    copy.dstPos = {draw.number(), draw.number() & 7, draw.number() & 3};
    fill(draw, copy.extent);
}

template <class Params> void fill_kernel(Draw &draw, Params &params) {
    params.func = draw_memory(draw);
    fill(draw, params.gridDim);
    fill(draw, params.blockDim);
    params.sharedMemBytes = small<unsigned>(draw);
    params.kernelParams = static_cast<void **>(draw.pointers());
}

} // namespace

Program::Program() {
    void **binary = __cudaRegisterFatBinary(&wrapper);
    const char *const kernels[] = {"small_blocks", "uncompilable", "there_is_no_such_kernel"};
    for (std::size_t i = 0; i < 3; i++)
        __cudaRegisterFunction(binary, stubs[i].bytes, nullptr, kernels[i], -1, nullptr, nullptr,
                               nullptr, nullptr, nullptr);
    __cudaRegisterVar(binary, stubs[3].bytes, nullptr, "table", 0, 16, 1, 0);
    __cudaRegisterVar(binary, stubs[4].bytes, nullptr, "there_is_no_such_variable", 0, 16, 1, 0);
    __cudaRegisterFatBinaryEnd(binary);
}

void Program::add_to(Handles &handles) const {
    for (Stub &stub : stubs)
        handles.add_address(reinterpret_cast<std::uint64_t>(&stub));
}

void *draw_memory(Draw &draw) {
    const std::uint8_t kind = draw.byte();
    return kind < 96 ? caller_block(draw) : reinterpret_cast<void *>(draw.address());
}

void *draw_caller_memory(Draw &draw) { return caller_block(draw); }

void fill(Draw &draw, dim3 &size) { size = {small<unsigned>(draw), 1, 1}; }

void fill(Draw &draw, cudaExtent &extent) {
    extent = {draw.number(), draw.number() & 7, draw.number() & 3};
}

void fill(Draw &draw, cudaPitchedPtr &pointer) {
    pointer = {draw_memory(draw), draw.number(), draw.number(), draw.number() & 7};
}

void fill(Draw &draw, cudaMemcpy3DParms &copy) {
    fill_copy(draw, copy);
    copy.kind = small<cudaMemcpyKind>(draw);
}

void fill(Draw &draw, cudaMemcpy3DPeerParms &copy) {
    fill_copy(draw, copy);
    copy.srcDevice = small<int>(draw);
    copy.dstDevice = small<int>(draw);
}

void fill(Draw &draw, cudaKernelNodeParams &params) { fill_kernel(draw, params); }

void fill(Draw &draw, cudaHostNodeParams &params) {
    params.fn = draw.byte() < 16 ? nullptr : &no_host_function;
}

void fill(Draw &draw, cudaLaunchConfig_t &config) {
    fill(draw, config.gridDim);
    fill(draw, config.blockDim);
    config.dynamicSmemBytes = draw.number();
    config.stream = handle<cudaStream_t>(draw);
    config.numAttrs = draw.byte() & 3;
    config.attrs =
        reinterpret_cast<cudaLaunchAttribute *>(draw.block([&] { return draw.number(); }));
}

void fill(Draw &draw, cudaGraphNodeParams &params) {
    fill_graph_node(
        draw, params, [&](auto &kernel) { fill_kernel(draw, kernel); },
        [&](auto &copy) { fill(draw, copy); }, [&] { return draw_memory(draw); });
}

} // namespace fuzz
