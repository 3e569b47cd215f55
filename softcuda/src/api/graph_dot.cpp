// graph_dot.cpp -- draws a graph in the language of Graphviz.
#include "api/graph.h"
#include "api/handles.h"

#include <cstring>
#include <fstream>
#include <sstream>

using namespace softcuda;
using device::GraphNode;

namespace {

const char *name_of(CUgraphNodeType type) {
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return "kernel";
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return "memcpy";
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return "memset";
    case CU_GRAPH_NODE_TYPE_HOST:
        return "host function";
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return "graph";
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return "wait for event";
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return "record event";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return "allocate";
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return "free";
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return "memory operations";
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return "conditional";
    default:
        return "empty";
    }
}

/// Writes the parameters of a node that the flags ask for, a line each.
class Parameters {
  public:
    Parameters(std::ostream &out, unsigned flags) : out_(out), flags_(flags) {}

    void operator()(const device::EmptyWork &) {}
    void operator()(const device::KernelWork &work) {
        if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS)) {
            const device::LaunchRequest &shape = work.shape;
            out_ << "\\ngrid " << shape.grid[0] << " x " << shape.grid[1] << " x " << shape.grid[2]
                 << "\\nblock " << shape.block[0] << " x " << shape.block[1] << " x "
                 << shape.block[2] << "\\nshared " << shape.dynamic_shared_bytes << " bytes";
        }
        if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES)) {
            if (work.shape.cooperative)
                out_ << "\\ncooperative";
            if (work.shape.cluster[0] != 0)
                out_ << "\\ncluster " << work.shape.cluster[0] << " x " << work.shape.cluster[1]
                     << " x " << work.shape.cluster[2];
        }
    }
    void operator()(const device::CopyWork &work) {
        if (!wants(CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS))
            return;
        const CUDA_MEMCPY3D &copy = work.described;
        out_ << "\\n"
             << copy.WidthInBytes << " bytes x " << copy.Height << " x " << copy.Depth
             << "\\nfrom ";
        write_side(copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray);
        out_ << "\\nto ";
        write_side(copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray);
    }
    void operator()(const device::FillWork &work) {
        if (!wants(CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS))
            return;
        out_ << "\\nat ";
        write_address(work.fill.address);
        out_ << "\\nvalue " << work.fill.value << " of " << work.fill.element_bytes << " bytes\\n"
             << work.fill.width << " x " << work.fill.height << " elements";
    }
    void operator()(const device::HostWork &work) {
        if (!wants(CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS))
            return;
        std::uint64_t function = 0;
        static_assert(sizeof function == sizeof work.function);
        std::memcpy(&function, &work.function, sizeof function);
        out_ << "\\nfunction ";
        write_address(function);
        out_ << "\\nargument ";
        write_address(reinterpret_cast<std::uintptr_t>(work.argument));
    }
    void operator()(const device::EventWork &work) {
        if (!wants(CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS))
            return;
        out_ << "\\nevent ";
        write_address(reinterpret_cast<std::uintptr_t>(work.event.get()));
    }
    void operator()(const device::ChildWork &work) {
        if (work.child)
            out_ << "\\n" << work.child->graph().nodes().size() << " nodes";
    }
    void operator()(const device::AllocateWork &work) {
        if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS))
            write_memory(*work.memory);
    }
    void operator()(const device::FreeWork &work) {
        if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS))
            write_memory(*work.memory);
    }
    void operator()(const device::MemoryOperationsWork &work) {
        if (wants(CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS))
            out_ << "\\n" << work.operations.size() << " operations";
    }
    void operator()(const device::ConditionalWork &work) {
        if (!wants(CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS))
            return;
        out_ << "\\n"
             << (work.type == CU_GRAPH_COND_TYPE_IF      ? "if"
                 : work.type == CU_GRAPH_COND_TYPE_WHILE ? "while"
                                                         : "switch");
    }

    [[nodiscard]] bool wants(unsigned flag) const {
        return (flags_ & (flag | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE)) != 0;
    }

    void write_address(std::uint64_t address) {
        std::ostringstream text;
        text << "0x" << std::hex << address;
        out_ << text.str();
    }

  private:
    void write_side(CUmemorytype type, const void *host, CUdeviceptr device, CUarray array) {
        if (type == CU_MEMORYTYPE_ARRAY) {
            out_ << "array ";
            write_address(reinterpret_cast<std::uintptr_t>(array));
        } else {
            write_address(type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uintptr_t>(host)
                                                     : device);
        }
    }
    void write_memory(const device::GraphMemory &memory) {
        out_ << "\\n" << memory.bytes() << " bytes at ";
        write_address(memory.address());
    }

    std::ostream &out_;
    unsigned flags_;
};

void write_node(std::ostream &out, GraphNode &node, unsigned flags) {
    out << "  n" << node.id() << " [label=\"" << name_of(device::type_of(node.work));
    const auto *kernel = std::get_if<device::KernelWork>(&node.work);
    if (kernel)
        out << " " << kernel->function->info().name;
    Parameters parameters(out, flags);
    if (parameters.wants(CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES)) {
        out << "\\nhandle ";
        parameters.write_address(reinterpret_cast<std::uintptr_t>(api::handle_of(node)));
        if (kernel) {
            out << "\\nkernel's handle ";
            parameters.write_address(
                reinterpret_cast<std::uintptr_t>(api::handle_of(*kernel->function)));
        }
    }
    std::visit(parameters, node.work);
    out << "\"];\n";
    for (std::size_t i = 0; i < node.dependencies.size(); i++) {
        out << "  n" << node.dependencies[i]->id() << " -> n" << node.id();
        if (parameters.wants(CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO))
            out << " [label=\"" << i << "\"]";
        out << ";\n";
    }
}

} // namespace

CUresult cuGraphDebugDotPrint(CUgraph handle, const char *path, unsigned int flags) {
    return api::with_graphs<api::InCapture::Permitted>([&] {
        api::require_non_null(path);
        const std::shared_ptr<device::Graph> graph = api::find_graph(handle);
        std::ofstream file(path);
        file << "digraph {\n";
        for (const std::shared_ptr<GraphNode> &node : graph->nodes())
            write_node(file, *node, flags);
        file << "}\n";
        device::require(file.good(), CUDA_ERROR_OPERATING_SYSTEM);
    });
}
