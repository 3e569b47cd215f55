// target.cpp -- detects the host's processor and creates LLVM's target machines.
#include "jit/target.h"

#include "jit/llvm.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace softcuda::jit {

namespace {

/// Sets an option of LLVM that can only be set as a command line option. This library has a private
/// copy of LLVM.
void set_option(llvm::StringRef name, llvm::StringRef value) {
    const auto found = llvm::cl::getRegisteredOptions().find(name);
    if (found != llvm::cl::getRegisteredOptions().end())
        found->second->addOccurrence(1, name, value); // at position 0 it would count as not set
}

void initialize_llvm() {
    static std::once_flag once;
    std::call_once(once, [] {
        llvm::InitializeNativeTarget();
        llvm::InitializeNativeTargetAsmPrinter();
        llvm::InitializeNativeTargetAsmParser(); // for inline assembly
        // A function has many regions, each with its constants. The register allocator searches too
        // long for positions to split their live ranges, and finds worse ones.
        set_option("grow-region-complexity-budget", "500");
        // It hardly improves addresses of whole warps, and takes a twelfth of the compile time.
        set_option("disable-lsr", "true");
        // It changes no code of the kernels that were tried, and takes up to 4 per cent of the
        // time.
        set_option("disable-x86-domain-reassignment", "true");
        // The number of memory accesses across which the schedulers may move another access
        // (default 1000): each is an edge of their graphs, even if a basic block has thousands of
        // accesses.
        set_option("dag-maps-huge-region", "200");
    });
}

struct Level {
    Target::Isa isa;
    std::string_view name; ///< the name in SOFTCUDA_ISA
    const char *cpu;       ///< the name in LLVM
    const char *needs;     ///< a feature that a machine of this level has
};

constexpr Level kLevels[] = {
    {Target::Isa::Native, "native", "", ""},
    {Target::Isa::Avx512, "avx512", "x86-64-v4", "avx512vl"},
    {Target::Isa::Avx2, "avx2", "x86-64-v3", "avx2"},
    {Target::Isa::Sse4, "sse4", "x86-64-v2", "sse4.2"},
};

const Level &level_of(Target::Isa isa) {
    for (const Level &level : kLevels)
        if (level.isa == isa)
            return level;
    std::abort();
}

bool host_has(const char *feature) {
    const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
    const auto found = features.find(feature);
    return found != features.end() && found->second;
}

std::string host_features() {
    std::vector<std::string> words;
    for (const auto &feature : llvm::sys::getHostCPUFeatures())
        words.emplace_back(1, feature.second ? '+' : '-').append(feature.first().str());
    std::sort(words.begin(),
              words.end()); // the map's order is arbitrary, and the text is part of keys
    return llvm::join(words, ",");
}

} // namespace

Target::Target(Isa isa) : isa_(isa) {
    initialize_llvm();
    const Level &level = level_of(isa);
    if (isa != Isa::Native && !host_has(level.needs))
        throw std::runtime_error("instruction set '" + std::string(level.name) +
                                 "' was asked for, but this processor (" +
                                 llvm::sys::getHostCPUName().str() + ") has no " + level.needs);
    triple_ = llvm::sys::getProcessTriple();
    cpu_ = isa == Isa::Native ? llvm::sys::getHostCPUName().str() : level.cpu;
    // LLVM splits AVX2's gathers into branches unless the feature for fast gathers is set.
    features_ = isa == Isa::Native ? host_features() : isa == Isa::Avx2 ? "+fast-gather" : "";

    const std::unique_ptr<llvm::TargetMachine> machine = make_machine();
    data_layout_ = machine->createDataLayout().getStringRepresentation();
    const llvm::MCSubtargetInfo &subtarget = *machine->getMCSubtargetInfo();
    const auto has = [&](const char *feature) { return subtarget.checkFeatures(feature); };
    avx512_ = has("+avx512f") && has("+avx512bw") && has("+avx512dq") && has("+avx512vl");
    avx2_ = has("+avx2");
    fma_ = has("+fma");
    f16c_ = has("+f16c");
    fp16_ = has("+avx512fp16");
    fast_gather_ = avx512_ && has("+fast-gather");
    key_ = triple_ + '/' + cpu_ + '/' + features_ + "/llvm" LLVM_VERSION_STRING;
}

Target Target::from_environment() {
    const char *wanted = std::getenv("SOFTCUDA_ISA");
    if (!wanted || !*wanted)
        return Target();
    for (const Level &level : kLevels)
        if (level.name == wanted)
            return Target(level.isa);
    throw std::runtime_error("SOFTCUDA_ISA is '" + std::string(wanted) +
                             "', expected native, avx512, avx2 or sse4");
}

Target Target::with_narrow_windows() const {
    Target result = *this;
    result.narrow_windows_ = true;
    result.key_ += "/narrow";
    return result;
}

Target Target::for_debugging() const {
    Target result = *this;
    result.debugging_ = true;
    result.optimising_ = false;
    result.key_ += "/debug";
    return result;
}

Target Target::without_optimisation() const {
    Target result = *this;
    result.optimising_ = false;
    result.key_ += "/large";
    return result;
}

std::unique_ptr<llvm::TargetMachine> Target::make_machine() const {
    std::string error;
    const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple_, error);
    if (!target)
        throw std::runtime_error("no code generator for " + triple_ + ": " + error);
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict; // fma only if the kernel requests it
    options.EmitStackSizeSection = true;                // for frame_bytes()
    return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
        triple_, cpu_, features_, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
        optimising_ ? llvm::CodeGenOptLevel::Default : llvm::CodeGenOptLevel::None, /*JIT=*/true));
}

void Target::apply(llvm::Module &module) const {
    set_triple(module, llvm::Triple(triple_));
    module.setDataLayout(data_layout_);
}

void Target::apply(llvm::Function &function) const {
    const std::string width = std::to_string(vector_bits());
    function.addFnAttr("target-cpu", cpu_);
    if (!features_.empty())
        function.addFnAttr("target-features", features_);
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
}

} // namespace softcuda::jit
