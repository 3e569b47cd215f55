// launch_driver.cpp -- modules, buffers and launches.
#include "launch_driver.h"

namespace softcuda::test {

namespace {

CUresult launch_cluster(Driver &driver, CUfunction function, const LaunchLine &l,
                        void **parameters) {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {l.cluster[0], l.cluster[1], l.cluster[2]};
    CUlaunchConfig config{};
    config.gridDimX = l.grid[0];
    config.gridDimY = l.grid[1];
    config.gridDimZ = l.grid[2];
    config.blockDimX = l.block[0];
    config.blockDimY = l.block[1];
    config.blockDimZ = l.block[2];
    config.sharedMemBytes = l.shared;
    config.attrs = &attribute;
    config.numAttrs = 1;
    void **extra = nullptr;
    const CUresult result =
        driver.result_of("cuLaunchKernelEx", const_cast<const CUlaunchConfig *>(&config), function,
                         parameters, extra);
    return result == CUDA_SUCCESS ? driver.result_of("cuCtxSynchronize") : result;
}

CUresult launch(Driver &driver, CUfunction function, const LaunchFile &test) {
    std::vector<std::uint64_t> values = test.argument_values();
    std::vector<void *> pointers;
    for (std::uint64_t &value : values)
        pointers.push_back(&value);
    const LaunchLine &l = test.launch;
    CUstream stream = nullptr;
    void **parameters = pointers.data(), **extra = nullptr;
    if (l.has_cluster)
        return launch_cluster(driver, function, l, parameters);
    const CUresult result = l.cooperative
                                ? driver.result_of("cuLaunchCooperativeKernel", function, l.grid[0],
                                                   l.grid[1], l.grid[2], l.block[0], l.block[1],
                                                   l.block[2], l.shared, stream, parameters)
                                : driver.result_of("cuLaunchKernel", function, l.grid[0], l.grid[1],
                                                   l.grid[2], l.block[0], l.block[1], l.block[2],
                                                   l.shared, stream, parameters, extra);
    return result == CUDA_SUCCESS ? driver.result_of("cuCtxSynchronize") : result;
}

} // namespace

CUresult load_and_launch(Driver &driver, LaunchFile &file, CUmodule *module) {
    CUfunction function = nullptr;
    char log[4096] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
    if (driver.result_of("cuModuleLoadDataEx", module, static_cast<const void *>(file.text.c_str()),
                         2u, &options[0], &values[0]) != CUDA_SUCCESS)
        throw std::runtime_error(std::string("does not load: ") + log);
    driver.call("cuModuleGetFunction", &function, *module, file.launch.kernel.c_str());
    for (auto &[name, buffer] : file.buffers) {
        CUdeviceptr address = 0;
        driver.call("cuMemAlloc_v2", &address, buffer.bytes());
        buffer.address = address;
    }
    for (auto &[name, buffer] : file.buffers) {
        const std::vector<std::byte> bytes = file.initial_bytes(buffer);
        driver.call("cuMemcpyHtoD_v2", static_cast<CUdeviceptr>(buffer.address),
                    static_cast<const void *>(bytes.data()), bytes.size());
    }
    return launch(driver, function, file);
}

std::vector<std::byte> read_buffer(Driver &driver, const Buffer &buffer) {
    std::vector<std::byte> bytes(buffer.bytes());
    driver.call("cuMemcpyDtoH_v2", static_cast<void *>(bytes.data()),
                static_cast<CUdeviceptr>(buffer.address), bytes.size());
    return bytes;
}

} // namespace softcuda::test
