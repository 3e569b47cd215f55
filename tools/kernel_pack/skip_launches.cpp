// skip_launches.cpp -- softcuda, except that launches do nothing unless they are switched on.
//
// The library's kernels are generated and compiled when an operation is first used. To get only
// their PTX, make_pack.py calls the operation on this driver: everything else happens, so that no
// list of kernels is necessary, but no PTX is compiled to machine code.
//
// With SKIP_LAUNCHES_AS_GPU=1, the device looks like an NVIDIA GPU of the compute capability
// SOFTCUDA_ARCH: the library then chooses the kernels that it uses on such a GPU.
#include <cuda.h>

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using GetProcAddress = CUresult (*)(const char *, void **, int, cuuint64_t,
                                    CUdriverProcAddressQueryResult *);

/// As many as a data centre's GPU has. The library compares it with numbers of blocks.
constexpr int multiprocessors_of_gpu = 128;

bool skipping = true;
const bool is_gpu = std::getenv("SKIP_LAUNCHES_AS_GPU") != nullptr;
decltype(&cuDeviceGetAttribute) softcuda_attribute;
decltype(&cuLaunchKernel) softcuda_launch;
decltype(&cuLaunchKernelEx) softcuda_launch_with_attributes;

CUresult launch(CUfunction kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                CUstream stream, void **arguments, void **extra) {
    return skipping ? CUDA_SUCCESS
                    : softcuda_launch(kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                      shared, stream, arguments, extra);
}

CUresult launch_with_attributes(const CUlaunchConfig *config, CUfunction kernel, void **arguments,
                                void **extra) {
    return skipping ? CUDA_SUCCESS
                    : softcuda_launch_with_attributes(config, kernel, arguments, extra);
}

CUresult attribute(int *value, CUdevice_attribute which, CUdevice device) {
    const CUresult result = softcuda_attribute(value, which, device);
    if (is_gpu && result == CUDA_SUCCESS && which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
        *value = multiprocessors_of_gpu;
    return result;
}

/// Replaces softcuda's function by `ours`.
template <class Function> void replace(void **pointer, Function ours, Function &softcuda_function) {
    softcuda_function = reinterpret_cast<Function>(*pointer);
    *pointer = reinterpret_cast<void *>(ours);
}

} // namespace

/// Whether launches do nothing from now on; initially true. For one thread.
EXPORT void skip_launches(int skip) { skipping = skip != 0; }

/// The library takes any other word than "ptx" for the driver of a GPU.
EXPORT const char *scuImageKind() { return is_gpu ? "cubin" : "ptx"; }

/// All other functions come from libsoftcuda, with which this library is linked.
EXPORT CUresult cuGetProcAddress_v2(const char *name, void **pointer, int version, cuuint64_t flags,
                                    CUdriverProcAddressQueryResult *found) {
    static const auto softcuda =
        reinterpret_cast<GetProcAddress>(dlsym(RTLD_NEXT, "cuGetProcAddress_v2"));
    const CUresult result = softcuda(name, pointer, version, flags, found);
    if (result == CUDA_SUCCESS && std::strcmp(name, "cuLaunchKernel") == 0)
        replace(pointer, &launch, softcuda_launch);
    if (result == CUDA_SUCCESS && std::strcmp(name, "cuLaunchKernelEx") == 0)
        replace(pointer, &launch_with_attributes, softcuda_launch_with_attributes);
    if (result == CUDA_SUCCESS && std::strcmp(name, "cuDeviceGetAttribute") == 0)
        replace(pointer, &attribute, softcuda_attribute);
    return result;
}
