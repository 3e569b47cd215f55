// green_context.cpp -- a context that owns some of a device's multiprocessors.
#include <pycuda/green_context.h>

#include "context/cleanup.h"

#include <pycuda/driver.h>

#include <string>

namespace pycuda {
namespace {

CUgreenCtx create(const Device &device, const SmResource &resource) {
    CUdevResource part = resource.get();
    const CUdevResourceDesc description = driver().cuDevResourceGenerateDesc.value(&part, 1);
    CUgreenCtx handle = nullptr;
    check(driver().cuGreenCtxCreate.status(&handle, description, device.get(),
                                           CU_GREEN_CTX_DEFAULT_STREAM),
          "cuGreenCtxCreate",
          [&] { return "requested " + std::to_string(resource.count()) + " multiprocessors"; });
    return handle;
}

Context context_of(CUgreenCtx green) {
    const CUcontext context = driver().cuCtxFromGreenCtx.value(green);
    return Context::borrow(context);
}

} // namespace

SmResource SmResource::of(const Device &device) {
    SmResource all;
    driver().cuDeviceGetDevResource(device.get(), &all.resource_, CU_DEV_RESOURCE_TYPE_SM);
    return all;
}

SmResource SmResource::of(const Context &context) {
    SmResource all;
    driver().cuCtxGetDevResource(context.get(), &all.resource_, CU_DEV_RESOURCE_TYPE_SM);
    return all;
}

SmPartition SmResource::split(unsigned least, unsigned most_groups) const {
    const auto split = [&](CUdevResource *groups, unsigned *count, CUdevResource *rest) {
        check(
            driver().cuDevSmResourceSplitByCount.status(groups, count, &resource_, rest, 0, least),
            "cuDevSmResourceSplitByCount", [&] {
                return "groups of " + std::to_string(least) +
                       " multiprocessors requested, out of " + std::to_string(this->count());
            });
    };
    unsigned count = most_groups;
    if (count == 0)
        split(nullptr, &count, nullptr); // queries the number of groups
    std::vector<CUdevResource> groups(count);
    SmPartition partition;
    split(groups.data(), &count, &partition.remaining.resource_);
    partition.groups.resize(count);
    for (unsigned i = 0; i < count; ++i)
        partition.groups[i].resource_ = groups[i];
    return partition;
}

GreenContext::GreenContext(const Device &device, const SmResource &resource)
    : primary_(Context::primary(device)), handle_(create(device, resource)),
      context_(context_of(handle_)) {}

GreenContext::~GreenContext() {
    if (const Driver *loaded = driver_for_cleanup())
        detail::report_cleanup("cuGreenCtxDestroy", loaded->cuGreenCtxDestroy.status(handle_));
}

Stream GreenContext::create_stream(int priority) const {
    const CUstream stream =
        driver().cuGreenCtxStreamCreate.value(handle_, CU_STREAM_NON_BLOCKING, priority);
    return Stream::adopt(stream, context_);
}

} // namespace pycuda
