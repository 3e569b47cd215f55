// nccl.cpp -- NCCL's functions, and the messages of its failures.
#include <pycuda/nccl.h>

#include "libraries/nvidia_library.h"

#include <pycuda/driver_calls.h>

#include <algorithm>

namespace pycuda {
namespace {

struct NcclUniqueId {
    char internal[128];
};
using NcclComm = void *;

constexpr const char *files[] = {"libnccl.so.2"};

struct Nccl : LibraryTable {
    explicit Nccl(const NvidiaLibrary &opened)
        : LibraryTable(opened),
          error_string(reinterpret_cast<const char *(*)(int)>(opened.symbol("ncclGetErrorString"))),
          last_error(
              reinterpret_cast<const char *(*)(NcclComm)>(opened.symbol("ncclGetLastError"))) {
        complete &= error_string != nullptr && last_error != nullptr;
    }
    [[noreturn]] void fail(const char *function, int status, NcclComm comm) const;

    static constexpr LibraryDescription description{"NCCL", files, {}};
    const char *(*error_string)(int);
    const char *(*last_error)(NcclComm);
#include "libraries/nccl.def"
};

void Nccl::fail(const char *function, int status, NcclComm comm) const {
    std::string text = std::string(function) + " failed: " + error_string(status);
    const char *more = last_error(comm);
    if (more != nullptr && *more != 0)
        text += std::string(": ") + more;
    throw NcclFailure(text);
}

const Nccl &nccl() {
    const Nccl *const opened = library_table<Nccl>();
    if (opened == nullptr)
        throw NcclFailure("no libnccl.so.2 of NCCL 2.13 or newer was found: install NCCL, or the "
                          "wheel nvidia-nccl-cu13 or nvidia-nccl-cu12");
    return *opened;
}

/// Each function with its name in NCCL, for messages.
template <class Function, class... Args>
void call(const Function &function, const char *name, NcclComm comm, Args... args) {
    if (const int status = function.status(args...); status != 0)
        nccl().fail(name, status, comm);
}

const void *in(CUdeviceptr address) { return reinterpret_cast<const void *>(address); }
void *out(CUdeviceptr address) { return reinterpret_cast<void *>(address); }

} // namespace

int nccl_version() {
    int version = 0;
    call(nccl().get_version, "ncclGetVersion", nullptr, &version);
    return version;
}

NcclId make_nccl_id() {
    NcclUniqueId made{};
    call(nccl().get_unique_id, "ncclGetUniqueId", nullptr, &made);
    return std::to_array(made.internal);
}

NcclGroup::NcclGroup() { call(nccl().group_start, "ncclGroupStart", nullptr); }

NcclGroup::~NcclGroup() {
    if (open_) // a failed call in the group: NCCL runs none of them
        (void)nccl().group_end.status();
}

void NcclGroup::end() {
    open_ = false;
    call(nccl().group_end, "ncclGroupEnd", nullptr);
}

NcclCommunicator::NcclCommunicator(const NcclId &id, int ranks, int rank) {
    NcclUniqueId given{};
    std::copy(id.begin(), id.end(), given.internal);
    NcclComm made = nullptr;
    call(nccl().init_rank, "ncclCommInitRank", nullptr, &made, ranks, given, rank);
    comm_ = made;
}

NcclCommunicator::~NcclCommunicator() {
    // A wait for other ranks might not end, and NCCL may be unloaded when the process ends.
    NcclComm comm = comm_.exchange(nullptr);
    if (comm != nullptr && driver_is_usable())
        (void)nccl().abort.status(comm);
}

void *NcclCommunicator::get() const {
    (void)driver_path(); // throws in a forked child, which is not a rank
    NcclComm comm = comm_.load(std::memory_order_relaxed);
    if (comm == nullptr)
        throw NcclFailure("the communicator was destroyed");
    return comm;
}

void *NcclCommunicator::take() {
    NcclComm comm = get();
    // If two threads call this, one of them destroys the communicator.
    if (!comm_.compare_exchange_strong(comm, nullptr))
        throw NcclFailure("the communicator was destroyed");
    return comm;
}

void NcclCommunicator::enqueue(const NcclCall &one) const {
    NcclComm comm = get();
    const Nccl &lib = nccl();
    const void *from = in(one.from);
    void *to = out(one.to);
    switch (one.kind) {
    case NcclCall::Kind::AllReduce:
        return call(lib.all_reduce, "ncclAllReduce", comm, from, to, one.count, one.type,
                    one.operation, comm, one.stream);
    case NcclCall::Kind::Reduce:
        return call(lib.reduce, "ncclReduce", comm, from, to, one.count, one.type, one.operation,
                    one.rank, comm, one.stream);
    case NcclCall::Kind::Broadcast:
        return call(lib.broadcast, "ncclBroadcast", comm, from, to, one.count, one.type, one.rank,
                    comm, one.stream);
    case NcclCall::Kind::AllGather:
        return call(lib.all_gather, "ncclAllGather", comm, from, to, one.count, one.type, comm,
                    one.stream);
    case NcclCall::Kind::ReduceScatter:
        return call(lib.reduce_scatter, "ncclReduceScatter", comm, from, to, one.count, one.type,
                    one.operation, comm, one.stream);
    case NcclCall::Kind::Send:
        return call(lib.send, "ncclSend", comm, from, one.count, one.type, one.rank, comm,
                    one.stream);
    case NcclCall::Kind::Receive:
        return call(lib.receive, "ncclRecv", comm, to, one.count, one.type, one.rank, comm,
                    one.stream);
    }
}

void NcclCommunicator::check() const {
    NcclComm comm = get();
    int status = 0;
    call(nccl().get_async_error, "ncclCommGetAsyncError", comm, comm, &status);
    constexpr int in_progress = 7;
    if (status != 0 && status != in_progress)
        nccl().fail("work of the communicator", status, comm);
}

void NcclCommunicator::destroy() { call(nccl().destroy, "ncclCommDestroy", nullptr, take()); }

void NcclCommunicator::abort() { call(nccl().abort, "ncclCommAbort", nullptr, take()); }

} // namespace pycuda
