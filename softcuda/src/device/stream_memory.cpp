// stream_memory.cpp -- checks these operations and puts them into a stream.
#include "device/stream_memory.h"

#include "device/context.h"
#include "device/error.h"
#include "device/host_function.h"
#include "device/polled_wait.h"
#include "device/system.h"
#include "rt/guard.h"

#include <type_traits>

namespace softcuda::device {
namespace {

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
    require(address % sizeof(Word) == 0 && System::get().memory().contains(address, sizeof(Word)),
            CUDA_ERROR_INVALID_VALUE);
}

unsigned comparison(unsigned flags) { return flags & ~unsigned{CU_STREAM_WAIT_VALUE_FLUSH}; }

template <class Word> void check_wait(std::uint64_t address, unsigned flags) {
    check_word<Word>(address);
    require(comparison(flags) <= CU_STREAM_WAIT_VALUE_NOR, CUDA_ERROR_INVALID_VALUE);
}

template <class Word> void check_write(std::uint64_t address, unsigned flags) {
    check_word<Word>(address);
    require((flags & ~unsigned{CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER}) == 0,
            CUDA_ERROR_INVALID_VALUE);
}

template <class Word>
void enqueue_wait(Stream &stream, std::uint64_t address, Word value, unsigned flags) {
    const unsigned how = comparison(flags);
    device::enqueue_wait(stream, [=] { return is_reached(address, value, how); });
}

template <class Word> void enqueue_write(Stream &stream, std::uint64_t address, Word value) {
    Context &context = stream.context();
    auto write = std::make_shared<Action>(context, [=, &context] {
        rt::prepare_thread_for_guards();
        rt::Guard guard;
        const rt::Guard::Exit exit = guard.run(
            [=] { __atomic_store_n(reinterpret_cast<Word *>(address), value, __ATOMIC_RELEASE); });
        if (exit != rt::Guard::Exit::Returned)
            context.set_passing_error(CUDA_ERROR_ILLEGAL_ADDRESS); // the memory was freed
    });
    if (System::get().timeline().append(stream, write))
        write->start();
}

} // namespace

void check_memory_operation(const MemoryOperation &operation) {
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
        return; // operations of a stream are ordered in any case
    default:
        throw Error(CUDA_ERROR_INVALID_VALUE);
    }
}

void enqueue_memory_operation(Stream &stream, const MemoryOperation &operation) {
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

} // namespace softcuda::device
