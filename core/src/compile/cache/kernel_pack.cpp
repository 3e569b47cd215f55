// kernel_pack.cpp -- looks up precompiled kernels, and records kernels for a later pack.
#include "compile/cache/kernel_pack.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

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

constexpr std::string_view magic = "PyCUDA kernels 1";
constexpr std::size_t header_size = magic.size() + sizeof(std::uint64_t);

/// The path beside the program or shared object that contains this code.
std::string installed_path() {
    if (std::string chosen = environment("PYCUDA_KERNEL_PACK"); !chosen.empty())
        return chosen;
    Dl_info info{};
    if (::dladdr(reinterpret_cast<const void *>(&installed_path), &info) == 0 || !info.dli_fname)
        return {};
    std::error_code ignored;
    return fs::weakly_canonical(info.dli_fname, ignored).parent_path() / "kernels.pack";
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
    std::uint64_t place, size;
};

std::optional<Sha256::Digest> kernel_pack_key(const CompileRequest &request,
                                              const std::string &kernel_headers) {
    if (request.target != ImageKind::Ptx || request.compiler != CompilerChoice::Auto ||
        !request.name_expressions.empty() || !std::ranges::all_of(request.options, is_plain))
        return std::nullopt;
    const std::optional<std::string> headers = headers_of(request, kernel_headers);
    if (!headers)
        return std::nullopt;
    ByteWriter key;
    key.put("kernel 1").put(request.source).put(request.name).put(*headers);
    for (const std::string &option : request.options)
        if (!is_folder(option))
            key.put(option);
    key.put(request.arch).put(request.code);
    key.put(request.device ? request.device->number() : -1);
    key.put(static_cast<int>(request.linkage)).put(static_cast<int>(request.builtins));
    return sha256(key.bytes());
}

const KernelPack &KernelPack::installed() {
    static const auto *pack = new KernelPack(installed_path());
    return *pack;
}

KernelPack::KernelPack(const std::string &path) : file_(map_file(path)) {
    std::uint64_t count = 0;
    if (file_.size() < header_size || !file_.starts_with(magic))
        return;
    std::memcpy(&count, file_.data() + magic.size(), sizeof count);
    if (count <= (file_.size() - header_size) / sizeof(Row))
        count_ = count;
}

std::string_view KernelPack::entry_at(const Row &row) const {
    if (row.place > file_.size() || row.size > file_.size() - row.place)
        return {};
    return file_.substr(row.place, row.size);
}

std::optional<CompileResult> KernelPack::find(const Sha256::Digest &key) const {
    const auto *rows = reinterpret_cast<const Row *>(file_.data() + header_size);
    const auto *row =
        std::lower_bound(rows, rows + count_, key,
                         [](const Row &a, const Sha256::Digest &wanted) { return a.key < wanted; });
    if (row == rows + count_ || row->key != key)
        return std::nullopt;
    const std::string_view entry = entry_at(*row);
    const std::size_t line_end = entry.find('\n');
    if (line_end == std::string_view::npos || sha256(entry) != row->digest)
        return std::nullopt;
    CompileResult result;
    result.image = entry.substr(line_end + 1);
    result.kind = ImageKind::Ptx;
    result.arch = entry.substr(0, line_end);
    result.origin = ImageOrigin::Package;
    return result;
}

void record_kernel(const Sha256::Digest &key, const CompileResult &result) {
    const std::string folder = environment("PYCUDA_RECORD_KERNELS");
    if (folder.empty() || result.kind != ImageKind::Ptx)
        return;
    std::ofstream(fs::path(folder) / to_hex(key), std::ios::binary) << result.arch << '\n'
                                                                    << result.image;
}

} // namespace pycuda::compile_detail
