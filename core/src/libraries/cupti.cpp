// cupti.cpp -- CUPTI's buffers and records, and the JSON report.
#include "libraries/cupti.h"

#include <pycuda/device.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <unistd.h>

namespace pycuda::detail {
namespace {

constexpr const char *files[] = {"libcupti.so.13", "libcupti.so.12"};
constexpr LibraryStatus statuses[] = {
    {15, "CUPTI_ERROR_NOT_INITIALIZED"},
    {35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
    {39, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
    {40, "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES"},
};
constexpr LibraryDescription description = {"CUPTI", files, statuses};

// CUpti_ActivityKind. With kernel records of kind 3, CUPTI would serialise the kernels.
constexpr std::uint32_t copy_kind = 1, fill_kind = 2, kernel_kind = 10;
constexpr std::uint32_t kinds[] = {copy_kind, fill_kind, kernel_kind};

constexpr std::size_t buffer_bytes = std::size_t{1} << 20, buffer_alignment = 8;
constexpr std::size_t most_events = 1'000'000;

/// CUpti_ActivityMemcpyKind.
const char *direction(unsigned kind) {
    switch (kind) {
    case 1:
    case 3:
        return "host to device";
    case 2:
    case 4:
        return "device to host";
    case 9:
        return "host to host";
    default:
        return "device to device"; // includes arrays and memory of other devices
    }
}

std::string json_text(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            result += '\\';
        result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return result + '"';
}

template <class Number> std::string member(const char *name, Number value) {
    return json_text(name) + ": " + std::to_string(value);
}

std::string json_of(const std::vector<int> &numbers) {
    std::string text;
    for (const int number : numbers)
        text += (text.empty() ? "" : ", ") + std::to_string(number);
    return "[" + text + "]";
}

/// The number of blocks per multiprocessor that each resource allows.
std::string occupancy(unsigned ordinal, int threads, unsigned registers, int shared) {
    const Device device(static_cast<int>(ordinal));
    constexpr int warp = 32, register_unit = 256;
    const int warps = std::max((threads + warp - 1) / warp, 1);
    const auto attribute = [&](CUdevice_attribute name) {
        return device.attribute_if_known(name).value_or(0);
    };
    const int warp_registers =
        (static_cast<int>(registers) * warp + register_unit - 1) / register_unit * register_unit;
    const int most_threads = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    const auto fit = [](int whole, int part) {
        return part > 0 ? static_cast<unsigned>(whole / part) : ~0u;
    };
    const int reserved = attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    return "{" + member("by_blocks", attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)) +
           ", " + member("by_threads", fit(most_threads, warps * warp)) + ", " +
           member("by_registers",
                  fit(attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
                      warp_registers * warps)) +
           ", " +
           member("by_shared",
                  fit(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
                      shared > 0 ? shared + reserved : 0)) +
           ", " + member("threads_per_multiprocessor", most_threads) + "}";
}

std::uint64_t nanoseconds(CuptiTimeline::Time time) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

} // namespace

CuptiTimeline *CuptiTimeline::get() {
    static CuptiTimeline *const timeline = []() -> CuptiTimeline * {
        std::unique_ptr<NvidiaLibrary> library = NvidiaLibrary::open(description);
        if (!library)
            return nullptr;
        auto *made = new CuptiTimeline(*library.release());
        return made->complete ? made : nullptr;
    }();
    return timeline;
}

void CuptiTimeline::start() {
    if (!is_registered_)
        register_callbacks_(reinterpret_cast<void *>(give_buffer),
                            reinterpret_cast<void *>(take_buffer));
    is_registered_ = true;
    for (const std::uint32_t kind : kinds)
        enable_(kind);
}

void CuptiTimeline::stop() {
    flush_(0);
    for (const std::uint32_t kind : kinds)
        disable_(kind);
}

void CuptiTimeline::give_buffer(std::uint8_t **buffer, std::size_t *size,
                                std::size_t *most_records) {
    *buffer = static_cast<std::uint8_t *>(std::aligned_alloc(buffer_alignment, buffer_bytes));
    *size = *buffer ? buffer_bytes : 0; // CUPTI drops records if it gets no buffer
    *most_records = 0;                  // no limit
}

void CuptiTimeline::take_buffer(void *, std::uint32_t, std::uint8_t *buffer, std::size_t,
                                std::size_t valid) {
    CuptiTimeline &timeline = *get();
    void *record = nullptr;
    try {
        while (valid > 0 && timeline.next_record_.status(buffer, valid, &record) == 0)
            timeline.add(record);
    } catch (
        const std::bad_alloc &) { // CUPTI cannot handle exceptions; the report will lack events
        std::lock_guard lock(timeline.mutex_);
        ++timeline.events_left_out_;
    }
    std::free(buffer);
}

void CuptiTimeline::add(const void *record) {
    std::uint32_t kind = 0;
    std::memcpy(&kind, record, sizeof kind);
    if (kind == kernel_kind) {
        const auto &kernel = *static_cast<const CuptiKernel *>(record);
        const std::string name = kernel.name ? kernel.name : "";
        std::lock_guard lock(mutex_);
        Launches &launches = launches_of(
            {name, std::vector<int>(std::begin(kernel.grid), std::end(kernel.grid)),
             std::vector<int>(std::begin(kernel.block), std::end(kernel.block)), kernel.registers,
             kernel.static_shared, kernel.dynamic_shared, kernel.local_per_thread, kernel.device});
        const std::uint64_t time = kernel.end - kernel.start;
        ++launches.count;
        launches.nanoseconds += time;
        launches.shortest = std::min(launches.shortest, time);
        launches.longest = std::max(launches.longest, time);
        add_event({"kernel", name, kernel.stream, kernel.device, 0, kernel.start, kernel.end, 0});
    } else if (kind == copy_kind) {
        const auto &copy = *static_cast<const CuptiCopy *>(record);
        std::lock_guard lock(mutex_);
        add_event({"copy", direction(copy.copy_kind), copy.stream, copy.device, 0, copy.start,
                   copy.end, copy.bytes});
    } else if (kind == fill_kind) {
        const auto &fill = *static_cast<const CuptiFill *>(record);
        std::lock_guard lock(mutex_);
        add_event({"fill", "fill", fill.stream, fill.device, 0, fill.start, fill.end, fill.bytes});
    }
}

CuptiTimeline::Launches &CuptiTimeline::launches_of(const Kernel &kernel) {
    const auto [place, is_new] = places_.try_emplace(kernel, kernels_.size());
    if (is_new)
        kernels_.emplace_back(kernel, Launches{});
    return kernels_[place->second].second;
}

void CuptiTimeline::add_event(Event &&event) {
    if (events_.size() < most_events)
        events_.push_back(std::move(event));
    else
        ++events_left_out_;
}

void CuptiTimeline::note_wait(const char *function, Time begin, Time end) noexcept try {
    std::lock_guard lock(mutex_);
    add_event({"host wait", function, 0, 0, gettid(), nanoseconds(begin), nanoseconds(end), 0});
} catch (const std::bad_alloc &) { // the report lacks this event
}

/// The difference between CUPTI's clock and the host's steady clock, to be subtracted from CUPTI's
/// times.
std::uint64_t CuptiTimeline::clock_difference() const {
    std::uint64_t now = 0;
    timestamp_(&now);
    return now - nanoseconds(std::chrono::steady_clock::now());
}

std::string CuptiTimeline::report() {
    flush_(0);
    const std::uint64_t difference = clock_difference();
    std::string kernels, events;
    std::lock_guard lock(mutex_);
    for (const auto &[kernel, launches] : kernels_) {
        const auto &[name, grid, block, registers, fixed, dynamic, local, device] = kernel;
        const int threads = block[0] * block[1] * block[2];
        kernels += (kernels.empty() ? "\n" : ",\n") + std::string(R"({"name": )") +
                   json_text(name) + R"(, "grid": )" + json_of(grid) + R"(, "block": )" +
                   json_of(block) + ", " + member("launches", launches.count) + ", " +
                   member("failures", 0) + ", " + member("nanoseconds", launches.nanoseconds) +
                   ", " + member("shortest", launches.shortest) + ", " +
                   member("longest", launches.longest) + ", " + member("registers", registers) +
                   ", " + member("static_shared_bytes", fixed) + ", " +
                   member("dynamic_shared_bytes", dynamic) + ", " +
                   member("local_bytes_per_thread", local) + ", " + member("device", device) +
                   R"(, "occupancy": )" + occupancy(device, threads, registers, fixed + dynamic) +
                   R"(, "lines": [], "accesses": []})";
    }
    for (const Event &event : events_) {
        const std::uint64_t shift = event.stream != 0 ? difference : 0;
        events += (events.empty() ? "\n" : ",\n") + std::string(R"({"activity": )") +
                  json_text(event.activity) + R"(, "name": )" + json_text(event.name) + ", " +
                  member("stream", event.stream) + ", " + member("device", event.device) + ", " +
                  member("thread", event.thread) + ", " + member("begin", event.begin - shift) +
                  ", " + member("end", event.end - shift) + ", " + member("bytes", event.bytes) +
                  "}";
    }
    return R"({"processor": "GPU", )" + member("process", getpid()) + ", " +
           member("events_left_out", events_left_out_) + R"(, "kernels": [)" + kernels +
           R"(], "events": [)" + events + "]}";
}

void CuptiTimeline::forget() {
    flush_(0);
    std::lock_guard lock(mutex_);
    kernels_.clear();
    places_.clear();
    events_.clear();
    events_left_out_ = 0;
}

} // namespace pycuda::detail
