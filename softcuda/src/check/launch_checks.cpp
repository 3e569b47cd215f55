// launch_checks.cpp -- findings of one launch, each reported once.
#include "check/launch_checks.h"

#include "check/block_checks.h"
#include "support/readable_name.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <filesystem>
#include <new>

namespace softcuda::check {
namespace {

struct Sites {
    std::mutex mutex;
    std::deque<SiteText> texts;
};

Sites &sites() {
    static auto *const sites = new Sites;
    return *sites;
}

/// The name in the source: `s` for `_ZZ6kernelE1s`.
std::string source_name(const char *symbol) {
    const std::string name = demangled(symbol);
    const std::size_t scope = name.rfind("::");
    return scope == std::string::npos ? name : name.substr(scope + 2);
}

/// NVRTC writes the folder in which it ran before the names of sources that exist in memory only.
std::string source_file(const char *path) {
    std::error_code failed;
    const std::filesystem::path file(path);
    return std::filesystem::exists(file, failed) ? path : file.filename().string();
}

std::uint64_t key_of(Kind kind, std::uint32_t first, std::uint32_t second) {
    return static_cast<std::uint64_t>(kind) << 48 ^ std::uint64_t{first} << 24 ^ second;
}

} // namespace

Memory &Memory::of_process() {
    static auto *const memory = new Memory;
    return *memory;
}

std::uint32_t give_number(rt::WatchSite &site) {
    std::atomic_ref<std::uint32_t> id(site.id);
    Sites &all = sites();
    std::lock_guard lock(all.mutex);
    if (const std::uint32_t known = id.load(std::memory_order_relaxed))
        return known;
    all.texts.push_back(
        {source_file(site.file), site.array ? source_name(site.array) : "", site.line, site.kind});
    const auto number = static_cast<std::uint32_t>(all.texts.size());
    id.store(number, std::memory_order_relaxed);
    return number;
}

SiteText text_of(std::uint32_t number) {
    Sites &all = sites();
    std::lock_guard lock(all.mutex);
    return number == 0 || number > all.texts.size() ? SiteText{} : all.texts[number - 1];
}

std::string variable_of(std::uint32_t number) {
    const std::string name = text_of(number).array;
    return name.empty() ? "" : "variable `" + name + "`";
}

std::uint32_t next_run() noexcept {
    static std::atomic<std::uint32_t> next{1};
    const std::uint32_t run = next++;
    return run != 0 ? run : next++;
}

LaunchChecks::LaunchChecks(unsigned modes, const std::string &kernel, const rt::LaunchFrame &frame,
                           std::uint64_t shared_bytes, std::uint64_t local_bytes, MemoryMap &memory)
    : modes(modes), kernel(readable_name(kernel)), frame(frame), shared_bytes(shared_bytes),
      local_bytes(local_bytes), run(next_run()), memory(memory), unwritten_memory(frame, memory),
      read_record{} {
    if ((modes & Race) == 0)
        return;
    const Addresses all = memory.device_memory();
    ReadWords &reads = Memory::of_process().reads;
    reads.cover(all.begin, all.end - all.begin);
    read_record = {.entries = reads.entries(),
                   .whole = ReadWords::whole_line(run),
                   .several = CommandCounter::several_streams_flag()};
}

rt::BlockWatch *LaunchChecks::begin(rt::WorkerState &state) noexcept try {
    return new BlockChecks(*this, state);
} catch (const std::bad_alloc &) {
    return nullptr;
}

void LaunchChecks::end(rt::BlockWatch *block) noexcept { delete block; }

MarkedWindow LaunchChecks::take_marks() {
    MarkedWindow marks;
    {
        std::lock_guard lock(mutex_);
        if (!spare_marks_.empty()) {
            marks = std::move(spare_marks_.back());
            spare_marks_.pop_back();
            return marks;
        }
    }
    marks.resize(shared_bytes);
    return marks;
}

void LaunchChecks::give_back(MarkedWindow &&marks) noexcept try {
    std::lock_guard lock(mutex_);
    spare_marks_.push_back(std::move(marks));
} catch (const std::bad_alloc &) { // then the next block makes its own
}

bool LaunchChecks::is_known(Kind kind, std::uint32_t first, std::uint32_t second) {
    std::lock_guard lock(mutex_);
    const auto [found, is_new] = found_.try_emplace(key_of(kind, first, second));
    if (is_new)
        found->second.count = 0;
    ++found->second.count;
    return !is_new;
}

FoundAccess access_of(std::uint32_t site, std::uint32_t block, std::uint32_t thread,
                      std::uint64_t bytes, const std::array<std::uint32_t, 3> &grid,
                      const std::array<std::uint32_t, 3> &shape) {
    const SiteText text = text_of(site);
    FoundAccess found;
    switch (text.kind) {
    case rt::WatchKind::Load:
        found.what = "read";
        break;
    case rt::WatchKind::Store:
        found.what = "write";
        break;
    case rt::WatchKind::Atomic:
        found.what = "atomic access";
        break;
    case rt::WatchKind::Free:
        found.what = "free";
        break;
    case rt::WatchKind::Meeting:
        found.what = "exchange within the warp";
        break;
    case rt::WatchKind::Barrier:
        found.what = "barrier";
        break;
    }
    found.file = text.file;
    found.line = text.line;
    found.bytes = bytes;
    found.block = {block % grid[0], block / grid[0] % grid[1], block / grid[0] / grid[1]};
    found.thread = {thread % shape[0], thread / shape[0] % shape[1], thread / shape[0] / shape[1]};
    return found;
}

FoundAccess LaunchChecks::access(std::uint32_t site, std::uint32_t block, std::uint32_t thread,
                                 std::uint64_t bytes) const {
    return access_of(site, block, thread, bytes, std::to_array(frame.grid),
                     std::to_array(frame.block));
}

namespace {

/// How many commands of its stream are done when a launch begins that need not wait for the launch
/// `before` to end. If this one allowed its successor to begin before it had itself waited, then
/// also earlier launches may still run.
std::uint32_t done_at_begin(const CommandOrder &order, const Accessor &before) {
    const Overlap &overlap = *before.overlap;
    if (!overlap.launches_next)
        return order.number() - 1;
    const std::uint32_t begun_after =
        overlap.launches_early ? overlap.begun_after : before.order.number() - 1;
    return std::max(begun_after, order.done_before());
}

} // namespace

void LaunchChecks::place(const CommandOrder &order, bool programmatic) {
    if (accessor_)
        return;
    auto overlap = std::make_shared<Overlap>();
    overlap->begun_after = order.number() - 1;
    if (programmatic) {
        const std::shared_ptr<const Accessor> before = latest_launch(order.stream());
        if (before && order.is_next_after(before->order))
            overlap->begun_after = done_at_begin(order, *before);
        begins_early_ = overlap->begun_after != order.number() - 1;
        if (begins_early_)
            CommandCounter::note_overlap();
    }
    accessor_ = std::make_shared<const Accessor>(Accessor{
        kernel, std::to_array(frame.grid), std::to_array(frame.block), order, std::move(overlap)});
    remember(run, accessor_);
}

void LaunchChecks::launch_dependents(bool early) noexcept {
    if (!accessor_)
        return;
    accessor_->overlap->launches_next = true;
    if (early)
        accessor_->overlap->launches_early = true;
}

std::shared_ptr<const Accessor> LaunchChecks::unordered(std::uint32_t earlier, bool early) {
    if (!accessor_)
        return nullptr;
    std::lock_guard lock(mutex_);
    const auto [found, is_new] = unordered_.at(early).try_emplace(earlier);
    if (is_new) {
        std::shared_ptr<const Accessor> launch = launch_of(earlier);
        const CommandOrder &mine = accessor_->order;
        if (launch &&
            (early ? !mine.comes_after(launch->order, accessor_->overlap->begun_after)
                   : !mine.comes_after(launch->order) && !launch->order.comes_after(mine)))
            found->second = std::move(launch);
    }
    return found->second;
}

void LaunchChecks::learn(std::uint32_t earlier) {
    std::lock_guard lock(mutex_);
    for (ByRun &unordered : unordered_)
        unordered[earlier] = nullptr;
}

void LaunchChecks::tell(Kind kind, std::uint32_t first, std::uint32_t second, Finding finding) {
    std::lock_guard lock(mutex_);
    Finding &place = found_[key_of(kind, first, second)];
    finding.count = place.count;
    finding.kind = kind;
    finding.kernel = kernel;
    place = std::move(finding);
}

void LaunchChecks::finish() {
    std::lock_guard lock(mutex_);
    for (const auto &[key, finding] : found_)
        if (!finding.kernel.empty())
            add(finding);
    found_.clear();
}

} // namespace softcuda::check
