// context.cpp -- contexts, and their reference counts.
//
// The driver keeps a stack of contexts for each thread. This file only adds a registry from handle
// to shared owner, so that an object that is created "in the current context" can hold the owner. A
// context that other code made current gets an owner at its first use. If the context is a primary
// context, the owner retains it, so that it exists as long as our objects.
//
// A context that was released may still be in the middle of a thread's stack. It is recorded as
// retired, and pop() skips it.
#include <pycuda/context.h>
#include <pycuda/device.h>
#include <pycuda/primary_context.h>

#include "context/cleanup.h"
#include "context/context_owner.h"
#include "context/graph_checks.h"
#include "context/graph_objects.h"
#include "context/recording.h"
#include "context/stream_poll.h"
#include "context/wait_loop.h"
#include "driver/never_destroyed.h"

#include <pycuda/caller_lock.h>
#include <pycuda/driver.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace pycuda {
namespace {

using detail::ContextOwner;
using detail::ContextState;

/// The owners of each context. A primary context has several owners if it was retained several
/// times; each owner releases it once.
class Registry {
  public:
    std::shared_ptr<ContextOwner> make(CUcontext handle, CUdevice device, ContextOwner::Hold hold) {
        Owners others; // released after the lock: the end of an owner takes the lock
        std::lock_guard lock(mutex_);
        others = owners_of(handle);
        std::shared_ptr<ContextState> state = state_of(others);
        auto made = std::make_shared<ContextOwner>(
            handle, device, hold, state ? std::move(state) : std::make_shared<ContextState>());
        owners_[handle].push_back(made);
        retired_.erase(handle);
        return made;
    }
    /// The newest owner that was not detached.
    std::shared_ptr<ContextOwner> find(CUcontext handle) {
        const auto usable = [](const auto &owner) { return owner->attached && !owner->gone; };
        std::shared_ptr<ContextOwner> newest;
        Owners owners;
        std::lock_guard lock(mutex_);
        const auto known = owners_.find(handle);
        if (known == owners_.end())
            return nullptr;
        if (!known->second.empty())
            newest = known->second.back().lock();
        if (newest && usable(newest)) [[likely]]
            return newest;
        owners = owners_of(handle);
        const auto found = std::find_if(owners.rbegin(), owners.rend(), usable);
        return found == owners.rend() ? nullptr : *found;
    }
    /// What the owners of a context share; null if there are none.
    std::shared_ptr<ContextState> state_of(CUcontext handle) {
        Owners owners; // released after the lock
        std::lock_guard lock(mutex_);
        owners = owners_of(handle);
        return state_of(owners);
    }
    /// The owners of `handle` become useless. Returns how many of them had retained it.
    int give_up(CUcontext handle) {
        Owners owners; // released after the lock
        std::lock_guard lock(mutex_);
        owners = owners_of(handle);
        retired_.insert(handle);
        int retained = 0;
        for (const auto &owner : owners) {
            owner->attached = false;
            retained += !owner->gone.exchange(true) && owner->hold == ContextOwner::Hold::Primary;
        }
        return retained;
    }
    void retire(CUcontext handle) noexcept {
        try {
            std::lock_guard lock(mutex_);
            retired_.insert(handle);
        } catch (...) { // out of host memory: pop() will not skip this context
        }
    }
    /// Drops what is kept of owners that have ended.
    void forget(CUcontext handle) noexcept {
        std::lock_guard lock(mutex_);
        const auto known = owners_.find(handle);
        if (known == owners_.end())
            return;
        std::erase_if(known->second, [](const auto &owner) { return owner.expired(); });
        if (known->second.empty())
            owners_.erase(known);
    }
    bool retired(CUcontext handle) {
        std::lock_guard lock(mutex_);
        return retired_.contains(handle);
    }

  private:
    using Owners = std::vector<std::shared_ptr<ContextOwner>>;

    static std::shared_ptr<ContextState> state_of(const Owners &owners) {
        const auto alive =
            std::ranges::find_if(owners, [](const auto &owner) { return !owner->gone; });
        return alive == owners.end() ? nullptr : (*alive)->state;
    }

    /// The owners that exist, in the order in which they were made. Forgets the others.
    Owners owners_of(CUcontext handle) {
        Owners owners;
        for (const std::weak_ptr<ContextOwner> &one : owners_[handle])
            if (auto owner = one.lock())
                owners.push_back(std::move(owner));
        owners_[handle].assign(owners.begin(), owners.end());
        return owners;
    }

    CallerMutex mutex_;
    std::unordered_map<CUcontext, std::vector<std::weak_ptr<ContextOwner>>> owners_;
    std::unordered_set<CUcontext> retired_;
};

Registry &registry() { return never_destroyed<Registry>(); }

std::shared_ptr<ContextOwner> make_owner(CUcontext handle, CUdevice device,
                                         ContextOwner::Hold hold) {
    return registry().make(handle, device, hold);
}

/// The context of threads without a current context.
struct DefaultContext {
    CallerMutex mutex;
    std::optional<Context> context;
};

DefaultContext &default_context() { return never_destroyed<DefaultContext>(); }

CUcontext current_handle() { return driver().cuCtxGetCurrent.value(); }

bool primary_is_active(CUdevice device) noexcept {
    const Driver *loaded = driver_for_cleanup();
    unsigned flags = 0;
    int active = 0;
    return loaded &&
           loaded->cuDevicePrimaryCtxGetState.status(device, &flags, &active) == CUDA_SUCCESS &&
           active;
}

/// An owner for the current context, which other code created.
std::shared_ptr<ContextOwner> own_foreign(CUcontext handle) {
    const CUdevice device = driver().cuCtxGetDevice.value();
    if (primary_is_active(device)) {
        const CUcontext primary = driver().cuDevicePrimaryCtxRetain.value(device);
        if (primary == handle)
            return make_owner(handle, device, ContextOwner::Hold::Primary);
        driver().cuDevicePrimaryCtxRelease(device);
    }
    return make_owner(handle, device, ContextOwner::Hold::Borrowed);
}

/// Pops retired contexts off the top of the stack.
void skip_retired() {
    CUcontext handle = current_handle();
    while (handle && registry().retired(handle)) {
        driver().cuCtxPopCurrent(&handle);
        handle = current_handle();
    }
}

CUdevice device_of(CUcontext handle) {
    driver().cuCtxPushCurrent(handle);
    CUdevice device = 0;
    CUresult result = driver().cuCtxGetDevice.status(&device);
    driver().cuCtxPopCurrent(&handle);
    check(result, "cuCtxGetDevice");
    return device;
}

} // namespace

void detail::StreamSet::add(CUstream stream, bool owned) {
    std::lock_guard lock(mutex_);
    streams_.push_back({stream, owned, {}});
}

bool detail::StreamSet::before_end(CUstream stream, std::function<void()> action) {
    std::lock_guard lock(mutex_);
    for (Entry &entry : streams_)
        if (entry.stream == stream && entry.owned) {
            entry.last_actions.push_back(std::move(action));
            return true;
        }
    return false;
}

void detail::StreamSet::remove(CUstream stream) noexcept {
    std::vector<std::function<void()>> actions;
    {
        std::lock_guard lock(mutex_);
        auto found = std::ranges::find(streams_, stream, &Entry::stream);
        if (found == streams_.end())
            return;
        actions.swap(found->last_actions);
        streams_.erase(found);
    }
    for (const std::function<void()> &action : actions)
        action();
}

std::vector<Event> detail::StreamSet::mark_busy(const Context &context) const {
    std::vector<Event> marks;
    std::lock_guard lock(mutex_);
    for (const Entry &entry : streams_) {
        const CUstream stream = entry.stream;
        if (recording_of(stream) == Recording::Yes)
            continue; // a query would invalidate the capture
        const CUresult result = driver().cuStreamQuery.status(stream);
        if (result == CUDA_SUCCESS)
            continue;
        if (result != CUDA_ERROR_NOT_READY)
            check(result, "cuStreamQuery");
        marks.emplace_back(context, CU_EVENT_DISABLE_TIMING).record(StreamRef(stream));
    }
    return marks;
}

detail::ContextOwner::~ContextOwner() {
    report_cleanup("cuCtxDestroy", give_back());
    if (driver_for_cleanup() != nullptr)
        registry().forget(handle);
}

CUresult detail::ContextOwner::give_back() noexcept {
    const Driver *loaded = driver_for_cleanup();
    if (!loaded || hold == Hold::Borrowed || gone.exchange(true))
        return CUDA_SUCCESS;
    if (state->holders.fetch_sub(1) == 1)
        state->end(*loaded, handle);
    if (const CUevent mark = spare_mark.exchange(nullptr))
        report_cleanup("cuEventDestroy", loaded->cuEventDestroy.status(mark));
    if (hold == Hold::Own) {
        registry().retire(handle);
        return loaded->cuCtxDestroy.status(handle);
    }
    CUresult result = loaded->cuDevicePrimaryCtxRelease.status(device);
    if (!primary_is_active(device))
        registry().retire(handle);
    return result;
}

void detail::ContextState::before_end(std::string_view name, std::function<void()> action) {
    std::lock_guard lock(mutex_);
    last_actions_[name] = std::move(action);
}

void detail::ContextState::end(const Driver &loaded, CUcontext context) noexcept {
    std::map<std::string_view, std::function<void()>> actions;
    {
        std::lock_guard lock(mutex_);
        actions.swap(last_actions_);
    }
    CUcontext popped = nullptr;
    if (actions.empty() || loaded.cuCtxPushCurrent.status(context) != CUDA_SUCCESS)
        return; // the objects of the actions are destroyed with the context
    for (const auto &[name, action] : actions)
        action();
    report_cleanup("cuCtxPopCurrent", loaded.cuCtxPopCurrent.status(&popped));
}

Context Context::primary(const Device &device, unsigned flags) {
    if (flags != 0)
        driver().cuDevicePrimaryCtxSetFlags(device.get(), flags);
    const CUcontext handle = driver().cuDevicePrimaryCtxRetain.value(device.get());
    return Context(make_owner(handle, device.get(), ContextOwner::Hold::Primary));
}

void reset_primary_context(const Device &device) {
    if (!primary_is_active(device.get()))
        return;
    const std::optional<Context> chosen = Context::get_default();
    const CUcontext handle = driver().cuDevicePrimaryCtxRetain.value(device.get());
    if (const std::shared_ptr<ContextState> state = registry().state_of(handle))
        state->end(driver(), handle);
    const int retained = 1 + registry().give_up(handle);
    if (chosen && chosen->get() == handle)
        Context::set_default(std::nullopt);
    driver().cuDevicePrimaryCtxReset(device.get());
    for (int i = 0; i < retained; ++i)
        driver().cuDevicePrimaryCtxRelease(device.get());
}

Context Context::create(const Device &device, unsigned flags) {
    const CUcontext handle = driver().cuCtxCreate.value(flags, device.get());
    driver().cuCtxPopCurrent.value(); // the driver has made its successor current
    return Context(make_owner(handle, device.get(), ContextOwner::Hold::Own));
}

Context Context::adopt(CUcontext handle) {
    return Context(make_owner(handle, device_of(handle), ContextOwner::Hold::Own));
}

Context Context::borrow(CUcontext handle) {
    if (auto owner = registry().find(handle))
        return Context(std::move(owner));
    return Context(make_owner(handle, device_of(handle), ContextOwner::Hold::Borrowed));
}

std::optional<Context> Context::current() {
    CUcontext handle = current_handle();
    if (!handle)
        return std::nullopt;
    if (auto owner = registry().find(handle))
        return Context(std::move(owner));
    return Context(own_foreign(handle));
}

Context Context::require_current() {
    if (auto context = current())
        return *std::move(context);
    if (std::optional<Context> chosen = get_default()) {
        chosen->make_current();
        return *std::move(chosen);
    }
    throw Error("explicit_context_dependent", CUDA_ERROR_INVALID_CONTEXT,
                "no currently active context?");
}

void Context::set_default(std::optional<Context> context) {
    if (context && !context->usable())
        throw Error("context::set_default", CUDA_ERROR_INVALID_CONTEXT, "the context was detached");
    DefaultContext &chosen = default_context();
    std::lock_guard lock(chosen.mutex);
    chosen.context.swap(context); // the old context is released after the lock
}

std::optional<Context> Context::get_default() {
    DefaultContext &chosen = default_context();
    std::lock_guard lock(chosen.mutex);
    if (chosen.context && !chosen.context->usable())
        return std::nullopt;
    return chosen.context;
}

CUcontext Context::get() const noexcept { return owner_ ? owner_->handle : nullptr; }

std::uint64_t Context::serial() const noexcept { return owner_ ? owner_->serial : 0; }

std::uint64_t detail::ContextOwner::next_serial() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

detail::StreamSet *Context::streams() const noexcept {
    return owner_ ? &owner_->state->streams : nullptr;
}

bool Context::usable() const noexcept { return owner_ && !owner_->gone; }

Device Context::device() const { return Device::from_handle(owner_->device); }

unsigned Context::api_version() const {
    unsigned version = 0;
    driver().cuCtxGetApiVersion(get(), &version);
    return version;
}

void Context::push() const {
    if (!usable())
        throw Error("context::push", CUDA_ERROR_INVALID_CONTEXT, "the context was detached");
    driver().cuCtxPushCurrent(get());
}

Context Context::pop() {
    std::optional<Context> top = current();
    if (!top)
        throw Error("context::pop", CUDA_ERROR_INVALID_CONTEXT, "cannot pop non-current context");
    driver().cuCtxPopCurrent.value();
    skip_retired();
    return *std::move(top);
}

void Context::make_current() const {
    if (!usable())
        throw Error("context::set_current", CUDA_ERROR_INVALID_CONTEXT, "the context was detached");
    driver().cuCtxSetCurrent(get());
}

bool Context::is_current() const { return owner_ && current_handle() == get(); }

bool Context::attached() const noexcept { return owner_ && owner_->attached; }

void Context::detach() {
    if (!owner_ || !owner_->attached.exchange(false))
        throw Error("context::detach", CUDA_ERROR_INVALID_CONTEXT,
                    "cannot detach from invalid context");
    if (get_default() == *this)
        set_default(std::nullopt);
    if (is_current())
        driver().cuCtxPopCurrent.value();
    if (owner_->hold == ContextOwner::Hold::Own && owner_->holds == 0)
        check(owner_->give_back(), "cuCtxDestroy");
    // From here, this object holds only the name of the context, not a reference.
    auto name =
        std::make_shared<ContextOwner>(owner_->handle, owner_->device, ContextOwner::Hold::Borrowed,
                                       std::make_shared<ContextState>());
    name->attached = false;
    name->gone = true;
    owner_ = std::move(name);
    skip_retired();
}

bool Context::before_stream_ends(CUstream stream, std::function<void()> action) const {
    return usable() && owner_->state->streams.before_end(stream, std::move(action));
}

bool Context::before_end(std::string_view name, std::function<void()> action) const {
    if (!usable() || owner_->hold == ContextOwner::Hold::Borrowed)
        return false;
    owner_->state->before_end(name, std::move(action));
    return true;
}

/// Waits for the current context, which is `context`.
static void wait_for_context(const Context &context, detail::ContextOwner &owner,
                             const KeepWaiting &keep_waiting) {
    constexpr const char *function = "cuCtxSynchronize";
    const auto wait = [] { return driver().cuCtxSynchronize.status(); };
    const auto wait_for = [&](CUevent mark) {
        detail::wait_loop(
            function, keep_waiting, [&] { return driver().cuEventQuery.status(mark); }, wait);
    };
    if (keep_waiting && driver().cuCtxRecordEvent.available()) {
        const detail::ContextMark mark(owner, function);
        check(driver().cuCtxRecordEvent.status(context.get(), mark.get()), function);
        wait_for(mark.get());
    } else if (keep_waiting) {
        // First the streams that the default stream waits for, then the streams that it does not
        // wait for. Only streams of other libraries remain for the driver's own wait, which cannot
        // be interrupted.
        detail::wait_loop(function, keep_waiting, detail::StreamPoll(nullptr), wait);
        for (const Event &mark : owner.state->streams.mark_busy(context))
            wait_for(mark.get());
    }
    // The event does not wait for copies between devices (driver 580 on two H200: 1 of 300 copies
    // was read before it was done), and until this call, copies take 1.2 us longer.
    check(wait(), function);
}

void Context::synchronize(const KeepWaiting &keep_waiting) const {
    ScopedContext scope(*this);
    wait_for_context(*this, *owner_, keep_waiting);
    detail::report_failed_checks(StreamRef());
}

std::size_t Context::limit(CUlimit limit) const {
    ScopedContext scope(*this);
    return driver().cuCtxGetLimit.value(limit);
}

void Context::set_limit(CUlimit limit, std::size_t value) const {
    ScopedContext scope(*this);
    driver().cuCtxSetLimit(limit, value);
}

CUfunc_cache Context::cache_config() const {
    ScopedContext scope(*this);
    return driver().cuCtxGetCacheConfig.value();
}

void Context::set_cache_config(CUfunc_cache config) const {
    ScopedContext scope(*this);
    driver().cuCtxSetCacheConfig(config);
}

CUsharedconfig Context::shared_config() const {
    ScopedContext scope(*this);
    return driver().cuCtxGetSharedMemConfig.value();
}

void Context::set_shared_config(CUsharedconfig config) const {
    ScopedContext scope(*this);
    driver().cuCtxSetSharedMemConfig(config);
}

void Context::enable_peer_access(const Context &peer, unsigned flags) const {
    ScopedContext scope(*this);
    driver().cuCtxEnablePeerAccess(peer.get(), flags);
}

void Context::disable_peer_access(const Context &peer) const {
    ScopedContext scope(*this);
    driver().cuCtxDisablePeerAccess(peer.get());
}

bool Context::has_peer_access(const Context &peer) const {
    ScopedContext scope(*this);
    // The driver has no function that tells, so this tries.
    const CUresult status = driver().cuCtxEnablePeerAccess.status(peer.get(), 0);
    if (status == CUDA_SUCCESS)
        driver().cuCtxDisablePeerAccess(peer.get());
    return status == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

Context::MemoryInfo Context::memory_info() const {
    detail::release_objects_of_ended_graphs();
    ScopedContext scope(*this);
    MemoryInfo info;
    driver().cuMemGetInfo(&info.free, &info.total);
    return info;
}

ContextHold::ContextHold(const Context &context) : owner_(context.owner_) { ++owner_->holds; }

ContextHold &ContextHold::operator=(ContextHold &&other) noexcept {
    std::swap(owner_, other.owner_);
    return *this;
}

ContextHold::~ContextHold() { reset(); }

void ContextHold::reset() noexcept {
    if (const std::shared_ptr<detail::ContextOwner> owner = std::exchange(owner_, nullptr))
        --owner->holds;
}

ScopedContext::ScopedContext(const Context &context) {
    if (context.is_current())
        return;
    context.push();
    pushed_ = true;
}

ScopedContext::~ScopedContext() {
    CUcontext popped = nullptr;
    if (const Driver *loaded = pushed_ ? driver_for_cleanup() : nullptr)
        detail::report_cleanup("cuCtxPopCurrent", loaded->cuCtxPopCurrent.status(&popped));
}

} // namespace pycuda
