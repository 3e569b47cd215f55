// code.cpp -- links objects into this process with JITLink.
//
// Uses JITLink directly, without ORC's sessions: an object does not depend on other objects, and
// loading one from the disk cache must be fast.
#include "jit/code.h"

#include "jit/code_memory.h"
#include "jit/llvm.h"
#include "jit/small_float_calls.h"

#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace softcuda::jit {

namespace {

namespace jitlink = llvm::jitlink;

/// Never destroyed: code may be freed while the process exits.
CodeMemory &memory_manager() {
    static auto *const memory = new CodeMemory;
    return *memory;
}

/// fma rounded in a target::Direction, for processors without an fma instruction; see
/// vector_math/rounding.cpp.
template <typename Float> Float rounded_fma(Float a, Float b, Float c, std::uint32_t direction) {
    static constexpr int modes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    const int before = std::fegetround();
    std::fesetround(modes[direction & 3]);
    volatile Float result = std::fma(a, b, c);
    std::fesetround(before);
    return result;
}

/// Functions that LLVM calls for IR if the processor has no instruction, and our functions of this
/// kind.
const RuntimeFunction kLibrary[] = {
    {"softcuda_fmaf", address_of(&rounded_fma<float>)},
    {"softcuda_fma", address_of(&rounded_fma<double>)},
    {"memcpy", address_of(&::memcpy)},
    {"memmove", address_of(&::memmove)},
    {"memset", address_of(&::memset)},
    {"fmaf", address_of(static_cast<float (*)(float, float, float)>(&::fmaf))},
    {"fma", address_of(static_cast<double (*)(double, double, double)>(&::fma))},
};

bool is_executable(const jitlink::Section &section) {
    const auto bits = [](llvm::orc::MemProt protection) {
        return static_cast<unsigned>(protection);
    };
    return (bits(section.getMemProt()) & bits(llvm::orc::MemProt::Exec)) != 0;
}

void *find_function(std::span<const RuntimeFunction> functions, llvm::StringRef name) {
    for (const RuntimeFunction &function : functions)
        if (name == llvm::StringRef(function.name))
            return function.address;
    return nullptr;
}

/// Returns the memory of whole pages to the system. They stay mapped.
void empty_pages(std::uint64_t begin, std::uint64_t end) {
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    begin -= begin % page;
    // If this fails, the memory stays allocated; there is no other effect.
    if (begin < end)
        (void)::madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
}

} // namespace

struct Code::Loaded {
    std::map<std::string, void *, std::less<>> symbols;
    std::uint64_t begin = UINT64_MAX, end = 0; ///< executable memory
    std::uint64_t text = 0;
    std::map<std::string, std::uint64_t> sections;
    std::vector<Code::Function> functions;
    jitlink::JITLinkMemoryManager::FinalizedAlloc memory;
    std::string error;
    bool keeps_addresses = false;

    ~Loaded() {
        if (memory && keeps_addresses) {
            memory.release();
            empty_pages(begin, end);
        } else if (memory) {
            llvm::consumeError(memory_manager().deallocate(std::move(memory)));
        }
    }
};

/// JITLink's callbacks for one object.
class Code::Context : public jitlink::JITLinkContext {
  public:
    Context(Loaded &loaded, std::span<const RuntimeFunction> functions)
        : JITLinkContext(nullptr), loaded_(loaded), functions_(functions) {}

    jitlink::JITLinkMemoryManager &getMemoryManager() override { return memory_manager(); }

    void notifyFailed(llvm::Error error) override {
        loaded_.error = llvm::toString(std::move(error));
    }

    void lookup(const LookupMap &wanted,
                std::unique_ptr<jitlink::JITLinkAsyncLookupContinuation> next) override {
        jitlink::AsyncLookupResult found;
        for (const auto &[name, flags] : wanted) {
            void *function = find_function(functions_, name);
            if (!function)
                function = find_function(kLibrary, name);
            if (!function)
                function = find_function(small_float_calls(), name);
            if (!function && flags == jitlink::SymbolLookupFlags::RequiredSymbol)
                return next->run(llvm::createStringError(llvm::inconvertibleErrorCode(),
                                                         "generated code calls unknown function '" +
                                                             name.str() + "'"));
            found[name] = {llvm::orc::ExecutorAddr::fromPtr(function),
                           llvm::JITSymbolFlags::Exported};
        }
        next->run(std::move(found));
    }

    llvm::Error notifyResolved(jitlink::LinkGraph &graph) override {
        for (const jitlink::Symbol *symbol : graph.defined_symbols()) {
            if (symbol->hasName() && symbol->isCallable() && symbol->getSize() != 0)
                loaded_.functions.push_back(
                    {symbol->getName().str(), symbol->getAddress().getValue(), symbol->getSize()});
            if (symbol->hasName() && symbol->getScope() != jitlink::Scope::Local)
                loaded_.symbols.emplace(symbol->getName().str(),
                                        symbol->getAddress().toPtr<void *>());
        }
        for (const jitlink::Section &section : graph.sections()) {
            const jitlink::SectionRange range(section);
            if (range.empty())
                continue;
            loaded_.sections.emplace(section.getName().str(), range.getStart().getValue());
            if (!is_executable(section))
                continue;
            if (section.getName() == ".text")
                loaded_.text = range.getStart().getValue();
            loaded_.begin = std::min(loaded_.begin, range.getStart().getValue());
            loaded_.end = std::max(loaded_.end, range.getEnd().getValue());
        }
        return llvm::Error::success();
    }

    void notifyFinalized(jitlink::JITLinkMemoryManager::FinalizedAlloc memory) override {
        loaded_.memory = std::move(memory);
    }

  private:
    Loaded &loaded_;
    std::span<const RuntimeFunction> functions_;
};

Code::Code(std::span<const char> object, std::span<const RuntimeFunction> functions)
    : loaded_(std::make_unique<Loaded>()) {
    const llvm::MemoryBufferRef buffer(llvm::StringRef(object.data(), object.size()), "kernel");
    auto graph = jitlink::createLinkGraphFromObject(buffer);
    if (!graph)
        throw std::runtime_error("cannot load generated code: " +
                                 llvm::toString(graph.takeError()));
    // With this memory manager and these lookups, linking is complete when link() returns.
    jitlink::link(std::move(*graph), std::make_unique<Context>(*loaded_, functions));
    if (!loaded_->error.empty())
        throw std::runtime_error("cannot load generated code: " + loaded_->error);
}

Code::~Code() = default;
Code::Code(Code &&) noexcept = default;
Code &Code::operator=(Code &&) noexcept = default;

void *Code::find(std::string_view name) const {
    const auto found = loaded_->symbols.find(name);
    return found == loaded_->symbols.end() ? nullptr : found->second;
}

std::span<const std::byte> Code::range() const {
    if (loaded_->begin >= loaded_->end)
        return {};
    return {reinterpret_cast<const std::byte *>(loaded_->begin), loaded_->end - loaded_->begin};
}

const std::vector<Code::Function> &Code::functions() const { return loaded_->functions; }

const std::map<std::string, std::uint64_t> &Code::sections() const { return loaded_->sections; }

std::uint64_t Code::text() const { return loaded_->text; }

void Code::keep_addresses() { loaded_->keeps_addresses = true; }

} // namespace softcuda::jit
