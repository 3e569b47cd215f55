// fake_program.cpp -- the fake kernels, and the program that contains them.
#include "fake_program.h"

#include "compiler/program.h"
#include "rt/code_ranges.h"
#include "rt/device_call_abi.h"
#include "support/device_call.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <new>
#include <span>
#include <stdexcept>
#include <thread>

// Symbols of the linker: the section with all fake kernels is the "generated code".
extern "C" const char __start_fake_kernels[];
extern "C" const char __stop_fake_kernels[];

// Like generated code, kernels and functions inlined into them are not instrumented: GCC's markers
// for a variable's lifetime would poison the kernel's stack.
#define NOT_INSTRUMENTED gnu::no_sanitize("address", "undefined", "thread")
#define FAKE_KERNEL [[gnu::section("fake_kernels"), gnu::noinline, NOT_INSTRUMENTED]] static void

namespace {

using softcuda::compiler::CompiledKernel;
using softcuda::compiler::CompileJob;
using softcuda::compiler::KernelInfo;
using softcuda::compiler::Parameter;
using softcuda::compiler::Program;
using softcuda::compiler::Shape;
using softcuda::compiler::SharedCode;
using softcuda::compiler::Variable;
using softcuda::compiler::VariableSpace;
using softcuda::rt::Access;
using softcuda::rt::Fault;
using softcuda::rt::LaunchFrame;
using softcuda::rt::WorkerState;

/// The parameter at `offset`. Always inlined into kernels.
template <class T>
[[gnu::always_inline, NOT_INSTRUMENTED]] inline T param(const LaunchFrame *frame,
                                                        std::size_t offset) {
    return *reinterpret_cast<const T *>(frame->params + offset);
}

using Words = volatile std::int32_t *;

FAKE_KERNEL add(const LaunchFrame *f, WorkerState *, std::uint64_t first, std::uint64_t count) {
    const auto *a = param<const float *>(f, 0);
    const auto *b = param<const float *>(f, 8);
    auto *sum = param<float *>(f, 16);
    const int n = param<int>(f, 24);
    for (std::uint64_t i = first * f->block[0]; i < (first + count) * f->block[0]; i++)
        if (i < static_cast<std::uint64_t>(n))
            sum[i] = a[i] + b[i];
}

FAKE_KERNEL store(const LaunchFrame *f, WorkerState *w, std::uint64_t first, std::uint64_t) {
    w->block_index = first;
    *param<Words>(f, 0) = param<int>(f, 8);
}

FAKE_KERNEL load(const LaunchFrame *f, WorkerState *w, std::uint64_t first, std::uint64_t) {
    w->block_index = first;
    *param<Words>(f, 8) = *param<Words>(f, 0);
}

FAKE_KERNEL check_store(const LaunchFrame *f, WorkerState *w, std::uint64_t, std::uint64_t) {
    const auto address = param<std::uint64_t>(f, 0);
    if (address - f->global_base >= f->global_size)
        scu_check_address(w, f, address, 4, static_cast<std::uint32_t>(Access::Store), 5);
    *reinterpret_cast<Words>(address) = param<int>(f, 8);
}

FAKE_KERNEL misaligned(const LaunchFrame *, WorkerState *w, std::uint64_t, std::uint64_t) {
    scu_fault(w, static_cast<std::uint32_t>(Fault::MisalignedAddress), 0x1001, 3);
}

FAKE_KERNEL trap(const LaunchFrame *, WorkerState *w, std::uint64_t first, std::uint64_t) {
    w->block_index = first;
    scu_fault(w, static_cast<std::uint32_t>(Fault::Trap), 0, 0);
}

FAKE_KERNEL unreachable_barrier(const LaunchFrame *, WorkerState *w, std::uint64_t, std::uint64_t) {
    scu_fault(w, static_cast<std::uint32_t>(Fault::BarrierMismatch), 0, 0);
}

FAKE_KERNEL divide(const LaunchFrame *, WorkerState *w, std::uint64_t, std::uint64_t) {
    volatile int zero = 0;
    volatile int quotient = static_cast<int>(w->worker_count) / zero;
    static_cast<void>(quotient);
}

[[gnu::section("fake_kernels"), gnu::noinline,
  gnu::no_sanitize("address", "undefined", "thread")]] static int
recurse(int depth) {
    volatile char frame[4096];
    frame[0] = static_cast<char>(depth);
    return depth < 0 ? 0 : recurse(depth + 1) + frame[0];
}

FAKE_KERNEL overflow(const LaunchFrame *, WorkerState *w, std::uint64_t, std::uint64_t) {
    w->barrier_sum = static_cast<std::uint32_t>(recurse(0));
}

FAKE_KERNEL fail_assert(const LaunchFrame *f, WorkerState *w, std::uint64_t first, std::uint64_t) {
    std::uint64_t messages[32], files[32], functions[32];
    std::uint32_t lines[32];
    for (int lane = 0; lane < 32; lane++) {
        messages[lane] = f->symbols[1];
        files[lane] = f->symbols[2];
        functions[lane] = f->symbols[3];
        lines[lane] = 7;
    }
    w->block_index = first;
    w->warp_index = 1;
    scu_assertfail(w, f, messages, files, lines, functions, 0x10);
}

FAKE_KERNEL spin(const LaunchFrame *, WorkerState *w, std::uint64_t, std::uint64_t) {
    volatile std::uint32_t *word = &w->barrier_sum;
    for (;;)
        *word = *word + 1;
}

FAKE_KERNEL wait_for(const LaunchFrame *f, WorkerState *, std::uint64_t, std::uint64_t) {
    auto *flag = param<std::atomic<std::int32_t> *>(f, 0);
    while (__atomic_load_n(reinterpret_cast<std::int32_t *>(flag), __ATOMIC_ACQUIRE) == 0)
        scu_nanosleep(20000);
}

/// list[0] is the number of values after it. Blocks append at the same time.
void append_to(Words list, int value) {
    list[__atomic_add_fetch(&list[0], 1, __ATOMIC_RELAXED)] = value;
}

/// Each block appends: a call runs `blocks` of them, and other workers run others of the grid.
void append_value(const LaunchFrame *f, std::uint64_t blocks) {
    for (; blocks > 0; blocks--)
        append_to(param<Words>(f, 0), param<int>(f, 8));
}

FAKE_KERNEL append(const LaunchFrame *f, WorkerState *, std::uint64_t, std::uint64_t count) {
    append_value(f, count);
}

FAKE_KERNEL append_slowly(const LaunchFrame *f, WorkerState *, std::uint64_t, std::uint64_t count) {
    for (int i = 0; i < 5; i++)
        scu_nanosleep(1'000'000);
    append_value(f, count);
}

FAKE_KERNEL count(const LaunchFrame *f, WorkerState *, std::uint64_t, std::uint64_t count) {
    __atomic_fetch_add(param<std::int32_t *>(f, 0), static_cast<std::int32_t>(count),
                       __ATOMIC_RELAXED);
}

FAKE_KERNEL use_shared(const LaunchFrame *f, WorkerState *w, std::uint64_t first,
                       std::uint64_t count) {
    auto *words = reinterpret_cast<Words>(w->shared);
    const std::uint32_t size = (1024 + f->dynamic_shared_bytes) / 4;
    for (std::uint64_t block = first; block < first + count; block++) {
        for (std::uint32_t i = 0; i < size; i++)
            words[i] = static_cast<std::int32_t>(block + i);
        std::int32_t wrong = 0;
        for (std::uint32_t i = 0; i < size; i++)
            wrong += words[i] != static_cast<std::int32_t>(block + i);
        __atomic_fetch_add(param<std::int32_t *>(f, 0), wrong, __ATOMIC_RELAXED);
    }
}

FAKE_KERNEL use_scratch(const LaunchFrame *f, WorkerState *w, std::uint64_t, std::uint64_t) {
    const std::uint32_t threads = f->block[0] * f->block[1] * f->block[2];
    for (std::uint32_t i = 0; i < threads * 64; i += 4) {
        *reinterpret_cast<Words>(w->local + i) = 1;
        *reinterpret_cast<Words>(w->scratch + i % 8192) = 2;
    }
    __atomic_fetch_add(param<std::int32_t *>(f, 0), 1, __ATOMIC_RELAXED);
}

FAKE_KERNEL shared_overrun(const LaunchFrame *, WorkerState *w, std::uint64_t, std::uint64_t) {
    *reinterpret_cast<Words>(w->shared + 0x7fffffff) = 1;
}

FAKE_KERNEL print(const LaunchFrame *f, WorkerState *w, std::uint64_t first, std::uint64_t count) {
    std::uint64_t formats[32] = {}, arguments[32] = {};
    std::int32_t results[32] = {};
    formats[0] = param<std::uint64_t>(f, 0);
    arguments[0] = param<std::uint64_t>(f, 8);
    for (w->block_index = first; w->block_index < first + count; w->block_index++)
        scu_vprintf(w, f, formats, arguments, 1, results);
    *param<Words>(f, 16) = results[0];
}

FAKE_KERNEL use_heap(const LaunchFrame *f, WorkerState *w, std::uint64_t, std::uint64_t) {
    std::uint64_t sizes[32], pointers[32];
    for (std::uint64_t lane = 0; lane < 32; lane++)
        sizes[lane] = 16 + lane * 8;
    sizes[31] = std::uint64_t{1} << 40; // more than any heap
    scu_malloc(w, f, sizes, ~0U, pointers);
    std::int32_t failures = 0;
    for (int lane = 0; lane < 32; lane++) {
        if (pointers[lane] == 0)
            failures++;
        else
            *reinterpret_cast<Words>(pointers[lane]) = lane;
    }
    *param<Words>(f, 0) = failures;
    scu_free(w, f, pointers, ~0U);
}

FAKE_KERNEL spread(const LaunchFrame *f, WorkerState *w, std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t block = first; block < first + count; block++) {
        scu_nanosleep(200'000);
        param<Words>(f, 0)[block] = static_cast<std::int32_t>(w->worker_id) + 1;
    }
}

FAKE_KERNEL read_variable(const LaunchFrame *f, WorkerState *, std::uint64_t, std::uint64_t) {
    // Variable 4 contains the address of byte 4 of variable 0.
    const auto target = *reinterpret_cast<const std::uint64_t *>(f->symbols[4]);
    *param<Words>(f, 0) = *reinterpret_cast<Words>(target);
}

/// Calls the CUDA runtime as lane 0. Always inlined into kernels.
template <class... Words>
[[gnu::always_inline, NOT_INSTRUMENTED]] inline std::uint64_t
runtime(WorkerState *w, const LaunchFrame *f, softcuda::DeviceCall call, Words... words) {
    const std::uint64_t list[] = {static_cast<std::uint64_t>(words)..., 0};
    std::uint64_t arguments[32] = {}, results[32] = {};
    arguments[0] = reinterpret_cast<std::uint64_t>(&list[0]);
    w->warp_index = 0;
    scu_device_call(w, f, static_cast<std::uint32_t>(call), arguments, 1, results);
    return results[0];
}

/// kernel<<<1, 1, 0, stream>>>(list, value)
[[gnu::always_inline, NOT_INSTRUMENTED]] inline std::uint64_t
launch_one(WorkerState *w, const LaunchFrame *f, std::uint64_t kernel, std::uint64_t list,
           int value, std::uint64_t stream) {
    using softcuda::DeviceCall;
    const std::uint64_t buffer =
        runtime(w, f, DeviceCall::GetParameterBufferV2, kernel, 1, 1, 1, 1, 1, 1, 0);
    if (buffer == 0)
        return ~std::uint64_t{0};
    *reinterpret_cast<std::uint64_t *>(buffer) = list;
    *reinterpret_cast<int *>(buffer + 8) = value;
    return runtime(w, f, DeviceCall::LaunchDeviceV2, buffer, stream);
}

FAKE_KERNEL call_runtime(const LaunchFrame *f, WorkerState *w, std::uint64_t first, std::uint64_t) {
    const auto *words = param<const std::uint64_t *>(f, 8);
    std::uint64_t arguments[32] = {}, results[32] = {};
    arguments[0] = reinterpret_cast<std::uint64_t>(words);
    w->block_index = first;
    w->warp_index = 0;
    scu_device_call(w, f, param<std::uint32_t>(f, 0), arguments, 1, results);
    *param<std::uint64_t *>(f, 16) = results[0];
}

// Tail launches are first in the source, but run last; two launches in the block's null stream; one
// launch in another stream that waits for the event after these.
FAKE_KERNEL launch_appends(const LaunchFrame *f, WorkerState *w, std::uint64_t first,
                           std::uint64_t) {
    using softcuda::DeviceCall;
    const auto list = param<std::uint64_t>(f, 0), kernel = param<std::uint64_t>(f, 8);
    std::uint64_t stream = 0, event = 0;
    w->block_index = first;
    launch_one(w, f, kernel, list, 8, 3);
    launch_one(w, f, kernel, list, 9, 3);
    launch_one(w, f, kernel, list, 1, 0);
    launch_one(w, f, kernel, list, 2, 0);
    runtime(w, f, DeviceCall::StreamCreateWithFlags, reinterpret_cast<std::uint64_t>(list + 96), 1);
    stream = *reinterpret_cast<volatile std::uint64_t *>(list + 96);
    runtime(w, f, DeviceCall::EventCreateWithFlags, reinterpret_cast<std::uint64_t>(list + 104), 2);
    event = *reinterpret_cast<volatile std::uint64_t *>(list + 104);
    runtime(w, f, DeviceCall::EventRecord, event, 0);
    runtime(w, f, DeviceCall::StreamWaitEvent, stream, event, 0);
    launch_one(w, f, kernel, list, 3, stream);
    runtime(w, f, DeviceCall::EventDestroy, event);
    runtime(w, f, DeviceCall::StreamDestroy, stream);
}

FAKE_KERNEL launch_itself(const LaunchFrame *f, WorkerState *w, std::uint64_t first,
                          std::uint64_t) {
    Words list = param<Words>(f, 0);
    const int depth = param<int>(f, 8);
    w->block_index = first;
    list[0] = list[0] + 1;
    list[list[0]] = depth;
    if (depth > 0)
        launch_one(w, f, *reinterpret_cast<const volatile std::uint64_t *>(&list[30]),
                   param<std::uint64_t>(f, 0), depth - 1, 0);
}

// Appends its value, then launches graphs: calls[2 * i] is a graph and then the result,
// calls[2 * i + 1] a stream.
FAKE_KERNEL launch_graphs(const LaunchFrame *f, WorkerState *w, std::uint64_t first,
                          std::uint64_t) {
    Words list = param<Words>(f, 0);
    const int value = param<int>(f, 8), count = param<int>(f, 12);
    auto *const calls = param<volatile std::uint64_t *>(f, 16);
    w->block_index = first;
    append_to(list, value);
    for (int i = 0; i < count; i++) {
        const std::uint64_t graph = calls[2 * i] == 1 ? f->graph_exec : calls[2 * i];
        calls[2 * i] = runtime(w, f, softcuda::DeviceCall::GraphLaunch, graph, calls[2 * i + 1]);
    }
}

// Twice the usual size of a thread's stack.
constexpr std::size_t kDeepFrame = std::size_t{16} << 20;
FAKE_KERNEL use_stack(const LaunchFrame *f, WorkerState *, std::uint64_t, std::uint64_t) {
    volatile std::byte frame[kDeepFrame];
    for (std::size_t at = kDeepFrame; at > 0; at -= 4096)
        frame[at - 1] = std::byte{1};
    Words(param<std::uint64_t>(f, 0))[0] =
        std::to_integer<int>(frame[kDeepFrame - 1]) + std::to_integer<int>(frame[4095]);
}

// Then writes to an invalid address.
FAKE_KERNEL fail_on_stack(const LaunchFrame *f, WorkerState *w, std::uint64_t first,
                          std::uint64_t count) {
    use_stack(f, w, first, count);
    *param<Words>(f, 8) = 1;
}

FAKE_KERNEL nothing(const LaunchFrame *, WorkerState *, std::uint64_t, std::uint64_t) {}

struct Row {
    const char *name;
    softcuda::rt::KernelEntry entry;
    bool loops;
    std::vector<std::uint32_t> parameter_sizes;
};

const std::vector<Row> &rows() {
    static const std::vector<Row> table = {
        {"add", add, false, {8, 8, 8, 4}},
        {"store", store, false, {8, 4}},
        {"together_a", store, false, {8, 4}},
        {"together_b", store, false, {8, 4}},
        {"short_of_memory", store, false, {8, 4}},
        {"load", load, false, {8, 8}},
        {"check_store", check_store, false, {8, 4}},
        {"misaligned", misaligned, false, {}},
        {"trap", trap, true, {}},
        {"divide", divide, false, {}},
        {"overflow", overflow, true, {}},
        {"unreachable_barrier", unreachable_barrier, true, {}},
        {"fail_assert", fail_assert, false, {}},
        {"spin", spin, true, {}},
        {"wait_for", wait_for, true, {8}},
        {"append", append, false, {8, 4}},
        {"append_slowly", append_slowly, true, {8, 4}},
        {"count", count, true, {8}},
        {"use_shared", use_shared, true, {8}},
        {"use_scratch", use_scratch, true, {8}},
        {"shared_overrun", shared_overrun, false, {}},
        {"print", print, true, {8, 8, 8}},
        {"use_heap", use_heap, true, {8}},
        {"spread", spread, true, {8}},
        {"read_variable", read_variable, false, {8}},
        {"call_runtime", call_runtime, true, {4, 8, 8}},
        {"launch_appends", launch_appends, true, {8, 8}},
        {"launch_itself", launch_itself, true, {8, 4}},
        {"launch_graphs", launch_graphs, true, {8, 4, 4, 8}},
        {"use_stack", use_stack, false, {8}},
        {"fail_on_stack", fail_on_stack, false, {8, 8}},
        {"needs_32", nothing, false, {}},
        {"small_blocks", nothing, false, {}},
        {"uncompilable", nothing, false, {}},
    };
    return table;
}

KernelInfo info_of(const Row &row) {
    KernelInfo info;
    info.name = row.name;
    for (const std::uint32_t size : row.parameter_sizes) {
        info.parameter_bytes = (info.parameter_bytes + size - 1) / size * size;
        info.parameters.push_back({info.parameter_bytes, size, size});
        info.parameter_bytes += size;
    }
    info.registers = 32;
    if (info.name == "use_shared")
        info.static_shared_bytes = 1024;
    if (info.name == "launch_graphs")
        info.launches_graphs = true;
    if (info.name == "launch_itself")
        info.launches_kernels = true;
    if (info.name == "use_scratch")
        info.local_bytes_per_thread = 64;
    if (info.name == "needs_32")
        info.required_block = {32, 1, 1};
    if (info.name == "small_blocks")
        info.max_threads = 64;
    return info;
}

Variable text_variable(const char *name, const char *text) {
    Variable variable;
    variable.name = name;
    variable.space = VariableSpace::Constant;
    const auto bytes = std::as_bytes(std::span(text, std::strlen(text) + 1));
    variable.initial.assign(bytes.begin(), bytes.end());
    variable.size = bytes.size();
    variable.visible = false;
    return variable;
}

/// Returns when two threads have called it; throws std::runtime_error after ten seconds.
void meet_the_other() {
    static std::atomic<int> arrived{0};
    const int everybody = arrived++ / 2 * 2 + 2;
    for (int i = 0; arrived < everybody; i++) {
        if (i == 10'000)
            throw std::runtime_error("the other kernel is not compiled at the same time");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

class FakeProgram final : public Program {
  public:
    FakeProgram() {
        for (const Row &row : rows()) {
            kernels_.push_back(info_of(row));
            kernels_.back().address = fake::function_offset(row.name);
        }
        Variable table;
        table.name = "table";
        table.size = 16;
        table.align = 4;
        const std::int32_t values[] = {10, 20, 30};
        const auto bytes = std::as_bytes(std::span(values));
        table.initial.assign(bytes.begin(), bytes.end());
        Variable pointer;
        pointer.name = "pointer";
        pointer.size = 8;
        pointer.align = 8;
        pointer.relocations.push_back({0, 0, 4});
        Variable functions;
        functions.name = "functions";
        functions.content = softcuda::compiler::VariableContent::Functions;
        functions.size = 16 * (rows().size() + 1);
        Variable first_function;
        first_function.name = "first_function";
        first_function.size = 8;
        first_function.align = 8;
        first_function.relocations.push_back({0, 5, 0});
        variables_ = {table,
                      text_variable("message", "x < 3"),
                      text_variable("file", "a.cu"),
                      text_variable("function", "void f()"),
                      pointer,
                      functions,
                      first_function};
    }

    [[nodiscard]] const std::vector<KernelInfo> &kernels() const override { return kernels_; }
    [[nodiscard]] const std::vector<Variable> &variables() const override { return variables_; }
    void limit_registers(std::uint32_t most) override {
        for (KernelInfo &kernel : kernels_)
            kernel.registers = most == 0 ? kernel.registers : std::min(kernel.registers, most);
    }

    std::shared_ptr<CompileJob> begin(std::size_t index, const Shape &, SharedCode,
                                      std::string &log) override {
        const Row &row = rows().at(index);
        if (kernels_[index].name == "uncompilable") {
            log = "no such feature";
            return nullptr;
        }
        auto kernel = std::make_shared<CompiledKernel>();
        kernel->entry = row.entry;
        kernel->loops = row.loops;
        kernel->instructions_per_block = 10;
        kernel->scratch_bytes = kernels_[index].name == "use_scratch" ? 8192 : 0;
        kernel->frame_bytes = kernels_[index].name.ends_with("_stack") ? kDeepFrame + 4096 : 0;
        if (kernels_[index].name.starts_with("together_"))
            return std::make_shared<CompileJob>([kernel] {
                meet_the_other();
                return kernel;
            });
        if (kernels_[index].name == "short_of_memory" && !short_of_memory_.exchange(true))
            return std::make_shared<CompileJob>(
                []() -> std::shared_ptr<CompiledKernel> { throw std::bad_alloc(); });
        return std::make_shared<CompileJob>(std::move(kernel));
    }

  private:
    std::vector<KernelInfo> kernels_;
    std::vector<Variable> variables_;
    std::atomic<bool> short_of_memory_{false};
};

} // namespace

std::uint64_t fake::function_offset(const char *kernel) {
    for (std::size_t row = 0; row < rows().size(); row++)
        if (std::strcmp(rows()[row].name, kernel) == 0)
            return 16 * (row + 1);
    return 0;
}

std::optional<softcuda::compiler::Linked> Program::link(const std::vector<LinkInput> &inputs,
                                                        std::string &log, std::uint32_t) {
    for (const LinkInput &input : inputs) {
        if (input.ptx.starts_with("// fake"))
            continue;
        log = "in " + input.name + ": " + fake::kDiagnostic;
        return std::nullopt;
    }
    return softcuda::compiler::Linked{fake::kImage, {}};
}

std::shared_ptr<Program> Program::from_ptx(std::string_view ptx, std::string &log) {
    static const bool registered = [] {
        softcuda::rt::register_code(
            __start_fake_kernels,
            static_cast<std::size_t>(__stop_fake_kernels - __start_fake_kernels));
        return true;
    }();
    if (!registered || ptx.substr(0, 7) != "// fake") {
        log = fake::kDiagnostic;
        return nullptr;
    }
    return std::make_shared<FakeProgram>();
}
