// nvrtc_library.cpp -- NVIDIA's run-time compiler, opened when it is first used.
#include "compile/compilers/nvrtc_library.h"

#include "driver/library_call.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include <dlfcn.h>

#include "pycuda/compile_error.h"

#include <pycuda/caller_lock.h>

namespace pycuda::compile_detail {
namespace {

// The values of nvrtcResult that are distinguished here.
constexpr int success = 0;
constexpr int error_invalid_option = 5;
constexpr int error_compilation = 6;

} // namespace

std::vector<const char *> c_strings(const std::vector<std::string> &texts) {
    std::vector<const char *> pointers;
    for (const std::string &text : texts)
        pointers.push_back(text.c_str());
    return pointers;
}

std::string without_terminator(std::string text) {
    while (!text.empty() && text.back() == '\0')
        text.pop_back();
    return text;
}

class NvrtcLibrary::ProgramOwner {
  public:
    explicit ProgramOwner(const NvrtcLibrary &library) : library_(library) {}
    ~ProgramOwner() {
        if (program)
            library_.destroy_program_(&program);
    }
    ProgramOwner &operator=(ProgramOwner &&) = delete; // no copies either

    Program program = nullptr;

  private:
    const NvrtcLibrary &library_;
};

const NvrtcLibrary &NvrtcLibrary::open(const NvrtcLocation &location) {
    static CallerMutex mutex;
    static auto *opened = new std::map<std::string, std::unique_ptr<NvrtcLibrary>>;
    std::scoped_lock lock(mutex);
    std::unique_ptr<NvrtcLibrary> &library = (*opened)[location.library];
    if (!library)
        library.reset(new NvrtcLibrary(location.library));
    return *library;
}

static void *open_nvrtc(const std::string &path) {
    if (void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
        return library;
    throw CompileError("cannot open NVRTC, the CUDA compiler library: " + std::string(::dlerror()));
}

SymbolAddress NvrtcLibrary::find(const char *symbol) const noexcept {
    return {::dlsym(library_, symbol)};
}

NvrtcLibrary::NvrtcLibrary(const std::string &path) : library_(open_nvrtc(path)) {
    // These functions exist in every NVRTC since 11.2, and in none before.
    if (!version_ || !supported_archs_ || !cubin_)
        throw CompileError("'" + path + "' is not NVRTC 11.2 or newer");

    int major = 0, minor = 0;
    check(version_(&major, &minor), "nvrtcVersion");
    const std::string version = std::to_string(major) + "." + std::to_string(minor);
    name_ = "NVRTC " + version;
    major_version_ = major;
    has_minimal_builtins_ = major > 12 || (major == 12 && minor >= 4);
    // NVRTC opens this library by its bare name, which fails if dlopen is intercepted (by
    // sanitizers or tracers). NVRTC finds a library that is already open. If it is in another
    // folder, NVRTC reports the failure.
    ::dlopen((path.substr(0, path.rfind('/') + 1) + "libnvrtc-builtins.so." + version).c_str(),
             RTLD_NOW | RTLD_LOCAL);
    read_architectures();
}

void NvrtcLibrary::read_architectures() {
    int count = 0;
    check(num_supported_archs_(&count), "nvrtcGetNumSupportedArchs");
    architectures_.resize(static_cast<std::size_t>(count));
    check(supported_archs_(architectures_.data()), "nvrtcGetSupportedArchs");
    std::ranges::sort(architectures_);
    if (architectures_.empty())
        throw CompileError(name_ + " reports no supported architecture");
}

void NvrtcLibrary::check(Result result, const char *function) const {
    if (result != success)
        throw CompileError(std::string(function) + " failed: " + get_error_string_(result));
}

/// A text or image that NVRTC copies to the caller's buffer after a query of the size.
template <class Size, class Get>
std::string NvrtcLibrary::fetch(Program program, Size size, Get get) const {
    std::size_t bytes = 0;
    std::string data;
    if (!size || size(program, &bytes) != success || bytes == 0)
        return data; // this compilation did not produce it
    data.resize(bytes);
    check(get(program, data.data()), "copying NVRTC's output");
    return data;
}

NvrtcOutcome NvrtcLibrary::compile(const NvrtcJob &job) const {
    const LibraryCall call;
    std::vector<const char *> header_texts, header_names;
    for (const auto &[name, text] : job.headers) {
        header_texts.push_back(text);
        header_names.push_back(name.c_str());
    }
    ProgramOwner owner(*this);
    check(create_program_(&owner.program, job.source.c_str(), job.name.c_str(),
                          static_cast<int>(job.headers.size()), header_texts.data(),
                          header_names.data()),
          "nvrtcCreateProgram");
    for (const std::string &expression : job.name_expressions)
        check(add_name_expression_(owner.program, expression.c_str()), "nvrtcAddNameExpression");

    std::vector<const char *> options = c_strings(job.options);
    Result result =
        compile_program_(owner.program, static_cast<int>(options.size()), options.data());
    NvrtcOutcome outcome;
    outcome.log = without_terminator(fetch(owner.program, log_size_, log_));
    if (result == success) {
        outcome.status = NvrtcOutcome::Status::Ok;
        fetch_images(owner.program, job, outcome);
    } else if (result == error_invalid_option)
        outcome.status = NvrtcOutcome::Status::BadOption;
    else if (result != error_compilation)
        outcome.log += std::string(get_error_string_(result)) + "\n";
    return outcome;
}

void NvrtcLibrary::fetch_images(Program program, const NvrtcJob &job, NvrtcOutcome &outcome) const {
    outcome.ptx = without_terminator(fetch(program, ptx_size_, ptx_));
    outcome.cubin = fetch(program, cubin_size_, cubin_);
    outcome.lto_ir = fetch(program, lto_ir_size_, lto_ir_);
    for (const std::string &expression : job.name_expressions) {
        const char *lowered = nullptr;
        check(lowered_name_(program, expression.c_str(), &lowered), "nvrtcGetLoweredName");
        outcome.lowered_names.emplace_back(expression, lowered);
    }
}

void NvrtcLibrary::allow_large_precompiled_headers() const {
    constexpr std::size_t enough_for_cub = std::size_t{1}
                                           << 30; // an address range; memory is used as needed
    static const bool once = [this] {
        if (set_pch_heap_size_)
            check(set_pch_heap_size_(enough_for_cub), "nvrtcSetPCHHeapSize");
        return true;
    }();
    static_cast<void>(once);
}

bool NvrtcLibrary::install_headers(const std::string &folder) const {
    // Zero means: skip files that exist. The reason of a failure is not reported, because the
    // caller's compilation then fails with the name of the missing header.
    return install_headers_ && install_headers_(folder.c_str(), 0, nullptr) == success;
}

} // namespace pycuda::compile_detail
