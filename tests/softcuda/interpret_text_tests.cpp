// interpret_text_tests.cpp -- compares compiled code with two interpreters, on launch files.
//
//     softcuda_interpret_tests [--why] LIBRARY FILE-OR-FOLDER...
//
// The content of the buffers after a kernel must be equal for: compiled code in the tier that
// softcuda chooses; the interpreter of the IR, which runs each thread separately; and the
// interpreter of the warp program, with the plans of each tier that can run the kernel. A property
// in a plan that is false for the values of the lanes is an error, too. --why prints the features
// of a file that an interpreter does not support. launch_file.h describes the files; files with
// failing launches are skipped.
#include "launch_driver.h"

#include "compiler/pipeline.h"
#include "interpret/run_threads.h"
#include "interpret/run_warps.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace softcuda;
using interpret::Launch;
using interpret::Outcome;
using test::Driver;
using test::LaunchFile;
/// The content of each buffer after a run.
using Results = std::map<std::string, std::vector<std::byte>>;

struct Tally {
    unsigned files = 0, failing = 0, by_threads = 0, by_warps = 0, wrong = 0;
    std::map<std::string, unsigned> refused; ///< by reason, for the warp program
    bool says_why = false;
};

// ---- compiled code --------------------------------------------------------------------------

Results run_compiled(Driver &driver, LaunchFile &file) {
    CUcontext context = nullptr;
    CUmodule module = nullptr;
    driver.call("cuDevicePrimaryCtxRetain", &context, CUdevice{0});
    driver.call("cuCtxSetCurrent", context);
    const CUresult result = test::load_and_launch(driver, file, &module);
    Results results;
    for (const auto &[name, buffer] : file.buffers)
        if (result == CUDA_SUCCESS)
            results[name] = test::read_buffer(driver, buffer);
    driver.call("cuDevicePrimaryCtxReset_v2", CUdevice{0});
    if (result != CUDA_SUCCESS)
        throw std::runtime_error("the launch failed: " + std::to_string(result));
    return results;
}

// ---- a launch for the interpreters ------------------------------------------------------------

/// The address of the module's variables, at which no buffer of the device is.
constexpr std::uint64_t kVariables = std::uint64_t{1} << 28;

void place_variables(const ir::Module &module, Launch &launch) {
    std::uint64_t next = kVariables;
    for (const ir::GlobalVariable &variable : module.variables) {
        launch.symbols.push_back(next);
        next += (variable.size + 511) / 256 * 256; // with an inaccessible gap
    }
    for (std::size_t n = 0; n < module.variables.size(); ++n) {
        const ir::GlobalVariable &variable = module.variables[n];
        std::vector<std::byte> bytes = variable.initial;
        bytes.resize(variable.size);
        for (const ir::GlobalVariable::Address &address : variable.addresses) {
            if (module.variables[address.variable].content ==
                ir::GlobalVariable::Content::Functions)
                interpret::refuse("variables that hold addresses of functions");
            const std::uint64_t value =
                launch.symbols.at(address.variable) + static_cast<std::uint64_t>(address.addend);
            std::memcpy(bytes.data() + address.offset, &value, sizeof value);
        }
        launch.memory.add(launch.symbols[n], std::move(bytes));
    }
}

Launch launch_of(const LaunchFile &file, const ir::Module &module, const ir::Function &kernel) {
    Launch launch{.grid = file.launch.grid,
                  .block = file.launch.block,
                  .dynamic_shared = file.launch.shared,
                  .parameters = std::vector<std::byte>(kernel.parameter_bytes),
                  .symbols = {},
                  .workspace = 0,
                  .memory = {}};
    const std::vector<std::uint64_t> values = file.argument_values();
    for (std::size_t n = 0; n < values.size() && n < kernel.parameters.size(); ++n)
        std::memcpy(launch.parameters.data() + kernel.parameters[n].offset, &values[n],
                    std::min<std::size_t>(kernel.parameters[n].size, sizeof values[n]));
    for (const auto &[name, buffer] : file.buffers)
        launch.memory.add(buffer.address, file.initial_bytes(buffer));
    if (file.launch.cooperative) {
        launch.workspace = kVariables / 2;
        launch.memory.add(launch.workspace, std::vector<std::byte>(4096));
    }
    place_variables(module, launch);
    return launch;
}

Results results_of(const LaunchFile &file, const Launch &launch) {
    Results results;
    for (const auto &[name, buffer] : file.buffers)
        results[name] = launch.memory.ranges().at(buffer.address);
    return results;
}

// ---- comparison -------------------------------------------------------------------------------

std::string difference(const Results &got, const Results &wanted) {
    for (const auto &[name, bytes] : wanted) {
        const std::vector<std::byte> &other = got.at(name);
        const auto at = std::ranges::mismatch(bytes, other).in1 - bytes.begin();
        if (static_cast<std::size_t>(at) != bytes.size())
            return name + " differs from byte " + std::to_string(at) + " on";
    }
    return {};
}

class Comparison {
  public:
    Comparison(const std::string &file_name, const LaunchFile &file, Tally &tally)
        : name_(file_name), file_(file), tally_(tally) {}

    void run(const Results &compiled) {
        std::string log;
        const std::unique_ptr<ir::Module> module = compiler::read_ptx(file_.text, log);
        const ir::Function *kernel = module ? module->find(file_.launch.kernel) : nullptr;
        if (!kernel)
            return report("the reference", "does not load: " + log);
        Launch launch = launch_of(file_, *module, *kernel);
        const Outcome outcome = interpret::run_threads(*module, *kernel, launch);
        std::optional<Results> reference;
        if (judge("the reference", outcome)) {
            reference = results_of(file_, launch);
            tally_.by_threads++;
            compare("compiled code", compiled, "the reference's", *reference);
        }
        run_plans(*module, *kernel, reference ? *reference : compiled,
                  reference ? "the reference's" : "that of compiled code");
    }

  private:
    void report(const std::string &what, const std::string &wrong) {
        std::printf("%s: %s: %s\n", name_.c_str(), what.c_str(), wrong.c_str());
        failed_ = true;
    }

    /// True if it ran.
    bool judge(const std::string &what, const Outcome &outcome) {
        if (outcome.kind == Outcome::Kind::Refused && tally_.says_why)
            std::printf("%s: %s: refuses %s\n", name_.c_str(), what.c_str(), outcome.what.c_str());
        if (outcome.kind == Outcome::Kind::Faulted || outcome.kind == Outcome::Kind::Wrong)
            report(what, outcome.what);
        return outcome.kind == Outcome::Kind::Ran;
    }

    void compare(const std::string &what, const Results &got, const std::string &whose,
                 const Results &wanted) {
        if (const std::string found = difference(got, wanted); !found.empty())
            report(what, found + ", compared with " + whose + " result");
    }

    void run_plans(const ir::Module &module, const ir::Function &kernel, const Results &wanted,
                   const std::string &whose) {
        constexpr std::optional<rt::Tier> kTiers[] = {std::nullopt, rt::Tier::Regions,
                                                      rt::Tier::Fibers, rt::Tier::Lanes};
        run_plans(module, kernel, {.block = file_.launch.block}, kTiers, wanted, whose);
        const std::uint32_t most = kernel.max_threads != 0 ? kernel.max_threads : 1024;
        run_plans(
            module, kernel,
            analysis::LaunchShape::varying(analysis::varying_extents(file_.launch.block), most),
            std::span(kTiers).first(1), wanted, whose);
        tally_.by_warps += ran_ ? 1 : 0;
        tally_.wrong += failed_ ? 1 : 0;
        if (!ran_ && !failed_)
            tally_.refused[why_]++;
    }

    void run_plans(const ir::Module &module, const ir::Function &kernel,
                   const analysis::LaunchShape &shape,
                   std::span<const std::optional<rt::Tier>> tiers, const Results &wanted,
                   const std::string &whose) {
        std::vector<rt::Tier> seen;
        for (const std::optional<rt::Tier> tier : tiers) {
            const compiler::PlannedKernel planned = compiler::plan_kernel(
                module, kernel, shape, {.cooperative = file_.launch.cooperative, .wanted = tier},
                jit::Target::from_environment());
            const rt::Tier chosen = planned.plan->tier.tier;
            if (std::ranges::count(seen, chosen) != 0)
                continue;
            seen.push_back(chosen);
            interpret::WarpProgram program{.kernel = planned.plan.get(), .functions = {}};
            for (const codegen::CalleePlan &callee : planned.callees)
                program.functions[callee.symbol] = callee.plan.get();
            Launch launch = launch_of(file_, module, kernel);
            const std::string what = "the warp program in " + std::string(warp::text(chosen)) +
                                     " for extents " + std::string(analysis::text(shape.extents));
            const Outcome outcome = interpret::run_warps(program, launch);
            if (outcome.kind == Outcome::Kind::Refused)
                why_ = outcome.what;
            if (!judge(what, outcome))
                continue;
            ran_ = true;
            compare(what, results_of(file_, launch), whose, wanted);
        }
    }

    std::string name_;
    const LaunchFile &file_;
    Tally &tally_;
    bool failed_ = false, ran_ = false;
    std::string why_; ///< an interpreter refused
};

void run_file(Driver &driver, const std::filesystem::path &path, Tally &tally) {
    const std::string name = path.filename();
    try {
        LaunchFile file = test::read_launch_file(path);
        if (!file.failure.empty()) {
            tally.failing++;
            return;
        }
        if (file.launch.has_cluster) {
            tally.refused["clusters of blocks"]++;
            return;
        }
        const Results compiled = run_compiled(driver, file);
        Comparison(name, file, tally).run(compiled);
    } catch (const interpret::Stopped &stopped) {
        tally.refused[stopped.what()]++;
    } catch (const std::exception &error) {
        std::printf("%s: %s\n", name.c_str(), error.what());
        tally.wrong++;
    }
}

} // namespace

int main(int argc, char **argv) {
    Tally tally;
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    int first = 1;
    if (argc > 1 && std::string_view(argv[1]) == "--why") {
        tally.says_why = true;
        ++first;
    }
    if (argc < first + 2) {
        std::fprintf(stderr, "usage: softcuda_interpret_tests [--why] LIBRARY FILE-OR-FOLDER...\n");
        return 2;
    }
    Driver driver(argv[first]);
    driver.call("cuInit", 0u);
    for (const auto &path : test::ptx_files(argc, argv, first + 1)) {
        tally.files++;
        run_file(driver, path, tally);
    }
    std::printf(
        "%u files: %u run as warp programs, %u by the reference; %u of failing launches are "
        "left out; %u differ\n",
        tally.files, tally.by_warps, tally.by_threads, tally.failing, tally.wrong);
    for (const auto &[reason, count] : tally.refused)
        std::printf("%u refused: %s\n", count, reason.c_str());
    return tally.wrong != 0 || tally.by_warps == 0 ? 1 : 0;
}
