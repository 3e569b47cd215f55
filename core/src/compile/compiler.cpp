// compiler.cpp -- compile(): the cache in memory, precompiled kernels, the cache on disk, a
// compiler.
#include "pycuda/compiler.h"

#include <cstdio>
#include <filesystem>
#include <list>
#include <mutex>
#include <unordered_map>

#include <pwd.h>
#include <unistd.h>

#include "compile/cache/byte_stream.h"
#include "compile/cache/disk_cache.h"
#include "compile/cache/kernel_pack.h"
#include "compile/compilers/compile_job.h"
#include "compile/compilers/compiler_search.h"
#include "compile/compilers/host_code_includes.h"
#include "compile/compilers/nvrtc_messages.h"
#include "compile/compilers/progress_line.h"
#include "compile/source/gnu_extensions.h"
#include "compile/source/texture_shim.h"
#include "driver/never_destroyed.h"
#include "driver/trace.h"

#include <pycuda/caller_lock.h>
#include <pycuda/driver.h>

namespace fs = std::filesystem;

namespace pycuda {
namespace compile_detail {
namespace {

/// Keeps the most recently used images up to `capacity` bytes. Any thread may call.
class MemoryCache {
  public:
    /// The result stored under `key`, unless one of its headers has changed.
    [[nodiscard]] std::optional<CompileResult> find(const std::string &key);
    void store(const std::string &key, const CompileResult &result,
               const DependencyList &dependencies);
    void clear();

  private:
    struct Entry {
        std::string key;
        CompileResult result;
        DependencyList dependencies;
        [[nodiscard]] std::size_t size() const;
    };
    using Entries = std::list<Entry>; // most recently used first

    void erase(Entries::iterator entry);

    static constexpr std::size_t capacity = std::size_t{256} << 20;

    CallerMutex mutex_;
    Entries entries_;
    std::unordered_map<std::string_view, Entries::iterator> by_key_; // keys lie in the entries
    std::size_t size_ = 0;
};

std::size_t MemoryCache::Entry::size() const {
    return key.size() + result.image.size() + result.log.size() + sizeof(Entry);
}

std::optional<CompileResult> MemoryCache::find(const std::string &key) {
    std::scoped_lock lock(mutex_);
    auto found = by_key_.find(key);
    if (found == by_key_.end())
        return std::nullopt;
    Entries::iterator entry = found->second;
    if (!entry->dependencies.is_current()) {
        erase(entry);
        return std::nullopt;
    }
    entries_.splice(entries_.begin(), entries_, entry);
    return entry->result;
}

void MemoryCache::store(const std::string &key, const CompileResult &result,
                        const DependencyList &dependencies) {
    std::scoped_lock lock(mutex_);
    if (auto found = by_key_.find(key); found != by_key_.end())
        erase(found->second);
    entries_.push_front({key, result, dependencies});
    entries_.front().result.origin = ImageOrigin::MemoryCache;
    by_key_.emplace(entries_.front().key, entries_.begin());
    size_ += entries_.front().size();
    while (size_ > capacity && entries_.size() > 1)
        erase(std::prev(entries_.end()));
}

void MemoryCache::clear() {
    std::scoped_lock lock(mutex_);
    by_key_.clear();
    entries_.clear();
    size_ = 0;
}

void MemoryCache::erase(Entries::iterator entry) {
    size_ -= entry->size();
    by_key_.erase(entry->key);
    entries_.erase(entry);
}

MemoryCache &memory_cache() { return never_destroyed<MemoryCache>(); }

struct KernelHeaders {
    CallerMutex mutex;
    std::string directory;
};

KernelHeaders &kernel_headers() { return never_destroyed<KernelHeaders>(); }

std::string kernel_header_directory() {
    std::scoped_lock lock(kernel_headers().mutex);
    return kernel_headers().directory;
}

bool caches_are_on(const CompileRequest &request) {
    return request.cache == CacheUse::Default && !std::getenv("PYCUDA_DISABLE_CACHE");
}

std::string home_directory() {
    if (std::string home = environment("HOME"); !home.empty())
        return home;
    const passwd *user = ::getpwuid(::getuid());
    return user && user->pw_dir ? user->pw_dir : "";
}

/// Empty if there is no folder for the cache.
fs::path cache_directory(const CompileRequest &request) {
    if (!request.cache_dir.empty())
        return request.cache_dir;
    if (std::string chosen = environment("PYCUDA_CACHE_DIR"); !chosen.empty())
        return chosen;
    std::string base = environment("XDG_CACHE_HOME");
    if (base.empty()) {
        base = home_directory();
        if (base.empty())
            return {};
        base += "/.cache";
    }
    return fs::path(base) / "pycuda" / "compiler-cache-v2";
}

void put_texts(ByteWriter &key, const std::vector<std::string> &texts) {
    key.put<std::uint64_t>(texts.size());
    for (const std::string &text : texts)
        key.put(text);
}

/// The fields of the request, except the cache's folder and `keep`.
void put_request(ByteWriter &key, const CompileRequest &request) {
    key.put(request.source).put(request.name);
    put_texts(key, request.options);
    put_texts(key, request.include_dirs);
    key.put(request.arch).put(request.code);
    key.put(request.device ? request.device->number() : -1);
    key.put(static_cast<int>(request.target));
    key.put(static_cast<int>(request.linkage)).put(static_cast<int>(request.builtins));
    put_texts(key, request.name_expressions);
    key.put(static_cast<int>(request.compiler)).put(request.nvcc);
}

std::string current_directory() {
    std::error_code failed; // the current folder may have been removed
    return fs::current_path(failed).string();
}

/// The folder in the source's name if the source can include headers from it, else empty.
std::string source_directory_of(const CompileRequest &request, const CompilerOptions &options) {
    using Form = IncludeDirective::Form;
    bool includes = !options.pre_includes.empty();
    if (request.source.find("include") != std::string::npos)
        for (const IncludeDirective &include :
             find_includes(request.source, blank_comments_and_strings(request.source)))
            includes |= include.form != Form::Angled;
    if (!includes)
        return "";
    return (fs::path(current_directory()) / request.name).lexically_normal().parent_path();
}

/// A hash, because the source of a kernel is several times as long as the image. Includes the
/// current folder if the request has relative folders or includes headers beside the source.
std::string memory_key(const CompileRequest &request) {
    const bool relative = !request.options.empty() || !request.include_dirs.empty() ||
                          request.source.find("include") != std::string::npos;
    ByteWriter key;
    put_request(key, request);
    key.put(relative ? current_directory() : "");
    key.put(search_settings()).put(kernel_header_directory());
    const Sha256::Digest digest = sha256(key.bytes());
    return {digest.begin(), digest.end()};
}

Sha256::Digest disk_key(const CompileJob &job) {
    ByteWriter key;
    key.put("image 5");
    put_request(key, job.request);
    key.put(job.source_directory).put(job.compiler_identity);
    for (const IncludeDirectory &directory : job.include_path)
        key.put(directory.path).put(static_cast<int>(directory.owner));
    return sha256(key.bytes());
}

CompileJob make_job(const CompileRequest &request, CompilerOptions options) {
    using Owner = IncludeDirectory::Owner;
    CompileJob job{request, std::move(options)};
    job.source_directory = source_directory_of(request, job.options);
    job.keep = request.keep || job.options.keep;
    for (const std::string &path : job.options.include_dirs)
        job.include_path.push_back({path, Owner::User});
    for (const std::string &path : request.include_dirs)
        job.include_path.push_back({fs::absolute(path).lexically_normal(), Owner::User});
    if (fs::path folder = cache_directory(request); !folder.empty()) {
        job.header_store = folder / "cuda-headers";
        if (caches_are_on(request)) {
            job.cache = folder;
            job.verdict_store = folder / "host-code";
        }
    }
    return job;
}

void add_nvrtc(CompileJob &job) {
    NvrtcLocation nvrtc = find_nvrtc();
    job.compiler_identity = nvrtc.identity;
    using Owner = IncludeDirectory::Owner;
    for (const std::string &path : nvrtc.header_dirs) {
        const bool is_cccl = path.find("cccl") != std::string::npos;
        job.include_path.push_back({path, is_cccl ? Owner::Library : Owner::Toolkit});
    }
}

/// The path of nvcc if NVRTC is missing and nvcc can replace it; else empty.
std::string add_nvrtc_or_nvcc(CompileJob &job) {
    try {
        add_nvrtc(job);
        return "";
    } catch (const NvrtcNotFound &) {
        std::optional<std::string> nvcc = find_nvcc(job.request.nvcc);
        if (job.request.compiler == CompilerChoice::Nvrtc || !nvcc)
            throw;
        return *nvcc;
    }
}

void add_kernel_headers(CompileJob &job) {
    if (std::string path = kernel_header_directory(); !path.empty())
        job.include_path.push_back({path, IncludeDirectory::Owner::Kernels});
}

bool wants_nvcc(const CompileRequest &request, const CompilerOptions &options) {
    if (request.compiler != CompilerChoice::Auto)
        return request.compiler == CompilerChoice::Nvcc;
    return request.target == ImageKind::Fatbin || !options.only_nvcc.empty();
}

/// The reason why the request needs nvcc, for the error message if nvcc is missing.
std::string reason_for_nvcc(const CompileRequest &request, const CompilerOptions &options) {
    if (request.compiler == CompilerChoice::Nvcc)
        return "nvcc was requested";
    if (request.target == ImageKind::Fatbin)
        return "the target fatbin needs nvcc";
    return "compiler option '" + options.only_nvcc.front() + "' needs nvcc";
}

std::string require_nvcc(const CompileRequest &request, const CompilerOptions &options) {
    if (std::optional<std::string> nvcc = find_nvcc(request.nvcc))
        return *nvcc;
    const std::string missing =
        reason_for_nvcc(request, options) + ", but '" + request.nvcc + "' was not found; ";
    // As in CuPy: SourceModule(source, "kernel").
    if (request.nvcc.find('/') == std::string::npos &&
        request.source.find(request.nvcc) != std::string::npos)
        throw CompileError(missing +
                           "the second argument is the path of nvcc; to look up a kernel: "
                           "SourceModule(source).get_function(\"" +
                           request.nvcc + "\")");
    throw CompileError(missing + "install the CUDA toolkit, set CUDA_HOME to its folder, or pass "
                                 "the path of nvcc");
}

void refuse_nvcc_only_options(const CompileRequest &request, const CompilerOptions &options) {
    if (request.compiler != CompilerChoice::Nvrtc)
        return;
    if (request.target == ImageKind::Fatbin)
        throw CompileError("NVRTC cannot produce a fatbin; request a cubin or ptx, or select nvcc");
    if (!options.only_nvcc.empty())
        throw CompileError("NVRTC has no option '" + options.only_nvcc.front() +
                           "', only nvcc has");
}

/// Compiles with nvcc a job whose key was made for NVRTC, so nvcc is not part of the key. The
/// dependency on nvcc is compared by its stamp; nvcc is not hashed.
CompileOutcome compile_with_nvcc_instead(const CompileJob &job, const std::string &nvcc) {
    CompileOutcome outcome = compile_with_nvcc(job, nvcc);
    if (std::optional<FileStamp> stamp = stamp_file(nvcc))
        outcome.dependencies.files.push_back({nvcc, false, *stamp, {}});
    return outcome;
}

/// Compiles with nvcc a source that NVRTC refuses. If nvcc refuses the source too, throws NVRTC's
/// error: its messages name the source's own file and lines.
CompileOutcome compile_refused_text(const CompileJob &job, const std::optional<std::string> &nvcc,
                                    const RefusedText &failure) {
    const CompileRequest &request = job.request;
    if (!request.name_expressions.empty() || !nvcc_may_accept(failure.standard_error()))
        throw RefusedText(failure);
    if (!nvcc)
        throw with_message(failure,
                           failure.message() +
                               advice_to_get_nvcc(request.source, failure.standard_error()));
    try {
        CompileOutcome outcome = compile_with_nvcc_instead(job, *nvcc);
        trace_nvcc(request.name, *nvcc, failure.standard_error());
        return outcome;
    } catch (const CompileError &) {
        throw RefusedText(failure);
    }
}

/// Compiles with NVRTC, then with nvcc if NVRTC's failure is one that nvcc may not have.
CompileOutcome compile_in_process(CompileJob job) {
    std::optional<std::string> nvcc;
    if (job.request.compiler != CompilerChoice::Nvrtc)
        nvcc = find_nvcc(job.request.nvcc);
    job.has_nvcc = nvcc.has_value();
    if (nvcc && is_known_host_code(job))
        return compile_with_nvcc_instead(job, *nvcc);
    try {
        return compile_with_nvrtc(job);
    } catch (const RefusedText &failure) {
        return compile_refused_text(job, nvcc, failure);
    } catch (const NeedsNvcc &failure) {
        if (!nvcc)
            throw;
        try {
            CompileOutcome outcome = compile_with_nvcc_instead(job, *nvcc);
            remember_host_code(job, failure);
            trace_nvcc(job.request.name, *nvcc, failure.standard_error());
            return outcome;
        } catch (const CompileError &second) {
            if (const auto *unknown = dynamic_cast<const UnknownType *>(&failure))
                throw UnknownType(*unknown); // nvcc has not found it either, and says it less well
            throw with_message(second, second.message() + " (before, " + failure.message() + ")");
        }
    }
}

CompileOutcome compile_afresh(const CompileJob &job, const std::string &nvcc) {
    const ProgressLine progress("compiling " + job.request.name);
    return nvcc.empty() ? compile_in_process(job) : compile_with_nvcc(job, nvcc);
}

/// A request, its compiler and its translated options.
struct PreparedJob {
    CompileJob job;
    std::string nvcc; // empty for NVRTC
};

PreparedJob prepare(const CompileRequest &request) {
    if (std::size_t at = request.source.find('\0'); at != std::string::npos)
        throw CompileError("the source has a zero byte at position " + std::to_string(at) + " of " +
                           std::to_string(request.source.size()));
    CompilerOptions options = translate_options(request.options);
    refuse_nvcc_only_options(request, options);
    std::string nvcc = wants_nvcc(request, options) ? require_nvcc(request, options) : "";
    PreparedJob prepared{make_job(request, std::move(options)), std::move(nvcc)};
    if (prepared.nvcc.empty())
        prepared.nvcc = add_nvrtc_or_nvcc(prepared.job);
    if (!prepared.nvcc.empty())
        prepared.job.compiler_identity = file_identity(prepared.nvcc);
    add_kernel_headers(prepared.job);
    return prepared;
}

CompileResult compile_through_disk_cache(const CompileRequest &request, const std::string &key) {
    const PreparedJob prepared = prepare(request);
    const fs::path folder = cache_directory(request);
    const Sha256::Digest digest = disk_key(prepared.job);
    const bool may_find = !prepared.job.keep && !folder.empty();
    if (may_find) {
        if (std::optional<CacheEntry> entry = DiskCache(folder).find(digest)) {
            memory_cache().store(key, entry->result, entry->dependencies);
            return std::move(entry->result);
        }
    }
    CompileOutcome outcome = compile_afresh(prepared.job, prepared.nvcc);
    if (outcome.cacheable && !prepared.job.keep) {
        memory_cache().store(key, outcome.result, outcome.dependencies);
        if (!folder.empty())
            DiskCache(folder).store(digest, {outcome.result, outcome.dependencies});
    }
    return std::move(outcome.result);
}

/// The request's machine code and PTX, as the pack contains both. Empty if one is missing.
std::optional<CompileOutcome> find_both(const KernelPack &pack, const KernelPackKey &packed,
                                        const PackagedImages &images) {
    std::optional<CompileOutcome> found = pack.find(packed, images);
    if (!found || found->result.kind == ImageKind::Ptx)
        return images.newest_cuda == 0 ? std::move(found) : std::nullopt;
    std::optional<CompileOutcome> text = pack.find(packed, {.ptx = true});
    if (!text || found->result.arch != "sm_" + std::to_string(packed.newest))
        return std::nullopt;
    found->ptx = std::move(text->result.image);
    return found;
}

/// Records the images of a request and returns its PTX, which make_pack.py's driver can load.
CompileResult compile_and_record(const CompileRequest &request, const KernelPack &pack,
                                 const KernelPackKey &packed, const PackagedImages &images) {
    std::optional<CompileOutcome> outcome = find_both(pack, packed, images);
    if (!outcome) {
        const PreparedJob prepared = prepare(request);
        outcome = compile_afresh(prepared.job, prepared.nvcc);
    }
    record_kernel(packed, *outcome);
    if (!outcome->ptx.empty()) {
        outcome->result.kind = ImageKind::Ptx;
        outcome->result.image = std::move(outcome->ptx);
    }
    return std::move(outcome->result);
}

CompileResult compile_through_pack(const CompileRequest &request, const std::string &key) {
    const std::optional<KernelPackKey> packed = kernel_pack_key(request, kernel_header_directory());
    if (!packed)
        return compile_through_disk_cache(request, key);
    const PackagedImages images =
        request.target == ImageKind::Ptx ? PackagedImages{.ptx = true} : request.packaged;
    const KernelPack &pack = KernelPack::installed(request.target);
    if (records_kernels())
        return compile_and_record(request, pack, *packed, images);
    std::optional<CompileOutcome> found = pack.find(*packed, images);
    return found ? std::move(found->result) : compile_through_disk_cache(request, key);
}

} // namespace
} // namespace compile_detail

CompileResult compile(const CompileRequest &asked) {
    using namespace compile_detail;
    CompileRequest request = asked;
    adapt_texture_references(request);
    write_for_nvrtc(request.source);
    if (!caches_are_on(request) || request.keep) {
        const PreparedJob prepared = prepare(request);
        return compile_afresh(prepared.job, prepared.nvcc).result;
    }
    const std::string key = memory_key(request);
    if (std::optional<CompileResult> result = memory_cache().find(key))
        return std::move(*result);
    return compile_through_pack(request, key);
}

PackagedImages packaged_images() { return {.newest_cuda = driver().version() / 1000, .ptx = true}; }

CompileResult compile_refused(CompileRequest &request, const CompileResult &refused,
                              std::string_view reason) {
    const bool is_ptx = refused.kind == ImageKind::Ptx;
    if (trace_wanted()) {
        const std::string line = "pycuda: the driver refused the package's " +
                                 std::string(is_ptx ? "PTX" : "machine code") + " of " +
                                 request.name + ": " + std::string(reason) + "\n";
        std::fputs(line.c_str(), stderr);
    }
    request.packaged = {.newest_cuda = 0, .ptx = !is_ptx};
    return compile(request);
}

void choose_compiler(CompileRequest &request, const std::string &nvcc) {
    if (nvcc == "nvcc")
        return;
    request.compiler = nvcc == "nvrtc" ? CompilerChoice::Nvrtc : CompilerChoice::Nvcc;
    request.nvcc = nvcc;
}

void set_kernel_header_directory(const fs::path &directory) {
    compile_detail::KernelHeaders &headers = compile_detail::kernel_headers();
    std::scoped_lock lock(headers.mutex);
    headers.directory = fs::absolute(directory).lexically_normal();
}

void clear_memory_cache() { compile_detail::memory_cache().clear(); }

} // namespace pycuda
