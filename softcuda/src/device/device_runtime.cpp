// device_runtime.cpp -- records the calls of threads, and executes them after their grid has ended.
#include "device/device_runtime.h"

#include "device/checked_memory.h"
#include "device/context.h"
#include "device/device.h"
#include "device/driver_version.h"
#include "device/error.h"
#include "device/graphs/device_graph_calls.h"
#include "device/host_function.h"
#include "device/occupancy.h"
#include "device/system.h"
#include "device/transfer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

namespace softcuda::device {
namespace {

// Streams without an object.
constexpr std::uint64_t kNull = 0, kLegacy = 1, kPerThread = 2, kTailLaunch = 3, kFireAndForget = 4;
constexpr std::uint64_t kFirstHandle = 0x1000;
constexpr std::uint64_t kStreamNonBlocking = 1, kEventDisableTiming = 2;
constexpr std::uint64_t kCopyOnDevice = 3, kCopyByAddresses = 4;

constexpr std::size_t kChunkBytes = 64 << 10;
constexpr std::size_t kBufferAlignment = 64;

constexpr std::uint64_t kNoBuffer = 0;

/// Thrown for errors that the caller gets as a cudaError_t.
struct Refusal {
    DeviceError error;
};

void insist(bool holds, DeviceError otherwise) {
    if (!holds)
        throw Refusal{otherwise};
}

void succeed(DeviceError error) { insist(error == DeviceError::Success, error); }

template <class T> rt::DeviceReply writing(std::uint64_t address, const T &value) {
    insist(address != 0, DeviceError::InvalidValue);
    rt::DeviceReply reply;
    static_assert(sizeof value <= sizeof reply.content);
    reply.address = address;
    reply.bytes = sizeof value;
    std::memcpy(reply.content.data(), &value, sizeof value);
    return reply;
}

rt::DeviceReply returning(std::uint64_t result) {
    rt::DeviceReply reply;
    reply.result = result;
    return reply;
}

rt::DeviceReply returning(DeviceError error) {
    return returning(static_cast<std::uint64_t>(error));
}

bool returns_pointer(DeviceCall call) {
    return call == DeviceCall::GetParameterBuffer || call == DeviceCall::GetParameterBufferV2;
}

std::array<std::uint32_t, 3> extent(std::span<const std::uint64_t> words) {
    return {static_cast<std::uint32_t>(words[0]), static_cast<std::uint32_t>(words[1]),
            static_cast<std::uint32_t>(words[2])};
}

/// The struct of CUDA 12 and 13.
struct FunctionAttributes {
    std::uint64_t shared_bytes, constant_bytes, local_bytes;
    std::int32_t most_threads, registers, ptx_version, binary_version, cache_mode_ca;
    std::int32_t most_dynamic_shared, preferred_carveout;
    std::array<std::int32_t, 23> clusters_and_reserved;
};
static_assert(sizeof(FunctionAttributes) == 144);

} // namespace

DeviceRuntime::DeviceRuntime(Context &context, Module &module, std::shared_ptr<const void> keep,
                             std::shared_ptr<GraphEnvironment> environment)
    : context_(context), module_(module), keep_(std::move(keep)),
      environment_(std::move(environment)), next_handle_(kFirstHandle) {}

DeviceRuntime::~DeviceRuntime() {
    for (const std::uint64_t chunk : chunks_) {
        try {
            System::get().memory().free(chunk, MemoryKind::Heap);
        } catch (const Error &) {
            // The context was torn down, and its memory was freed.
        }
    }
}

rt::DeviceReply DeviceRuntime::call(DeviceCall call, const rt::DeviceCaller &caller,
                                    Words words) noexcept {
    DeviceError error = DeviceError::Unknown;
    try {
        std::lock_guard lock(mutex_);
        try {
            return answer(call, caller, words);
        } catch (const Refusal &refusal) {
            error = refusal.error;
        } catch (const UnreadableMemory &memory) {
            rt::DeviceReply reply;
            reply.unreadable = memory.address;
            return reply;
        } catch (const Error &refused) {
            error = device_error(refused.result());
        } catch (const std::bad_alloc &) {
            error = DeviceError::MemoryAllocation;
        }
        last_error(caller) = error;
    } catch (...) { // no memory to record the error; it is returned in any case
        error = DeviceError::MemoryAllocation;
    }
    return returns_pointer(call) ? returning(kNoBuffer) : returning(error);
}

rt::DeviceReply DeviceRuntime::answer(DeviceCall call, const rt::DeviceCaller &caller,
                                      Words words) {
    switch (call) {
    case DeviceCall::GetParameterBuffer:
        insist(words[0] <= kBufferAlignment, DeviceError::InvalidValue);
        return returning(make_buffer(words[1]));
    case DeviceCall::GetParameterBufferV2:
        return returning(make_launch(words));
    case DeviceCall::LaunchDevice:
        enqueue_launch(checked_launch(words[0], words.subspan(2, 3), words.subspan(5, 3), words[8]),
                       words[1], words[9], caller);
        break;
    case DeviceCall::LaunchDeviceV2:
        launch_made(words[0], words[1], caller);
        break;
    case DeviceCall::StreamCreateWithFlags:
        return make_stream(words);
    case DeviceCall::StreamDestroy:
        insist(streams_.erase(words[0]) == 1, DeviceError::InvalidResourceHandle);
        break;
    case DeviceCall::StreamWaitEvent: {
        insist(words[2] == 0, DeviceError::InvalidValue);
        auto hold = [stream = find_stream(words[0], caller),
                     event = find_event(words[1])](const LaunchTicket &) { event->hold(*stream); };
        add(std::move(hold));
        break;
    }
    case DeviceCall::EventCreateWithFlags:
        return make_event(words);
    case DeviceCall::EventRecordWithFlags:
        insist(words[2] == 0, DeviceError::InvalidValue);
        [[fallthrough]];
    case DeviceCall::EventRecord: {
        auto record = [event = find_event(words[0]), stream = find_stream(words[1], caller)](
                          const LaunchTicket &) { event->record(*stream); };
        add(std::move(record));
        break;
    }
    case DeviceCall::EventDestroy:
        insist(events_.erase(words[0]) == 1, DeviceError::InvalidResourceHandle);
        break;
    case DeviceCall::Malloc: {
        const std::uint64_t memory = words[1] == 0 ? 0 : context_.heap_allocate(words[1]);
        insist(memory != 0 || words[1] == 0, DeviceError::MemoryAllocation);
        return writing(words[0], memory);
    }
    case DeviceCall::Free:
        insist(words[0] == 0 || context_.heap_release(words[0]), DeviceError::InvalidValue);
        break;
    case DeviceCall::MemcpyAsync:
        copy({.destination = {words[0], 0, 0}, .source = {words[1], 0, 0}, .width = words[2]},
             words[3], words[4], caller);
        break;
    case DeviceCall::Memcpy2DAsync:
        insist(words[4] <= words[1] && words[4] <= words[3], DeviceError::InvalidPitchValue);
        copy({.destination = {words[0], words[1], 0},
              .source = {words[2], words[3], 0},
              .width = words[4],
              .height = words[5]},
             words[6], words[7], caller);
        break;
    case DeviceCall::MemsetAsync:
        fill({words[0], words[2], 0}, words[1], {words[2], 1, 1}, words[3], caller);
        break;
    case DeviceCall::Memset2DAsync:
        fill({words[0], words[1], 0}, words[2], {words[3], words[4], 1}, words[5], caller);
        break;
    case DeviceCall::Memset3DAsync:
        fill({words[0], words[1], words[1] * words[3]}, words[4], {words[5], words[6], words[7]},
             words[8], caller);
        break;
    case DeviceCall::GraphLaunch: {
        GraphLaunch launch = launch_graph(environment_, context_, words[0], words[1]);
        succeed(launch.error);
        if (launch.start)
            add([start = std::move(launch.start)](const LaunchTicket &) { start(); });
        break;
    }
    case DeviceCall::GraphKernelNodeSetParam:
        succeed(change_node_parameter(words[0], words[1], words[2], words[3]));
        break;
    case DeviceCall::GraphKernelNodeSetEnabled:
        succeed(change_node_enabled(words[0], words[1] != 0));
        break;
    case DeviceCall::GraphKernelNodeSetGridDim:
        succeed(change_node_grid(words[0], extent(words.subspan(1, 3))));
        break;
    case DeviceCall::GraphKernelNodeUpdatesApply:
        succeed(change_nodes(words[0], words[1]));
        break;
    case DeviceCall::GetLastError:
        return returning(std::exchange(last_error(caller), DeviceError::Success));
    case DeviceCall::PeekAtLastError:
        return returning(last_error(caller));
    case DeviceCall::GetErrorString:
        return returning(text(text_of_device_error(static_cast<std::uint32_t>(words[0]))));
    case DeviceCall::GetErrorName:
        return returning(text(name_of_device_error(static_cast<std::uint32_t>(words[0]))));
    case DeviceCall::GetDeviceCount:
        return writing(words[0], std::int32_t{System::get().device_count()});
    case DeviceCall::GetDevice:
        return writing(words[0], std::int32_t{context_.device().ordinal()});
    case DeviceCall::DeviceGetAttribute: {
        insist(words[2] < static_cast<std::uint64_t>(System::get().device_count()),
               DeviceError::InvalidDevice);
        const std::optional<int> value = System::get()
                                             .device(static_cast<int>(words[2]))
                                             .attribute(static_cast<CUdevice_attribute>(words[1]));
        insist(value.has_value(), DeviceError::InvalidValue);
        return writing(words[0], std::int32_t{*value});
    }
    case DeviceCall::DeviceGetLimit:
        return writing(words[0], std::uint64_t{context_.limit(static_cast<CUlimit>(words[1]))});
    case DeviceCall::DeviceGetCacheConfig:
    case DeviceCall::DeviceGetSharedMemConfig:
        return writing(words[0], std::int32_t{0}); // no preference
    case DeviceCall::FuncGetAttributes:
        return attributes_of(words);
    case DeviceCall::RuntimeGetVersion:
        return writing(words[0], std::int32_t{kDriverVersion});
    case DeviceCall::OccupancyMaxActiveBlocksPerMultiprocessor:
    case DeviceCall::OccupancyMaxActiveBlocksPerMultiprocessorWithFlags:
        return occupancy(words);
    }
    return returning(DeviceError::Success);
}

// ---- launches -------------------------------------------------------------------------------

std::uint64_t DeviceRuntime::make_buffer(std::size_t bytes) {
    insist(bytes <= kLargestParameters, DeviceError::InvalidValue);
    const std::size_t taken = (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment +
                              (bytes == 0 ? kBufferAlignment : 0);
    if (chunk_end_ - chunk_next_ < taken) {
        chunk_next_ = System::get().memory().allocate({.size = kChunkBytes,
                                                       .kind = MemoryKind::Heap,
                                                       .device = &context_.device(),
                                                       .context = &context_});
        chunk_end_ = chunk_next_ + kChunkBytes;
        chunks_.push_back(chunk_next_);
    }
    const std::uint64_t buffer = std::exchange(chunk_next_, chunk_next_ + taken);
    buffers_[buffer] = bytes;
    return buffer;
}

Function &DeviceRuntime::find_function(std::uint64_t address) const {
    if (Function *function = module_.function_at(address))
        return *function;
    throw Refusal{DeviceError::InvalidDeviceFunction};
}

DeviceRuntime::Launch DeviceRuntime::checked_launch(std::uint64_t function, Words grid, Words block,
                                                    std::uint64_t shared_bytes) const {
    Launch launch{&find_function(function),
                  {.grid = extent(grid),
                   .block = extent(block),
                   .dynamic_shared_bytes = static_cast<std::uint32_t>(shared_bytes)}};
    try {
        check_launch(*launch.function, launch.request);
    } catch (const Error &error) {
        insist(error.result() != CUDA_ERROR_INVALID_VALUE, DeviceError::InvalidConfiguration);
        throw;
    }
    return launch;
}

std::uint64_t DeviceRuntime::make_launch(Words words) {
    const Launch launch =
        checked_launch(words[0], words.subspan(1, 3), words.subspan(4, 3), words[7]);
    const std::uint64_t buffer = make_buffer(launch.function->info().parameter_bytes);
    launches_[buffer] = launch;
    return buffer;
}

void DeviceRuntime::launch_made(std::uint64_t buffer, std::uint64_t stream,
                                const rt::DeviceCaller &caller) {
    const auto made = launches_.find(buffer);
    insist(made != launches_.end(), DeviceError::InvalidValue);
    enqueue_launch(made->second, buffer, stream, caller);
    launches_.erase(made);
}

void DeviceRuntime::enqueue_launch(const Launch &launch, std::uint64_t buffer, std::uint64_t stream,
                                   const rt::DeviceCaller &caller) {
    const std::size_t bytes = launch.function->info().parameter_bytes;
    const auto memory = buffers_.find(buffer);
    insist(bytes == 0 || (memory != buffers_.end() && memory->second >= bytes),
           DeviceError::InvalidValue);
    const auto *begin = reinterpret_cast<const std::byte *>(buffer);
    std::vector<std::byte> parameters(begin, begin + bytes);
    const std::shared_ptr<Stream> in = find_stream(stream, caller);
    Step step = [in, launch, keep = keep_,
                 parameters = std::move(parameters)](const LaunchTicket &ticket) {
        launch_child(*in, *launch.function, keep, launch.request, parameters, ticket);
    };
    if (stream == kTailLaunch)
        tails_.push_back(std::move(step));
    else
        add(std::move(step));
}

// ---- streams, events, copies ----------------------------------------------------------------

std::shared_ptr<Stream> DeviceRuntime::find_stream(std::uint64_t handle,
                                                   const rt::DeviceCaller &caller) {
    const auto made = [&] {
        return std::make_shared<Stream>(context_, Stream::Kind::NonBlocking, kLeastPriority);
    };
    const auto known = streams_.find(handle);
    if (known != streams_.end())
        return known->second;
    if (handle == kTailLaunch) {
        if (!tail_)
            tail_ = made();
        return tail_;
    }
    insist(handle <= kFireAndForget, DeviceError::InvalidResourceHandle);
    std::shared_ptr<Stream> stream;
    if (handle == kFireAndForget) {
        stream = made();
    } else {
        static_assert(kNull < kLegacy && kLegacy < kPerThread && kPerThread < kTailLaunch);
        std::shared_ptr<Stream> &own = null_streams_[caller.block];
        if (own)
            return own;
        stream = own = made();
    }
    used_.push_back(stream);
    return stream;
}

std::shared_ptr<Event> DeviceRuntime::find_event(std::uint64_t handle) const {
    const auto known = events_.find(handle);
    insist(known != events_.end(), DeviceError::InvalidResourceHandle);
    return known->second;
}

rt::DeviceReply DeviceRuntime::make_stream(Words words) {
    insist(words[1] == kStreamNonBlocking,
           DeviceError::InvalidValue); // device code supports only this flag
    auto stream = std::make_shared<Stream>(context_, Stream::Kind::NonBlocking, kLeastPriority);
    const rt::DeviceReply reply = writing(words[0], next_handle_);
    used_.push_back(stream);
    streams_[next_handle_++] = std::move(stream);
    return reply;
}

rt::DeviceReply DeviceRuntime::make_event(Words words) {
    insist(words[1] == kEventDisableTiming,
           DeviceError::InvalidValue); // device code supports only this flag
    const rt::DeviceReply reply = writing(words[0], next_handle_);
    events_[next_handle_++] = std::make_shared<Event>(context_, CU_EVENT_DISABLE_TIMING);
    return reply;
}

void DeviceRuntime::copy(const Copy &wanted, std::uint64_t kind, std::uint64_t stream,
                         const rt::DeviceCaller &caller) {
    insist(kind == kCopyOnDevice || kind == kCopyByAddresses, DeviceError::InvalidMemcpyDirection);
    check_copy(System::get().memory(), wanted, Side::Device, Side::Device);
    add([in = find_stream(stream, caller), wanted](const LaunchTicket &) {
        enqueue_unwatched(*in, wanted);
    });
}

void DeviceRuntime::fill(const Copy::End &to, std::uint64_t value,
                         std::array<std::uint64_t, 3> extent, std::uint64_t stream,
                         const rt::DeviceCaller &caller) {
    const std::shared_ptr<Stream> in = find_stream(stream, caller);
    for (std::uint64_t slice = 0; slice < extent[2]; slice++) {
        const Fill wanted = {.address = to.address + slice * to.slice,
                             .pitch = to.pitch,
                             .value = static_cast<std::uint32_t>(value) & 0xff,
                             .element_bytes = 1,
                             .width = extent[0],
                             .height = extent[1]};
        check_fill(System::get().memory(), wanted);
        add([in, wanted](const LaunchTicket &) { enqueue(*in, wanted, Wait::No); });
    }
}

void DeviceRuntime::add(Step step) { children_.push_back(std::move(step)); }

// ---- queries --------------------------------------------------------------------------------

rt::DeviceReply DeviceRuntime::attributes_of(Words words) const {
    const Function &function = find_function(words[1]);
    const auto number = [&](CUfunction_attribute attribute) {
        return static_cast<std::int32_t>(function.attribute(attribute));
    };
    const FunctionAttributes attributes = {
        .shared_bytes = function.info().static_shared_bytes,
        .constant_bytes = static_cast<std::uint64_t>(number(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)),
        .local_bytes = function.info().local_bytes_per_thread,
        .most_threads = number(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        .registers = number(CU_FUNC_ATTRIBUTE_NUM_REGS),
        .ptx_version = number(CU_FUNC_ATTRIBUTE_PTX_VERSION),
        .binary_version = number(CU_FUNC_ATTRIBUTE_BINARY_VERSION),
        .cache_mode_ca = number(CU_FUNC_ATTRIBUTE_CACHE_MODE_CA),
        .most_dynamic_shared = number(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
        .preferred_carveout = number(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT),
        .clusters_and_reserved = {}};
    return writing(words[0], attributes);
}

rt::DeviceReply DeviceRuntime::occupancy(Words words) const {
    const auto threads = static_cast<std::int32_t>(words[2]);
    insist(threads > 0, DeviceError::InvalidValue);
    return writing(words[0], static_cast<std::int32_t>(blocks_per_multiprocessor(
                                 find_function(words[1]), static_cast<unsigned>(threads),
                                 static_cast<std::size_t>(words[3]))));
}

std::uint64_t DeviceRuntime::text(const char *content) {
    std::uint64_t &address = texts_[content];
    if (address == 0) {
        address = make_buffer(std::strlen(content) + 1);
        std::memcpy(reinterpret_cast<char *>(address), content, std::strlen(content) + 1);
        checked_memory::written(address, std::strlen(content) + 1);
    }
    return address;
}

DeviceError &DeviceRuntime::last_error(const rt::DeviceCaller &caller) {
    return last_errors_[{caller.block, caller.thread}];
}

// ---- after the grid -------------------------------------------------------------------------

void DeviceRuntime::run_list(const std::vector<Step> &list, const LaunchTicket &ticket) noexcept {
    for (const Step &step : list) {
        try {
            step(ticket);
        } catch (const Error &error) {
            context_.set_passing_error(error.result());
        } catch (const std::bad_alloc &) {
            context_.set_passing_error(CUDA_ERROR_OUT_OF_MEMORY);
        } catch (...) {
            context_.set_passing_error(CUDA_ERROR_UNKNOWN);
        }
    }
}

/// Calls `then` when all streams are done.
void DeviceRuntime::after_all(std::function<void()> then) {
    const auto own = std::make_shared<Stream>(context_, Stream::Kind::NonBlocking, kLeastPriority);
    auto mark = std::make_shared<Action>(context_, std::move(then));
    if (System::get().timeline().append_after(*own, mark, used_))
        mark->start();
}

void DeviceRuntime::run(const LaunchTicket &ticket, std::function<void()> then) {
    run_list(children_, ticket);
    if (tails_.empty())
        return after_all(std::move(then));
    after_all([this, ticket, then = std::move(then)] {
        run_list(tails_, ticket);
        used_ = {tail_};
        after_all(then);
    });
}

} // namespace softcuda::device
