// launch_packed.cpp -- the driver's call of a launch without attributes.
#include <pycuda/launch.h>

#include "launch/launch_errors.h"

#include <pycuda/driver.h>
#include <pycuda/pending_work.h>

namespace pycuda {

void launch_packed(const Function &function, const LaunchConfig &config, void *arguments,
                   std::size_t size) {
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, arguments, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    CUresult result = driver().cuLaunchKernel.status(
        function.get(), config.grid.x, config.grid.y, config.grid.z, config.block.x, config.block.y,
        config.block.z, config.shared_bytes, config.stream.get(), nullptr, extra);
    detail::note_launch();
    if (result != CUDA_SUCCESS) [[unlikely]]
        detail::throw_launch_error(function, config, result);
    if (detail::launch_blocking) [[unlikely]]
        detail::wait_after_launch(function, config.stream);
}

} // namespace pycuda
