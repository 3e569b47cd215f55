// kernel_calls.cpp -- the functions of kernel_abi.h, which generated code calls by name.
//
// A fault must not jump out of code that holds a lock or memory, so these functions check addresses
// first, or read them under a separate guard, and fail at the end.
#include "rt/cluster.h"
#include "rt/device_call_abi.h"
#include "rt/guard.h"
#include "rt/kernel_abi.h"
#include "rt/kernel_services.h"
#include "rt/printf_format.h"
#include "rt/watch.h"
#include "rt/watch_abi.h"
#include "rt/windows.h"
#include "rt/worker_slot.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>
#include <string>

using namespace softcuda::rt;

namespace {

constexpr std::size_t kLongestFormat = 64 * 1024;

KernelServices &services(const LaunchFrame *frame) {
    return *static_cast<KernelServices *>(frame->launch);
}

[[noreturn]] void fail(Fault kind, std::uint64_t address, std::uint32_t lane,
                       FaultReport::Direction direction = FaultReport::Direction::Unknown) {
    FaultReport report;
    report.kind = kind;
    report.address_known = true;
    report.address = address;
    report.lane = static_cast<int>(lane);
    report.direction = direction;
    Guard::fail(report);
}

/// Whether the address is in the window that starts at `begin`, as generated code tests it.
bool is_behind(const std::byte *begin, std::uint64_t address, std::uint64_t narrow_bytes) {
    constexpr std::uint64_t kWide = std::uint64_t{1} << 32;
    return address - reinterpret_cast<std::uint64_t>(begin) <
           (windows_are_narrow() ? narrow_bytes : kWide);
}

bool is_parameter(const LaunchFrame *frame, std::uint64_t address) {
    const auto begin = reinterpret_cast<std::uint64_t>(frame->params);
    return KnownRange{begin, services(frame).parameter_block().size()}.contains(address, 1);
}

/// Checks accesses of lanes, which mostly use the same range.
class LaneChecks {
  public:
    /// Of `size` bytes each, which are aligned if their number is a power of two.
    LaneChecks(WorkerState *worker, const LaunchFrame *frame, Access access, std::uint32_t size)
        : worker_(worker), frame_(frame), access_(access), size_(size),
          alignment_(std::has_single_bit(size) ? size : 1) {}
    LaneChecks(WorkerState *worker, const LaunchFrame *frame, const AccessSite &site,
               std::uint32_t size)
        : worker_(worker), frame_(frame), access_(static_cast<Access>(site.access)), size_(size),
          alignment_(site.alignment), last_(worker->known.of_sites[site.number]) {}

    void check(std::uint64_t address, unsigned lane) {
        // An access to unallocated memory in the arena faults.
        if (address - frame_->global_base >= frame_->global_size &&
            !last_.contains(address, size_)) {
            last_ = find_known_range(worker_, frame_, address, size_, access_);
            if (last_.bytes == 0)
                fail(Fault::IllegalAddress, address, lane, direction());
        }
        check_alignment(address, lane);
    }

    void check_alignment(std::uint64_t address, unsigned lane) const {
        if (address % alignment_ != 0)
            fail(Fault::MisalignedAddress, address, lane, direction());
    }

    /// For the next access at this place of the program.
    void keep(const AccessSite &site) const {
        if (last_.bytes > 0)
            worker_->known.of_sites[site.number] = last_;
    }

  private:
    [[nodiscard]] FaultReport::Direction direction() const {
        return access_ == Access::Load ? FaultReport::Direction::Read
                                       : FaultReport::Direction::Write;
    }

    WorkerState *worker_;
    const LaunchFrame *frame_;
    Access access_;
    std::uint32_t size_, alignment_;
    KnownRange last_;
};

/// Writes of the device runtime for a lane count as writes of the lane.
void notify_watch_of_reply(WorkerState *worker, unsigned lane, const DeviceReply &reply) {
    static WatchSite site = [] {
        WatchSite place{};
        place.file = "the device runtime";
        place.kind = WatchKind::Store;
        place.space = WatchSpace::Generic;
        place.bytes = place.count = 1;
        return place;
    }();
    if (worker->watch)
        watch_copy(worker, site, lane, reply.address, reply.bytes, {});
}

std::string text_at(std::uint64_t address) {
    std::string text;
    if (!read_string(guarded_copy, address, kLongestFormat, text))
        return "(unreadable)";
    return text;
}

/// Calls each(lane) for the lanes in `mask`, in order.
template <class Each> void for_each_lane(std::uint32_t mask, Each &&each) {
    for (; mask != 0; mask &= mask - 1)
        each(static_cast<unsigned>(__builtin_ctz(mask)));
}

constexpr std::uint32_t kAllLanes = ~std::uint32_t{0};

/// Bits of the addresses of the lanes in `mask`.
struct LaneBits {
    LaneBits(const LaunchFrame *frame, const std::uint64_t *addresses, std::uint32_t mask) noexcept
        : arena_bytes(frame->global_size) {
        for (unsigned lane = 0; lane < kWarpSize; lane++) {
            const std::uint64_t relevant = -std::uint64_t{mask >> lane & 1};
            low |= addresses[lane] & relevant;
            distance |= (addresses[lane] - frame->global_base) & relevant;
        }
    }

    /// Whether the addresses may be accessed without a look at each. The arena's size is a power of
    /// two: an address outside of it has a distance with a higher bit.
    [[nodiscard]] bool are_fine(const LaneForm &form) const noexcept {
        const std::uint32_t size = std::uint32_t{form.bytes} * form.count;
        const bool aligned = !std::has_single_bit(size) || low % size == 0;
        return aligned && (form.memory == LaneMemory::Known || distance < arena_bytes);
    }

    std::uint64_t arena_bytes, low = 0, distance = 0;
};

/// Checks each lane's address.
void check_lanes(WorkerState *worker, const LaunchFrame *frame, const std::uint64_t *addresses,
                 std::uint32_t mask, const LaneForm &form, Access access) {
    LaneChecks checks(worker, frame, access, std::uint32_t{form.bytes} * form.count);
    for_each_lane(mask, [&](unsigned lane) {
        if (form.memory == LaneMemory::Known)
            checks.check_alignment(addresses[lane], lane);
        else
            checks.check(addresses[lane], lane);
    });
}

/// Calls with an element of `form`, as a number of its size.
template <class Call> void with_element(const LaneForm &form, Call &&call) {
    switch (form.bytes) {
    case 1:
        return call(std::uint8_t{});
    case 2:
        return call(std::uint16_t{});
    case 4:
        return call(std::uint32_t{});
    case 8:
        return call(std::uint64_t{});
    default:
        return call(std::array<std::uint64_t, 2>{});
    }
}

/// Calls each(lane): a loop over all lanes if all of them are in `mask`, so that it is unrolled.
template <class Each> void for_lanes(std::uint32_t mask, Each &&each) {
    if (mask != kAllLanes)
        return for_each_lane(mask, each);
    for (unsigned lane = 0; lane < kWarpSize; lane++)
        each(lane);
}

template <class Element>
void load_elements(const std::uint64_t *addresses, std::uint32_t mask, const LaneForm &form,
                   std::byte *values, Element element) {
    for (std::uint32_t e = 0; e < form.count; e++, values += sizeof element * kWarpSize)
        for_lanes(mask, [&](unsigned lane) {
            const auto *from = reinterpret_cast<const std::byte *>(addresses[lane]);
            std::memcpy(&element, from + e * sizeof element, sizeof element);
            std::memcpy(values + lane * sizeof element, &element, sizeof element);
        });
}

/// In the order of the lanes: of several that store to one place, the last one's value stays.
template <class Element>
void store_elements(const std::uint64_t *addresses, std::uint32_t mask, const LaneForm &form,
                    const std::byte *values, Element element) {
    for_lanes(mask, [&](unsigned lane) {
        auto *to = reinterpret_cast<std::byte *>(addresses[lane]);
        for (std::uint32_t e = 0; e < form.count; e++) {
            std::memcpy(&element, values + (std::size_t{e} * kWarpSize + lane) * sizeof element,
                        sizeof element);
            std::memcpy(to + e * sizeof element, &element, sizeof element);
        }
    });
}

/// Prints for one lane; -1 if the format or an argument cannot be read or formatted.
int print_lane(const WorkerState *worker, const LaunchFrame *frame, std::uint64_t format_address,
               std::uint64_t arguments) {
    try {
        std::string format, text;
        if (!read_string(guarded_copy, format_address, kLongestFormat, format))
            return -1;
        const int count = format_printf(guarded_copy, format, arguments, text);
        services(frame).print(worker->block_index, text);
        return count;
    } catch (const std::bad_alloc &) { // must not leave through generated code
        return -1;
    }
}

/// x, y and z of a linear index.
struct Position {
    std::uint64_t x, y, z;
};

Position position_of(std::uint64_t index, const std::uint32_t (&extent)[3]) {
    return {index % extent[0], index / extent[0] % extent[1], index / extent[0] / extent[1]};
}

} // namespace

void scu_fault(WorkerState *, std::uint32_t fault, std::uint64_t address, std::uint32_t lane) {
    fail(static_cast<Fault>(fault), address, lane);
}

void scu_check_address(WorkerState *worker, const LaunchFrame *frame, std::uint64_t address,
                       std::uint32_t size, std::uint32_t access, std::uint32_t lane) {
    LaneChecks(worker, frame, static_cast<Access>(access), size).check(address, lane);
}

void scu_check_addresses(WorkerState *worker, const LaunchFrame *frame,
                         const std::uint64_t *addresses, std::uint32_t mask, std::uint32_t size,
                         AccessSite site) {
    LaneChecks checks(worker, frame, site, size);
    for_each_lane(mask, [&](unsigned lane) { checks.check(addresses[lane], lane); });
    checks.keep(site);
}

void scu_reach_addresses(WorkerState *worker, const LaunchFrame *frame,
                         const std::uint64_t *addresses, std::uint32_t mask, std::uint32_t size,
                         AccessSite site) {
    scu_check_addresses(worker, frame, addresses, mask, size, site);
    for_each_lane(mask, [&](unsigned lane) {
        const auto *at = reinterpret_cast<const std::uint8_t *>(addresses[lane]);
        static_cast<void>(__atomic_load_n(at, __ATOMIC_RELAXED));
    });
}

void scu_check_places(WorkerState *worker, const LaunchFrame *frame, std::uint64_t base,
                      const LanePlaces *places, std::uint32_t mask) {
    LaneChecks checks(worker, frame, places->site, places->bytes);
    for_each_lane(mask, [&](unsigned lane) {
        checks.check(base + static_cast<std::uint64_t>(places->offsets[lane]), lane);
    });
    checks.keep(places->site);
}

std::uint32_t scu_is_space(WorkerState *worker, const LaunchFrame *frame,
                           const std::uint64_t *addresses, std::uint32_t mask,
                           std::uint32_t space) {
    std::uint32_t found = 0;
    const Guard::Uninterrupted section;
    for_each_lane(mask, [&](unsigned lane) {
        const std::uint64_t address = addresses[lane];
        bool is_in = false;
        switch (static_cast<PointerSpace>(space)) {
        case PointerSpace::Global: // what is in no other window; parameters are in this one, too
            is_in = !is_behind(worker->shared, address, kNarrowWindow) &&
                    !is_behind(worker->local, address, kNarrowLocal) &&
                    !cluster_contains(worker, address, 1) && !services(frame).is_constant(address);
            break;
        case PointerSpace::Constant:
            is_in = services(frame).is_constant(address);
            break;
        case PointerSpace::Parameters:
            is_in = is_parameter(frame, address);
            break;
        }
        found |= std::uint32_t{is_in} << lane;
    });
    return found;
}

void scu_load_lanes(WorkerState *worker, const LaunchFrame *frame, const std::uint64_t *addresses,
                    std::uint32_t mask, LaneForm form, std::byte *values) {
    if (!LaneBits(frame, addresses, mask).are_fine(form))
        check_lanes(worker, frame, addresses, mask, form, Access::Load);
    if (mask != kAllLanes)
        std::memset(values, 0, std::size_t{form.bytes} * form.count * kWarpSize);
    with_element(form,
                 [&](auto element) { load_elements(addresses, mask, form, values, element); });
}

void scu_store_lanes(WorkerState *worker, const LaunchFrame *frame, const std::uint64_t *addresses,
                     std::uint32_t mask, LaneForm form, const std::byte *values) {
    if (!LaneBits(frame, addresses, mask).are_fine(form))
        check_lanes(worker, frame, addresses, mask, form, Access::Store);
    with_element(form,
                 [&](auto element) { store_elements(addresses, mask, form, values, element); });
}

void scu_vprintf(WorkerState *worker, const LaunchFrame *frame, const std::uint64_t *formats,
                 const std::uint64_t *arguments, std::uint32_t mask, std::int32_t *results) {
    const Guard::Uninterrupted section;
    for_each_lane(mask, [&](unsigned lane) {
        results[lane] = print_lane(worker, frame, formats[lane], arguments[lane]);
    });
}

void scu_assertfail(WorkerState *worker, const LaunchFrame *frame, const std::uint64_t *messages,
                    const std::uint64_t *files, const std::uint32_t *lines,
                    const std::uint64_t *functions, std::uint32_t mask) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(mask));
    {
        const Guard::Uninterrupted section;
        const Position block = position_of(worker->block_index, frame->grid);
        const Position thread =
            position_of(std::uint64_t{worker->warp_index} * kWarpSize + lane, frame->block);
        std::fprintf(
            stderr,
            "%s:%u: %s: block: [%llu,%llu,%llu], thread: [%llu,%llu,%llu] "
            "Assertion `%s` failed.\n",
            text_at(files[lane]).c_str(), lines[lane], text_at(functions[lane]).c_str(),
            static_cast<unsigned long long>(block.x), static_cast<unsigned long long>(block.y),
            static_cast<unsigned long long>(block.z), static_cast<unsigned long long>(thread.x),
            static_cast<unsigned long long>(thread.y), static_cast<unsigned long long>(thread.z),
            text_at(messages[lane]).c_str());
    }
    fail(Fault::Assert, 0, lane);
}

void scu_malloc(WorkerState *, const LaunchFrame *frame, const std::uint64_t *sizes,
                std::uint32_t mask, std::uint64_t *results) {
    const Guard::Uninterrupted section;
    for_each_lane(mask, [&](unsigned lane) {
        results[lane] = sizes[lane] == 0 ? 0 : services(frame).allocate(sizes[lane]);
    });
}

void scu_free(WorkerState *, const LaunchFrame *frame, const std::uint64_t *pointers,
              std::uint32_t mask) {
    int bad_lane = -1;
    {
        const Guard::Uninterrupted section;
        for_each_lane(mask, [&](unsigned lane) {
            if (pointers[lane] != 0 && !services(frame).release(pointers[lane]))
                bad_lane = static_cast<int>(lane);
        });
    }
    if (bad_lane >= 0)
        fail(Fault::IllegalAddress, pointers[bad_lane], static_cast<unsigned>(bad_lane));
}

void scu_device_call(WorkerState *worker, const LaunchFrame *frame, std::uint32_t number,
                     const std::uint64_t *arguments, std::uint32_t mask, std::uint64_t *results) {
    const auto call = static_cast<softcuda::DeviceCall>(number);
    for_each_lane(mask, [&](unsigned lane) {
        std::array<std::uint64_t, softcuda::kMostDeviceCallWords> words{};
        DeviceReply reply;
        bool readable = false;
        {
            const Guard::Uninterrupted section;
            const std::size_t count = softcuda::words_of(call);
            readable = guarded_copy(words.data(), arguments[lane], count * sizeof words[0]);
            if (readable)
                reply = services(frame).call_runtime(
                    call, {worker->block_index, worker->warp_index * kWarpSize + lane},
                    std::span(words).first(count));
        }
        if (!readable)
            fail(Fault::IllegalAddress, arguments[lane], lane, FaultReport::Direction::Read);
        if (reply.unreadable != 0)
            fail(Fault::IllegalAddress, reply.unreadable, lane, FaultReport::Direction::Read);
        results[lane] = reply.result;
        if (reply.address == 0)
            return;
        scu_check_address(worker, frame, reply.address, static_cast<std::uint32_t>(reply.bytes),
                          static_cast<std::uint32_t>(Access::Store), lane);
        notify_watch_of_reply(worker, lane, reply);
        // Memory that was freed is found by the copy.
        if (!guarded_copy(reinterpret_cast<void *>(reply.address),
                          reinterpret_cast<std::uint64_t>(reply.content.data()), reply.bytes))
            fail(Fault::IllegalAddress, reply.address, lane, FaultReport::Direction::Write);
    });
}

std::uint64_t scu_globaltimer() {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_nsec);
}

void scu_nanosleep(std::uint32_t nanoseconds) {
    // CUDA promises between 0 and twice the time, at most a millisecond.
    timespec time{};
    time.tv_nsec = static_cast<long>(std::min<std::uint32_t>(nanoseconds, 1'000'000));
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}
