// cupti.h -- a timeline of an NVIDIA GPU, by CUPTI's activity records.
//
// CUPTI requests empty buffers, fills them with a record for each completed kernel, copy and fill,
// and returns them. Its callbacks run on CUPTI's own threads.
#pragma once

#include "libraries/nvidia_library.h"

#include <pycuda/caller_lock.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace pycuda::detail {

/// The beginning of CUpti_ActivityKernel5 to 13, CUpti_ActivityMemcpy to 7 and CUpti_ActivityMemset
/// to 5 (cupti_activity.h of CUDA 11 to 13). Later members differ between versions.
struct CuptiKernel {
    std::uint32_t kind;
    std::uint8_t cache_config, shared_config;
    std::uint16_t registers;
    std::uint32_t cache_requested, cache_executed;
    std::uint64_t start, end, completed;
    std::uint32_t device, context, stream;
    std::int32_t grid[3], block[3];
    std::int32_t static_shared, dynamic_shared;
    std::uint32_t local_per_thread, local_total, correlation;
    std::int64_t grid_id;
    const char *name;
};
struct CuptiCopy {
    std::uint32_t kind;
    std::uint8_t copy_kind, source_kind, destination_kind, flags;
    std::uint64_t bytes, start, end;
    std::uint32_t device, context, stream;
};
struct CuptiFill {
    std::uint32_t kind;
    std::uint32_t value;
    std::uint64_t bytes, start, end;
    std::uint32_t device, context, stream;
};
static_assert(offsetof(CuptiKernel, start) == 16 && offsetof(CuptiKernel, name) == 104);
static_assert(offsetof(CuptiCopy, bytes) == 8 && offsetof(CuptiCopy, stream) == 40);
static_assert(offsetof(CuptiFill, bytes) == 8 && offsetof(CuptiFill, stream) == 40);

/// The records of CUPTI in this process. Any thread may call.
class CuptiTimeline : LibraryTable {
  public:
    using Time = std::chrono::steady_clock::time_point;

    /// Null if CUPTI is not found, or is too old.
    static CuptiTimeline *get();

    /// These throw std::runtime_error if CUPTI reports an error: another profiler uses CUPTI, or
    /// the driver is older than CUPTI.
    void start();
    void stop();

    /// Records a wait of the calling thread. Does nothing if memory runs out.
    void note_wait(const char *function, Time begin, Time end) noexcept;
    /// The report in the format of softcuda (abi/extensions.h), without counters.
    [[nodiscard]] std::string report();
    void forget();

  private:
    using LibraryTable::LibraryTable;

    struct Event {
        const char *activity;
        std::string name;
        std::uint32_t stream, device;
        int thread;
        std::uint64_t begin, end, bytes;
    };
    struct Launches {
        std::uint64_t count = 0, nanoseconds = 0, shortest = ~std::uint64_t{0}, longest = 0;
    };
    /// Name, grid, block, registers, static, dynamic shared bytes, local bytes, device.
    using Kernel = std::tuple<std::string, std::vector<int>, std::vector<int>, unsigned, int, int,
                              unsigned, unsigned>;

    static void give_buffer(std::uint8_t **buffer, std::size_t *size, std::size_t *most_records);
    static void take_buffer(void *context, std::uint32_t stream, std::uint8_t *buffer,
                            std::size_t size, std::size_t valid);
    void add(const void *record);
    Launches &launches_of(const Kernel &kernel);
    void add_event(Event &&event);
    [[nodiscard]] std::uint64_t clock_difference() const;

    const LibraryFunction<int(void *, void *)> register_callbacks_{
        *this, "cuptiActivityRegisterCallbacks"};
    const LibraryFunction<int(std::uint32_t)> enable_{*this, "cuptiActivityEnable"},
        disable_{*this, "cuptiActivityDisable"}, flush_{*this, "cuptiActivityFlushAll"};
    const LibraryFunction<int(std::uint8_t *, std::size_t, void **)> next_record_{
        *this, "cuptiActivityGetNextRecord"};
    const LibraryFunction<int(std::uint64_t *)> timestamp_{*this, "cuptiGetTimestamp"};

    CallerMutex mutex_;
    bool is_registered_ = false;
    std::vector<std::pair<Kernel, Launches>> kernels_; ///< in the order of their first records
    std::map<Kernel, std::size_t> places_;             ///< in kernels_
    std::vector<Event> events_; ///< times are CUPTI's; of waits, the host's steady clock
    std::uint64_t events_left_out_ = 0;
};

} // namespace pycuda::detail
