// graph_checks.cpp -- the checks of a graph, and the waits that report those that failed.
#include "context/graph_checks.h"

#include "context/graph_objects.h"
#include "context/outside_captures.h"
#include "context/recording.h"
#include "driver/never_destroyed.h"

#include <pycuda/driver.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace pycuda::detail {
namespace {

constexpr HostRange::Kind registered = {
    "cuMemHostUnregister", [](void *data) { return driver().cuMemHostUnregister.status(data); }};
constexpr std::size_t page = 4096;
constexpr std::size_t flags_of_block = page / sizeof(std::int32_t);

/// The first whole page in two.
void *page_in(std::byte *memory) {
    std::size_t space = 2 * page;
    void *first = memory;
    return std::align(page, page, first, space);
}

/// A capture in progress.
struct Capture {
    cuuint64_t id = 0;
    CUgraph graph = nullptr;

    /// False if the stream is not being captured.
    bool read(StreamRef stream) {
        CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
        return !stream.is_default() && driver().cuStreamGetCaptureInfo.available() &&
               driver().cuStreamGetCaptureInfo.status(stream.get(), &status, &id, &graph, nullptr,
                                                      nullptr) == CUDA_SUCCESS &&
               status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
    }
};

} // namespace

/// The checks of all graphs, and errors of graphs that have ended.
struct ChecksInUse {
    struct Unreported {
        CUcontext context;
        FailedCheck failure;
    };

    struct Entry {
        GraphChecks *checks;
        std::weak_ptr<GraphChecks> owned;
    };

    CallerMutex mutex;
    std::vector<Entry> all;
    std::vector<Unreported> unreported; ///< at most one for a context

    void add(const std::shared_ptr<GraphChecks> &checks) {
        std::lock_guard lock(mutex);
        all.push_back({checks.get(), checks});
        count();
    }
    std::shared_ptr<GraphChecks> find(std::uint64_t capture) {
        std::lock_guard lock(mutex);
        for (const Entry &entry : all)
            if (entry.checks->capture_ == capture)
                return entry.owned.lock();
        return nullptr;
    }
    void remove(GraphChecks *checks) {
        std::unique_ptr<FailedCheck> failure;
        {
            std::lock_guard lock(mutex);
            std::erase_if(all, [&](const Entry &entry) { return entry.checks == checks; });
            failure = checks->take_failure();
            count();
        }
        const CUcontext handle = checks->context_.get();
        const auto forget = [this, handle] {
            std::lock_guard lock(mutex);
            std::erase_if(unreported, [&](const auto &one) { return one.context == handle; });
            count();
        };
        if (failure == nullptr || !checks->context_.before_end("failed checks", forget))
            return;
        std::lock_guard lock(mutex);
        if (std::ranges::find(unreported, handle, &Unreported::context) == unreported.end())
            unreported.push_back({handle, *failure});
        count();
    }
    /// The first error in this context that a wait for `stream` has covered; null if there is none.
    std::unique_ptr<FailedCheck> take(CUcontext context, StreamRef stream) {
        std::lock_guard lock(mutex);
        const auto found = std::ranges::find(unreported, context, &Unreported::context);
        if (found != unreported.end()) {
            auto failure = std::make_unique<FailedCheck>(found->failure);
            unreported.erase(found);
            count();
            return failure;
        }
        for (const Entry &entry : all)
            if (entry.checks->is_covered_by(context, stream))
                if (std::unique_ptr<FailedCheck> failure = entry.checks->take_failure())
                    return failure;
        return nullptr;
    }

    static ChecksInUse &instance() { return never_destroyed<ChecksInUse>(); }

  private:
    void count() {
        checks_to_report.store(static_cast<int>(all.size() + unreported.size()),
                               std::memory_order_relaxed);
    }
};

std::shared_ptr<GraphChecks> GraphChecks::find(StreamRef stream) {
    Capture capture;
    if (checks_to_report.load(std::memory_order_relaxed) == 0 || !capture.read(stream))
        return nullptr;
    return ChecksInUse::instance().find(capture.id);
}

std::shared_ptr<GraphChecks> GraphChecks::of(StreamRef stream) {
    Capture capture;
    if (!capture.read(stream))
        return nullptr;
    if (std::shared_ptr<GraphChecks> known = ChecksInUse::instance().find(capture.id))
        return known;
    auto made = std::make_shared<GraphChecks>(capture.id, Context::require_current());
    ChecksInUse::instance().add(made);
    give_to_graph(capture.graph, made);
    return made;
}

GraphChecks::~GraphChecks() { ChecksInUse::instance().remove(this); }

CUdeviceptr GraphChecks::add(std::span<const FailedCheck> failures) {
    std::lock_guard lock(mutex_);
    if (blocks_.empty() || blocks_.back().used + failures.size() > flags_of_block) {
        const OutsideCaptures outside; // no part of the graph
        const ScopedContext scope(context_);
        auto memory = std::make_unique<std::byte[]>(2 * page); // zeros
        void *data = page_in(memory.get());
        driver().cuMemHostRegister(data, page, CU_MEMHOSTREGISTER_DEVICEMAP);
        HostRange range(registered, data, page, context_);
        const CUdeviceptr address = range.device_pointer();
        blocks_.push_back({std::move(memory), std::move(range), address, 0});
    }
    Block &block = blocks_.back();
    auto *flag = static_cast<std::int32_t *>(block.registered.data()) + block.used;
    const CUdeviceptr address = block.address + block.used * sizeof(std::int32_t);
    for (const FailedCheck &failure : failures)
        checks_.push_back({flag++, failure});
    block.used += failures.size();
    return address;
}

void GraphChecks::launched(StreamRef stream) {
    const bool is_recorded = !stream.is_default() && recording_of(stream.get()) != Recording::No;
    std::lock_guard lock(mutex_);
    if (is_recorded) // as a part of another graph, which any stream may launch
        is_part_ = true;
    else if (std::ranges::find(streams_, stream.get()) == streams_.end())
        streams_.push_back(stream.get());
}

void GraphChecks::report() {
    if (const std::unique_ptr<FailedCheck> failure = take_failure())
        throw FailedCheck(*failure);
}

bool GraphChecks::is_covered_by(CUcontext context, StreamRef stream) {
    if (stream.is_default())
        return context_.get() == context;
    std::lock_guard lock(mutex_);
    if (std::ranges::find(streams_, stream.get()) != streams_.end())
        return true;
    // Without a launch by this library, other code launches the graph.
    return (is_part_ || streams_.empty()) && context_.get() == context;
}

/// The first check that failed. All flags are cleared: later checks may have failed because of it.
std::unique_ptr<FailedCheck> GraphChecks::take_failure() {
    std::lock_guard lock(mutex_);
    std::unique_ptr<FailedCheck> failure;
    for (const Check &check : checks_) {
        std::atomic_ref flag(*check.flag); // the device writes it
        if (flag.load(std::memory_order_acquire) == 0)
            continue;
        flag.store(0, std::memory_order_relaxed);
        if (failure == nullptr)
            failure = std::make_unique<FailedCheck>(check.failure);
    }
    return failure;
}

void report_checks(StreamRef stream) {
    const CUcontext context = driver().cuCtxGetCurrent.value();
    if (const std::unique_ptr<FailedCheck> failure = ChecksInUse::instance().take(context, stream))
        throw FailedCheck(*failure);
}

} // namespace pycuda::detail
