// record.cpp -- the lists, and their end in a file.
#include "profile/record.h"

#include "profile/kept.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>
#include <unistd.h>

namespace softcuda::profile {
namespace {

/// About 200 MB.
constexpr std::size_t kMostEvents = 1'000'000;

/// `%p` in the name is the process id, so each process has its own file.
std::string json_path() {
    const char *given = std::getenv("SOFTCUDA_PROFILE_JSON");
    std::string path = given ? given : "";
    if (const std::size_t at = path.find("%p"); at != std::string::npos)
        path.replace(at, 2, std::to_string(getpid()));
    return path;
}

/// A forked child has no driver, and its record is its parent's.
void report() {
    const std::string path = json_path();
    if (path.empty() || getpid() != kept().process)
        return;
    std::ofstream file(path);
    file << to_json() << '\n';
    if (!file.flush())
        std::fprintf(stderr, "softcuda: SOFTCUDA_PROFILE_JSON: cannot write %s\n", path.c_str());
}

} // namespace

Kept &kept() { // never destroyed: threads may end after main()
    static auto *const kept = new Kept;
    return *kept;
}

void add_launch(const LaunchInfo &info, const std::shared_ptr<const void> &code,
                std::vector<TableCounts> &&counts, const LaunchOutcome &outcome) {
    Kept &all = kept();
    std::lock_guard lock(all.mutex);
    auto found = std::ranges::find_if(all.kernels, [&](const KeptKernel &kernel) {
        return kernel.code == code && kernel.info == info;
    });
    if (found == all.kernels.end())
        found = all.kernels.insert(found, {.info = info, .code = code});
    ++found->launches;
    found->failures += outcome.has_failed;
    found->nanoseconds += outcome.nanoseconds;
    found->shortest = std::min(found->shortest, outcome.nanoseconds);
    found->longest = std::max(found->longest, outcome.nanoseconds);
    add_to(found->counts, counts);
}

void add_event(Event &&event) noexcept try {
    Kept &all = kept();
    std::lock_guard lock(all.mutex);
    if (all.events.size() < kMostEvents)
        all.events.push_back(std::move(event));
    else
        ++all.events_left_out;
} catch (const std::bad_alloc &) { // then there is one event less
}

void forget() {
    Kept &all = kept();
    std::lock_guard lock(all.mutex);
    all.kernels.clear();
    all.events.clear();
    all.events_left_out = 0;
}

void report_at_exit() {
    Kept &all = kept();
    std::lock_guard lock(all.mutex);
    if (all.process != 0)
        return;
    all.process = getpid();
    std::atexit(report);
}

} // namespace softcuda::profile
