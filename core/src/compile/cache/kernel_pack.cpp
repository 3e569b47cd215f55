// kernel_pack.cpp -- looks up precompiled kernels, and records kernels for a later pack.
#include "compile/cache/kernel_pack.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compile/cache/byte_stream.h"
#include "compile/compilers/compiler_options.h"
#include "compile/compilers/compiler_search.h"
#include "compile/source/include_scan.h"
#include "compile/source/source_text.h"

namespace fs = std::filesystem;

namespace pycuda::compile_detail {
namespace {

constexpr std::string_view magic = "PyCUDA kernels 3";
constexpr std::size_t header_size = magic.size() + sizeof(std::uint64_t);

/// The path beside the program or shared object that contains this code.
std::string installed_path(const char *name) {
    if (std::string chosen = environment("PYCUDA_KERNEL_PACK"); !chosen.empty())
        return chosen;
    Dl_info info{};
    if (::dladdr(reinterpret_cast<const void *>(&installed_path), &info) == 0 || !info.dli_fname)
        return {};
    std::error_code ignored;
    return fs::weakly_canonical(info.dli_fname, ignored).parent_path() / name;
}

/// The whole file, read-only; empty if it cannot be mapped.
std::string_view map_file(const std::string &path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return {};
    struct stat status;
    void *memory = MAP_FAILED;
    if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
        memory = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE,
                        fd, 0);
    ::close(fd);
    if (memory == MAP_FAILED)
        return {};
    return {static_cast<const char *>(memory), static_cast<std::size_t>(status.st_size)};
}

/// Options that name header folders. headers_of() looks for the headers in these folders.
bool is_folder(const std::string &option) { return option.starts_with("-I"); }

/// Options whose effect does not depend on a file.
bool is_plain(const std::string &option) {
    return option.starts_with("--fmad=") || option.starts_with("-std=") || is_folder(option);
}

/// Whether images of the package may replace a compiler's machine code for the device.
bool may_replace_machine_code(const CompileRequest &request) {
    return (request.packaged.ptx || request.packaged.newest_cuda > 0) &&
           request.target == ImageKind::Cubin && request.device && request.arch.empty() &&
           request.code.empty();
}

std::string_view as_text(const Sha256::Digest &digest) {
    return {reinterpret_cast<const char *>(digest.data()), digest.size()};
}

/// Names and hashes of the headers that the source includes; empty if a header is not in
/// `kernel_headers`.
std::optional<std::string> headers_of(const CompileRequest &request,
                                      const std::string &kernel_headers) {
    using Owner = IncludeDirectory::Owner;
    if (request.source.find("include") == std::string::npos)
        return "";
    // The compiler searches quoted headers in the current folder first.
    for (const IncludeDirective &include :
         find_includes(request.source, blank_comments_and_strings(request.source)))
        if (include.form != IncludeDirective::Form::Angled)
            return std::nullopt;
    std::vector<IncludeDirectory> path;
    for (const std::string &folder : translate_options(request.options).include_dirs)
        path.push_back({folder, Owner::User});
    for (const std::string &folder : request.include_dirs)
        path.push_back({fs::absolute(folder).lexically_normal(), Owner::User});
    path.push_back({kernel_headers, Owner::Kernels});
    const IncludeScan scan = scan_includes(request.source, "", path);
    if (scan.incomplete || !scan.unresolved.empty())
        return std::nullopt;
    ByteWriter headers;
    for (const Dependency &file : scan.dependencies.files) {
        if (file.absent)
            continue;
        if (fs::path(file.path).parent_path() != kernel_headers)
            return std::nullopt;
        headers.put(fs::path(file.path).filename().string()).put(as_text(file.digest));
    }
    return headers.bytes();
}

} // namespace

struct KernelPack::Row {
    Sha256::Digest key, digest;
    std::uint64_t place;
    std::uint32_t size;
    std::uint16_t architecture;
    std::uint16_t cuda; // 0: PTX

    [[nodiscard]] bool is_ptx() const { return cuda == 0; }

    /// Machine code runs on later architectures of its generation: 8.0's on 8.6, but not on 9.0.
    [[nodiscard]] bool suits(unsigned device, const PackagedImages &images) const {
        if (architecture > device)
            return false;
        return is_ptx() ? images.ptx
                        : cuda <= images.newest_cuda && architecture / 10u == device / 10u;
    }

    [[nodiscard]] std::pair<bool, int> rank() const { return {!is_ptx(), architecture}; }
};

std::optional<KernelPackKey> kernel_pack_key(const CompileRequest &request,
                                             const std::string &kernel_headers) {
    const bool for_gpu = may_replace_machine_code(request);
    if ((request.target != ImageKind::Ptx && !for_gpu) ||
        request.compiler != CompilerChoice::Auto || !request.name_expressions.empty() ||
        !std::ranges::all_of(request.options, is_plain))
        return std::nullopt;
    const std::optional<std::string> headers = headers_of(request, kernel_headers);
    if (!headers)
        return std::nullopt;
    ByteWriter key;
    key.put("kernel 3").put(request.source).put(request.name).put(*headers);
    for (const std::string &option : request.options)
        if (!is_folder(option))
            key.put(option);
    key.put(request.arch).put(request.code).put(static_cast<int>(for_gpu));
    key.put(request.device && !for_gpu ? request.device->number() : -1);
    key.put(static_cast<int>(request.linkage)).put(static_cast<int>(request.builtins));
    return KernelPackKey{sha256(key.bytes()),
                         for_gpu ? static_cast<unsigned>(request.device->number()) : ~0u};
}

const KernelPack &KernelPack::installed(ImageKind requested) {
    if (requested == ImageKind::Ptx) {
        static const auto *for_softcuda = new KernelPack(installed_path("kernels.pack"));
        return *for_softcuda;
    }
    static const auto *for_gpu = new KernelPack(installed_path("gpu_kernels.pack"));
    return *for_gpu;
}

KernelPack::KernelPack(const std::string &path) : file_(map_file(path)) {
    std::uint64_t count = 0;
    if (file_.size() < header_size || !file_.starts_with(magic))
        return;
    std::memcpy(&count, file_.data() + magic.size(), sizeof count);
    if (count <= (file_.size() - header_size) / sizeof(Row))
        count_ = count;
}

std::string_view KernelPack::image_of(const Row &row) const {
    if (row.place > file_.size() || row.size > file_.size() - row.place)
        return {};
    return file_.substr(row.place, row.size);
}

std::optional<CompileOutcome> KernelPack::find(const KernelPackKey &key,
                                               const PackagedImages &images) const {
    const auto *rows = reinterpret_cast<const Row *>(file_.data() + header_size);
    const Row *best = nullptr;
    const auto *row =
        std::lower_bound(rows, rows + count_, key.digest,
                         [](const Row &a, const Sha256::Digest &wanted) { return a.key < wanted; });
    for (; row != rows + count_ && row->key == key.digest; ++row)
        if (row->suits(key.newest, images) && (!best || best->rank() < row->rank()))
            best = row;
    if (!best || sha256(image_of(*best)) != best->digest)
        return std::nullopt;
    CompileOutcome found;
    found.result.image = image_of(*best);
    found.result.kind = best->is_ptx() ? ImageKind::Ptx : ImageKind::Cubin;
    found.result.arch = (best->is_ptx() ? "compute_" : "sm_") + std::to_string(best->architecture);
    found.result.origin = ImageOrigin::Package;
    found.cuda = best->cuda;
    return found;
}

bool records_kernels() { return std::getenv("PYCUDA_RECORD_KERNELS") != nullptr; }

void record_kernel(const KernelPackKey &key, const CompileOutcome &outcome) {
    const std::string &arch = outcome.result.arch;
    const std::string stem = to_hex(key.digest) + "-" + arch.substr(arch.find('_') + 1) + "-";
    const auto write = [&](int cuda, const std::string &image) {
        const fs::path folder = environment("PYCUDA_RECORD_KERNELS");
        std::ofstream(folder / (stem + std::to_string(cuda)), std::ios::binary) << image;
    };
    write(outcome.cuda, outcome.result.image);
    if (!outcome.ptx.empty())
        write(0, outcome.ptx);
}

} // namespace pycuda::compile_detail
