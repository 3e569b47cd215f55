// stream_memory.cpp -- words in memory that streams write and wait for.
#include "api/call.h"
#include "api/default_stream.h"
#include "device/capture.h"
#include "device/host_function.h"
#include "device/polled_wait.h"
#include "rt/guard.h"

#include <span>

using namespace softcuda;
using device::Context;
using device::Stream;

namespace {

// Old and new forms differ in names only.
using Operation = CUstreamBatchMemOpParams;

template <class Word> bool is_reached(std::uint64_t address, Word wanted, unsigned how) {
    const Word now = __atomic_load_n(reinterpret_cast<const Word *>(address), __ATOMIC_ACQUIRE);
    switch (how) {
    case CU_STREAM_WAIT_VALUE_EQ:
        return now == wanted;
    case CU_STREAM_WAIT_VALUE_AND:
        return (now & wanted) != 0;
    case CU_STREAM_WAIT_VALUE_NOR:
        return static_cast<Word>(~(now | wanted)) != 0;
    default: // GEQ, by the signed difference
        return static_cast<std::make_signed_t<Word>>(static_cast<Word>(now - wanted)) >= 0;
    }
}

/// Throws Error(invalid value) unless the address is that of an aligned word.
template <class Word> void check_word(std::uint64_t address) {
    device::require(address % sizeof(Word) == 0 &&
                        device::System::get().memory().contains(address, sizeof(Word)),
                    CUDA_ERROR_INVALID_VALUE);
}

unsigned comparison(unsigned flags) { return flags & ~unsigned{CU_STREAM_WAIT_VALUE_FLUSH}; }

template <class Word> void check_wait(std::uint64_t address, unsigned flags) {
    check_word<Word>(address);
    device::require(comparison(flags) <= CU_STREAM_WAIT_VALUE_NOR, CUDA_ERROR_INVALID_VALUE);
}

template <class Word> void check_write(std::uint64_t address, unsigned flags) {
    check_word<Word>(address);
    device::require((flags & ~unsigned{CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER}) == 0,
                    CUDA_ERROR_INVALID_VALUE);
}

template <class Word>
void enqueue_wait(Stream &stream, std::uint64_t address, Word value, unsigned flags) {
    const unsigned how = comparison(flags);
    device::enqueue_wait(stream, [=] { return is_reached(address, value, how); });
}

template <class Word> void enqueue_write(Stream &stream, std::uint64_t address, Word value) {
    Context &context = stream.context();
    auto write = std::make_shared<device::Action>(context, [=, &context] {
        rt::prepare_thread_for_guards();
        rt::Guard guard;
        const rt::Guard::Exit exit = guard.run(
            [=] { __atomic_store_n(reinterpret_cast<Word *>(address), value, __ATOMIC_RELEASE); });
        if (exit != rt::Guard::Exit::Returned)
            context.set_passing_error(CUDA_ERROR_ILLEGAL_ADDRESS); // the memory was freed
    });
    if (device::System::get().timeline().append(stream, write))
        write->start();
}

void check(const Operation &operation) {
    switch (operation.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return check_wait<std::uint32_t>(operation.waitValue.address, operation.waitValue.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return check_wait<std::uint64_t>(operation.waitValue.address, operation.waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return check_write<std::uint32_t>(operation.writeValue.address, operation.writeValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return check_write<std::uint64_t>(operation.writeValue.address, operation.writeValue.flags);
    case CU_STREAM_MEM_OP_BARRIER:
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        return; // a stream's operations are in order anyway
    default:
        throw device::Error(CUDA_ERROR_INVALID_VALUE);
    }
}

void enqueue(Stream &stream, const Operation &operation) {
    const auto &wait = operation.waitValue;
    const auto &write = operation.writeValue;
    switch (operation.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return enqueue_wait<std::uint32_t>(stream, wait.address, wait.value, wait.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return enqueue_wait<std::uint64_t>(stream, wait.address, wait.value64, wait.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return enqueue_write<std::uint32_t>(stream, write.address, write.value);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return enqueue_write<std::uint64_t>(stream, write.address, write.value64);
    default:
        return;
    }
}

/// All of them, or none where one is wrong.
CUresult run(CUstream handle, const Operation *operations, unsigned count, unsigned flags) {
    return api::with_context([&](Context &context) {
        device::require(flags == 0 && (operations || count == 0), CUDA_ERROR_INVALID_VALUE);
        Stream &stream = *api::find_stream(context, handle);
        device::capture::forbid(stream);
        for (const Operation &operation : std::span(operations, count))
            check(operation);
        for (const Operation &operation : std::span(operations, count))
            enqueue(stream, operation);
    });
}

CUresult wait(CUstream stream, CUdeviceptr address, std::uint64_t value, unsigned flags,
              CUstreamBatchMemOpType type) {
    Operation operation{};
    operation.waitValue.operation = type;
    operation.waitValue.address = address;
    operation.waitValue.value64 = value; // whose low half is value
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
