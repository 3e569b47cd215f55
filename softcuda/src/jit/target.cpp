// target.cpp -- detects the host's processor and creates LLVM's target machines.
#include "jit/target.h"

#include "jit/llvm.h"
#include "target/host_features.h"

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
        // The number of memory accesses across which the schedulers may move another access
        // (default 1000): each is an edge of their graphs, even if a basic block has thousands of
        // accesses.
        set_option("dag-maps-huge-region", "200");
        for (const std::string_view name : target::generator_options())
            set_option(name, "true");
    });
}

std::string names_of_levels() {
    std::string names;
    const std::span<const target::Level> levels = target::levels();
    for (std::size_t i = 0; i < levels.size(); ++i) {
        if (i > 0)
            names += i + 1 == levels.size() ? " or " : ", ";
        names += levels[i].name;
    }
    return names;
}

const target::Level *find_level(std::string_view name) {
    for (const target::Level &level : target::levels())
        if (level.name == name)
            return &level;
    return nullptr;
}

llvm::StringMap<bool> all_host_features() {
    llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
    for (const std::string_view name : target::more_host_features())
        features[name] = true;
    return features;
}

bool host_has(const char *feature) { return all_host_features().lookup(feature); }

std::string host_features() {
    std::vector<std::string> words;
    for (const auto &feature : all_host_features())
        words.emplace_back(1, feature.second ? '+' : '-').append(feature.first().str());
    std::sort(words.begin(),
              words.end()); // the map's order is arbitrary, and the text is part of keys
    return llvm::join(words, ",");
}

} // namespace

Target::Target(std::string_view name) {
    initialize_llvm();
    const target::Level *level = find_level(name);
    if (!level)
        throw std::runtime_error("there is no instruction set '" + std::string(name) +
                                 "', expected " + names_of_levels());
    if (*level->needs && !host_has(level->needs))
        throw std::runtime_error("instruction set '" + std::string(name) +
                                 "' was requested, but this processor (" +
                                 llvm::sys::getHostCPUName().str() + ") has no " + level->needs);
    triple_ = llvm::sys::getProcessTriple();
    const bool is_native = !*level->cpu;
    cpu_ = is_native ? llvm::sys::getHostCPUName().str() : level->cpu;
    features_ = is_native ? host_features() : "";
    if (*level->features)
        features_.append(features_.empty() ? "" : ",").append(level->features);

    const std::unique_ptr<llvm::TargetMachine> machine = make_machine();
    data_layout_ = machine->createDataLayout().getStringRepresentation();
    const llvm::MCSubtargetInfo &subtarget = *machine->getMCSubtargetInfo();
    const auto has = [&](const char *feature) { return subtarget.checkFeatures(feature); };
    facts_ = target::facts_of(has);
    key_ = triple_ + '/' + cpu_ + '/' + features_ + "/llvm" LLVM_VERSION_STRING;
}

Target Target::from_environment() {
    const char *wanted = std::getenv("SOFTCUDA_ISA");
    if (!wanted || !*wanted)
        return Target();
    if (!find_level(wanted))
        throw std::runtime_error("SOFTCUDA_ISA is '" + std::string(wanted) + "', expected " +
                                 names_of_levels());
    return Target(wanted);
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
    const std::string width = std::to_string(facts_.register_bits);
    function.addFnAttr("target-cpu", cpu_);
    if (!features_.empty())
        function.addFnAttr("target-features", features_);
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
}

void Target::apply_to_preserving(llvm::Function &function) const {
    apply(function);
    function.setCallingConv(llvm::CallingConv::PreserveAll);
    if (const std::string_view more = target::preserving_features(); !more.empty())
        function.addFnAttr("target-features",
                           (features_.empty() ? "" : features_ + ",") + std::string(more));
}

} // namespace softcuda::jit
