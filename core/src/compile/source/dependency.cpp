// dependency.cpp -- checks whether the files that an image depends on are unchanged.
#include "compile/source/dependency.h"

#include <algorithm>
#include <chrono>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pycuda::compile_detail {
namespace {

// File systems store times with a resolution of up to 2 s (FAT). A file that changed less than this
// time before it was read may change again without a change of its stamp.
constexpr std::int64_t coarsest_clock_ns = 2'000'000'000;

FileStamp to_stamp(const struct stat &status) {
    return {static_cast<std::uint64_t>(status.st_size),
            std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

bool read_all(int fd, std::string &text) {
    std::size_t filled = 0;
    while (filled < text.size()) {
        ssize_t got = ::read(fd, text.data() + filled, text.size() - filled);
        if (got <= 0)
            return false;
        filled += static_cast<std::size_t>(got);
    }
    return true;
}

bool is_current(const Dependency &file, std::int64_t recorded_ns) {
    std::optional<FileStamp> stamp = stamp_file(file.path);
    if (file.absent)
        return !stamp;
    if (!stamp || stamp->size != file.stamp.size)
        return false;
    bool stamp_proves = file.stamp.modified_ns + coarsest_clock_ns < recorded_ns;
    if (stamp_proves && *stamp == file.stamp)
        return true;
    std::optional<FileContent> content = read_file(file.path);
    return content && sha256(content->text) == file.digest;
}

} // namespace

std::int64_t now_ns() {
    using namespace std::chrono;
    return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

std::optional<FileStamp> stamp_file(const std::string &path) {
    struct stat status;
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
        return std::nullopt;
    return to_stamp(status);
}

std::optional<FileIdentity> identify(const std::string &path) {
    struct stat status;
    if (::stat(path.c_str(), &status) != 0)
        return std::nullopt;
    return FileIdentity{status.st_dev, status.st_ino};
}

std::optional<FileContent> read_file(const std::string &path) {
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return std::nullopt;
    std::optional<FileContent> content;
    struct stat status;
    if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        content.emplace();
        content->stamp = to_stamp(status);
        content->text.resize(content->stamp.size);
        if (!read_all(fd, content->text))
            content.reset();
    }
    ::close(fd);
    return content;
}

bool DependencyList::is_current() const {
    return std::ranges::all_of(files, [this](const Dependency &file) {
        return compile_detail::is_current(file, recorded_ns);
    });
}

bool DependencyList::stamps_match() const {
    return std::ranges::all_of(files, [](const Dependency &file) {
        std::optional<FileStamp> stamp = stamp_file(file.path);
        return file.absent ? !stamp : stamp && *stamp == file.stamp;
    });
}

} // namespace pycuda::compile_detail
