// exports.cpp -- NCCL's C functions, and its groups of calls.
#include "communicator.h"

#include <algorithm>
#include <exception>

using softnccl::Call;
using softnccl::Communicator;
using softnccl::Failure;
using softnccl::Request;

struct ncclComm {
    std::unique_ptr<Communicator> communicator;
    std::string told; ///< the result of ncclGetLastError()
};

namespace {

/// This thread's text for ncclGetLastError().
thread_local std::string last_error;

/// The calls between ncclGroupStart() and ncclGroupEnd() in this thread.
struct Group {
    struct Part {
        ncclComm_t comm;
        std::vector<Request> requests;
        std::vector<CUstream> streams;
    };
    int depth = 0;
    std::vector<ncclComm_t> joining;
    std::vector<Part> parts;
    ncclResult_t failed = ncclSuccess;

    Part &part(ncclComm_t comm) {
        for (Part &known : parts)
            if (known.comm == comm)
                return known;
        return parts.emplace_back(Part{comm, {}, {}});
    }
};
thread_local Group group;

template <class Action> ncclResult_t guarded(Action action) noexcept {
    ncclResult_t result = ncclInternalError;
    try {
        action();
        return ncclSuccess;
    } catch (const Failure &failure) {
        last_error = failure.what();
        result = failure.result();
    } catch (const std::exception &error) {
        last_error = error.what();
        result = ncclSystemError;
    }
    if (group.depth > 0 && group.failed == ncclSuccess)
        group.failed = result;
    return result;
}

Communicator &require(ncclComm_t comm) {
    if (comm == nullptr || comm->communicator == nullptr)
        throw Failure(ncclInvalidArgument, "there is no communicator at the address given");
    return *comm->communicator;
}

template <class T> T &require(T *pointer, const char *what) {
    if (pointer == nullptr)
        throw Failure(ncclInvalidArgument, std::string(what) + " must not be null");
    return *pointer;
}

ncclResult_t call(ncclComm_t comm, const Request &request, CUstream stream) {
    return guarded([&] {
        Communicator &own = require(comm);
        own.check(request);
        if (group.depth == 0)
            return own.enqueue({request}, {stream});
        Group::Part &part = group.part(comm);
        part.requests.push_back(request);
        if (std::ranges::find(part.streams, stream) == part.streams.end())
            part.streams.push_back(stream);
    });
}

void join(ncclComm_t *comm, int ranks, const ncclUniqueId &id, int rank) {
    auto made = std::make_unique<ncclComm>();
    made->communicator = std::make_unique<Communicator>(id, ranks, rank);
    if (group.depth == 0)
        made->communicator->wait_for_others();
    else
        group.joining.push_back(made.get());
    *comm = made.release();
}

void end_group() {
    if (--group.depth > 0)
        return;
    const std::vector<ncclComm_t> joining = std::move(group.joining);
    const std::vector<Group::Part> parts = std::move(group.parts);
    const ncclResult_t failed = group.failed;
    group = {};
    if (failed != ncclSuccess)
        throw Failure(failed, "a call of the group failed, so none was made: " + last_error);
    for (ncclComm_t comm : joining)
        require(comm).wait_for_others();
    for (const Group::Part &part : parts)
        require(part.comm).enqueue(part.requests, part.streams);
}

} // namespace

extern "C" {

ncclResult_t ncclGetVersion(int *version) {
    return guarded([&] { require(version, "version") = 22800; });
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
    return guarded([&] { require(id, "the unique id") = softnccl::make_unique_id(); });
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank) {
    return guarded([&] {
        require(comm, "the communicator's address");
        join(comm, ranks, id, rank);
    });
}

ncclResult_t ncclCommInitAll(ncclComm_t *comms, int count, const int *devices) {
    return guarded([&] {
        require(comms, "the communicators' address");
        const ncclUniqueId id = softnccl::make_unique_id();
        ++group.depth;
        for (int rank = 0; rank < count; ++rank) {
            CUdevice device = 0;
            CUcontext context = nullptr;
            softnccl::check_driver(cuDeviceGet(&device, devices ? devices[rank] : rank),
                                   "cuDeviceGet");
            softnccl::check_driver(cuDevicePrimaryCtxRetain(&context, device),
                                   "cuDevicePrimaryCtxRetain");
            softnccl::check_driver(cuCtxPushCurrent(context), "cuCtxPushCurrent");
            join(comms + rank, count, id, rank);
            cuCtxPopCurrent(&context);
        }
        end_group();
    });
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
    return guarded([&] { require(comm); }); // ncclCommDestroy() waits for queued work
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    return guarded([&] {
        require(comm);
        delete comm;
    });
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
    return guarded([&] {
        require(comm).abort();
        delete comm;
    });
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *result) {
    return guarded([&] { require(result, "the result's address") = require(comm).result(); });
}

const char *ncclGetErrorString(ncclResult_t result) {
    constexpr const char *texts[] = {
        "no error",         "unhandled cuda error", "unhandled system error", "internal error",
        "invalid argument", "invalid usage",        "remote process exited",  "in progress"};
    return static_cast<unsigned>(result) < std::size(texts) ? texts[result] : "unknown result code";
}

const char *ncclGetLastError(ncclComm_t comm) {
    if (comm == nullptr || comm->communicator == nullptr)
        return last_error.c_str();
    comm->told = comm->communicator->message();
    return comm->told.empty() ? last_error.c_str() : comm->told.c_str();
}

ncclResult_t ncclCommCount(ncclComm_t comm, int *count) {
    return guarded([&] { require(count, "the count's address") = require(comm).ranks(); });
}

ncclResult_t ncclCommCuDevice(ncclComm_t comm, int *device) {
    return guarded([&] { require(device, "the device's address") = require(comm).device(); });
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int *rank) {
    return guarded([&] { require(rank, "the rank's address") = require(comm).rank(); });
}

ncclResult_t ncclAllReduce(const void *from, void *to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t comm, CUstream stream) {
    return call(comm, {Call::AllReduce, from, to, count, type, operation}, stream);
}

ncclResult_t ncclReduce(const void *from, void *to, std::size_t count, ncclDataType_t type,
                        ncclRedOp_t operation, int root, ncclComm_t comm, CUstream stream) {
    return call(comm, {Call::Reduce, from, to, count, type, operation, root}, stream);
}

ncclResult_t ncclBroadcast(const void *from, void *to, std::size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, CUstream stream) {
    return call(comm, {Call::Broadcast, from, to, count, type, ncclSum, root}, stream);
}

ncclResult_t ncclBcast(void *buffer, std::size_t count, ncclDataType_t type, int root,
                       ncclComm_t comm, CUstream stream) {
    return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

ncclResult_t ncclAllGather(const void *from, void *to, std::size_t count, ncclDataType_t type,
                           ncclComm_t comm, CUstream stream) {
    return call(comm, {Call::AllGather, from, to, count, type}, stream);
}

ncclResult_t ncclReduceScatter(const void *from, void *to, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t operation, ncclComm_t comm, CUstream stream) {
    return call(comm, {Call::ReduceScatter, from, to, count, type, operation}, stream);
}

ncclResult_t ncclSend(const void *from, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, CUstream stream) {
    return call(comm, {Call::SendRecv, from, nullptr, count, type, ncclSum, -1, peer, true},
                stream);
}

ncclResult_t ncclRecv(void *to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      CUstream stream) {
    return call(comm, {Call::SendRecv, nullptr, to, count, type, ncclSum, -1, peer, false}, stream);
}

ncclResult_t ncclGroupStart() {
    ++group.depth;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
    return guarded([] {
        if (group.depth == 0)
            throw Failure(ncclInvalidUsage, "ncclGroupEnd() without ncclGroupStart()");
        end_group();
    });
}
}
