// nccl.cpp -- NCCL's functions, and what their failures are called.
#include <pycuda/nccl.h>

#include "libraries/nvidia_library.h"

#include <pycuda/driver.h>

#include <algorithm>
#include <utility>

namespace pycuda {
namespace {

struct NcclUniqueId {
    char internal[128];
};
using NcclComm = void *;

constexpr const char *files[] = {"libnccl.so.2"};
constexpr LibraryDescription description{"NCCL", files, {}};

struct Nccl {
    explicit Nccl(const NvidiaLibrary &opened)
        : library(opened),
          error_string(reinterpret_cast<const char *(*)(int)>(opened.symbol("ncclGetErrorString"))),
          last_error(
              reinterpret_cast<const char *(*)(NcclComm)>(opened.symbol("ncclGetLastError"))) {}
    bool complete() const noexcept;
    [[noreturn]] void fail(const char *function, int status, NcclComm comm) const;

    const NvidiaLibrary &library;
    const char *(*error_string)(int);
    const char *(*last_error)(NcclComm);
#define PYCUDA_LIBRARY_FUNCTION(member, symbol, parameters)                                        \
    LibraryFunction<int parameters> member{library, #symbol};
#include "libraries/nccl.def"
#undef PYCUDA_LIBRARY_FUNCTION
};

bool Nccl::complete() const noexcept {
    return error_string != nullptr && last_error != nullptr
#define PYCUDA_LIBRARY_FUNCTION(member, symbol, parameters) &&member.available()
#include "libraries/nccl.def"
#undef PYCUDA_LIBRARY_FUNCTION
        ;
}

void Nccl::fail(const char *function, int status, NcclComm comm) const {
    std::string text = std::string(function) + " failed: " + error_string(status);
    const char *more = last_error(comm);
    if (more != nullptr && *more != 0)
        text += std::string(": ") + more;
    throw NcclFailure(text);
}

const Nccl &nccl() {
    static const Nccl *const opened = open_table<Nccl>(description);
    if (opened == nullptr)
        throw NcclFailure("there is no libnccl.so.2 with all functions that are needed (NCCL 2.13 "
                          "or newer): install it, or the wheel nvidia-nccl-cu13 or -cu12");
    return *opened;
}

/// Each function under NCCL's own name, for messages.
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

void nccl_group_start() { call(nccl().group_start, "ncclGroupStart", nullptr); }

void nccl_group_end() { call(nccl().group_end, "ncclGroupEnd", nullptr); }

NcclCommunicator::NcclCommunicator(const NcclId &id, int ranks, int rank) {
    NcclUniqueId given{};
    std::copy(id.begin(), id.end(), given.internal);
    call(nccl().init_rank, "ncclCommInitRank", nullptr, &comm_, ranks, given, rank);
}

NcclCommunicator::~NcclCommunicator() {
    // To wait for other ranks here could be for ever; in a process that ends NCCL may be gone.
    if (comm_ != nullptr && driver_for_cleanup() != nullptr)
        (void)nccl().abort.status(std::exchange(comm_, nullptr));
}

void *NcclCommunicator::get() const {
    if (comm_ == nullptr)
        throw NcclFailure("the communicator was destroyed");
    return comm_;
}

void NcclCommunicator::all_reduce(CUdeviceptr from, CUdeviceptr to, std::size_t count, int type,
                                  int operation, CUstream stream) {
    call(nccl().all_reduce, "ncclAllReduce", get(), in(from), out(to), count, type, operation,
         get(), stream);
}

void NcclCommunicator::reduce(CUdeviceptr from, CUdeviceptr to, std::size_t count, int type,
                              int operation, int root, CUstream stream) {
    call(nccl().reduce, "ncclReduce", get(), in(from), out(to), count, type, operation, root, get(),
         stream);
}

void NcclCommunicator::broadcast(CUdeviceptr from, CUdeviceptr to, std::size_t count, int type,
                                 int root, CUstream stream) {
    call(nccl().broadcast, "ncclBroadcast", get(), in(from), out(to), count, type, root, get(),
         stream);
}

void NcclCommunicator::all_gather(CUdeviceptr from, CUdeviceptr to, std::size_t count, int type,
                                  CUstream stream) {
    call(nccl().all_gather, "ncclAllGather", get(), in(from), out(to), count, type, get(), stream);
}

void NcclCommunicator::reduce_scatter(CUdeviceptr from, CUdeviceptr to, std::size_t count, int type,
                                      int operation, CUstream stream) {
    call(nccl().reduce_scatter, "ncclReduceScatter", get(), in(from), out(to), count, type,
         operation, get(), stream);
}

void NcclCommunicator::send(CUdeviceptr from, std::size_t count, int type, int peer,
                            CUstream stream) {
    call(nccl().send, "ncclSend", get(), in(from), count, type, peer, get(), stream);
}

void NcclCommunicator::receive(CUdeviceptr to, std::size_t count, int type, int peer,
                               CUstream stream) {
    call(nccl().receive, "ncclRecv", get(), out(to), count, type, peer, get(), stream);
}

void NcclCommunicator::check() const {
    int status = 0;
    call(nccl().get_async_error, "ncclCommGetAsyncError", get(), get(), &status);
    constexpr int in_progress = 7;
    if (status != 0 && status != in_progress)
        nccl().fail("work of the communicator", status, get());
}

void NcclCommunicator::destroy() {
    NcclComm comm = get();
    comm_ = nullptr;
    call(nccl().destroy, "ncclCommDestroy", nullptr, comm);
}

void NcclCommunicator::abort() {
    NcclComm comm = get();
    comm_ = nullptr;
    call(nccl().abort, "ncclCommAbort", nullptr, comm);
}

} // namespace pycuda
