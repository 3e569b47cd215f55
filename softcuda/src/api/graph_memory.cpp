// graph_memory.cpp -- resources of graphs: memory, user objects, attributes of kernels.
#include "api/graph.h"

#include <climits>

using namespace softcuda;
using device::GraphMemory;
using device::KernelWork;
using device::UserObject;

namespace {

std::shared_ptr<UserObject> find_object(CUuserObject handle) {
    std::shared_ptr<UserObject> object = device::registry<UserObject>().find(handle);
    device::require(object != nullptr, CUDA_ERROR_INVALID_VALUE);
    return object;
}

void set_cluster(KernelWork &work, const CUlaunchAttributeValue &value) {
    device::LaunchRequest shape = work.shape;
    shape.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
    check_launch(*work.function, shape);
    work.shape = shape;
}

/// A node for which kernels may have the handle cannot become an ordinary one.
void make_updatable(KernelWork &work, bool wanted) {
    device::require(wanted || !work.updatable, CUDA_ERROR_NOT_SUPPORTED);
    if (wanted && !work.updatable)
        work.updatable = device::UpdatableNode::make();
}

KernelWork &kernel_of(const std::shared_ptr<device::GraphNode> &node) {
    auto *work = std::get_if<KernelWork>(&node->work);
    device::require(work != nullptr, CUDA_ERROR_INVALID_VALUE);
    return *work;
}

} // namespace

// No unused memory is kept for graphs, so there is none to trim.
CUresult cuDeviceGraphMemTrim(CUdevice device) {
    return api::with_device<api::InCapture::Permitted>(device, [](device::Device &) {});
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                      void *value) {
    return api::with_device<api::InCapture::Permitted>(device, [&](device::Device &) {
        api::require_non_null(value);
        const GraphMemory::Statistics now = GraphMemory::statistics();
        auto &result = *static_cast<cuuint64_t *>(value);
        switch (attribute) {
        case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
            result = now.used;
            return;
        case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
            result = now.used_high;
            return;
        case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
            result = now.reserved;
            return;
        case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
            result = now.reserved_high;
            return;
        }
        throw device::Error(CUDA_ERROR_INVALID_VALUE);
    });
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute,
                                      void *value) {
    return api::with_device<api::InCapture::Permitted>(device, [&](device::Device &) {
        api::require_non_null(value);
        device::require(*static_cast<const cuuint64_t *>(value) == 0, CUDA_ERROR_INVALID_VALUE);
        if (attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)
            return GraphMemory::reset_used_high();
        device::require(attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, CUDA_ERROR_INVALID_VALUE);
        GraphMemory::reset_reserved_high();
    });
}

CUresult cuUserObjectCreate(CUuserObject *result, void *object, CUhostFn destroy,
                            unsigned int count, unsigned int flags) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        api::require_non_null(result);
        device::require(destroy && count > 0 && count <= INT_MAX &&
                            flags == CU_USER_OBJECT_NO_DESTRUCTOR_SYNC,
                        CUDA_ERROR_INVALID_VALUE);
        auto made = std::make_shared<UserObject>(object, destroy, count);
        device::registry<UserObject>().add(made);
        *result = reinterpret_cast<CUuserObject>(made.get());
    });
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned int count) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        device::require(count > 0 && count <= INT_MAX, CUDA_ERROR_INVALID_VALUE);
        find_object(object)->retain(count);
    });
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned int count) {
    return api::with_system<api::InCapture::Permitted>([&](device::System &) {
        device::require(count > 0, CUDA_ERROR_INVALID_VALUE);
        find_object(object)->release(count);
    });
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject handle, unsigned int count,
                                 unsigned int flags) {
    return api::with_graphs<api::InCapture::Permitted>([&] {
        device::require(count > 0 && count <= INT_MAX &&
                            (flags & ~unsigned{CU_GRAPH_USER_OBJECT_MOVE}) == 0,
                        CUDA_ERROR_INVALID_VALUE);
        const std::shared_ptr<UserObject> object = find_object(handle);
        if (flags != CU_GRAPH_USER_OBJECT_MOVE)
            object->retain(count);
        api::find_graph(graph)->references.adopt(object, count);
    });
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count) {
    return api::with_graphs<api::InCapture::Permitted>([&] {
        device::require(count > 0, CUDA_ERROR_INVALID_VALUE);
        api::find_graph(graph)->references.release(find_object(object), count);
    });
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID attribute,
                                       const CUkernelNodeAttrValue *value) {
    return api::with_graphs<api::InCapture::Permitted>([&] {
        api::require_non_null(value);
        const auto node = api::find_node(handle);
        KernelWork &work = kernel_of(node);
        switch (attribute) {
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
            work.shape.cooperative = value->cooperative != 0;
            return;
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            set_cluster(work, *value);
            break;
        case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
            make_updatable(work, value->deviceUpdatableKernelNode.deviceUpdatable != 0);
            if (work.updatable) // NVIDIA's driver also writes it
                const_cast<CUkernelNodeAttrValue *>(value)->deviceUpdatableKernelNode.devNode =
                    work.updatable->handle();
            return;
        case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
            break;
        default:
            throw device::Error(CUDA_ERROR_INVALID_VALUE);
        }
        work.attributes[attribute] = *value;
    });
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID attribute,
                                       CUkernelNodeAttrValue *value) {
    return api::with_graphs<api::InCapture::Permitted>([&] {
        api::require_non_null(value);
        const auto node = api::find_node(handle);
        const KernelWork &work = kernel_of(node);
        *value = {};
        if (attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            value->cooperative = work.shape.cooperative ? 1 : 0;
        else if (attribute == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
            value->deviceUpdatableKernelNode = {.deviceUpdatable = work.updatable ? 1 : 0,
                                                .devNode = work.updatable ? work.updatable->handle()
                                                                          : nullptr};
        else if (const auto found = work.attributes.find(attribute); found != work.attributes.end())
            *value = found->second;
    });
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode destination, CUgraphNode source) {
    return api::with_graphs<api::InCapture::Permitted>([&] {
        const auto to = api::find_node(destination), from = api::find_node(source);
        kernel_of(to).attributes = kernel_of(from).attributes;
        kernel_of(to).shape.cooperative = kernel_of(from).shape.cooperative;
        kernel_of(to).shape.cluster = kernel_of(from).shape.cluster;
    });
}
