// skip_launches.cpp -- softcuda, except that launches do nothing unless they are switched on.
//
// The library's kernels are generated and compiled when an operation is first used. To get only
// their PTX, make_pack.py calls the operation on this driver: everything else happens, so that no
// list of kernels is necessary, but no PTX is compiled to machine code.
#include <cuda.h>

#include <dlfcn.h>

#include <cstring>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using GetProcAddress = CUresult (*)(const char *, void **, int, cuuint64_t,
                                    CUdriverProcAddressQueryResult *);

bool skipping = true;
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

/// Replaces softcuda's function by `ours`.
template <class Function> void replace(void **pointer, Function ours, Function &softcuda_function) {
    softcuda_function = reinterpret_cast<Function>(*pointer);
    *pointer = reinterpret_cast<void *>(ours);
}

} // namespace

/// Whether launches do nothing from now on; initially true. For one thread.
EXPORT void skip_launches(int skip) { skipping = skip != 0; }

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
    return result;
}
