// transfer.cpp -- runs copies and fills, and converts their faults to errors.
#include "device/transfer.h"

#include "device/checked_memory.h"
#include "device/context.h"
#include "device/error.h"
#include "device/graphs/capture.h"
#include "device/system.h"
#include "rt/guard.h"

namespace softcuda::device {
namespace {

template <class Operation>
void run_entry(const rt::LaunchFrame *frame, rt::WorkerState *, std::uint64_t first,
               std::uint64_t count) {
    run_pieces(*reinterpret_cast<const Operation *>(frame->params), first, count);
}

/// The description that is nearest to the client's, for cuGraphMemcpyNodeGetParams.
CUDA_MEMCPY3D described(const Copy &copy) {
    CUDA_MEMCPY3D made{};
    made.srcMemoryType = made.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    made.srcDevice = copy.source.address;
    made.dstDevice = copy.destination.address;
    made.srcPitch = copy.source.pitch;
    made.dstPitch = copy.destination.pitch;
    made.srcHeight = copy.source.pitch ? copy.source.slice / copy.source.pitch : 0;
    made.dstHeight = copy.destination.pitch ? copy.destination.slice / copy.destination.pitch : 0;
    made.WidthInBytes = copy.width;
    made.Height = copy.height;
    made.Depth = copy.depth;
    return made;
}

bool is_pageable(std::uint64_t address) { return !System::get().memory().find(address); }

bool is_of_host(std::uint64_t address) {
    const std::optional<Allocation> found = System::get().memory().find(address);
    return !found || found->is_host();
}

/// Memory of a device that every command can access: an access of mapped memory may fail, and the
/// call then says so.
bool is_of_device(std::uint64_t address) {
    const std::optional<Allocation> found = System::get().memory().find(address);
    return found && !found->is_host() && !found->is_managed() &&
           found->kind != MemoryKind::Mapped && found->kind != MemoryKind::Shared;
}

std::string direction(const Copy &copy) {
    return std::string(is_of_host(copy.source.address) ? "host" : "device") + " to " +
           (is_of_host(copy.destination.address) ? "host" : "device");
}

void put(Stream &stream, const std::shared_ptr<Transfer> &transfer, Wait wait) {
    const rt::ClientCall call;
    rt::prepare_thread_for_guards(); // also if a worker runs the grid, which relies on it
    System &system = System::get();
    system.pool().start();
    if (wait == Wait::UntilDone)
        transfer->will_be_waited_for();
    if (system.timeline().append(stream, transfer)) {
        if (transfer->is_small())
            transfer->run_here();
        else
            transfer->start();
    }
    if (wait == Wait::No)
        return;
    transfer->wait();
    stream.context().collect_output();
    require(transfer->result() == CUDA_SUCCESS, transfer->result());
    stream.context().throw_error();
}

/// The most bytes that a copy from pageable memory takes along; a larger one is waited for.
constexpr std::uint64_t kMostTaken = std::uint64_t{16} << 20;

/// CUDA may return from a copy of pageable memory to the device before the stream has reached the
/// copy: the driver has read the memory then. A schedule does so. Null: there is no schedule, or
/// the copy is another one.
std::shared_ptr<Transfer> take_along(Context &context, const Copy &copy) {
    const std::uint64_t bytes = copy.width * copy.height * copy.depth;
    if (!System::get().timeline().schedule() || copy.empty() || bytes > kMostTaken ||
        !is_pageable(copy.source.address) || is_of_host(copy.destination.address))
        return nullptr;
    auto memory = std::make_unique<std::byte[]>(bytes);
    Copy there = copy, here = copy;
    here.destination = there.source = {.address = reinterpret_cast<std::uint64_t>(memory.get()),
                                       .pitch = copy.width,
                                       .slice = copy.width * copy.height};
    rt::prepare_thread_for_guards();
    rt::Guard guard;
    const rt::Guard::Exit exit = guard.run([&] { run_pieces(here, 0, piece_count(here)); });
    require(exit == rt::Guard::Exit::Returned, CUDA_ERROR_INVALID_VALUE);
    auto transfer = std::make_shared<Transfer>(context, there);
    transfer->keep(std::move(memory));
    return transfer;
}

/// The most bytes of a synchronous copy from pageable memory that may be on their way when the call
/// returns (NVIDIA's programming guide, "Asynchronous Concurrent Execution").
constexpr std::uint64_t kMostOnTheirWay = std::uint64_t{64} << 10;

/// Whether a schedule lets the call of a synchronous copy return before the copy is done: the host
/// waits neither for copies within devices nor for the end of a small copy from pageable memory.
bool may_end_later(const Copy &copy) {
    if (!System::get().timeline().schedule() || !is_of_device(copy.destination.address))
        return false;
    return is_of_device(copy.source.address) ||
           (is_pageable(copy.source.address) &&
            copy.width * copy.height * copy.depth <= kMostOnTheirWay);
}

} // namespace

Transfer::Transfer(Context &context, const Copy &copy) : Command(context), operation_(copy) {
    prepare(run_entry<Copy>, piece_count(copy));
    frame_.params = reinterpret_cast<const std::byte *>(&std::get<Copy>(operation_));
}

Transfer::Transfer(Context &context, const Fill &fill) : Command(context), operation_(fill) {
    prepare(run_entry<Fill>, piece_count(fill));
    frame_.params = reinterpret_cast<const std::byte *>(&std::get<Fill>(operation_));
}

void Transfer::prepare(rt::KernelEntry entry, std::uint64_t pieces) {
    rt::Grid::Work work;
    work.entry = entry;
    work.blocks = pieces;
    grid_.set_work(work, &frame_);
}

void Transfer::start() noexcept {
    System &system = System::get();
    if (grid_.work().blocks == 0 || context().sticky_error() != CUDA_SUCCESS)
        return system.timeline().finish(*this);
    note_begin();
    notify_checks();
    system.pool().submit(std::shared_ptr<rt::Grid>(shared_from_this(), &grid_));
}

void Transfer::run_here() noexcept {
    if (grid_.work().blocks == 0 || context().sticky_error() != CUDA_SUCCESS)
        return System::get().timeline().finish(*this);
    note_begin();
    notify_checks();
    rt::prepare_thread_for_guards();
    rt::Guard guard;
    const rt::Guard::Exit exit =
        guard.run([&] { grid_.work().entry(&frame_, nullptr, 0, grid_.work().blocks); });
    if (exit != rt::Guard::Exit::Returned)
        fail(CUDA_ERROR_INVALID_VALUE);
    System::get().timeline().finish(*this);
}

void Transfer::notify_checks() const noexcept try {
    if (const auto *copy = std::get_if<Copy>(&operation_))
        checked_memory::copied(*copy, order());
    else
        checked_memory::filled(std::get<Fill>(operation_), order());
} catch (const std::bad_alloc &) { // then some of it counts as not written, or as ordered
}

profile::Event Transfer::described() const {
    if (const auto *fill = std::get_if<Fill>(&operation_))
        return {.activity = profile::Activity::Fill,
                .name = "fill",
                .bytes = fill->width * fill->element_bytes * fill->height};
    const auto &copy = std::get<Copy>(operation_);
    return {.activity = profile::Activity::Copy,
            .name = direction(copy),
            .bytes = copy.width * copy.height * copy.depth};
}

void Transfer::fail(CUresult result) noexcept {
    result_ = result;
    if (!is_waited_for_)
        context().set_passing_error(result);
}

void Transfer::help() { System::get().pool().help(grid_); }

void Transfer::complete() noexcept {
    if (grid_.outcome() == rt::Grid::Outcome::OutOfMemory)
        fail(CUDA_ERROR_OUT_OF_MEMORY);
    else if (grid_.outcome() != rt::Grid::Outcome::Done)
        fail(CUDA_ERROR_INVALID_VALUE); // an inaccessible address
    System::get().timeline().finish(*this);
}

void enqueue(Stream &stream, const Copy &copy, Wait wait) {
    if (wait == Wait::UntilDone)
        capture::forbid(stream);
    else if (capture::any() && capture::add(stream, CopyWork{described(copy), copy}))
        return;
    if (wait == Wait::UntilDone && may_end_later(copy)) {
        if (is_pageable(copy.source.address))
            stream.context().synchronize(stream);
        wait = Wait::No;
    }
    if (wait == Wait::No)
        if (const std::shared_ptr<Transfer> taken = take_along(stream.context(), copy))
            return put(stream, taken, Wait::No);
    const bool host_may_reuse =
        is_pageable(copy.source.address) || is_pageable(copy.destination.address);
    put(stream, std::make_shared<Transfer>(stream.context(), copy),
        host_may_reuse ? Wait::UntilDone : wait);
}

void enqueue_unwatched(Stream &stream, const Copy &copy) {
    put(stream, std::make_shared<Transfer>(stream.context(), copy), Wait::No);
}

void enqueue(Stream &stream, const Fill &fill, Wait wait) {
    if (wait == Wait::UntilDone)
        capture::forbid(stream);
    else if (capture::any() && !fill.empty() && capture::add(stream, FillWork{fill}))
        return;
    const bool later = System::get().timeline().schedule() && is_of_device(fill.address);
    put(stream, std::make_shared<Transfer>(stream.context(), fill), later ? Wait::No : wait);
}

} // namespace softcuda::device
