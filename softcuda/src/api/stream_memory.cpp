// stream_memory.cpp -- streams that write words in memory and wait for them.
#include "device/stream_memory.h"
#include "api/call.h"
#include "api/default_stream.h"
#include "device/graphs/capture.h"

using namespace softcuda;
using device::Context;
using device::Stream;

namespace {

using Operation = device::MemoryOperation;

/// Runs all operations, or none if one is invalid.
CUresult run(CUstream handle, const Operation *operations, unsigned count, unsigned flags) {
    return api::with_context_of(handle, [&](Context &context) {
        device::require(flags == 0 && (operations || count == 0), CUDA_ERROR_INVALID_VALUE);
        Stream &stream = *api::find_stream(context, handle);
        device::MemoryOperationsWork work{{operations, operations + count}};
        for (const Operation &operation : work.operations)
            device::check_memory_operation(operation);
        if (device::capture::any() && device::capture::add(stream, work))
            return;
        for (const Operation &operation : work.operations)
            device::enqueue_memory_operation(stream, operation);
    });
}

CUresult wait(CUstream stream, CUdeviceptr address, std::uint64_t value, unsigned flags,
              CUstreamBatchMemOpType type) {
    Operation operation{};
    operation.waitValue.operation = type;
    operation.waitValue.address = address;
    operation.waitValue.value64 = value; // its low half is `value`
    operation.waitValue.flags = flags;
    return run(stream, &operation, 1, 0);
}

CUresult write(CUstream stream, CUdeviceptr address, std::uint64_t value, unsigned flags,
               CUstreamBatchMemOpType type) {
    Operation operation{};
    operation.writeValue.operation = type;
    operation.writeValue.address = address;
    operation.writeValue.value64 = value;
    operation.writeValue.flags = flags;
    return run(stream, &operation, 1, 0);
}

} // namespace

#undef cuStreamWaitValue32
#undef cuStreamWaitValue64
#undef cuStreamWriteValue32
#undef cuStreamWriteValue64
#undef cuStreamBatchMemOp

#define BOTH_FORMS(name, Number, call, type)                                                       \
    SCU_EXPORT CUresult CUDAAPI name(CUstream stream, CUdeviceptr address, Number value,           \
                                     unsigned int flags) {                                         \
        return call(stream, address, value, flags, type);                                          \
    }                                                                                              \
    SCU_EXPORT CUresult CUDAAPI name##_v2(CUstream stream, CUdeviceptr address, Number value,      \
                                          unsigned int flags) {                                    \
        return call(stream, address, value, flags, type);                                          \
    }

BOTH_FORMS(cuStreamWaitValue32, cuuint32_t, wait, CU_STREAM_MEM_OP_WAIT_VALUE_32)
BOTH_FORMS(cuStreamWaitValue64, cuuint64_t, wait, CU_STREAM_MEM_OP_WAIT_VALUE_64)
BOTH_FORMS(cuStreamWriteValue32, cuuint32_t, write, CU_STREAM_MEM_OP_WRITE_VALUE_32)
BOTH_FORMS(cuStreamWriteValue64, cuuint64_t, write, CU_STREAM_MEM_OP_WRITE_VALUE_64)

SCU_EXPORT CUresult CUDAAPI cuStreamBatchMemOp(CUstream stream, unsigned int count,
                                               CUstreamBatchMemOpParams *operations,
                                               unsigned int flags) {
    return run(stream, operations, count, flags);
}

SCU_EXPORT CUresult CUDAAPI cuStreamBatchMemOp_v2(CUstream stream, unsigned int count,
                                                  CUstreamBatchMemOpParams *operations,
                                                  unsigned int flags) {
    return run(stream, operations, count, flags);
}
