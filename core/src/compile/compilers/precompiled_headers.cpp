// precompiled_headers.cpp -- folders named by process, and their limit.
#include "compile/compilers/precompiled_headers.h"

#include "driver/never_destroyed.h"

#include <pycuda/caller_lock.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>

#include <unistd.h>

namespace fs = std::filesystem;

namespace pycuda::compile_detail {
namespace {

constexpr std::uint64_t large_headers_bytes = std::uint64_t{1} << 20;
/// Of one precompiled header, an estimate; and of those of all processes.
constexpr std::uint64_t usual_bytes = std::uint64_t{256} << 20;
constexpr std::uint64_t most_bytes = std::uint64_t{2} << 30;

/// The time at which a process began, in the kernel's unit; empty if there is no such process. A
/// later process may have the same number.
std::string start_of(const std::string &process) {
    std::ifstream file("/proc/" + process + "/stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::size_t at = text.rfind(')'); // the program's name may have spaces and brackets
    constexpr int fields_before = 20;
    for (int field = 0; field < fields_before && at != std::string::npos; ++field)
        at = text.find(' ', at + 1);
    return at == std::string::npos ? "" : text.substr(at + 1, text.find(' ', at + 1) - at - 1);
}

/// "PROCESS-START"
std::string own_name() {
    const std::string process = std::to_string(::getpid());
    return process + "-" + start_of(process);
}

bool is_abandoned(const std::string &name) {
    const std::size_t dash = name.find('-');
    const std::string process = name.substr(0, dash);
    return dash == std::string::npos || start_of(process) != name.substr(dash + 1);
}

std::uint64_t bytes_of(const fs::path &folder) {
    std::uint64_t bytes = 0;
    std::error_code gone; // another process may remove its files at any time
    for (fs::directory_iterator file(folder, gone), end; !gone && file != end;
         file.increment(gone)) {
        const std::uint64_t size = fs::file_size(file->path(), gone);
        bytes += gone ? 0 : size;
    }
    return bytes;
}

/// Removes the folders of processes that have ended. The bytes of the others.
std::uint64_t clean(const fs::path &folders) {
    std::uint64_t bytes = 0;
    std::error_code gone;
    for (fs::directory_iterator one(folders, gone), end; !gone && one != end; one.increment(gone)) {
        std::error_code failed; // two processes may remove one folder
        if (is_abandoned(one->path().filename()))
            fs::remove_all(one->path(), failed);
        else
            bytes += bytes_of(one->path());
    }
    return bytes;
}

/// The folder of this process, which is removed at its end.
struct OwnFolder {
    CallerMutex mutex;
    fs::path path;
    std::set<std::string> made_for; // headers
};

OwnFolder &own_folder() { return never_destroyed<OwnFolder>(); }

void remove_own_folder() {
    const OwnFolder &own = own_folder();
    std::error_code failed;                // the next process removes the rest
    if (own.path.filename() == own_name()) // a forked child has another number
        fs::remove_all(own.path, failed);
}

} // namespace

bool has_large_headers(const IncludeScan &scan) {
    std::uint64_t bytes = 0;
    for (const Dependency &file : scan.dependencies.files)
        bytes += file.absent ? 0 : file.stamp.size;
    return scan.has_large_library || bytes >= large_headers_bytes;
}

std::string folder_for_precompiled_headers(const std::string &cache, const std::string &headers) {
    const fs::path folders = fs::path(cache) / "precompiled-headers";
    OwnFolder &own = own_folder();
    std::scoped_lock lock(own.mutex);
    const fs::path wanted = folders / own_name();
    if (own.path == wanted && own.made_for.contains(headers))
        return wanted;
    if (clean(folders) + usual_bytes > most_bytes)
        return "";
    std::error_code failed;
    fs::create_directories(wanted, failed);
    if (failed)
        return "";
    if (own.path.empty())
        std::atexit(remove_own_folder);
    if (own.path != wanted)
        own.made_for.clear();
    own.path = wanted;
    own.made_for.insert(headers);
    return wanted;
}

} // namespace pycuda::compile_detail
