// perf_files.cpp -- writes the two formats. They are documented in perf's tools/perf/Documentation:
// jit-interface.txt and jitdump-specification.txt.
#include "jit/perf_files.h"

#include "target/elf_machine.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <mutex>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace softcuda::jit {

namespace {

enum class Format { None, Map, Dump };

Format wanted_format() {
    const char *word = std::getenv("SOFTCUDA_PERF");
    if (!word || !*word)
        return Format::None;
    if (std::string_view(word) == "map")
        return Format::Map;
    if (std::string_view(word) == "jitdump")
        return Format::Dump;
    throw std::runtime_error(std::string("SOFTCUDA_PERF is '") + word +
                             "'; it may be map or jitdump");
}

void report(const std::string &path, const char *problem) {
    std::fprintf(stderr, "softcuda: no names of kernels for perf: %s: %s\n", path.c_str(), problem);
}

/// The bytes of a record.
class Record {
  public:
    template <typename Number> void add(Number value) {
        char bytes[sizeof value];
        std::memcpy(bytes, &value, sizeof value);
        bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
    }
    void add_text(std::string_view text) {
        bytes_.insert(bytes_.end(), text.begin(), text.end());
        bytes_.push_back('\0');
    }
    void add_bytes(const void *begin, std::size_t count) {
        const auto *from = static_cast<const char *>(begin);
        bytes_.insert(bytes_.end(), from, from + count);
    }
    /// Writes a record's size to its header.
    void finish() {
        const auto size = static_cast<std::uint32_t>(bytes_.size());
        std::memcpy(bytes_.data() + sizeof(std::uint32_t), &size, sizeof size);
    }
    [[nodiscard]] const std::vector<char> &bytes() const { return bytes_; }

  private:
    std::vector<char> bytes_;
};

std::uint64_t now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_nsec);
}

/// The file of one process in one format.
class PerfFile {
  public:
    PerfFile(Format format, pid_t process) : process_(process) {
        if (format == Format::Map)
            open_map();
        else
            open_dump();
    }
    PerfFile(const PerfFile &) = delete;
    // In a forked child, closes the parent's file; the marker page stays mapped, as perf requires.
    ~PerfFile() { close(); }

    [[nodiscard]] pid_t process() const { return process_; }

    void write(const std::vector<char> &bytes) {
        for (std::size_t done = 0; file_ >= 0 && done < bytes.size();) {
            const ssize_t count = ::write(file_, bytes.data() + done, bytes.size() - done);
            if (count < 0 && errno == EINTR)
                continue;
            if (count <= 0)
                return give_up(std::strerror(errno));
            done += static_cast<std::size_t>(count);
        }
    }

  private:
    // Python's trampolines are in the same file, so this code appends to it.
    void open_map() {
        path_ = "/tmp/perf-" + std::to_string(process_) + ".map";
        file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
        struct stat found{};
        if (file_ < 0 || fstat(file_, &found) != 0)
            return give_up(std::strerror(errno));
        if (!S_ISREG(found.st_mode) || found.st_uid != geteuid() || found.st_nlink != 1)
            return give_up("the file belongs to somebody else");
        fchmod(file_, 0600);
    }

    void open_dump() {
        const char *folder = std::getenv("SOFTCUDA_PERF_DIR");
        path_ = std::string(folder && *folder ? folder : ".") + "/jit-" + std::to_string(process_) +
                ".dump";
        unlink(path_.c_str()); // a file of an older process with this number
        file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (file_ < 0)
            return give_up(std::strerror(errno));
        write_header();
        // perf detects the file by this mapping, which must be executable.
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        if (mmap(nullptr, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, file_, 0) == MAP_FAILED)
            give_up("cannot be mapped as executable; is the folder on a file system without that?");
    }

    void write_header() {
        constexpr std::uint32_t kMagic = 0x4A695444, kVersion = 1, kHeaderBytes = 40;
        Record header;
        for (std::uint32_t word : {kMagic, kVersion, kHeaderBytes, target::elf_machine, 0u,
                                   static_cast<std::uint32_t>(process_)})
            header.add(word);
        header.add(now());
        header.add(std::uint64_t{0}); // flags
        write(header.bytes());
    }

    void give_up(const char *problem) {
        report(path_, problem);
        close();
    }
    void close() {
        if (file_ >= 0)
            ::close(file_);
        file_ = -1;
    }

    pid_t process_;
    std::string path_;
    int file_ = -1;
};

Record begin_record(std::uint32_t id) {
    Record record;
    record.add(id);
    record.add(std::uint32_t{0}); // size, written later
    record.add(now());
    return record;
}

std::vector<char> line_record(const Code::Function &function, std::uint64_t text,
                              const std::vector<LineTable::Row> &rows) {
    constexpr std::uint32_t kDebugInfo = 2;
    const std::uint64_t begin = function.address - text, end = begin + function.bytes;
    std::vector<LineTable::Row> own;
    for (const LineTable::Row &row : rows)
        if (row.offset >= begin && row.offset < end)
            own.push_back(row);
    if (own.empty())
        return {};
    Record record = begin_record(kDebugInfo);
    record.add(function.address);
    record.add(std::uint64_t{own.size()});
    for (const LineTable::Row &row : own) {
        record.add(std::uint64_t{text + row.offset});
        record.add(row.place.line);
        record.add(std::uint32_t{0}); // discriminator
        record.add_text(row.place.file);
    }
    record.finish();
    return record.bytes();
}

std::vector<char> load_record(const Code::Function &function, const std::string &name,
                              pid_t process) {
    constexpr std::uint32_t kLoad = 0;
    static std::uint64_t index = 0; // protected by the lock of write_perf_files()
    Record record = begin_record(kLoad);
    record.add(static_cast<std::uint32_t>(process));
    record.add(static_cast<std::uint32_t>(syscall(SYS_gettid)));
    record.add(function.address);
    record.add(function.address);
    record.add(function.bytes);
    record.add(++index);
    record.add_text(name);
    record.add_bytes(reinterpret_cast<const void *>(function.address), function.bytes);
    record.finish();
    return record.bytes();
}

std::vector<char> map_line(const Code::Function &function, const std::string &name) {
    char numbers[48];
    std::snprintf(numbers, sizeof numbers, "%llx %llx ",
                  static_cast<unsigned long long>(function.address),
                  static_cast<unsigned long long>(function.bytes));
    const std::string line = numbers + name + "\n";
    return {line.begin(), line.end()};
}

} // namespace

void write_perf_files(const Code &code, const LineTable &lines, const SourceName &name) {
    static const Format format = wanted_format();
    if (format == Format::None)
        return;
    // Never destroyed: other threads may compile while the process ends.
    static auto *const mutex = new std::mutex;
    static PerfFile *file = nullptr;
    std::lock_guard lock(*mutex);
    if (!file || file->process() != getpid()) {
        delete file;
        file = new PerfFile(format, getpid());
    }
    const std::vector<LineTable::Row> rows =
        format == Format::Dump ? lines.rows() : std::vector<LineTable::Row>();
    for (const Code::Function &function : code.functions()) {
        const std::string shown = name(function.name);
        if (format == Format::Map) {
            file->write(map_line(function, shown));
            continue;
        }
        file->write(line_record(function, code.text(), rows)); // must precede the code
        file->write(load_record(function, shown, getpid()));
    }
}

} // namespace softcuda::jit
