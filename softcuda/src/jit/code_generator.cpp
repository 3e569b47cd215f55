// code_generator.cpp -- creates LLVM's code generators, and keeps the idle ones.
#include "jit/code_generator.h"

#include "jit/split_blocks.h"
#include "jit/target.h"

#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>

#include <exception>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace softcuda::jit {

namespace {

/// By Target::key(). Never destroyed: a thread may compile while the process exits.
struct IdleGenerators {
    std::mutex mutex;
    std::map<std::string, std::vector<std::unique_ptr<CodeGenerator>>> by_target;
};

IdleGenerators &idle_generators() {
    static auto *const idle = new IdleGenerators;
    return *idle;
}

std::unique_ptr<CodeGenerator> take_idle(const std::string &key) {
    IdleGenerators &idle = idle_generators();
    std::lock_guard lock(idle.mutex);
    std::vector<std::unique_ptr<CodeGenerator>> &of_target = idle.by_target[key];
    if (of_target.empty())
        return nullptr;
    std::unique_ptr<CodeGenerator> taken = std::move(of_target.back());
    of_target.pop_back();
    return taken;
}

/// A pass that LLVM adds for each processor, behind CodeGenPrepare and before analyses that
/// instruction selection needs.
llvm::AnalysisID pass_before_selection() {
    const std::unique_ptr<llvm::FunctionPass> pass(llvm::createSafeStackPass());
    return pass->getPassID();
}

/// The loop over the warps contains all basic blocks. MachineLICM moves every constant in front of
/// it, and MachineCSE computes what several basic blocks need once: as many values are then live
/// everywhere, and liveness and register allocation take quadratic time. MachineCSE also visits all
/// uses of a value for each instruction that it joins. Stack slot coloring compares each spill slot
/// with all others: the frame, which has the values that promote-slots keeps, grows little without
/// it. Branch folding compares the ends of all basic blocks that go to one.
void leave_out_quadratic(llvm::TargetPassConfig &config) {
    config.disablePass(&llvm::EarlyMachineLICMID);
    config.disablePass(&llvm::MachineCSEID);
    config.disablePass(&llvm::StackSlotColoringID);
    config.disablePass(&llvm::BranchFolderPassID);
}

} // namespace

// As TargetMachine::addPassesToEmitMC(), without one analysis: it looks for the locations of
// variables in all machine code with lines, though there are no variables, and takes 3 per cent of
// the time.
MachinePasses::MachinePasses(llvm::TargetMachine &any_machine, const Target &target,
                             CodeSize size) {
    auto &machine = static_cast<llvm::LLVMTargetMachine &>(any_machine);
    auto *info = new llvm::MachineModuleInfoWrapperPass(&machine);
    llvm::TargetPassConfig *config = machine.createPassConfig(passes_);
    config->setDisableVerify(true);
    passes_.add(config);
    passes_.add(info);
    if (!target.is_for_debugging())
        config->disablePass(&llvm::LiveDebugValuesID);
    if (size == CodeSize::Large)
        leave_out_quadratic(*config);
    // Processors that reorder instructions gain nothing from a second schedule.
    config->disablePass(&llvm::PostRASchedulerID);
    config->insertPass(pass_before_selection(), make_split_blocks_pass());
    if (config->addISelPasses())
        throw std::logic_error("the target cannot select instructions");
    config->addMachinePasses();
    config->setInitialized();
    if (machine.addAsmPrinter(passes_, out_, nullptr, llvm::CodeGenFileType::ObjectFile,
                              info->getMMI().getContext()))
        throw std::logic_error("the target cannot emit object files");
    passes_.add(llvm::createFreeMachineFunctionPass());
}

std::vector<char> MachinePasses::run(llvm::Module &module) {
    object_.clear();
    passes_.run(module);
    return {object_.begin(), object_.end()};
}

CodeGenerator::CodeGenerator(const Target &target) : machine_(target.make_machine()) {}

MachinePasses &CodeGenerator::passes(const Target &target, CodeSize size) {
    std::unique_ptr<MachinePasses> &made = passes_.at(static_cast<std::size_t>(size));
    if (!made)
        made = std::make_unique<MachinePasses>(*machine_, target, size);
    return *made;
}

CodeGeneratorLease::CodeGeneratorLease(const Target &target)
    : key_(target.key()), exceptions_(std::uncaught_exceptions()), generator_(take_idle(key_)) {
    if (!generator_)
        generator_ = std::make_unique<CodeGenerator>(target);
}

CodeGeneratorLease::~CodeGeneratorLease() {
    // LLVM is not safe against exceptions: the generator's state may be invalid, also for its
    // destructor.
    if (std::uncaught_exceptions() != exceptions_) {
        static_cast<void>(generator_.release());
        return;
    }
    IdleGenerators &idle = idle_generators();
    std::lock_guard lock(idle.mutex);
    idle.by_target[key_].push_back(std::move(generator_));
}

} // namespace softcuda::jit
