// segment.cpp -- the shared memory of a communicator.
#include "segment.h"

#include "failure.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

namespace softnccl {
namespace {

constexpr char magic[] = "softcuda-nccl-1";
constexpr std::size_t most_ring_bytes = 256 * 1024, all_ring_bytes = 16 * 1024 * 1024;

std::size_t capacity_for(int ranks) {
    std::size_t each = all_ring_bytes / (static_cast<std::size_t>(ranks) * ranks);
    std::size_t capacity = 4096;
    while (capacity * 2 <= std::min(each, most_ring_bytes))
        capacity *= 2;
    return capacity;
}

[[noreturn]] void fail_system(const std::string &what) {
    throw Failure(ncclSystemError, what + " failed: " + std::strerror(errno));
}

long futex(std::atomic<std::uint32_t> *word, int operation, std::uint32_t value,
           const timespec *limit) noexcept {
    return ::syscall(SYS_futex, word, operation, value, limit, nullptr, 0);
}

/// State and start time of a process, from /proc/PID/stat. False if the process does not exist.
bool read_process(std::int64_t pid, char &state, std::uint64_t &started) {
    const std::string path = "/proc/" + std::to_string(pid) + "/stat";
    std::FILE *file = std::fopen(path.c_str(), "r");
    if (file == nullptr)
        return false;
    char text[1024];
    const std::size_t length = std::fread(text, 1, sizeof text - 1, file);
    std::fclose(file);
    text[length] = 0;
    const char *end_of_name = std::strrchr(text, ')'); // a name may contain anything
    unsigned long long ticks = 0;
    if (end_of_name == nullptr ||
        std::sscanf(
            end_of_name + 1,
            " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
            &state, &ticks) != 2)
        return false;
    started = ticks;
    return true;
}

} // namespace

struct Segment::Head {
    std::atomic<std::int32_t> ranks;
    std::atomic<std::int32_t> joined;
    std::atomic<std::int32_t> failed; ///< 1: a reason is being written, 2: it is complete
    char reason[1024];
};

struct alignas(64) Segment::Rank {
    std::atomic<std::int32_t> taken;
    std::atomic<std::int32_t> left;
    std::atomic<std::int64_t> pid;
    std::atomic<std::uint64_t> started;
    std::atomic<std::uint32_t> bell;
    std::atomic<std::uint32_t> asleep;
};

struct alignas(64) Segment::Ring {
    std::atomic<std::uint64_t> written;
    alignas(64) std::atomic<std::uint64_t> read;
    alignas(64) std::byte data[64]; // and more
};

ProcessId ProcessId::own() {
    ProcessId id{::getpid(), 0};
    char state = 0;
    if (!read_process(id.pid, state, id.started))
        id.started = 0;
    return id;
}

bool ProcessId::is_alive() const {
    char state = 0;
    std::uint64_t now = 0;
    if (!read_process(pid, state, now))
        return ::access("/proc/self/stat", R_OK) != 0; // without /proc, the state is unknown
    return state != 'Z' && state != 'X' && (started == 0 || now == started);
}

Segment::Segment(const ncclUniqueId &id, int ranks, int rank)
    : ranks_(ranks), rank_(rank), capacity_(capacity_for(ranks)) {
    if (std::memcmp(id.internal, magic, sizeof magic) != 0)
        throw Failure(ncclInvalidArgument,
                      "this is no unique id of softcuda's NCCL: it must come from "
                      "ncclGetUniqueId() of one process and be the same bytes in all");
    name_ =
        "/" + std::string(id.internal + sizeof magic, ::strnlen(id.internal + sizeof magic, 64));
    const std::size_t ring_bytes = offsetof(Ring, data) + capacity_;
    bytes_ = (sizeof(Head) + 63) / 64 * 64 + sizeof(Rank) * static_cast<std::size_t>(ranks) +
             ring_bytes * static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
    const int file = ::shm_open(name_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0)
        fail_system("shm_open");
    // Not ftruncate(): if /dev/shm is full, the first write would end the process by SIGBUS.
    if (const int error = ::posix_fallocate(file, 0, static_cast<off_t>(bytes_)); error != 0) {
        ::close(file);
        ::shm_unlink(name_.c_str());
        errno = error;
        fail_system("posix_fallocate of " + std::to_string(bytes_) + " bytes in /dev/shm");
    }
    void *mapped = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (mapped == MAP_FAILED)
        fail_system("mmap of shared memory");
    memory_ = static_cast<std::byte *>(mapped);
    std::int32_t known = 0;
    if (!head().ranks.compare_exchange_strong(known, ranks) && known != ranks) {
        ::munmap(memory_, bytes_);
        throw Failure(ncclInvalidArgument, "rank " + std::to_string(rank) +
                                               " says that there are " + std::to_string(ranks) +
                                               " ranks, another one says " + std::to_string(known));
    }
    Rank &own = of_rank(rank);
    if (own.taken.exchange(1) != 0) {
        ::munmap(memory_, bytes_);
        throw Failure(ncclInvalidUsage, "rank " + std::to_string(rank) +
                                            " of this unique id has joined already; an id is good "
                                            "for one communicator");
    }
    const ProcessId process = ProcessId::own();
    own.started = process.started;
    own.pid = process.pid;
    head().joined++;
    ring_all();
}

Segment::~Segment() { ::munmap(memory_, bytes_); }

Segment::Head &Segment::head() const noexcept { return *reinterpret_cast<Head *>(memory_); }

Segment::Rank &Segment::of_rank(int rank) const noexcept {
    return reinterpret_cast<Rank *>(memory_ + (sizeof(Head) + 63) / 64 * 64)[rank];
}

Segment::Ring &Segment::ring(int from, int to) const noexcept {
    std::byte *first = reinterpret_cast<std::byte *>(&of_rank(ranks_));
    const std::size_t place = static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks_) +
                              static_cast<std::size_t>(to);
    return *reinterpret_cast<Ring *>(first + place * (offsetof(Ring, data) + capacity_));
}

int Segment::joined() const noexcept { return head().joined; }

void Segment::remove_name() noexcept { ::shm_unlink(name_.c_str()); }

std::size_t Segment::write(int to, const void *from, std::size_t bytes) noexcept {
    Ring &out = ring(rank_, to);
    const std::uint64_t written = out.written.load(std::memory_order_relaxed);
    const std::size_t room = capacity_ - (written - out.read.load(std::memory_order_acquire));
    const std::size_t count = std::min(room, bytes);
    if (count == 0)
        return 0;
    const std::size_t place = written % capacity_, first = std::min(count, capacity_ - place);
    std::memcpy(out.data + place, from, first);
    std::memcpy(out.data, static_cast<const std::byte *>(from) + first, count - first);
    out.written.store(written + count, std::memory_order_release);
    ring_bell(to);
    return count;
}

std::size_t Segment::read(int from, void *to, std::size_t bytes) noexcept {
    Ring &in = ring(from, rank_);
    const std::uint64_t read = in.read.load(std::memory_order_relaxed);
    const std::size_t there = in.written.load(std::memory_order_acquire) - read;
    const std::size_t count = std::min(there, bytes);
    if (count == 0)
        return 0;
    const std::size_t place = read % capacity_, first = std::min(count, capacity_ - place);
    std::memcpy(to, in.data + place, first);
    std::memcpy(static_cast<std::byte *>(to) + first, in.data, count - first);
    in.read.store(read + count, std::memory_order_release);
    ring_bell(from);
    return count;
}

bool Segment::has_data(int from) const noexcept {
    const Ring &in = ring(from, rank_);
    return in.written.load() != in.read.load();
}

std::uint32_t Segment::bell() const noexcept { return of_rank(rank_).bell.load(); }

void Segment::sleep(std::uint32_t heard) const noexcept {
    Rank &own = of_rank(rank_);
    own.asleep.fetch_add(1); // several threads of a process may wait for one rank
    const timespec limit{0, 5'000'000};
    futex(&own.bell, FUTEX_WAIT, heard, &limit);
    own.asleep.fetch_sub(1);
}

void Segment::ring_bell(int rank) const noexcept {
    Rank &other = of_rank(rank);
    other.bell.fetch_add(1);
    if (other.asleep.load() != 0)
        futex(&other.bell, FUTEX_WAKE, INT_MAX, nullptr);
}

void Segment::ring_all() noexcept {
    for (int other = 0; other < ranks_; ++other)
        ring_bell(other);
}

void Segment::fail(const std::string &reason) noexcept {
    Head &shared = head();
    std::int32_t none = 0;
    if (shared.failed.compare_exchange_strong(none, 1)) {
        const std::size_t length = std::min(reason.size(), sizeof shared.reason - 1);
        std::memcpy(shared.reason, reason.data(), length);
        shared.reason[length] = 0;
        shared.failed.store(2);
    }
    ring_all();
}

bool Segment::has_failed() const noexcept { return head().failed.load() == 2; }

std::string Segment::failure() const { return has_failed() ? head().reason : ""; }

void Segment::leave() noexcept {
    of_rank(rank_).left = 1;
    ring_all();
}

bool Segment::has_left(int rank) const noexcept { return of_rank(rank).left != 0; }

bool Segment::is_alive(int rank) const {
    const Rank &other = of_rank(rank);
    return ProcessId{other.pid, other.started}.is_alive();
}

std::int64_t Segment::process_of(int rank) const noexcept { return of_rank(rank).pid; }

ncclUniqueId make_unique_id() {
    unsigned char random[16];
    if (::getrandom(random, sizeof random, 0) != sizeof random)
        fail_system("getrandom");
    ncclUniqueId id{};
    std::memcpy(id.internal, magic, sizeof magic);
    char *name = id.internal + sizeof magic;
    name += std::snprintf(name, 24, "pycuda-nccl-");
    for (const unsigned char byte : random)
        name += std::snprintf(name, 3, "%02x", byte);
    return id;
}

} // namespace softnccl
