// fake_cupti.cpp -- a libcupti for tests: each flush returns records of one kernel, one copy and
// one fill, if these are enabled.
#include "libraries/cupti.h"

#include <cstring>
#include <set>

using namespace pycuda::detail;

namespace {

using GiveBuffer = void (*)(std::uint8_t **, std::size_t *, std::size_t *);
using TakeBuffer = void (*)(void *, std::uint32_t, std::uint8_t *, std::size_t, std::size_t);

GiveBuffer give_buffer = nullptr;
TakeBuffer take_buffer = nullptr;
std::set<std::uint32_t> enabled;

/// Records of other versions are longer; here by this number of bytes.
constexpr std::size_t kRest = 64;
constexpr std::size_t kRecord = sizeof(CuptiKernel) + kRest;

template <class Record> void write(std::uint8_t *at, const Record &record) {
    std::memcpy(at, &record, sizeof record);
}

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int cuptiActivityRegisterCallbacks(void *give, void *take) {
    give_buffer = reinterpret_cast<GiveBuffer>(give);
    take_buffer = reinterpret_cast<TakeBuffer>(take);
    return 0;
}

EXPORT int cuptiActivityEnable(std::uint32_t kind) {
    enabled.insert(kind);
    return 0;
}

EXPORT int cuptiActivityDisable(std::uint32_t kind) {
    enabled.erase(kind);
    return 0;
}

EXPORT int cuptiActivityFlushAll(std::uint32_t) {
    if (enabled.empty())
        return 0;
    std::uint8_t *buffer = nullptr;
    std::size_t size = 0, most = 0;
    give_buffer(&buffer, &size, &most);
    CuptiKernel kernel{};
    kernel.kind = 10;
    kernel.registers = 16;
    kernel.start = 1000;
    kernel.end = 3000;
    kernel.stream = 7;
    kernel.name = "work";
    for (int axis = 0; axis < 3; ++axis)
        kernel.grid[axis] = kernel.block[axis] = axis == 0 ? 64 : 1;
    CuptiCopy copy{};
    copy.kind = 1;
    copy.copy_kind = 2;
    copy.bytes = 4096;
    copy.start = 3000;
    copy.end = 3500;
    copy.stream = 7;
    CuptiFill fill{};
    fill.kind = 2;
    fill.bytes = 512;
    fill.start = 500;
    fill.end = 700;
    fill.stream = 9;
    write(buffer, kernel);
    write(buffer + kRecord, copy);
    write(buffer + 2 * kRecord, fill);
    take_buffer(nullptr, 0, buffer, size, 3 * kRecord);
    return 0;
}

EXPORT int cuptiActivityGetNextRecord(std::uint8_t *buffer, std::size_t valid, void **record) {
    std::uint8_t *next = *record ? static_cast<std::uint8_t *>(*record) + kRecord : buffer;
    if (next >= buffer + valid)
        return 12; // CUPTI_ERROR_MAX_LIMIT_REACHED: no more records
    *record = next;
    return 0;
}

EXPORT int cuptiGetTimestamp(std::uint64_t *time) {
    *time = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                       std::chrono::nanoseconds(1));
    return 0;
}
