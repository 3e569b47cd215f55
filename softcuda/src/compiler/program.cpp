// program.cpp -- a loaded module: kernels are compiled once for each launch shape, and cached in
// memory and on disk.

#include "compiler/program.h"

#include "codegen/supported.h"
#include "compiler/called_functions.h"
#include "compiler/kernel_cache.h"
#include "compiler/module_text.h"
#include "compiler/pipeline.h"
#include "compiler/runtime_functions.h"
#include "ir/find_origin.h"
#include "ir/lower.h"
#include "jit/code.h"
#include "jit/debugger.h"
#include "jit/digest.h"
#include "jit/frame_bytes.h"
#include "jit/line_table.h"
#include "jit/object_cache.h"
#include "jit/perf_files.h"
#include "ptx/link.h"
#include "rt/code_ranges.h"
#include "rt/reserved_range.h"
#include "rt/watch_abi.h"
#include "rt/windows.h"
#include "support/library_identity.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <tuple>

namespace softcuda::compiler {

namespace {

/// Machine code that is registered with the runtime as long as it exists, and with a debugger if it
/// was compiled for one.
class RegisteredCode {
  public:
    RegisteredCode(std::span<const char> object, bool for_debugger)
        : code_(object, runtime_functions()), lines_(object) {
        rt::register_code(code_.range().data(), code_.range().size());
        if (!for_debugger)
            return;
        code_.keep_addresses();
        debugger_ = jit::DebuggerEntry(object, code_.sections());
    }
    ~RegisteredCode() { rt::unregister_code(code_.range().data()); }
    RegisteredCode(const RegisteredCode &) = delete;

    void write_perf_files(const jit::SourceName &name) const {
        jit::write_perf_files(code_, lines_, name);
    }

    template <class Entry> [[nodiscard]] Entry entry() const {
        return code_.find_as<Entry>(codegen::kEntryName);
    }

    [[nodiscard]] SourcePlace place_of(std::uint64_t address) const {
        const auto found = lines_.find(address - code_.text());
        return found ? SourcePlace{found->file, found->line, found->column} : SourcePlace{};
    }

  private:
    jit::Code code_;
    jit::LineTable lines_;
    jit::DebuggerEntry debugger_; ///< destroyed before the code
};

const jit::Target &host_target() {
    static const jit::Target target = [] {
        const jit::Target here = jit::Target::from_environment();
        return rt::windows_are_narrow() ? here.with_narrow_windows() : here;
    }();
    return target;
}

/// LLVM is built without exceptions: if it runs out of memory, its data stay in an unusable state.
/// So there must be enough memory before it starts. Throws std::bad_alloc.
void require_memory_to_compile(const ir::Function &kernel) {
    constexpr std::uint64_t kLeast = std::uint64_t{48} << 20,
                            kInstruction = std::uint64_t{32} << 10;
    rt::ReservedRange probe(
        rt::round_up(kLeast + kernel.instruction_count() * kInstruction, rt::page_size()));
    if (!probe.open(probe.begin(), probe.size()))
        throw std::bad_alloc();
}

/// SOFTCUDA_TIER=regions|fibers|lanes: used for kernels that can run in it, instead of the best
/// tier.
std::optional<rt::Tier> wanted_tier() {
    const char *word = std::getenv("SOFTCUDA_TIER");
    if (!word || !*word)
        return std::nullopt;
    rt::Tier tier{};
    if (!warp::from_text(word, tier))
        throw std::runtime_error(std::string("SOFTCUDA_TIER is '") + word +
                                 "'; it may be regions, fibers or lanes");
    return tier;
}

/// SOFTCUDA_BLOCK_GROUPS=one|rows: the order of blocks in kernels that can run in it, instead of
/// the one that is expected to be fastest.
std::optional<warp::BlockOrder> wanted_order() {
    const char *word = std::getenv("SOFTCUDA_BLOCK_GROUPS");
    if (!word || !*word)
        return std::nullopt;
    warp::BlockOrder order{};
    if (!warp::from_text(word, order))
        throw std::runtime_error(std::string("SOFTCUDA_BLOCK_GROUPS is '") + word +
                                 "'; it may be one or rows");
    return order;
}

/// The number of block shapes of a kernel that get code of their own at their first launch.
constexpr unsigned kBlockShapes = 3;

/// SOFTCUDA_BLOCK_SHAPES: the number of block shapes of a kernel that ever get code of their own.
std::optional<unsigned> wanted_block_shapes() {
    const char *word = std::getenv("SOFTCUDA_BLOCK_SHAPES");
    if (!word || !*word)
        return std::nullopt;
    unsigned number = 0;
    const std::string_view text = word;
    const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
    if (error != std::errc() || end != text.end())
        throw std::runtime_error("SOFTCUDA_BLOCK_SHAPES is '" + std::string(text) +
                                 "'; it may be a number from 0");
    return number;
}

/// Another build of this library may generate other code for the same PTX.
const std::string &build_identity() {
    static const std::string identity = library_identity();
    return identity;
}

/// If the build cannot be identified, nothing is cached.
const jit::ObjectCache &disk_cache() {
    static const jit::ObjectCache cache =
        build_identity().empty() ? jit::ObjectCache() : jit::ObjectCache::from_environment();
    return cache;
}

/// The name of a kernel's parameter is only known from debug data.
std::string parameter_name(const ir::Function &kernel, std::uint32_t number) {
    if (kernel.debug)
        for (const ir::DebugVariable &variable : kernel.debug->variables)
            if (variable.parameter && number-- == 0)
                return variable.name;
    return "";
}

AccessedVariable variable_of(const ir::Module &module, const ir::Function &kernel,
                             const ir::Origin &origin) {
    switch (origin.kind) {
    case ir::Origin::Kind::Parameter:
        return {parameter_name(kernel, origin.number), origin.number};
    case ir::Origin::Kind::Local:
        return {ir::plain_name(kernel.variables[origin.number].name), {}};
    case ir::Origin::Kind::Global:
        break;
    }
    return {ir::plain_name(module.variables[origin.number].name), {}};
}

/// For each variable of a module: whether code or another variable's initialiser refers to it.
std::vector<bool> used_variables(const ir::Module &module) {
    std::vector<bool> used(module.variables.size());
    for (const auto &function : module.functions)
        for (const ir::Block *block : function->blocks)
            for (const ir::Instruction *i : block->instructions)
                if (i->is(ir::Opcode::SymbolAddress) && i->attributes.space != ir::Space::Shared &&
                    i->attributes.space != ir::Space::Local)
                    used.at(i->attributes.symbol) = true;
    for (const ir::GlobalVariable &variable : module.variables)
        for (const ir::GlobalVariable::Address &address : variable.addresses)
            used.at(address.variable) = true;
    return used;
}

std::vector<AccessedVariable> accessed_variables(const ir::Module &module,
                                                 const ir::Function &kernel,
                                                 const SourcePlace &place,
                                                 AccessDirection direction) {
    const auto kind =
        direction == AccessDirection::Read ? ir::AccessKind::Read : ir::AccessKind::Write;
    std::vector<AccessedVariable> found;
    for (std::uint32_t file = 0; file < module.files.size(); ++file) {
        // Line tables store folders and names separately.
        const std::string &name = module.files[file];
        if (place.file.empty() || !(name == place.file || name.ends_with("/" + place.file)))
            continue;
        ir::Location location;
        location.file = file;
        location.line = place.line;
        location.column = place.column;
        for (const ir::Origin &origin : ir::find_origins(kernel, location, kind))
            found.push_back(variable_of(module, kernel, origin));
    }
    return found;
}

/// A kernel of a module, as long as its code may run.
struct LoadedKernel {
    std::shared_ptr<const ModuleText> text;
    std::size_t function; ///< its number in the module

    /// The name in the source of a function in the kernel's object; codegen makes the names.
    [[nodiscard]] std::string source_name(std::string_view symbol) const {
        const std::shared_ptr<const ir::Module> module = text->module();
        if (symbol == codegen::kEntryName)
            return module->functions[function]->name;
        if (const auto number = codegen::function_number(symbol);
            number && *number < module->functions.size())
            return module->functions[*number]->name;
        return std::string(symbol);
    }
};

std::shared_ptr<const CompiledKernel> load(const LoadedKernel &source,
                                           const GeneratedKernel &generated, const Shape &shape,
                                           analysis::Extents extents) {
    const bool debugged = source.text->debug();
    auto code = std::make_shared<const RegisteredCode>(generated.object, debugged);
    code->write_perf_files([&](std::string_view symbol) { return source.source_name(symbol); });
    auto kernel = std::make_shared<CompiledKernel>();
    kernel->tier = generated.tier;
    if (generated.tier == rt::Tier::Regions)
        kernel->entry = code->entry<rt::KernelEntry>();
    else
        kernel->warp_entry = code->entry<rt::WarpEntry>();
    kernel->scratch_bytes = generated.scratch_bytes;
    kernel->frame_bytes = jit::frame_bytes(generated.object);
    kernel->instructions_per_block = generated.instructions_per_block;
    kernel->shared = extents != analysis::Extents::Fixed;
    kernel->loops = generated.loops;
    kernel->group_blocks = generated.group_blocks;
    if (generated.group_blocks > 1 && !wanted_order())
        kernel->groups = std::make_unique<rt::GroupProbes>();
    kernel->debugged = debugged;
    kernel->checked = shape.watch != 0;
    kernel->counted = shape.counts;
    kernel->call_stack = shape.call_stack;
    kernel->place_of = [code](std::uint64_t address) { return code->place_of(address); };
    kernel->accessed_at = [source](const SourcePlace &place, AccessDirection direction) {
        const std::shared_ptr<const ir::Module> module = source.text->module();
        return accessed_variables(*module, *module->functions[source.function], place, direction);
    };
    kernel->code = std::move(code);
    return kernel;
}

class PtxProgram final : public Program {
  public:
    PtxProgram(std::string_view ptx, std::unique_ptr<ir::Module> module, unsigned architecture)
        : digest_(jit::digest(ptx)) {
        for (std::size_t number = 0; number < module->functions.size(); ++number)
            if (const ir::Function &function = *module->functions[number]; function.kernel) {
                kernels_.push_back(describe(function));
                kernels_.back().address = ir::kernel_offset(kernels_.size() - 1);
                kernels_.back().virtual_architecture = architecture;
                const Launches launches = launches_of(*module, function);
                kernels_.back().launches_kernels = launches.kernels;
                kernels_.back().launches_graphs = launches.graphs;
                functions_.push_back(number);
            }
        const std::vector<bool> used = used_variables(*module);
        for (std::size_t number = 0; number < module->variables.size(); ++number) {
            variables_.push_back(describe(module->variables[number]));
            variables_.back().used = used[number] || module->debug; // a debugger shows all
        }
        text_ = std::make_shared<ModuleText>(ptx, std::move(module));
    }

    const std::vector<KernelInfo> &kernels() const override { return kernels_; }

    void limit_registers(std::uint32_t most) override {
        for (KernelInfo &kernel : kernels_)
            if (most != 0)
                kernel.registers = std::min(kernel.registers, most);
    }
    const std::vector<Variable> &variables() const override { return variables_; }

    std::shared_ptr<CompileJob> begin(std::size_t index, const Shape &shape, SharedCode sharing,
                                      std::string &log) override {
        try {
            return begin_in_slot(index, shape, sharing);
        } catch (const codegen::Unsupported &refusal) {
            log = "kernel `" + kernels_[index].name + "`, " + place(refusal.location) + ": " +
                  refusal.what();
        } catch (const std::bad_alloc &) {
            throw;
        } catch (const std::exception &failure) {
            log = "kernel `" + kernels_[index].name + "`: " + failure.what();
        }
        return nullptr;
    }

  private:
    using Extents = analysis::Extents;
    using Block = std::array<std::uint32_t, 3>;
    using Key =
        std::tuple<Extents, Block, std::size_t, bool, bool, std::uint32_t, std::uint32_t, bool>;
    /// One kernel, and one shape or all whose extents may be these. Its lock is held during the
    /// first part of the compilation; other slots can be compiled meanwhile.
    struct Slot {
        std::mutex mutex;
        std::shared_ptr<CompileJob> job;
    };

    struct FoundSlot {
        Extents extents;
        Slot &slot;
    };

    FoundSlot find_slot(std::size_t index, const Shape &shape, SharedCode sharing) {
        auto key = [&](Extents extents, const Block &block) {
            return Key{
                extents,          block,       index,       shape.small_grid, shape.cooperative,
                shape.call_stack, shape.watch, shape.counts};
        };
        std::lock_guard lock(mutex_);
        const Key own = key(Extents::Fixed, shape.block);
        unsigned &count = shapes_[key(Extents::Fixed, {})];
        const std::optional<unsigned> chosen = wanted_block_shapes();
        const bool full = count >= chosen.value_or(kBlockShapes);
        if (!compiled_.contains(own) && may_vary(shape) && full &&
            (chosen || sharing == SharedCode::Allowed)) {
            const Extents extents = analysis::varying_extents(shape.block);
            return {extents, compiled_[key(extents, {})]};
        }
        const auto [slot, added] = compiled_.try_emplace(own);
        count += added;
        return {Extents::Fixed, slot->second};
    }

    std::shared_ptr<CompileJob> begin_in_slot(std::size_t index, const Shape &shape,
                                              SharedCode sharing) {
        const auto [extents, slot] = find_slot(index, shape, sharing);
        std::lock_guard lock(slot.mutex);
        if (!slot.job || slot.job->failed()) {
            slot.job = nullptr;
            slot.job = find_or_begin(index, shape, extents);
            release_text(index);
        }
        return slot.job;
    }

    /// When each kernel of the module was compiled for one shape, few more shapes follow.
    void release_text(std::size_t begun) {
        std::lock_guard lock(mutex_);
        begun_.insert(begun);
        if (begun_.size() == kernels_.size() && !text_->debug() && !wants_dumps())
            text_->release();
    }

    /// Checks, counters and debuggers know the block's shape.
    [[nodiscard]] bool may_vary(const Shape &shape) const {
        return shape.watch == 0 && !shape.counts && !text_->debug();
    }

    static KernelInfo describe(const ir::Function &function) {
        KernelInfo info{.name = function.name,
                        .parameters = {},
                        .parameter_bytes = function.parameter_bytes,
                        .static_shared_bytes = function.static_shared_bytes,
                        .local_bytes_per_thread = static_cast<std::uint32_t>(
                            warp::local_memory_of(function) + warp::call_memory_of(function)),
                        .needs_call_stack = warp::needs_call_stack(function),
                        .required_block = function.required_block,
                        .required_cluster = function.cluster.required,
                        .explicit_cluster = function.cluster.is_explicit,
                        .max_cluster = function.cluster.most,
                        .registers = function.registers};
        for (const ir::KernelParameter &parameter : function.parameters)
            info.parameters.push_back({parameter.offset, parameter.size, parameter.align});
        if (function.max_threads != 0)
            info.max_threads = std::min(function.max_threads, 1024u);
        return info;
    }

    static Variable describe(const ir::GlobalVariable &source) {
        Variable variable{.name = source.name,
                          .space = source.managed                        ? VariableSpace::Managed
                                   : source.space == ir::Space::Constant ? VariableSpace::Constant
                                                                         : VariableSpace::Global,
                          .content = static_cast<VariableContent>(source.content),
                          .size = source.size,
                          .align = source.align,
                          .visible = source.visible,
                          .initial = source.initial,
                          .relocations = {}};
        for (const ir::GlobalVariable::Address &address : source.addresses)
            variable.relocations.push_back({address.offset, address.variable, address.addend});
        return variable;
    }

    std::string place(const ir::Location &location) const {
        return text_->module()->files.at(location.file) + ":" + std::to_string(location.line);
    }

    [[nodiscard]] analysis::LaunchShape launch_shape(std::size_t index, const Shape &shape,
                                                     Extents extents) const {
        analysis::LaunchShape launch{.block = shape.block};
        if (extents != Extents::Fixed)
            launch = analysis::LaunchShape::varying(extents, kernels_[index].max_threads);
        launch.small_grid = shape.small_grid;
        launch.call_stack = shape.call_stack;
        return launch;
    }

    std::shared_ptr<CompileJob> find_or_begin(std::size_t index, const Shape &shape,
                                              Extents extents) {
        const LoadedKernel source{text_, functions_[index]};
        std::string key = disk_key(index, shape, extents);
        if (auto bytes = wants_dumps() ? std::nullopt : disk_cache().load(key))
            if (auto kernel = unpack(*bytes))
                if (auto object = disk_cache().load(kernel->object_key)) {
                    kernel->object = std::move(*object);
                    return std::make_shared<CompileJob>(load(source, *kernel, shape, extents));
                }
        const std::shared_ptr<const ir::Module> module = text_->module();
        const ir::Function &function = *module->functions[functions_[index]];
        require_memory_to_compile(function);
        auto made = std::make_shared<LlvmKernel>(make_llvm(*module, function,
                                                           launch_shape(index, shape, extents),
                                                           {.cooperative = shape.cooperative,
                                                            .wanted = tier_for(shape),
                                                            .watch = shape.watch,
                                                            .counts = shape.counts,
                                                            .order = wanted_order()},
                                                           target()));
        auto job = std::make_shared<CompileJob>([source, module, &function, shape, extents, made,
                                                 key = std::move(key), target = target()] {
            require_memory_to_compile(function);
            const GeneratedKernel kernel = finish_kernel(*made, function, target, disk_cache());
            disk_cache().store(key, pack(kernel));
            return load(source, kernel, shape, extents);
        });
        if (wants_dumps()) // in the order of the launches
            job->finish();
        return job;
    }

    [[nodiscard]] jit::Target target() const {
        return text_->debug() ? host_target().for_debugging() : host_target();
    }

    // If counts are on, and for debuggers, one warp runs at a time.
    [[nodiscard]] std::optional<rt::Tier> tier_for(const Shape &shape) const {
        const bool one_by_one = shape.counts || text_->debug();
        return one_by_one ? rt::Tier::Fibers : wanted_tier();
    }

    std::string disk_key(std::size_t index, const Shape &shape, Extents extents) const {
        std::string key = "softcuda " + build_identity() + ' ' +
                          std::to_string(rt::kKernelAbiVersion) + ' ' + target().key() + ' ' +
                          kernels_[index].name;
        if (extents != Extents::Fixed)
            key += " extents " + std::string(analysis::text(extents));
        else
            for (std::uint32_t extent : shape.block)
                key += ' ' + std::to_string(extent);
        key += shape.small_grid ? " small" : " large";
        key += shape.cooperative ? " cooperative" : "";
        key += shape.call_stack != 0 ? " stack " + std::to_string(shape.call_stack) : "";
        key += shape.watch != 0 ? " watched " + std::to_string(shape.watch) : "";
        key += shape.counts ? " counted" : "";
        if (std::optional<rt::Tier> tier = wanted_tier())
            key += ' ' + std::string(warp::text(*tier));
        if (std::optional<warp::BlockOrder> order = wanted_order())
            key += " groups " + std::string(warp::text(*order));
        if (const std::string skipped = skipped_passes(); !skipped.empty())
            key += " without " + skipped;
        return key + '\n' + digest_;
    }

    std::string digest_;               ///< of the PTX, which may be large
    std::shared_ptr<ModuleText> text_; ///< running code may outlive the program
    std::vector<KernelInfo> kernels_;
    std::vector<std::size_t> functions_; ///< of kernels_, in the same order: numbers in the module
    std::vector<Variable> variables_;
    std::mutex mutex_;            ///< protects the maps, whose slots do not move, and the set
    std::set<std::size_t> begun_; ///< kernels with a compilation, until all have one
    std::map<Key, Slot> compiled_;
    std::map<Key, unsigned> shapes_; ///< number of shapes with their own code; their block is 0
};

} // namespace

std::optional<Linked> Program::link(const std::vector<LinkInput> &inputs, std::string &log,
                                    std::uint32_t most_registers) {
    std::vector<ptx::LinkInput> modules;
    for (const LinkInput &input : inputs)
        modules.push_back({input.name, input.ptx});
    std::optional<ptx::Linked> linked = ptx::link(modules, log, most_registers);
    if (!linked)
        return std::nullopt;
    return Linked{std::move(linked->text), std::move(linked->undefined)};
}

std::shared_ptr<Program> Program::from_ptx(std::string_view ptx, std::string &log) {
    unsigned architecture = 0;
    std::unique_ptr<ir::Module> module = read_ptx(ptx, log, &architecture);
    if (!module)
        return nullptr;
    return std::make_shared<PtxProgram>(ptx, std::move(module), architecture);
}

} // namespace softcuda::compiler
