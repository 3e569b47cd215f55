// old_launch.cpp -- the launch functions of CUDA 3 and older, which set the block shape and each
// parameter of a function with separate calls.
#include "api/default_stream.h"
#include "api/handles.h"
#include "device/launch.h"
#include "device/texture.h"

using namespace softcuda;
using device::Context;
using device::Function;

namespace {

/// A call that changes the settings of a function's next launch: describe(setup).
template <class Describe> CUresult describe(CUfunction handle, Describe &&body) noexcept {
    return api::with_context<api::InCapture::Permitted>(
        [&](Context &) { body(api::find_function(handle)->setup); });
}

CUresult set_parameter(CUfunction function, int offset, const void *from, std::size_t bytes) {
    return describe(function,
                    [&](device::LaunchSetup &setup) { setup.set_parameter(offset, from, bytes); });
}

CUresult launch(CUfunction handle, int width, int height, CUstream stream) {
    return api::outside_host_function(stream, [&](Context &context) {
        device::require(width > 0 && height > 0, CUDA_ERROR_INVALID_VALUE);
        const std::shared_ptr<Function> function = api::find_function(handle);
        device::LaunchSetup::Described described = function->setup.described();
        std::size_t bytes = described.parameters.size();
        void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, described.parameters.data(),
                         CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
        device::launch(
            *api::find_stream(context, stream), *function, function,
            {.grid = {static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height), 1},
             .block = described.block,
             .dynamic_shared_bytes = described.dynamic_shared_bytes,
             .extra = extra});
    });
}

} // namespace

CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
    return describe(function, [&](device::LaunchSetup &setup) { setup.set_block(x, y, z); });
}

CUresult cuFuncSetSharedSize(CUfunction function, unsigned int bytes) {
    return describe(function, [&](device::LaunchSetup &setup) { setup.set_dynamic_shared(bytes); });
}

CUresult cuParamSetSize(CUfunction function, unsigned int bytes) {
    return describe(function,
                    [&](device::LaunchSetup &setup) { setup.set_parameter_bytes(bytes); });
}

CUresult cuParamSeti(CUfunction function, int offset, unsigned int value) {
    return set_parameter(function, offset, &value, sizeof value);
}

CUresult cuParamSetf(CUfunction function, int offset, float value) {
    return set_parameter(function, offset, &value, sizeof value);
}

CUresult cuParamSetv(CUfunction function, int offset, void *from, unsigned int bytes) {
    return set_parameter(function, offset, from, bytes);
}

// A texture reference is bound to its module's variable, so the launch needs no further data.
CUresult cuParamSetTexRef(CUfunction function, int unit, CUtexref handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::find_function(function);
        device::require(unit == CU_PARAM_TR_DEFAULT, CUDA_ERROR_INVALID_VALUE);
        const auto reference = device::registry<device::TextureReference>().find(handle);
        device::require(reference && reference->kind() == device::TextureReference::Kind::Texture,
                        CUDA_ERROR_INVALID_HANDLE);
    });
}

CUresult cuLaunch(CUfunction function) { return launch(function, 1, 1, nullptr); }

CUresult cuLaunchGrid(CUfunction function, int width, int height) {
    return launch(function, width, height, nullptr);
}

CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
    return launch(function, width, height, stream);
}
