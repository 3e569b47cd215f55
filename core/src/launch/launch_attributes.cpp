// launch_attributes.cpp -- cooperative, clustered and other launches with attributes, and
// occupancy.
#include <pycuda/launch_attributes.h>

#include "launch/launch_errors.h"
#include "launch/launch_shape.h"

#include <pycuda/device.h>
#include <pycuda/driver.h>
#include <pycuda/kernel_signature.h>
#include <pycuda/pending_work.h>

#include <array>

namespace pycuda {
namespace {

/// The driver's list of attributes.
class AttributeList {
  public:
    explicit AttributeList(const LaunchAttributes &wanted) {
        if (wanted.cooperative)
            add(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative = 1;
        if (wanted.cluster) {
            auto &cluster = add(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim;
            cluster.x = wanted.cluster->x;
            cluster.y = wanted.cluster->y;
            cluster.z = wanted.cluster->z;
        }
        if (wanted.priority)
            add(CU_LAUNCH_ATTRIBUTE_PRIORITY).priority = *wanted.priority;
        if (wanted.programmatic)
            add(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
                .programmaticStreamSerializationAllowed = 1;
    }
    CUlaunchAttribute *data() { return attributes_.data(); }
    unsigned count() const { return count_; }

  private:
    CUlaunchAttributeValue &add(CUlaunchAttributeID id) {
        CUlaunchAttribute &attribute = attributes_[count_++];
        attribute.id = id;
        return attribute.value;
    }
    std::array<CUlaunchAttribute, 4> attributes_{};
    unsigned count_ = 0;
};

void require_clusters(const Function &function, CUresult result) {
    const Device device = function.context().device();
    if (device.attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) != 0)
        return;
    const ComputeCapability capability = device.compute_capability();
    throw Error("cuLaunchKernelEx", result,
                "kernel '" + readable_name(function.name()) + "': " + device.name() +
                    " has compute capability " + std::to_string(capability.major) + "." +
                    std::to_string(capability.minor) +
                    ", and clusters need 9.0; SOFTCUDA_ARCH=90 makes softcuda such a device");
}

} // namespace

void launch_packed(const Function &function, const LaunchConfig &config,
                   const LaunchAttributes &attributes, void *arguments, std::size_t size) {
    AttributeList list(attributes);
    CUlaunchConfig launch{};
    detail::set_launch_shape(launch, config);
    launch.hStream = config.stream.get();
    launch.attrs = list.data();
    launch.numAttrs = list.count();
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, arguments, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    const CUresult result =
        driver().cuLaunchKernelEx.status(&launch, function.get(), nullptr, extra);
    detail::note_launch();
    if (result == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
        throw Error(
            "cuLaunchKernelEx", result,
            "kernel '" + readable_name(function.name()) + "': " +
                std::to_string(max_active_blocks(
                    function, static_cast<int>(config.block.x * config.block.y * config.block.z),
                    config.shared_bytes)) +
                " blocks fit on a multiprocessor, but all blocks of a cooperative launch must run "
                "at the same time");
    if (result != CUDA_SUCCESS && attributes.cluster)
        require_clusters(function, result);
    if (result != CUDA_SUCCESS)
        detail::throw_launch_error(function, config, result);
    if (detail::launch_blocking)
        detail::wait_after_launch(function, config.stream);
}

int max_active_blocks(const Function &function, int block_threads, std::size_t shared_bytes) {
    return driver().cuOccupancyMaxActiveBlocksPerMultiprocessor.value(function.require(),
                                                                      block_threads, shared_bytes);
}

BlockSuggestion suggest_block(const Function &function, std::size_t shared_bytes,
                              int most_threads) {
    BlockSuggestion suggestion;
    driver().cuOccupancyMaxPotentialBlockSize(&suggestion.min_grid, &suggestion.block_threads,
                                              function.require(), nullptr, shared_bytes,
                                              most_threads);
    return suggestion;
}

} // namespace pycuda
