// pipeline.cpp -- the compilation of a kernel: all passes of the compiler, in order.
//
//     PTX text -- parse --> module -- lower --> IR      kCleanUp           once, at load
//     for each launch shape, a copy of the kernel:      kSpecialization    up to three times
//                                                       kPreparation
//                                                       kAnalyses
//     code generation --> LLVM IR                       llvm_passes.cpp
//     machine code
//
// SOFTCUDA_DUMP=name,... prints the kernel after these passes, SOFTCUDA_SKIP=name,... leaves passes
// out (pass_options.h). The stages ptx, ir, prepared, llvm and optimized can be printed, too.

#include "compiler/pipeline.h"

#include "compiler/called_functions.h"
#include "compiler/kernel_cache.h"
#include "compiler/llvm_passes.h"
#include "compiler/pass_options.h"
#include "compiler/plan_functions.h"
#include "compiler/refuse_unsupported.h"
#include "ir/clean_up.h"
#include "ir/clone.h"
#include "ir/lower.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "ptx/parse.h"
#include "target/float_environment.h"
#include "transform/delay_stores.h"
#include "transform/interleave_locals.h"
#include "transform/prepare.h"
#include "transform/specialize.h"
#include "transform/split_pointers.h"
#include "warp/column_stores.h"
#include "warp/join_loads.h"
#include "warp/print_plan.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>

namespace softcuda::compiler {

namespace {

using enum Need;
using warp::KernelPlan;

struct IrPass {
    std::string_view name;
    Need need;
    std::string_view source, what;
    /// False if there was nothing to do, so that the following passes can be skipped.
    bool (*run)(ir::Function &function, const analysis::LaunchShape &launch);
};

struct AnalysisPass {
    std::string_view name;
    Need need;
    std::string_view source, what;
    void (*run)(KernelPlan &plan);
    std::string (*print)(const KernelPlan &plan);
    /// The errors in the results; null: there is no check.
    std::vector<std::string> (*check)(const KernelPlan &plan) = nullptr;
};

/// A pass that does not depend on the launch.
template <void (*pass)(ir::Function &)>
bool plain(ir::Function &function, const analysis::LaunchShape &) {
    pass(function);
    return true;
}

void count_registers(ir::Function &function) {
    function.renumber_values();
    const std::uint32_t limit = function.registers ? function.registers : ~0u; // .maxnreg
    function.registers = std::min(ir::estimate_registers(function), limit);
}

// clang-format off
constexpr IrPass kFold{
    "fold", Optional, "ir/fold.cpp",
    "Computes integer operations on constants, and drops identities, bitcasts of bitcasts and branches on constants.",
    plain<ir::fold>};
constexpr IrPass kSimplifyFlow{
    "simplify-flow", Optional, "ir/simplify_flow.cpp",
    "Joins basic blocks that follow each other, and drops empty and unreachable ones.",
    plain<ir::simplify_flow>};
constexpr IrPass kDeadCode{
    "dead-code", Optional, "ir/dead_code.cpp",
    "Drops operations whose results nothing uses; an atomic without use of its result becomes a reduction.",
    plain<ir::eliminate_dead_code>};
constexpr IrPass kCanonicalizeLoops{
    "canonicalize-loops", Required, "ir/canonicalize_loops.cpp",
    "Gives each loop a preheader and a single latch.",
    plain<ir::canonicalize_loops>};

// ---- when a module is loaded, for each function ------------------------------------------------
constexpr IrPass kCleanUp[] = {
    kFold,
    kSimplifyFlow,
    {"propagate-spaces", Optional, "ir/propagate_spaces.cpp",
     "Turns generic loads, stores and atomics into those of the state space that their address comes from.",
     plain<ir::propagate_spaces>},
    kFold,
    {"fold-addresses", Optional, "ir/fold_addresses.cpp",
     "Moves constants that are added to an address into the access, and reads kernel parameters directly.",
     plain<ir::fold_addresses>},
    kSimplifyFlow,
    {"shuffle-floats", Optional, "ir/shuffle_floats.cpp",
     "Shuffles a float as a float where its bits went through the shuffle as an integer.",
     plain<ir::shuffle_floats>},
    kDeadCode,
    {"lay-out-locals", Required, "ir/lay_out_locals.cpp",
     "Drops local variables that nothing refers to, and gives the others their offsets.",
     plain<ir::lay_out_locals>},
    kCanonicalizeLoops,
    {"count-registers", Required, "ir/estimate_registers.cpp",
     "Estimates the 32-bit registers that ptxas would give the kernel, for the driver's answers.",
     plain<count_registers>},
};

// ---- for each launch shape, on a copy ----------------------------------------------------------
// Removed code may narrow ranges: repeated up to three times, as long as there are new constants.
constexpr int kSpecializationRounds = 3;
constexpr IrPass kSpecialization[] = {
    {"specialize", Optional, "transform/specialize.cpp",
     "Replaces values that have one value only in a launch of this shape by constants.",
     transform::specialize},
    kFold,
    kSimplifyFlow,
    kDeadCode,
};

constexpr IrPass kPreparation[] = {
    kCanonicalizeLoops,
    {"split-pointers", Optional, "transform/split_pointers.cpp",
     "Splits a pointer that moves through a loop into its steps, equal for all lanes, and where it began.",
     plain<transform::split_pointers>},
    {"delay-stores", Optional, "transform/delay_stores.cpp transform/address_sum.cpp",
     "Makes a version of mixed loads and stores in which the stores come last, for pointers that are apart at run time.",
     plain<transform::delay_stores>},
    {"split-at-barriers", Required, "transform/prepare.cpp",
     "Ends a basic block after each barrier.", plain<transform::split_at_barriers>},
    {"simplify-loops", Required, "transform/prepare.cpp",
     "Gives each edge out of a loop a basic block of its own.", plain<transform::simplify_loops>},
    {"close-loops", Required, "transform/prepare.cpp",
     "Routes every value that leaves a loop through a phi after the loop (loop-closed SSA).",
     plain<transform::close_loops>},
    {"interleave-locals", Optional, "transform/interleave_locals.cpp",
     "Interleaves the local memory of the lanes of a warp, so that elements with the same index are adjacent.",
     transform::interleave_locals},
};

// ---- analyses of the prepared function ---------------------------------------------------------
constexpr AnalysisPass kAnalyses[] = {
    {"dominators", Required, "ir/dominators.cpp",
     "Finds which basic blocks every path to a block, or from it to the end, passes.", warp::find_dominators, warp::print_dominators},
    {"loops", Required, "analysis/cfg.cpp",
     "Finds the natural loops, and whether a cycle has several entries.", warp::find_loops, warp::print_loops},
    {"ranges", Optional, "analysis/range.cpp",
     "Bounds every integer of up to 32 bits.", warp::find_ranges, warp::print_ranges},
    {"divergence", Required, "analysis/divergence.cpp",
     "Finds branches that lanes of a warp may take differently, and where those lanes meet again.",
     warp::find_shapes, warp::print_divergence},
    {"shapes", Required, "analysis/shape.cpp analysis/shape_rules.cpp",
     "Finds how each value varies over the lanes of a warp, together with the divergence.", nullptr, warp::print_shapes},
    {"schedule", Required, "transform/schedule.cpp",
     "Orders the basic blocks for one warp, and decides which blocks need a mask or a guard.",
     warp::plan_schedule, warp::print_schedule},
    {"loop-ends", Optional, "transform/find_loop_ends.cpp transform/own_exits.cpp",
     "Proves that loops end without the help of another thread; without it, each loop may wait.",
     warp::find_loop_ends, warp::print_loop_ends},
    {"waits", Required, "transform/find_waits.cpp transform/may_reach.cpp",
     "Finds which lanes and warps may have to run while a loop waits.", warp::find_waits, warp::print_waits},
    {"coordinates", Optional, "analysis/coordinates.cpp analysis/thread_values.cpp",
     "Finds values that follow from a thread's index alone and are cheaper to compute again than to keep.", warp::find_coordinates, warp::print_coordinates},
    {"float-bits", Required, "analysis/float_bits.cpp",
     "Finds floats that are never denormal, and floats that may be a NaN that an operation made.", warp::find_float_bits, warp::print_float_bits},
    {"used-bytes", Required, "analysis/used_bytes.cpp",
     "In the check mode `init`, finds the bytes of loaded values that are not only copied.", warp::find_used_bytes, warp::print_used_bytes},
    {"split-exchanges", Required, "transform/find_split_exchange.cpp",
     "Finds exchanges whose members may execute different instructions of the program.", warp::find_split_exchange, warp::print_split_exchange},
    {"tier", Required, "warp/choose_tier.cpp warp/verify_progress.cpp",
     "Chooses how the kernel runs: regions, fibers or lanes.", warp::choose_tier, warp::print_tier, warp::verify_progress},
    {"lane-shapes", Required, "analysis/divergence.cpp",
     "In the tier of lanes, finds the shapes again: each lane runs the program by itself.", warp::find_shapes_of_lanes, warp::print_shapes},
    {"local-memory", Required, "warp/kernel_plan.cpp", "Adds up the local memory that a thread needs.",
     warp::lay_out_local_memory, warp::print_local_memory},
    {"regions", Required, "warp/region_plan.cpp",
     "Cuts the kernel into the regions between its barriers.", warp::find_regions, warp::print_regions},
    {"reaching-threads", Optional, "warp/reaching_threads.cpp",
     "Finds the threads that may run each basic block, as far as their indices decide the branches.",
     warp::find_reaching_threads, warp::print_reaching_threads},
    {"masks", Required, "warp/mask_plan.cpp warp/verify_masks.cpp warp/walk_warp.cpp",
     "Decides which lanes run each basic block, and how values are merged where paths join.",
     warp::plan_masks, warp::print_masks, warp::verify_masks},
    {"lane-places", Required, "warp/lane_plan.cpp warp/verify_lanes.cpp",
     "In the tier of lanes, numbers the places at which lanes may be apart, and says where they go on.",
     warp::plan_lanes, warp::print_lanes, warp::verify_lanes},
    {"lockstep", Optional, "analysis/lockstep.cpp",
     "Finds whether all warps of a block come to the same barriers in the same order.",
     warp::find_lockstep, warp::print_lockstep},
    {"crossings", Required, "warp/region_plan.cpp analysis/liveness.cpp warp/verify_regions.cpp",
     "Decides which values and masks a warp keeps at each barrier and fetches after it.",
     warp::plan_crossings, warp::print_crossings, warp::verify_regions},
    {"active-warps", Optional, "warp/active_warps.cpp",
     "Finds the warps that do anything between two barriers.", warp::find_active_warps, warp::print_active_warps, warp::verify_regions},
    {"counted", Optional, "warp/find_counted.cpp codegen/privatized_tables.cpp",
     "Finds regions that only count in a variable of shared memory: code generation spreads the counts over several tables.",
     warp::find_counted, warp::print_counted, warp::verify_regions},
    {"race-free", Optional, "warp/find_race_free.cpp warp/written_slots.cpp",
     "Finds accesses that cannot race, for the check modes `race` and `sync`: regions whose accesses to shared memory are all reads, all atomics or each thread's own, and the parameters through which the kernel writes.",
     warp::find_race_free, warp::print_race_free, warp::verify_regions},
    {"warp-order", Optional, "warp/order_warps.cpp",
     "Chooses the order of the warps of each region: a missing barrier that is harmless on a GPU is often harmless then.",
     warp::order_warps, warp::print_warp_order, warp::verify_regions},
    {"block-groups", Optional, "warp/block_groups.cpp",
     "Chooses the order in which a worker runs the warps of neighbouring thread blocks.", warp::plan_block_groups, warp::print_block_groups},
    {"access-plans", Required, "warp/access_plan.cpp warp/find_indices.cpp warp/low_bits.cpp warp/plan_prefetch.cpp",
     "Decides the form of each memory access, and the checks before it.",
     warp::plan_accesses, warp::print_access_plans},
    {"outliving", Required, "warp/kernel_plan.cpp",
     "Finds values that are used outside their basic block.", warp::find_outliving, warp::print_outliving},
    {"join-loads", Optional, "warp/join_loads.cpp",
     "Joins accesses to adjacent elements by lanes without a pattern, and those of the elements of adjacent structures.",
     warp::join_loads, warp::print_access_plans},
    {"column-stores", Optional, "warp/column_stores.cpp codegen/column_writer.cpp",
     "Finds stores in which each column of a thread block writes adjacent elements: the columns are written after the last warp.",
     warp::find_column_stores, warp::print_access_plans},
    {"whole-warps", Optional, "warp/whole_warps.cpp",
     "Chooses basic blocks that get a second version of code, for all lanes of a warp.", warp::choose_whole_warps, warp::print_whole_warps},
};
// clang-format on

/// Skipped for a debugger, because they move variables or remove lines.
constexpr std::string_view kHidesFromDebugger[] = {"specialize", "split-pointers", "delay-stores",
                                                   "interleave-locals"};
/// Skipped for check modes and profiles, which need each thread's local memory to be contiguous,
/// and for narrow windows, whose limit for offsets is smaller than the memory of a warp.
constexpr std::string_view kMovesLocals = "interleave-locals";

/// Stages that can be printed in addition to the passes.
constexpr std::string_view kStages[] = {"ptx", "ir", "prepared", "llvm", "optimized"};

// ---- the list by name ---------------------------------------------------------------------------

std::vector<PassInfo> list_passes() {
    std::vector<PassInfo> list;
    auto add = [&](const auto &rows, Layer layer) {
        for (const auto &row : rows)
            if (std::ranges::find(list, row.name, &PassInfo::name) == list.end())
                list.push_back({row.name, layer, row.need, row.source, row.what});
    };
    add(kCleanUp, Layer::Ir);
    add(kSpecialization, Layer::Ir);
    add(kPreparation, Layer::Ir);
    add(kAnalyses, Layer::Analysis);
    add(llvm_steps(), Layer::Llvm);
    return list;
}

PassOptions options_from_environment() { return PassOptions::from_environment(passes(), kStages); }

// ---- running the passes -------------------------------------------------------------------------

void require_none(std::string_view pass, const char *what, const std::vector<std::string> &wrong) {
    if (!wrong.empty())
        throw std::logic_error(std::string(what) + " is not valid after the pass " +
                               std::string(pass) + ": " + wrong.front());
}

class Runner {
  public:
    Runner(const PassOptions &options, PassTimes &times, const ir::Module *module,
           analysis::LaunchShape launch = {}, bool may_move_locals = true)
        : options_(options), times_(times), module_(module), launch_(launch),
          may_move_locals_(may_move_locals) {}

    /// Runs the passes until one of them has nothing to do; returns false then.
    bool run(std::span<const IrPass> passes, ir::Function &function) const {
        for (const IrPass &pass : passes) {
            const bool hides = function.debug && std::ranges::find(kHidesFromDebugger, pass.name) !=
                                                     std::end(kHidesFromDebugger);
            const bool moves = !may_move_locals_ && pass.name == kMovesLocals;
            if (hides || moves || options_.skips(pass.name)) {
                if (pass.run == transform::specialize)
                    return false;
                continue;
            }
            const bool changed = pass.run(function, launch_);
            times_.passed(pass.name);
            if (options_.verify)
                verify(pass, function);
            if (options_.dumps(pass.name))
                print_dump(std::string(pass.name) + ": " + function.name, ir::to_text(function));
            if (!changed)
                return false;
        }
        return true;
    }

    void specialize(ir::Function &function) const {
        for (int round = 0; round < kSpecializationRounds; ++round)
            if (!run(kSpecialization, function))
                break;
    }

    void prepare(ir::Function &function) const {
        specialize(function);
        run(kPreparation, function);
        function.renumber_values();
        if (options_.dumps("prepared"))
            print_dump("prepared", ir::to_text(function));
    }

    void analyze(KernelPlan &plan) const {
        for (const AnalysisPass &pass : kAnalyses) {
            if (pass.run && !options_.skips(pass.name))
                pass.run(plan);
            times_.passed(pass.name);
            if (pass.check && options_.verify)
                require_none(pass.name, "what was found", pass.check(plan));
            if (options_.dumps(pass.name))
                print_dump(std::string(pass.name) + ": " + plan.function.name, pass.print(plan));
        }
    }

  private:
    void verify(const IrPass &pass, const ir::Function &function) const {
        require_none(pass.name, "the IR", ir::verify(function, module_));
    }

    const PassOptions &options_;
    PassTimes &times_;
    const ir::Module *module_;
    analysis::LaunchShape launch_;
    bool may_move_locals_;
};

// A called function's variables in shared memory belong to the module. Their offsets were
// determined for the module, but dynamic shared memory begins after the kernel's own variables.
std::unique_ptr<ir::Function> prepare(const ir::Function &function, const Runner &runner,
                                      std::uint64_t dynamic_shared) {
    std::unique_ptr<ir::Function> prepared = ir::clone(function);
    for (ir::LocalVariable &variable : prepared->variables)
        if (!function.kernel && variable.space == ir::Space::Shared && variable.size == 0)
            variable.offset = dynamic_shared;
    runner.prepare(*prepared);
    return prepared;
}

warp::Machine machine_of(const jit::Target &target) {
    return {.permutes_words = target.facts().permutes_words,
            .vector_bits = target.facts().register_bits,
            .fast_gather = target.facts().fast_gather,
            .cheap_masks = target.facts().masks_all(),
            .narrow_windows = target.has_narrow_windows()};
}

void clean_up(ir::Module &module, PassTimes &times) {
    const PassOptions options = options_from_environment();
    const Runner runner(options, times, &module);
    for (const auto &function : module.functions)
        runner.run(kCleanUp, *function);
    count_call_memory(module);
}

} // namespace

// ---- the stages ---------------------------------------------------------------------------------

std::unique_ptr<ir::Module> read_ptx(std::string_view ptx, std::string &log,
                                     unsigned *architecture) {
    const StandardFloats standard;
    const PassOptions options = options_from_environment();
    auto source = std::make_shared<SourceText>("kernel.ptx", ptx);
    Diagnostics diagnostics(*source);
    if (options.dumps("ptx"))
        print_dump("ptx", std::string(source->text()));
    std::unique_ptr<ir::Module> module;
    PassTimes times(options.times, "reading PTX");
    if (std::optional<ptx::Module> parsed = ptx::parse(source, diagnostics)) {
        times.passed("parse");
        const bool debug = parsed->target.debug || options.debug;
        module =
            ir::lower(*parsed, diagnostics, debug ? ir::Purpose::Debugging : ir::Purpose::Speed);
        if (architecture)
            *architecture = parsed->target.sm;
        times.passed("lower");
        if (module) {
            clean_up(*module, times);
            refuse_unsupported(*module, *source, diagnostics);
        }
    }
    log = diagnostics.render();
    if (diagnostics.has_errors())
        return nullptr;
    if (options.dumps("ir"))
        print_dump("ir", ir::to_text(*module));
    return module;
}

void clean_up(ir::Module &module) {
    PassTimes times(PassTimes::Print::No, "");
    clean_up(module, times);
}

PlannedKernel plan_kernel(const ir::Module &module, const ir::Function &kernel,
                          const analysis::LaunchShape &launch, const warp::TierRequest &request,
                          const jit::Target &target) {
    const PassOptions options = options_from_environment();
    PassTimes times(options.times, "planning `" + kernel.name + "`");
    const bool may_move_locals =
        request.watch == 0 && !request.counts && !target.has_narrow_windows();
    const Runner runner(options, times, &module, launch, may_move_locals);
    PlannedKernel made;
    made.functions.push_back(prepare(kernel, runner, kernel.static_shared_bytes));
    const ir::Function &prepared = *made.functions.front();
    std::vector<warp::Callee> callees;
    for (std::uint32_t symbol : called_functions(module, prepared)) {
        made.functions.push_back(
            prepare(*module.functions[symbol], runner, kernel.static_shared_bytes));
        callees.push_back({symbol, made.functions.back().get()});
    }
    plan_functions(made, callees, request,
                   [&](const ir::Function &function, const warp::TierRequest &asked,
                       std::optional<std::uint64_t> stride) {
                       auto plan =
                           std::make_unique<KernelPlan>(function, launch, asked, module.files,
                                                        machine_of(target), module.variables);
                       plan->kernel_stride = stride;
                       runner.analyze(*plan);
                       return plan;
                   });
    return made;
}

LlvmKernel make_llvm(const ir::Module &module, const ir::Function &kernel,
                     const analysis::LaunchShape &launch, const warp::TierRequest &request,
                     const jit::Target &target) {
    const StandardFloats standard;
    const PassOptions options = options_from_environment();
    const PlannedKernel planned = plan_kernel(module, kernel, launch, request, target);
    const KernelPlan &plan = *planned.plan;
    PassTimes times(options.times, "generating `" + kernel.name + "`");
    codegen::Generated generated = codegen::generate(plan, planned.callees, target);
    times.passed("code generation");
    if (options.dumps("llvm"))
        print_dump("llvm", generated.module.text());
    if (options.verify)
        jit::require_valid(generated.module.get(), "from code generation");
    return {.module = std::move(generated.module),
            .tier = plan.tier.tier,
            .scratch_bytes = generated.scratch_bytes,
            .instructions_per_block = plan.function.instruction_count() * launch.warps(),
            .loops = !plan.loops.loops().empty() || !planned.callees.empty(),
            .group_blocks = plan.groups.blocks};
}

std::vector<jit::LlvmPass> llvm_passes(const llvm::Module &module, ir::Purpose purpose) {
    return passes_for(purpose, module, options_from_environment());
}

namespace {

std::vector<char> compile_llvm(const LlvmKernel &made, const ir::Function &kernel,
                               const jit::Target &target, std::span<const jit::LlvmPass> passes,
                               const PassOptions &options) {
    PassTimes times(options.times, "optimising `" + kernel.name + "`");
    jit::AfterPass show;
    if (!options.dump.empty() || options.times == PassTimes::Print::Yes)
        show = [&](std::string_view name, const std::function<std::string()> &text) {
            times.passed(name);
            if (options.dumps(name))
                print_dump(name, text());
        };
    jit::optimize(made.module.get(), target, passes, show);
    if (options.dumps("optimized"))
        print_dump("optimized", made.module.text());
    std::vector<char> object = jit::emit_object(made.module.get(), target);
    times.passed("machine code");
    return object;
}

bool dumps_llvm(const PassOptions &options) {
    return options.dumps("optimized") ||
           std::ranges::any_of(llvm_steps(),
                               [&](const LlvmStep &step) { return options.dumps(step.name); });
}

} // namespace

GeneratedKernel finish_kernel(const LlvmKernel &made, const ir::Function &kernel,
                              const jit::Target &target, const jit::ObjectCache &cache) {
    const StandardFloats standard;
    const PassOptions options = options_from_environment();
    const auto purpose = kernel.debug ? ir::Purpose::Debugging : ir::Purpose::Speed;
    const std::vector<jit::LlvmPass> passes = passes_for(purpose, made.module.get(), options);
    std::string key = cache.is_empty() ? "" : object_key(made.module.bitcode(), passes, target);
    std::optional<std::vector<char>> object;
    if (!key.empty() && !dumps_llvm(options))
        object = cache.load(key);
    if (!object) {
        object = compile_llvm(made, kernel, target, passes, options);
        cache.store(key, *object);
    }
    return {.object = std::move(*object),
            .object_key = std::move(key),
            .tier = made.tier,
            .scratch_bytes = made.scratch_bytes,
            .instructions_per_block = made.instructions_per_block,
            .loops = made.loops,
            .group_blocks = made.group_blocks};
}

// ---- the list of passes, for callers -----------------------------------------------------------

std::span<const PassInfo> passes() {
    static const std::vector<PassInfo> list = list_passes();
    return list;
}

std::string skipped_passes() {
    std::string names;
    for (const std::string &name : options_from_environment().skip)
        names += (names.empty() ? "" : ",") + name;
    return names;
}

bool wants_dumps() { return !options_from_environment().dump.empty(); }

bool run_ir_pass(std::string_view name, ir::Function &function,
                 const analysis::LaunchShape &launch) {
    const PassOptions options{.dump = {}, .skip = {}, .verify = true};
    PassTimes times(options.times, "");
    const Runner runner(options, times, nullptr, launch);
    if (name == "specialization") {
        runner.specialize(function);
        return true;
    }
    const std::pair<std::string_view, std::span<const IrPass>> lists[] = {
        {"clean-up", kCleanUp}, {"", kSpecialization}, {"preparation", kPreparation}};
    for (const auto &[list_name, list] : lists) {
        if (name == list_name) {
            runner.run(list, function);
            return true;
        }
        for (const IrPass &pass : list)
            if (pass.name == name) {
                runner.run(std::span(&pass, 1), function);
                return true;
            }
    }
    return false;
}

void analyze(KernelPlan &plan) {
    const PassOptions options;
    PassTimes times(options.times, "");
    Runner(options, times, nullptr, plan.launch).analyze(plan);
}

std::optional<std::string> print_analysis(std::string_view name, ir::Function &function,
                                          const analysis::LaunchShape &launch) {
    if (std::ranges::find(kAnalyses, name, &AnalysisPass::name) == std::end(kAnalyses))
        return std::nullopt;
    const PassOptions options;
    PassTimes times(options.times, "");
    Runner(options, times, nullptr, launch).run(kPreparation, function);
    function.renumber_values();
    KernelPlan plan(function, launch, {}, {});
    for (const AnalysisPass &pass : kAnalyses) {
        if (pass.run)
            pass.run(plan);
        if (pass.check)
            require_none(pass.name, "what was found", pass.check(plan));
        if (pass.name == name)
            return pass.print(plan);
    }
    return std::nullopt;
}

} // namespace softcuda::compiler
