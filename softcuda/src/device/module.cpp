// module.cpp -- loads modules.
#include "device/module.h"

#include "device/context.h"
#include "device/device.h"
#include "device/error.h"
#include "device/fault_log.h"
#include "device/registry.h"
#include "device/system.h"
#include "rt/guard.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

namespace softcuda::device {

Function::Function(Module &module, std::size_t index)
    : module_(module), index_(index), info_(module.program().kernels().at(index)) {
    const DeviceLimits &limits = module.context().device().limits();
    max_dynamic_shared_ = limits.shared_per_block > info_.static_shared_bytes
                              ? limits.shared_per_block - info_.static_shared_bytes
                              : 0;
}

int Function::attribute(CUfunction_attribute attribute) const {
    switch (static_cast<int>(attribute)) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        return static_cast<int>(info_.max_threads);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        return static_cast<int>(info_.static_shared_bytes);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: {
        std::uint64_t bytes = 0;
        for (const compiler::Variable &variable : module_.program().variables())
            if (variable.space == compiler::VariableSpace::Constant)
                bytes += variable.size;
        return static_cast<int>(bytes);
    }
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        return static_cast<int>(info_.local_bytes_per_thread);
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        return static_cast<int>(info_.registers);
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        return static_cast<int>(info_.virtual_architecture);
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        return module_.context().device().architecture();
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        return 0;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        return static_cast<int>(max_dynamic_shared_.load());
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return carveout_;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        return info_.explicit_cluster;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        return static_cast<int>(
            cluster().at(static_cast<std::size_t>(attribute) -
                         static_cast<std::size_t>(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH)));
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        return any_cluster_;
    default:
        break;
    }
    require(attribute > 0 && attribute < CU_FUNC_ATTRIBUTE_MAX, CUDA_ERROR_INVALID_VALUE);
    return 0;
}

std::array<std::uint32_t, 3> Function::cluster() const noexcept {
    if (info_.required_cluster[0] != 0)
        return info_.required_cluster;
    return {cluster_[0], cluster_[1], cluster_[2]};
}

void Function::set_attribute(CUfunction_attribute attribute, int value) {
    switch (static_cast<int>(attribute)) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: {
        const unsigned most = module_.context().device().limits().shared_per_block_optin;
        require(value >= 0 && static_cast<std::uint64_t>(value) + info_.static_shared_bytes <= most,
                CUDA_ERROR_INVALID_VALUE);
        max_dynamic_shared_ = static_cast<unsigned>(value);
        return;
    }
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        require(value >= -1 && value <= 100, CUDA_ERROR_INVALID_VALUE);
        carveout_ = value;
        return;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        // A value in the source cannot be changed.
        require(value >= 0 && info_.required_cluster[0] == 0, CUDA_ERROR_INVALID_VALUE);
        cluster_.at(static_cast<std::size_t>(attribute) -
                    static_cast<std::size_t>(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH)) =
            static_cast<std::uint32_t>(value);
        return;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        require(value == 0 || value == 1, CUDA_ERROR_INVALID_VALUE);
        any_cluster_ = value == 1;
        return;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: // only affects speed
        return;
    default:
        throw Error(CUDA_ERROR_INVALID_VALUE);
    }
}

std::shared_ptr<Compilation> Function::begin(const compiler::Shape &shape,
                                             compiler::SharedCode sharing) {
    std::string log;
    std::shared_ptr<compiler::CompileJob> job;
    try {
        job = module_.program().begin(index_, shape, sharing, log);
    } catch (const std::bad_alloc &) {
        log_fault("kernel `" + info_.name + "` cannot be compiled: there is not enough memory");
        throw;
    }
    if (!job) {
        log_fault("kernel `" + info_.name + "` cannot be compiled: " + log);
        throw Error(CUDA_ERROR_NOT_SUPPORTED);
    }
    return Compilation::begin(module_.context(), info_.name, std::move(job));
}

/// Shared code may take many times as long. After this processor time, compiling once more does not
/// matter: the median kernel takes 16 ms. Nanoseconds.
static constexpr std::uint64_t kWorthOwnCode = 30'000'000;

void Function::improve(ShapeCode &code, std::uint64_t expected_time) noexcept {
    if (code.own && code.own->done()) {
        if (code.own->code())
            code.compilation = code.own;
        code.own = nullptr;
    }
    const compiler::CompiledKernel *current =
        code.compilation->done() ? code.compilation->code() : nullptr;
    if (code.asked_for_own || !current || !current->shared)
        return;
    code.shared_time += expected_time;
    if (code.shared_time < kWorthOwnCode)
        return;
    code.asked_for_own = true;
    try {
        code.own = begin(code.shape, compiler::SharedCode::Avoided);
    } catch (...) { // the shared code stays
    }
}

const compiler::CompiledKernel *Function::find_ready(const compiler::Shape &shape) const noexcept {
    const ReadyCode *one = ready_.load(std::memory_order_acquire);
    while (one && one->shape != shape)
        one = one->older;
    return one ? one->code : nullptr;
}

LaunchCode Function::code(const compiler::Shape &shape, std::uint64_t blocks) {
    if (const compiler::CompiledKernel *ready = find_ready(shape))
        return {.ready = ready, .compilation = nullptr};
    const std::uint64_t for_block = block_time.load(std::memory_order_relaxed);
    const std::uint64_t expected_time =
        for_block == 0 ? 0 : std::min(blocks, kWorthOwnCode / for_block + 1) * for_block;
    std::lock_guard lock(mutex_);
    std::shared_ptr<Compilation> compilation = find_or_begin_locked(shape, expected_time);
    const compiler::CompiledKernel *code = compilation->done() ? compilation->code() : nullptr;
    if (!code || code->shared)
        return {.ready = nullptr, .compilation = std::move(compilation)};
    if (!find_ready(shape)) // another thread may have added it
        ready_.store(&ready_codes_.emplace_back(shape, code, ready_.load()),
                     std::memory_order_release);
    return {.ready = code, .compilation = nullptr};
}

std::shared_ptr<Compilation> Function::find_or_begin_locked(const compiler::Shape &shape,
                                                            std::uint64_t expected_time) {
    const auto found = std::ranges::find(compilations_, shape, &ShapeCode::shape);
    if (found != compilations_.end()) {
        if (!found->compilation->failed()) {
            improve(*found, expected_time);
            return found->compilation;
        }
        compilations_.erase(found);
    }
    compilations_.push_back(
        {.shape = shape,
         .compilation = begin(shape, expected_time < kWorthOwnCode ? compiler::SharedCode::Allowed
                                                                   : compiler::SharedCode::Avoided),
         .own = nullptr});
    return compilations_.back().compilation;
}

bool Module::outlives_context() const noexcept { return context_.life() != life_; }

Module::Module(Context &context, std::shared_ptr<compiler::Program> program)
    : context_(context), life_(context.life()), program_(std::move(program)) {
    for (std::size_t index = 0; index < program_->kernels().size(); index++)
        functions_.push_back(std::make_unique<Function>(*this, index));
    try {
        // NVRTC writes each constexpr variable of a namespace, used or not. Memory for all of them
        // would be the largest part of a small module.
        const std::vector<compiler::Variable> &variables = program_->variables();
        const auto is_needed = [&](std::size_t index) {
            return variables[index].used ||
                   variables[index].space == compiler::VariableSpace::Managed;
        };
        symbols_.resize(variables.size());
        for (std::size_t index = 0; index < symbols_.size(); index++)
            if (is_needed(index))
                place(index);
        for (std::size_t index = 0; index < symbols_.size(); index++)
            if (is_needed(index))
                initialise(index);
    } catch (...) {
        release_variables();
        throw;
    }
}

Module::~Module() {
    for (const auto &[variable, reference] : references_)
        registry<TextureReference>().remove(reference.get());
    release_variables();
}

/// `count` numbers that no other module of this process has, and that are no addresses of memory.
static std::uint64_t take_numbers(std::uint64_t count) noexcept {
    constexpr std::uint64_t kFirst = std::uint64_t{1} << 40;
    static std::atomic<std::uint64_t> next{kFirst};
    return next.fetch_add((count + 255) / 256 * 256, std::memory_order_relaxed);
}

static MemoryKind memory_kind(compiler::VariableSpace space) noexcept {
    switch (space) {
    case compiler::VariableSpace::Managed:
        return MemoryKind::Managed;
    case compiler::VariableSpace::Constant:
        return MemoryKind::Constants;
    case compiler::VariableSpace::Global:
        break;
    }
    return MemoryKind::Variables;
}

void Module::place(std::size_t index) {
    const compiler::Variable &variable = program_->variables()[index];
    if (variable.content == compiler::VariableContent::Functions) {
        symbols_[index] = first_function_ = take_numbers(variable.size);
        return;
    }
    symbols_[index] =
        System::get().memory().allocate({.size = std::max<std::uint64_t>(1, variable.size),
                                         .kind = memory_kind(variable.space),
                                         .device = &context_.device(),
                                         .context = &context_,
                                         .flags = 0});
}

void Module::initialise(std::size_t index) {
    const compiler::Variable &variable = program_->variables()[index];
    if (variable.content == compiler::VariableContent::Functions)
        return;
    auto *memory = reinterpret_cast<std::byte *>(symbols_[index]);
    std::vector<std::uint64_t> targets;
    for (const compiler::Relocation &relocation : variable.relocations)
        targets.push_back(symbols_.at(relocation.variable) +
                          static_cast<std::uint64_t>(relocation.addend));
    rt::prepare_thread_for_guards();
    rt::Guard guard; // another thread may destroy the context, and its memory
    const rt::Guard::Exit exit = guard.run([&] {
        std::copy_n(variable.initial.begin(),
                    std::min<std::uint64_t>(variable.initial.size(), variable.size), memory);
        for (std::size_t i = 0; i < targets.size(); i++)
            std::memcpy(memory + variable.relocations[i].offset, &targets[i], sizeof targets[i]);
    });
    require(exit == rt::Guard::Exit::Returned, CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

void Module::release_variables() noexcept {
    for (std::size_t index = 0; index < symbols_.size(); index++) {
        if (symbols_[index] == 0 ||
            program_->variables()[index].content == compiler::VariableContent::Functions)
            continue;
        try {
            System::get().memory().free(symbols_[index],
                                        memory_kind(program_->variables()[index].space));
        } catch (const Error &) {
            // The context was torn down, and its memory was freed.
        }
    }
}

Function *Module::function(std::string_view name) const noexcept {
    for (const std::unique_ptr<Function> &function : functions_)
        if (function->info().name == name)
            return function.get();
    return nullptr;
}

Function *Module::function_at(std::uint64_t address) const noexcept {
    for (const std::unique_ptr<Function> &function : functions_)
        if (first_function_ != 0 && address == first_function_ + function->info().address)
            return function.get();
    return nullptr;
}

Module::Global Module::global(std::string_view name) {
    // A GPU's driver (tested with 580.159) also finds variables without .visible. NVRTC writes
    // __constant__ and __device__ variables in this way. If a function has a variable with the same
    // name, the module's variable is used.
    const std::vector<compiler::Variable> &variables = program_->variables();
    const auto has_name = [&](const compiler::Variable &variable) {
        return variable.name == name && variable.content != compiler::VariableContent::Functions;
    };
    auto found = std::ranges::find_if(variables, [&](const compiler::Variable &variable) {
        return has_name(variable) && variable.visible;
    });
    if (found == variables.end())
        found = std::ranges::find_if(variables, has_name);
    if (found == variables.end())
        return {};
    const auto index = static_cast<std::size_t>(found - variables.begin());
    std::lock_guard lock(unused_mutex_);
    if (symbols_[index] == 0) {
        place(index);
        initialise(index);
    }
    return {symbols_[index], found->size, found->space, found->content};
}

TextureReference &Module::reference(std::uint64_t variable, TextureReference::Kind kind) {
    std::lock_guard lock(references_mutex_);
    std::shared_ptr<TextureReference> &reference = references_[variable];
    if (!reference) {
        reference = std::make_shared<TextureReference>(context_, kind, variable);
        registry<TextureReference>().add(reference);
    }
    return *reference;
}

void register_module(const std::shared_ptr<Module> &module) {
    registry<Module>().add(module);
    for (const std::unique_ptr<Function> &function : module->functions())
        registry<Function>().add(std::shared_ptr<Function>(module, function.get()));
}

void unregister_module(const Module &module) {
    for (const std::unique_ptr<Function> &function : module.functions())
        registry<Function>().remove(function.get());
    registry<Module>().remove(&module);
}

} // namespace softcuda::device
