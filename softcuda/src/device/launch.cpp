// launch.cpp -- cuLaunchKernel: checks a launch and gives its grid to the worker pool.
#include "device/launch.h"

#include "check/launch_checks.h"
#include "device/checked_memory.h"
#include "device/client_question.h"
#include "device/cluster.h"
#include "device/context.h"
#include "device/device.h"
#include "device/device_runtime.h"
#include "device/driver_log.h"
#include "device/error.h"
#include "device/fault_log.h"
#include "device/graphs/capture.h"
#include "device/graphs/device_graph.h"
#include "device/long_run.h"
#include "device/occupancy.h"
#include "device/recycled_memory.h"
#include "device/system.h"
#include "profile/modes.h"
#include "profile/record.h"
#include "support/small_grid.h"

#include <algorithm>
#include <bit>
#include <climits>
#include <cstring>
#include <new>
#include <thread>

namespace softcuda::device {
namespace {

/// A grid whose estimated time is less runs on the thread that launches it.
constexpr std::uint64_t kInlineNanoseconds = 10'000;
constexpr std::uint64_t kSharedGap = 128;
/// Cooperative groups count arrivals in the second word.
constexpr std::uint64_t kWorkspaceBytes = 64;

/// Packed kernel parameters; small ones need no separate allocation.
class ParameterBlock {
  public:
    explicit ParameterBlock(std::size_t bytes) : size_(bytes) {
        if (bytes > sizeof small_)
            large_ = std::make_unique<std::byte[]>(bytes);
    }
    [[nodiscard]] std::byte *data() noexcept { return large_ ? large_.get() : small_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

  private:
    std::size_t size_;
    alignas(16) std::byte small_[256];
    std::unique_ptr<std::byte[]> large_;
};

class KernelLaunch final : public Command, private rt::KernelServices {
  public:
    KernelLaunch(Stream &stream, Function &function, std::shared_ptr<const void> keep,
                 LaunchCode code, const LaunchRequest &request, const LaunchTicket &ticket);
    ~KernelLaunch() override;

    [[nodiscard]] std::byte *parameters() noexcept { return parameters_.data(); }
    [[nodiscard]] std::size_t parameter_bytes() const noexcept { return parameters_.size(); }
    [[nodiscard]] bool is_tiny() const noexcept;
    /// The command to wait for before this one; null if the kernel is compiled.
    [[nodiscard]] std::shared_ptr<Command> unfinished_compilation() const noexcept {
        return code_ ? nullptr : compilation_;
    }

    void finish_compilation();

    void start() noexcept override;
    /// Runs the grid on the calling thread, instead of start().
    void run_here() noexcept;

  private:
    struct Blocks final : rt::Grid {
        explicit Blocks(KernelLaunch &owner) : owner_(owner) {}
        void finished() noexcept override { owner_.complete(); }
        KernelLaunch &owner_;
    };

    void fill_frame(const LaunchRequest &request);
    void use_code();
    [[nodiscard]] bool has_code() noexcept;
    void complete() noexcept;
    void finish_checks() noexcept;
    void finish_profile() noexcept;
    [[nodiscard]] profile::LaunchInfo launch_info() const;
    [[nodiscard]] profile::Event described() const override;
    [[nodiscard]] std::optional<ScuFault> fault_record() const noexcept;
    [[nodiscard]] FaultPlace fault_place(const rt::FaultReport &report) const;
    [[nodiscard]] std::optional<compiler::AccessedVariable>
    find_accessed(const std::vector<compiler::AccessedVariable> &all,
                  const rt::FaultReport &report) const;
    void help() override;
    [[nodiscard]] bool dropped() const noexcept;

    rt::KnownRange registered_range(std::uint64_t address) override;
    std::span<const std::byte> parameter_block() const noexcept override;
    bool is_constant(std::uint64_t address) override;
    void print(std::uint64_t block, std::string_view text) override;
    std::uint64_t allocate(std::uint64_t bytes) override;
    bool release(std::uint64_t address) override;
    rt::DeviceReply call_runtime(DeviceCall call, const rt::DeviceCaller &caller,
                                 std::span<const std::uint64_t> words) override;
    [[nodiscard]] DeviceRuntime &runtime();
    [[nodiscard]] bool run_children() noexcept;
    void place_checks() noexcept;

    Function &function_;
    std::shared_ptr<const void> keep_;
    std::shared_ptr<Compilation> compilation_; ///< null if the code was ready at once
    const compiler::CompiledKernel *code_;     ///< null until the kernel is compiled
    LaunchTicket ticket_;
    unsigned check_modes_;
    bool programmatic_;
    std::shared_ptr<GraphEnvironment> environment_; ///< of the graph in which it is, or null
    rt::LaunchFrame frame_{};
    std::uint64_t workspace_ = 0; ///< for a cooperative grid: the counter of its barrier
    ParameterBlock parameters_;
    std::mutex runtime_mutex_;
    std::unique_ptr<DeviceRuntime> runtime_;        ///< created at the first call of a thread
    std::unique_ptr<check::LaunchChecks> checks_;   ///< null: no checks
    std::unique_ptr<profile::LaunchCounts> counts_; ///< null: no counts
    LongRun long_run_;
    Blocks grid_{*this};
};

// A thread's stack, from CU_LIMIT_STACK_SIZE. There are few sizes, because each needs a separate
// compilation.
std::uint32_t call_stack_of(const Function &function) {
    constexpr std::size_t kLeast = 16 * 1024;
    if (!function.info().needs_call_stack)
        return 0;
    const std::size_t limit = function.module().context().limit(CU_LIMIT_STACK_SIZE);
    return static_cast<std::uint32_t>(std::bit_ceil(std::max(limit, kLeast)));
}

/// Bytes of a warp's stack for each byte of its threads' stacks: it holds whole vectors of the
/// threads' register values, and one word for each call.
constexpr std::uint64_t kStackFactor = 4;
/// The stack of a warp with unoptimised code, in which each value has a separate place. Bytes.
constexpr std::uint64_t kDebuggedStack = std::uint64_t{16} << 20;
/// The stack for the runtime's functions, which generated code calls. Bytes.
constexpr std::uint64_t kRuntimeStack = std::uint64_t{256} << 10;
/// Code with larger frames does not run on the calling thread's stack, which may be a small one.
/// Bytes.
constexpr std::uint64_t kMostOfThreadStack = std::uint64_t{128} << 10;

/// The stack size of a launch's code: BlockMemory::stack.
std::uint64_t stack_of(const compiler::CompiledKernel &code) {
    const std::uint64_t frames = code.frame_bytes + kRuntimeStack;
    if (code.tier == rt::Tier::Regions)
        return code.frame_bytes > kMostOfThreadStack ? frames : 0;
    const std::uint64_t recursion = kStackFactor * rt::kWarpSize * code.call_stack;
    return std::max({frames, recursion, code.debugged ? kDebuggedStack : 0});
}

KernelLaunch::KernelLaunch(Stream &stream, Function &function, std::shared_ptr<const void> keep,
                           LaunchCode code, const LaunchRequest &request,
                           const LaunchTicket &ticket)
    : Command(stream.context()), function_(function), keep_(std::move(keep)),
      compilation_(std::move(code.compilation)), code_(code.ready), ticket_(ticket),
      check_modes_(check::modes()), programmatic_(request.programmatic),
      environment_(request.environment ? request.environment->shared_from_this() : nullptr),
      parameters_(function.info().parameter_bytes) {
    fill_frame(request);
    rt::Grid::Work work;
    work.warps =
        static_cast<std::uint32_t>((product(request.block) + rt::kWarpSize - 1) / rt::kWarpSize);
    work.blocks = product(request.grid);
    work.cooperative = request.cooperative;
    work.priority = stream.priority();
    work.most_slots = stream.multiprocessors();
    work.owner = &stream.context();
    work.block_time = &function.block_time;
    work.busy_time = &stream.context().device().busy_time();
    grid_.set_work(work, &frame_);
    if (!code_ && compilation_->done())
        code_ = compilation_->code();
    if (code_)
        use_code();
}

void KernelLaunch::finish_compilation() {
    if (code_)
        return;
    compilation_->run();
    while (!compilation_->done()) // another thread compiles it
        std::this_thread::yield();
    if ((code_ = compilation_->code()))
        use_code();
}

/// The second part of the preparation, when the kernel is compiled.
void KernelLaunch::use_code() {
    const compiler::KernelInfo &info = function_.info();
    rt::Grid::Work work = grid_.work();
    work.entry = code_->entry;
    work.warp_entry = code_->warp_entry;
    work.group_blocks = code_->group_blocks;
    if (code_->groups)
        work.groups = &code_->groups->of({frame_.grid[0], frame_.grid[1], frame_.grid[2]});
    const std::uint64_t local_per_thread = info.local_bytes_per_thread + code_->call_stack;
    const std::uint64_t local =
        local_per_thread * frame_.block[0] * frame_.block[1] * frame_.block[2];
    // There may be a gap for alignment between the static and the dynamic part. Local memory is
    // interleaved for whole warps.
    work.memory = {.shared = std::uint64_t{info.static_shared_bytes} + kSharedGap +
                             frame_.dynamic_shared_bytes,
                   .local = local_per_thread * work.warps * rt::kWarpSize,
                   .scratch = code_->scratch_bytes,
                   .stack = stack_of(*code_)};
    if (code_->checked) {
        checks_ = std::make_unique<check::LaunchChecks>(check_modes_, info.name, frame_,
                                                        work.memory.shared - kSharedGap, local,
                                                        checked_memory::map());
        work.watch = checks_.get();
    }
    if (code_->counted) {
        counts_ = std::make_unique<profile::LaunchCounts>(profile::WindowSizes{
            .shared = work.memory.shared, .local = local, .local_per_thread = local_per_thread});
        work.counter = counts_.get();
    }
    grid_.set_work(work, &frame_);
}

KernelLaunch::~KernelLaunch() {
    if (workspace_ == 0)
        return;
    try {
        System::get().memory().free(workspace_, MemoryKind::Heap);
    } catch (const Error &) {
        // The context was torn down, and its memory was freed.
    }
}

void KernelLaunch::fill_frame(const LaunchRequest &request) {
    AddressSpace &memory = System::get().memory();
    if (request.cooperative)
        workspace_ = memory.allocate({.size = kWorkspaceBytes,
                                      .kind = MemoryKind::Heap,
                                      .device = &context().device(),
                                      .context = &context()});
    if (workspace_ != 0)
        checked_memory::written(workspace_, kWorkspaceBytes);
    frame_.grid_workspace = workspace_;
    frame_.params = parameters_.data();
    frame_.symbols = function_.module().symbols();
    frame_.global_base = memory.arena_base();
    frame_.global_size = memory.arena_size();
    std::copy(request.grid.begin(), request.grid.end(), frame_.grid);
    std::copy(request.block.begin(), request.block.end(), frame_.block);
    const ClusterShape cluster = cluster_of(function_, request);
    for (std::size_t d = 0; d < 3; d++)
        frame_.cluster[d] = cluster.extent[d];
    frame_.explicit_cluster = cluster.is_explicit;
    frame_.dynamic_shared_bytes = request.dynamic_shared_bytes;
    frame_.device_ordinal = static_cast<std::uint32_t>(context().device().ordinal());
    frame_.grid_id = context().next_grid_id();
    frame_.launch = static_cast<rt::KernelServices *>(this);
    frame_.graph_exec = environment_ ? environment_->handle() : 0;
}

/// Whether the kernel could be compiled and prepared; else the context gets the error.
bool KernelLaunch::has_code() noexcept try {
    if (!code_ && (code_ = compilation_->code()))
        use_code();
    if (!code_)
        context().set_passing_error(compilation_->failure());
    return code_ != nullptr;
} catch (const std::bad_alloc &) {
    context().set_passing_error(CUDA_ERROR_OUT_OF_MEMORY);
    return false;
}

bool KernelLaunch::is_tiny() const noexcept {
    if (!code_ || code_->loops || counts_)
        return false;
    const std::uint64_t blocks = grid_.work().blocks;
    // An estimate until it is measured: about a nanosecond for an instruction of all warps of a
    // block.
    std::uint64_t per_block = function_.block_time.load(std::memory_order_relaxed);
    if (per_block == 0)
        per_block = std::max<std::uint64_t>(1, code_->instructions_per_block);
    return blocks <= kInlineNanoseconds && blocks * per_block <= kInlineNanoseconds;
}

bool KernelLaunch::dropped() const noexcept {
    return context().sticky_error() != CUDA_SUCCESS ||
           context().interrupts() != ticket_.interrupts_seen;
}

void KernelLaunch::place_checks() noexcept try {
    if (checks_ && order())
        checks_->place(*order(), programmatic_);
} catch (const std::bad_alloc &) { // then it counts as ordered
}

void KernelLaunch::start() noexcept {
    System &system = System::get();
    if (dropped()) {
        if (context().interrupts() != ticket_.interrupts_seen)
            context().set_passing_error(CUDA_ERROR_LAUNCH_FAILED);
        return system.timeline().finish(*this);
    }
    if (!has_code())
        return system.timeline().finish(*this);
    place_checks();
    note_begin();
    long_run_.begin(function_.info().name);
    const std::shared_ptr<Command> self = shared_from_this();
    system.pool().submit(std::shared_ptr<rt::Grid>(self, &grid_));
    if (context().interrupts() != ticket_.interrupts_seen) // an interrupt has happened meanwhile
        system.pool().interrupt(grid_);
}

void KernelLaunch::run_here() noexcept {
    if (dropped())
        return start();
    place_checks();
    note_begin();
    if (!System::get().pool().run_here(grid_))
        return start();
    complete();
}

void KernelLaunch::help() {
    if (client_question::asked_here())
        return;
    if (compilation_)
        compilation_->run();
    System::get().pool().help(grid_);
}

CUresult result_of(rt::Fault fault) {
    switch (fault) {
    case rt::Fault::IllegalAddress:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case rt::Fault::MisalignedAddress:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    case rt::Fault::Assert:
        return CUDA_ERROR_ASSERT;
    case rt::Fault::StackOverflow:
        return CUDA_ERROR_HARDWARE_STACK_ERROR;
    case rt::Fault::InvalidInstruction:
        return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case rt::Fault::NoFunction:
        return CUDA_ERROR_INVALID_PC;
    case rt::Fault::NoTexture:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case rt::Fault::Trap:
    case rt::Fault::BarrierMismatch:
        break;
    }
    return CUDA_ERROR_LAUNCH_FAILED;
}

static void note(const std::string &kernel, const char *what) noexcept try {
    note_fault("kernel `" + kernel + "` " + what);
} catch (const std::bad_alloc &) { // then the report is shorter
}

FaultPlace KernelLaunch::fault_place(const rt::FaultReport &report) const {
    FaultPlace place;
    if (report.code == 0 || !code_->place_of || !code_->accessed_at)
        return place;
    place.source = code_->place_of(report.code - 1);
    if (report.direction == rt::FaultReport::Direction::Unknown)
        return place;
    const auto direction = report.direction == rt::FaultReport::Direction::Read
                               ? compiler::AccessDirection::Read
                               : compiler::AccessDirection::Write;
    place.variable = find_accessed(code_->accessed_at(place.source, direction), report);
    return place;
}

// If a line reads through several pointers: the pointer to the allocation next to the address, if
// that allocation is near. A wrong name would be worse than none.
std::optional<compiler::AccessedVariable>
KernelLaunch::find_accessed(const std::vector<compiler::AccessedVariable> &all,
                            const rt::FaultReport &report) const {
    if (all.size() == 1)
        return all.front();
    const auto near = System::get().memory().nearest(report.address);
    const std::uint64_t most = near ? std::max<std::uint64_t>(near->size, rt::page_size()) : 0;
    if (!near || report.address - (near->address - most) >= near->size + 2 * most)
        return std::nullopt;
    std::optional<compiler::AccessedVariable> found;
    for (const compiler::AccessedVariable &one : all) {
        if (!one.parameter || !report.address_known)
            return std::nullopt;
        std::uint64_t pointer = 0;
        std::memcpy(&pointer, frame_.params + function_.info().parameters.at(*one.parameter).offset,
                    sizeof pointer);
        if (pointer - near->address >= std::max<std::uint64_t>(near->size, 1))
            continue;
        if (found)
            return std::nullopt;
        found = one;
    }
    return found;
}

std::optional<ScuFault> KernelLaunch::fault_record() const noexcept try {
    rt::Grid::Failure failure = grid_.failure();
    if (failure.window == rt::Grid::Window::Shared)
        failure.window_bytes -= kSharedGap;
    return record_of(function_.info().name, result_of(failure.report.kind),
                     fault_place(failure.report), failure, frame_);
} catch (const std::bad_alloc &) { // then the report is shorter
    return std::nullopt;
}

void KernelLaunch::finish_checks() noexcept try {
    if (checks_)
        checks_->finish();
} catch (const std::bad_alloc &) { // then some findings are not reported
}

profile::LaunchInfo KernelLaunch::launch_info() const {
    const compiler::KernelInfo &info = function_.info();
    const unsigned threads = frame_.block[0] * frame_.block[1] * frame_.block[2];
    const OccupancyLimits limits =
        occupancy_limits(function_, threads, frame_.dynamic_shared_bytes);
    const Device &device = context().device();
    profile::LaunchInfo made{.kernel = info.name,
                             .registers = info.registers,
                             .static_shared_bytes = info.static_shared_bytes,
                             .dynamic_shared_bytes = frame_.dynamic_shared_bytes,
                             .local_bytes_per_thread = info.local_bytes_per_thread,
                             .device = device.ordinal(),
                             .occupancy = {limits.by_blocks, limits.by_threads, limits.by_registers,
                                           limits.by_shared,
                                           device.limits().threads_per_multiprocessor}};
    std::ranges::copy(frame_.grid, made.grid.begin());
    std::ranges::copy(frame_.block, made.block.begin());
    return made;
}

void KernelLaunch::finish_profile() noexcept try {
    if (!counts_ && begun() == 0)
        return;
    std::vector<profile::TableCounts> counts;
    if (counts_)
        counts = counts_->sum();
    const std::uint64_t time = begun() != 0 ? rt::monotonic_nanoseconds() - begun() : 0;
    profile::add_launch(
        launch_info(), code_->code, std::move(counts),
        {.nanoseconds = time, .has_failed = grid_.outcome() != rt::Grid::Outcome::Done});
} catch (const std::bad_alloc &) { // then the launch is missing in the profile
}

profile::Event KernelLaunch::described() const {
    return {.activity = profile::Activity::Kernel, .name = function_.info().name};
}

void KernelLaunch::complete() noexcept {
    long_run_.end();
    finish_checks();
    finish_profile();
    switch (grid_.outcome()) {
    case rt::Grid::Outcome::Done:
        if (run_children())
            return; // the children finish the command
        break;
    case rt::Grid::Outcome::Interrupted:
        note(function_.info().name, "was interrupted; its remaining writes are missing");
        context().set_passing_error(CUDA_ERROR_LAUNCH_FAILED);
        break;
    case rt::Grid::Outcome::OutOfMemory:
        note(function_.info().name, "has no memory for its blocks: the system, or a limit such as "
                                    "`ulimit -v`, gives no more");
        context().set_passing_error(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
        break;
    case rt::Grid::Outcome::Faulted: {
        const std::optional<ScuFault> fault = fault_record();
        context().fail(result_of(grid_.failure().report.kind), fault ? &*fault : nullptr);
        break;
    }
    }
    System::get().timeline().finish(*this);
}

rt::KnownRange KernelLaunch::registered_range(std::uint64_t address) {
    const std::optional<Allocation> found = System::get().memory().find(address);
    return found && found->kind == MemoryKind::Registered
               ? rt::KnownRange{found->address, found->size}
               : rt::KnownRange{};
}

std::span<const std::byte> KernelLaunch::parameter_block() const noexcept {
    return {frame_.params, function_.info().parameter_bytes};
}

bool KernelLaunch::is_constant(std::uint64_t address) {
    const std::optional<Allocation> found = System::get().memory().find(address);
    return found && found->kind == MemoryKind::Constants;
}

void KernelLaunch::print(std::uint64_t block, std::string_view text) {
    context().printed().add(frame_.grid_id, block, text);
}

DeviceRuntime &KernelLaunch::runtime() {
    std::lock_guard lock(runtime_mutex_);
    if (!runtime_)
        runtime_ =
            std::make_unique<DeviceRuntime>(context(), function_.module(), keep_, environment_);
    return *runtime_;
}

rt::DeviceReply KernelLaunch::call_runtime(DeviceCall call, const rt::DeviceCaller &caller,
                                           std::span<const std::uint64_t> words) {
    return runtime().call(call, caller, words);
}

/// False if there is nothing to wait for.
bool KernelLaunch::run_children() noexcept {
    if (!runtime_ || dropped())
        return false;
    try {
        auto self = std::static_pointer_cast<KernelLaunch>(shared_from_this());
        const Schedule::DriverThread not_a_client; // the pool's thread that ran the last block
        order_before_host();                       // so that the children know that it is done
        runtime_->run(ticket_, [self] {
            self->ask_host();
            System::get().timeline().finish(*self);
        });
        return true;
    } catch (const Error &error) {
        context().set_passing_error(error.result());
    } catch (...) {
        context().set_passing_error(CUDA_ERROR_OUT_OF_MEMORY);
    }
    return false;
}

std::uint64_t KernelLaunch::allocate(std::uint64_t bytes) { return context().heap_allocate(bytes); }

bool KernelLaunch::release(std::uint64_t address) { return context().heap_release(address); }

compiler::Shape shape_of(const Function &function, const LaunchRequest &request) {
    return {.block = request.block,
            .small_grid = is_small_grid(request.grid, request.block),
            .cooperative = request.cooperative,
            .call_stack = call_stack_of(function),
            .watch = check::needs(check::modes()),
            .counts = (profile::modes() & profile::Counters) != 0};
}

} // namespace

void launch_child(Stream &stream, Function &function, std::shared_ptr<const void> keep,
                  const LaunchRequest &request, std::span<const std::byte> parameters,
                  const LaunchTicket &ticket) {
    auto kernel = std::allocate_shared<KernelLaunch>(
        RecycledMemory<KernelLaunch>(), stream, function, std::move(keep),
        function.code(shape_of(function, request), product(request.grid)), request, ticket);
    std::ranges::copy(parameters, kernel->parameters());
    if (System::get().timeline().append(stream, kernel, kernel->unfinished_compilation()))
        kernel->start();
}

void launch(Stream &stream, Function &function, std::shared_ptr<const void> keep,
            const LaunchRequest &request) {
    const rt::ClientCall call;
    require(&function.module().context() == &stream.context(), CUDA_ERROR_INVALID_HANDLE);
    check_launch(function, request);
    if (capture::any() && capture::add(stream, KernelWork({std::move(keep), &function}, request)))
        return;
    require(!request.updatable && (request.environment || !function.info().launches_graphs),
            CUDA_ERROR_NOT_SUPPORTED);
    rt::prepare_thread_for_guards(); // also if a worker runs the grid, which relies on it
    System &system = System::get();
    system.pool().start();
    auto kernel = std::allocate_shared<KernelLaunch>(
        RecycledMemory<KernelLaunch>(), stream, function, std::move(keep),
        function.code(shape_of(function, request), product(request.grid)), request,
        LaunchTicket{stream.context().interrupts()});
    copy_arguments(function, request, {kernel->parameters(), kernel->parameter_bytes()});
    if (system.timeline().schedule())
        kernel->finish_compilation(); // else the time that it takes has an effect on the order
    const bool starts = system.timeline().append(stream, kernel, kernel->unfinished_compilation());
    if (starts && kernel->is_tiny())
        kernel->run_here();
    else if (starts)
        kernel->start();
    stream.wait_for_room(kernel);
}

} // namespace softcuda::device
