// disk_cache.cpp -- images compiled by earlier processes.
#include "compile/cache/disk_cache.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <abi/environment_number.h>

#include "compile/cache/byte_stream.h"

namespace fs = std::filesystem;

namespace pycuda::compile_detail {
namespace {

constexpr std::string_view magic = "PyCUDA image 1\n";
constexpr std::string_view entry_ending = ".image";
constexpr std::string_view temporary_ending = ".tmp";
constexpr std::int64_t hour_ns = 3'600'000'000'000;

std::string_view as_text(const Sha256::Digest &digest) {
    return {reinterpret_cast<const char *>(digest.data()), digest.size()};
}

std::string write_payload(const CacheEntry &entry) {
    const CompileResult &result = entry.result;
    ByteWriter out;
    out.put(result.image).put(static_cast<int>(result.kind)).put(result.arch).put(result.log);
    out.put<std::uint64_t>(result.command_line.size());
    for (const std::string &word : result.command_line)
        out.put(word);
    out.put<std::uint64_t>(result.lowered_names.size());
    for (const auto &[expression, name] : result.lowered_names)
        out.put(expression).put(name);
    out.put(entry.dependencies.recorded_ns);
    out.put<std::uint64_t>(entry.dependencies.files.size());
    for (const Dependency &file : entry.dependencies.files)
        out.put(file.path)
            .put(file.absent)
            .put(file.stamp.size)
            .put(file.stamp.modified_ns)
            .put(as_text(file.digest));
    return out.bytes();
}

Dependency read_dependency(ByteReader &in) {
    Dependency file;
    file.path = in.text();
    file.absent = in.number<bool>();
    file.stamp.size = in.number<std::uint64_t>();
    file.stamp.modified_ns = in.number<std::int64_t>();
    std::string_view digest = in.text();
    std::copy_n(digest.begin(), std::min(digest.size(), file.digest.size()), file.digest.begin());
    return file;
}

CacheEntry read_payload(std::string_view payload) {
    ByteReader in(payload);
    CacheEntry entry;
    CompileResult &result = entry.result;
    result.image = in.text();
    result.kind = static_cast<ImageKind>(in.number<int>());
    result.arch = in.text();
    result.log = in.text();
    for (auto left = in.number<std::uint64_t>(); left > 0; --left)
        result.command_line.emplace_back(in.text());
    for (auto left = in.number<std::uint64_t>(); left > 0; --left) {
        std::string expression(in.text());
        result.lowered_names.emplace_back(std::move(expression), in.text());
    }
    entry.dependencies.recorded_ns = in.number<std::int64_t>();
    for (auto left = in.number<std::uint64_t>(); left > 0; --left)
        entry.dependencies.files.push_back(read_dependency(in));
    result.origin = ImageOrigin::DiskCache;
    return entry;
}

/// The entry in the text of a file; empty if the file is damaged.
std::optional<CacheEntry> read_entry(std::string_view text) {
    constexpr std::size_t header_size = magic.size() + sizeof(Sha256::Digest);
    if (text.size() < header_size || !text.starts_with(magic))
        return std::nullopt;
    std::string_view payload = text.substr(header_size);
    if (text.substr(magic.size(), sizeof(Sha256::Digest)) != as_text(sha256(payload)))
        return std::nullopt;
    return read_payload(payload);
}

/// "123-7.tmp": a name that no other process and no other call in this process uses.
std::string unique_name() {
    static std::atomic<unsigned> counter = 0;
    return std::to_string(::getpid()) + "-" + std::to_string(now_ns()) + "-" +
           std::to_string(counter++) + std::string(temporary_ending);
}

bool write_file(const std::string &path, std::string_view text) {
    int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return false;
    while (!text.empty()) {
        ssize_t written = ::write(fd, text.data(), text.size());
        if (written <= 0)
            break; // the disk is full
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return ::close(fd) == 0 && text.empty();
}

/// Updates the time of last use, at most once an hour to limit disk writes.
void touch(const std::string &path, const FileStamp &stamp) {
    if (now_ns() - stamp.modified_ns > hour_ns)
        ::utimensat(AT_FDCWD, path.c_str(), nullptr,
                    0); // fails for a read-only cache, which is allowed
}

struct FileInFolder {
    fs::path path;
    FileStamp stamp;
};

std::vector<FileInFolder> list_files(const fs::path &folder) {
    std::vector<FileInFolder> files;
    std::error_code failed; // another process may remove listed files
    for (auto at = fs::directory_iterator(folder, failed);
         !failed && at != fs::directory_iterator(); at.increment(failed)) {
        std::error_code gone;
        for (auto in = fs::directory_iterator(at->path(), gone);
             !gone && in != fs::directory_iterator(); in.increment(gone))
            if (auto stamp = stamp_file(in->path()))
                files.push_back({in->path(), *stamp});
    }
    return files;
}

bool is_abandoned(const FileInFolder &file) {
    return file.path.extension() == temporary_ending && now_ns() - file.stamp.modified_ns > hour_ns;
}

} // namespace

std::uint64_t DiskCache::default_capacity() {
    return abi::environment_number("PYCUDA_CACHE_SIZE", std::uint64_t{1} << 30);
}

DiskCache::DiskCache(fs::path folder, std::uint64_t capacity)
    : folder_(std::move(folder)), capacity_(capacity) {}

fs::path DiskCache::path_of(const Sha256::Digest &key) const {
    const std::string name = to_hex(key);
    return folder_ / name.substr(0, 2) / (name + std::string(entry_ending));
}

std::optional<CacheEntry> DiskCache::find(const Sha256::Digest &key) const {
    const std::string path = path_of(key);
    std::optional<FileContent> file = read_file(path);
    std::optional<CacheEntry> entry = file ? read_entry(file->text) : std::nullopt;
    if (!entry || !entry->dependencies.is_current())
        return std::nullopt;
    touch(path, file->stamp);
    return entry;
}

void DiskCache::store(const Sha256::Digest &key, const CacheEntry &entry) const {
    const fs::path path = path_of(key);
    std::error_code failed;
    fs::create_directories(path.parent_path(), failed);
    const std::string payload = write_payload(entry);
    std::string text(magic);
    text += as_text(sha256(payload));
    text += payload;

    const fs::path temporary = path.parent_path() / unique_name();
    if (write_file(temporary, text))
        fs::rename(temporary, path, failed);
    else
        failed = std::make_error_code(std::errc::io_error);
    if (failed)
        fs::remove(temporary, failed);

    // Listing the folder takes longer than writing one entry, so evict() runs for one key of 64.
    if (key.back() % 64 == 0)
        evict();
}

void DiskCache::evict() const {
    std::vector<FileInFolder> files = list_files(folder_);
    std::uint64_t total = 0;
    std::error_code gone; // another process may have removed the file
    for (const FileInFolder &file : files)
        if (is_abandoned(file))
            fs::remove(file.path, gone);
        else
            total += file.stamp.size;
    if (total <= capacity_)
        return;
    std::ranges::sort(files, {}, [](const FileInFolder &file) { return file.stamp.modified_ns; });
    for (const FileInFolder &file : files) {
        if (total <= capacity_ / 5 * 4)
            break;
        if (file.path.extension() == entry_ending && fs::remove(file.path, gone))
            total -= file.stamp.size;
    }
}

} // namespace pycuda::compile_detail
