// fuzz_graph_node.h -- fills the parameters of a graph's node, whose members have equal names and
// whose types have equal numbers in the driver API and the runtime API.
#pragma once

#include "fuzz_driver_arguments.h"

namespace fuzz {

template <class T> T small(Draw &draw) { return static_cast<T>(draw.number()); }
template <class T> T handle(Draw &draw) { return reinterpret_cast<T>(draw.handle()); }

/// `fill_kernel(kernel)` and `fill_copy(copy)` fill these members, `memory()` makes an address.
template <class Params, class FillKernel, class FillCopy, class Memory>
void fill_graph_node(Draw &draw, Params &params, FillKernel fill_kernel, FillCopy fill_copy,
                     Memory memory) {
    params.type = static_cast<decltype(params.type)>(draw.byte() & 15);
    switch (static_cast<CUgraphNodeType>(params.type)) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        fill_kernel(params.kernel);
        break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        fill_copy(params.memcpy.copyParams);
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        params.memset.dst = memory();
        params.memset.elementSize = small<unsigned>(draw);
        params.memset.width = draw.number();
        params.memset.height = draw.number();
        break;
    case CU_GRAPH_NODE_TYPE_HOST:
        params.host.fn = draw.byte() < 16 ? nullptr : &no_host_function;
        break;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        params.graph.graph = handle<CUgraph>(draw);
        break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        params.eventWait.event = handle<CUevent>(draw);
        break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        params.eventRecord.event = handle<CUevent>(draw);
        break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
        auto &properties = params.alloc.poolProps;
        properties.allocType =
            static_cast<decltype(properties.allocType)>(CU_MEM_ALLOCATION_TYPE_PINNED);
        properties.location.type = small<decltype(properties.location.type)>(draw);
        properties.location.id = small<int>(draw);
        params.alloc.bytesize = draw.number();
        break;
    }
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        params.free.dptr = memory();
        break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        params.conditional.handle = draw.address();
        params.conditional.type = small<decltype(params.conditional.type)>(draw);
        params.conditional.size = small<unsigned>(draw);
        break;
    default: // the others have no memory, or point to the caller's
        break;
    }
}

} // namespace fuzz
