// object_cache.cpp -- the file format and the folder of cached objects.
//
// One file per entry, named by a hash of the key:
//
//     magic (8) | key bytes (8) | object bytes (8) | checksum of both (8) | key | object
//
// The whole key is compared, so two keys with equal hashes only replace each other. A file is
// written under a unique name and then renamed: readers see the complete file or none. Reading an
// entry sets its modification time, which trim() uses (access times are often disabled).
#include "jit/object_cache.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace softcuda::jit {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMagic = 0x31304a424f554353; // "SCUOBJ01"
constexpr const char *kSuffix = ".object";
constexpr const char *kUnfinishedSuffix = ".unfinished";
constexpr auto kUnfinishedLifetime = std::chrono::hours(1);
constexpr unsigned kStoresPerTrim = 32;

struct Header {
    std::uint64_t magic, key_bytes, object_bytes, checksum;
};

/// Eight bytes at a time: multiplies, and folds the 128-bit product. Detects damage, not
/// manipulation: an attacker could write to the folder only with the user's rights.
std::uint64_t hash(std::string_view bytes, std::uint64_t seed) {
    constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
    std::uint64_t state = seed ^ (bytes.size() * factor);
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
        const auto product = static_cast<unsigned __int128>(state ^ word ^ factor) * factor;
        state = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
        state = (state << 23 | state >> 41) + word;
    }
    state ^= state >> 32;
    state *= factor;
    return state ^ state >> 29;
}

std::uint64_t checksum(std::string_view key, std::string_view object) {
    return hash(object, hash(key, 1));
}

/// A file that is closed by the destructor.
class File {
  public:
    File(const fs::path &path, int flags)
        : number_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
    ~File() { close(); }
    File(const File &) = delete;
    File &operator=(const File &) = delete;

    explicit operator bool() const { return number_ >= 0; }
    int number() const { return number_; }

    bool close() {
        const int number = std::exchange(number_, -1);
        return number < 0 || ::close(number) == 0;
    }
    bool read(void *to, std::size_t bytes) const {
        return transfer(static_cast<char *>(to), bytes,
                        [this](char *at, std::size_t n) { return ::read(number_, at, n); });
    }
    bool write(const void *from, std::size_t bytes) const {
        return transfer(static_cast<const char *>(from), bytes,
                        [this](const char *at, std::size_t n) { return ::write(number_, at, n); });
    }

  private:
    template <typename Pointer, typename Step>
    static bool transfer(Pointer at, std::size_t bytes, Step step) {
        while (bytes > 0) {
            const ssize_t done = step(at, bytes);
            if (done < 0 && errno == EINTR)
                continue;
            if (done <= 0)
                return false;
            at += done;
            bytes -= static_cast<std::size_t>(done);
        }
        return true;
    }
    int number_;
};

fs::path unfinished_path(const fs::path &final_path) {
    static std::atomic<unsigned> count{0};
    return final_path.string() + '.' + std::to_string(::getpid()) + '.' +
           std::to_string(count.fetch_add(1)) + kUnfinishedSuffix;
}

struct Entry {
    fs::path path;
    fs::file_time_type used;
    std::uint64_t bytes;
};

/// All entries. Removes unfinished files of crashed writers.
std::vector<Entry> list_entries(const fs::path &directory) {
    std::vector<Entry> entries;
    std::error_code error;
    for (fs::directory_iterator at(directory, error), end; !error && at != end;
         at.increment(error)) {
        std::error_code gone;
        const fs::file_time_type used = at->last_write_time(gone);
        const std::uint64_t bytes = gone ? 0 : at->file_size(gone);
        if (gone)
            continue;
        const fs::path extension = at->path().extension();
        if (extension == kSuffix)
            entries.push_back({at->path(), used, bytes});
        else if (extension == kUnfinishedSuffix &&
                 fs::file_time_type::clock::now() - used > kUnfinishedLifetime)
            fs::remove(at->path(), gone);
    }
    return entries;
}

bool write_entry(const fs::path &path, std::string_view key, std::string_view object) {
    const Header header{kMagic, key.size(), object.size(), checksum(key, object)};
    File file(path, O_WRONLY | O_CREAT | O_EXCL);
    return file && file.write(&header, sizeof header) && file.write(key.data(), key.size()) &&
           file.write(object.data(), object.size()) && file.close();
}

const char *environment(const char *name) {
    const char *value = std::getenv(name);
    return value && *value ? value : nullptr;
}

} // namespace

ObjectCache::ObjectCache(fs::path directory, std::uint64_t capacity)
    : directory_(std::move(directory)), capacity_(capacity) {}

ObjectCache ObjectCache::from_environment() {
    if (const char *off = environment("SOFTCUDA_DISABLE_CACHE");
        off && std::string_view(off) != "0")
        return {};
    if (const char *chosen = environment("SOFTCUDA_CACHE_DIR"))
        return ObjectCache(chosen);
    if (const char *xdg = environment("XDG_CACHE_HOME"))
        return ObjectCache(fs::path(xdg) / "softcuda");
    if (const char *home = environment("HOME"))
        return ObjectCache(fs::path(home) / ".cache" / "softcuda");
    return {};
}

fs::path ObjectCache::path_of(std::string_view key) const {
    std::array<char, 40> name;
    std::snprintf(name.data(), name.size(), "%016llx%016llx",
                  static_cast<unsigned long long>(hash(key, 2)),
                  static_cast<unsigned long long>(hash(key, 3)));
    return directory_ / (std::string(name.data()) + kSuffix);
}

std::optional<std::vector<char>> ObjectCache::load(std::string_view key) const {
    if (directory_.empty())
        return std::nullopt;
    const File file(path_of(key), O_RDONLY);
    Header header;
    struct stat status;
    if (!file || !file.read(&header, sizeof header) || ::fstat(file.number(), &status) != 0)
        return std::nullopt;
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (header.magic != kMagic || header.key_bytes != key.size() ||
        header.object_bytes != size - sizeof header - key.size())
        return std::nullopt;
    std::string stored_key(key.size(), '\0');
    if (!file.read(stored_key.data(), stored_key.size()) || stored_key != key)
        return std::nullopt;
    std::vector<char> object(header.object_bytes);
    if (!file.read(object.data(), object.size()) ||
        checksum(key, {object.data(), object.size()}) != header.checksum)
        return std::nullopt;
    ::futimens(file.number(),
               nullptr); // marks it as used; fails on a read-only disk, which is allowed
    return object;
}

void ObjectCache::store(std::string_view key, std::span<const char> bytes) const {
    if (directory_.empty() || bytes.size() > capacity_ / 2)
        return;
    std::error_code error;
    fs::create_directories(directory_, error);
    const fs::path path = path_of(key);
    const fs::path unfinished = unfinished_path(path);
    if (write_entry(unfinished, key, {bytes.data(), bytes.size()}))
        fs::rename(unfinished, path, error);
    fs::remove(unfinished, error); // exists only if writing or renaming failed

    static std::atomic<unsigned> stores{0};
    if (stores.fetch_add(1) % kStoresPerTrim == 0)
        trim();
}

void ObjectCache::trim() const {
    if (directory_.empty())
        return;
    std::vector<Entry> entries = list_entries(directory_);
    std::uint64_t total = 0;
    for (const Entry &entry : entries)
        total += entry.bytes;
    if (total <= capacity_)
        return;
    std::sort(entries.begin(), entries.end(),
              [](const Entry &a, const Entry &b) { return a.used < b.used; });
    for (const Entry &entry : entries) {
        if (total <= capacity_ / 4 * 3)
            break;
        std::error_code gone;
        fs::remove(entry.path, gone);
        total -= entry.bytes;
    }
}

} // namespace softcuda::jit
