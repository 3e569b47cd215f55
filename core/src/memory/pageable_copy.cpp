// pageable_copy.cpp -- one ring of pinned memory per context, and the copies through these rings.
#include "memory/pageable_copy.h"

#include "driver/never_destroyed.h"
#include "memory/address_range.h"
#include "memory/copy_team.h"
#include "target/copy_past_caches.h"

#include <pycuda/context.h>
#include <pycuda/driver.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pycuda::detail {
namespace {

constexpr std::size_t slots = 8;
constexpr std::size_t chunk_bytes = std::size_t{32} << 10; // one thread copies this much at a time
constexpr std::size_t least_piece = std::size_t{256} << 10;
constexpr std::size_t most_piece = std::size_t{2} << 20;

/// Small pieces let the copy engine start early; large pieces keep the cost of starting it small.
std::size_t piece_size(std::size_t bytes) {
    return std::clamp(std::bit_ceil(bytes / slots), least_piece, most_piece);
}

/// The pinned slots of one context. Holds raw handles, because it must not keep its context alive.
class Ring {
  public:
    explicit Ring(bool useful) : useful_(useful) {}

    /// False for contexts that other code may destroy. False also if the device's memory is the
    /// host's memory, so that no engine is needed, unless the team is requested explicitly.
    bool useful() const noexcept { return useful_; }
    CallerMutex &mutex() noexcept { return mutex_; }

    /// Makes the slots at least `piece` bytes large. Uses the current context. False if the device
    /// or the host has no memory for them.
    [[nodiscard]] bool has_slots(std::size_t piece) {
        for (CUevent &event : events_)
            if (event == nullptr &&
                !had_memory(driver().cuEventCreate.status(&event, CU_EVENT_DISABLE_TIMING),
                            "cuEventCreate"))
                return false;
        if (piece <= slot_bytes_)
            return true;
        release_memory(driver());
        void *memory = nullptr;
        if (!had_memory(driver().cuMemHostAlloc.status(&memory, slots * piece, 0),
                        "cuMemHostAlloc"))
            return false;
        memory_ = static_cast<std::byte *>(memory);
        slot_bytes_ = piece;
        return true;
    }
    /// Call it with the context current, before the context ends.
    void release(const Driver &loaded) noexcept {
        release_memory(loaded);
        for (CUevent &event : events_)
            if (event != nullptr)
                (void)loaded.cuEventDestroy.status(std::exchange(event, nullptr));
    }

    std::byte *slot(std::size_t piece) noexcept { return memory_ + piece % slots * slot_bytes_; }
    void mark(std::size_t piece) { driver().cuEventRecord(events_[piece % slots], nullptr); }
    void wait(std::size_t piece) { driver().cuEventSynchronize(events_[piece % slots]); }
    /// True if the engine has finished this piece.
    bool done(std::size_t piece) const {
        const CUresult result = driver().cuEventQuery.status(events_[piece % slots]);
        if (result == CUDA_ERROR_NOT_READY)
            return false;
        check(result, driver().cuEventQuery.name());
        return true;
    }

  private:
    static bool had_memory(CUresult result, const char *function) {
        if (result == CUDA_ERROR_OUT_OF_MEMORY)
            return false;
        check(result, function);
        return true;
    }
    /// Ignores failures: the memory is freed with its context in any case.
    void release_memory(const Driver &loaded) noexcept {
        if (memory_ != nullptr)
            (void)loaded.cuMemFreeHost.status(std::exchange(memory_, nullptr));
        slot_bytes_ = 0;
    }

    const bool useful_;
    CallerMutex mutex_;
    std::byte *memory_ = nullptr;
    std::size_t slot_bytes_ = 0;
    std::array<CUevent, slots> events_ = {};
};

class Rings {
  public:
    static Rings &instance() { return never_destroyed<Rings>(); }
    /// The ring of the current context, created at the first use.
    std::shared_ptr<Ring> current() {
        const Context context = Context::require_current();
        std::lock_guard lock(mutex_);
        std::shared_ptr<Ring> &ring = rings_[context.get()];
        if (!ring)
            ring = std::make_shared<Ring>(
                (CopyTeam::asked_for() ||
                 context.device().attribute(CU_DEVICE_ATTRIBUTE_INTEGRATED) == 0) &&
                context.before_end("copies", [this, handle = context.get()] { drop(handle); }));
        return ring;
    }

  private:
    void drop(CUcontext context) noexcept {
        decltype(rings_)::node_type ended;
        {
            std::lock_guard lock(mutex_);
            ended = rings_.extract(context);
        }
        const Driver *const loaded = driver_for_cleanup();
        if (ended.empty() || loaded == nullptr)
            return;
        std::lock_guard alone(ended.mapped()->mutex());
        ended.mapped()->release(*loaded);
    }

    CallerMutex mutex_;
    std::unordered_map<CUcontext, std::shared_ptr<Ring>> rings_;
};

/// After a failure, waits for the engine, which may still use slots.
class [[nodiscard]] WaitOnFailure {
  public:
    ~WaitOnFailure() {
        if (!completed)
            (void)driver().cuStreamSynchronize.status(nullptr);
    }
    bool completed = false;
};

/// One copy, divided into pieces; a piece is divided into chunks.
class Transfer {
  public:
    Transfer(Ring &ring, std::size_t bytes)
        : ring_(ring), bytes_(bytes), piece_(piece_size(bytes)),
          pieces_((bytes + piece_ - 1) / piece_), uncopied_(pieces_) {
        for (std::size_t piece = 0; piece < pieces_; ++piece)
            uncopied_[piece].store(chunks(piece), std::memory_order_relaxed);
    }

    void to_device(CopyTeam &team, CUdeviceptr to, const std::byte *from) {
        WaitOnFailure guard;
        CopyTeam::Job job(team, [&](std::size_t chunk) {
            const Chunk place = find(chunk);
            copy_past_caches(place.in_slot, from + place.offset, place.bytes);
            uncopied_[place.piece].fetch_sub(1, std::memory_order_release);
        });
        std::size_t allowed = 0, sent = 0;
        while (sent < pieces_) {
            if (allowed < pieces_ &&
                (allowed < slots || (allowed - slots < sent && ring_.done(allowed - slots))))
                job.allow(chunks(allowed++));
            if (sent == allowed || !copied(sent)) {
                job.help();
                continue;
            }
            driver().cuMemcpyHtoDAsync(to + sent * piece_, ring_.slot(sent), length(sent), nullptr);
            ring_.mark(sent++);
        }
        ring_.wait(pieces_ - 1);
        guard.completed = true;
    }

    void to_host(CopyTeam &team, std::byte *to, CUdeviceptr from) {
        WaitOnFailure guard;
        CopyTeam::Job job(team, [&](std::size_t chunk) {
            const Chunk place = find(chunk);
            std::memcpy(to + place.offset, place.in_slot, place.bytes);
            uncopied_[place.piece].fetch_sub(1, std::memory_order_release);
        });
        std::size_t asked = 0, arrived = 0, finished = 0;
        while (finished < pieces_) {
            if (asked < pieces_ && asked < finished + slots) {
                driver().cuMemcpyDtoHAsync(ring_.slot(asked), from + asked * piece_, length(asked),
                                           nullptr);
                ring_.mark(asked++);
            } else if (arrived < asked && ring_.done(arrived))
                job.allow(chunks(arrived++));
            else
                job.help();
            while (finished < arrived && copied(finished))
                ++finished;
        }
        guard.completed = true;
    }

  private:
    struct Chunk {
        std::size_t piece;
        std::size_t offset; ///< from the start of the whole copy
        std::byte *in_slot;
        std::size_t bytes;
    };
    Chunk find(std::size_t chunk) const {
        const std::size_t offset = chunk * chunk_bytes;
        const std::size_t piece = offset / piece_;
        return {piece, offset, ring_.slot(piece) + offset % piece_,
                std::min(chunk_bytes, bytes_ - offset)};
    }
    std::size_t length(std::size_t piece) const {
        return std::min(piece_, bytes_ - piece * piece_);
    }
    unsigned chunks(std::size_t piece) const {
        return static_cast<unsigned>((length(piece) + chunk_bytes - 1) / chunk_bytes);
    }
    bool copied(std::size_t piece) const {
        return uncopied_[piece].load(std::memory_order_acquire) == 0;
    }

    Ring &ring_;
    const std::size_t bytes_, piece_, pieces_;
    std::vector<std::atomic<unsigned>>
        uncopied_; // of each piece, the number of chunks not yet copied
};

bool known_to_driver(const void *host) {
    unsigned kind = 0;
    return driver().cuPointerGetAttribute.status(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                 reinterpret_cast<CUdeviceptr>(host)) ==
           CUDA_SUCCESS;
}

bool inside_one_allocation(CUdeviceptr address, std::size_t bytes) {
    const std::optional<AddressRange> found = find_address_range(address);
    return found && bytes <= found->size && address - found->base <= found->size - bytes;
}

/// Calls `copy(ring, team)` if the copy should use the ring, and there is memory for the ring.
template <class Copy>
bool try_copy(CUdeviceptr device, const void *host, std::size_t bytes, Copy &&copy) {
    CopyTeam *const team = CopyTeam::instance();
    if (team == nullptr)
        return false;
    const std::shared_ptr<Ring> ring = Rings::instance().current();
    if (!ring->useful() || known_to_driver(host) || !inside_one_allocation(device, bytes))
        return false;
    const std::unique_lock alone(ring->mutex(), std::try_to_lock);
    if (!alone)
        return false; // the slots are in use by a copy of another thread
    if (!ring->has_slots(piece_size(bytes)))
        return false;
    copy(*ring, *team);
    return true;
}

} // namespace

bool try_pageable_copy_to_device(CUdeviceptr to, const void *from, std::size_t bytes) {
    return try_copy(to, from, bytes, [&](Ring &ring, CopyTeam &team) {
        Transfer(ring, bytes).to_device(team, to, static_cast<const std::byte *>(from));
    });
}

bool try_pageable_copy_to_host(void *to, CUdeviceptr from, std::size_t bytes) {
    return try_copy(from, to, bytes, [&](Ring &ring, CopyTeam &team) {
        Transfer(ring, bytes).to_host(team, static_cast<std::byte *>(to), from);
    });
}

} // namespace pycuda::detail
