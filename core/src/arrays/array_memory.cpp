// array_memory.cpp -- where the memory of arrays comes from and when it may go back.
#include <pycuda/array_memory.h>

#include "arrays/kernel_table.h"
#include "libraries/library_handles.h"

#include <pycuda/driver.h>
#include <pycuda/error.h>

#include <algorithm>
#include <mutex>

namespace pycuda {
namespace {

struct ArrayContexts {
    std::mutex mutex;
    std::vector<std::shared_ptr<ArrayContext>> all;
    std::function<void()> reclaim;
};

/// Never destroyed: arrays may be alive until the very end.
ArrayContexts &contexts() {
    static auto *contexts = new ArrayContexts;
    return *contexts;
}

bool is_dead(const std::shared_ptr<ArrayContext> &entry) {
    return !entry->context().attached() || !entry->context().usable();
}

/// The current one, made where it is new. Contexts that were given back are forgotten: a new one
/// may come to have the handle of an old one.
std::shared_ptr<ArrayContext> find_or_make(CUcontext handle) {
    std::vector<std::shared_ptr<ArrayContext>> dead; // their last reference goes without the lock
    ArrayContexts &table = contexts();
    std::lock_guard lock(table.mutex);
    auto alive = std::stable_partition(table.all.begin(), table.all.end(),
                                       [](const auto &entry) { return !is_dead(entry); });
    dead.assign(alive, table.all.end());
    table.all.erase(alive, table.all.end());
    for (const std::shared_ptr<ArrayContext> &entry : table.all)
        if (entry->context().get() == handle)
            return entry;
    auto made = std::make_shared<ArrayContext>(Context::require_current());
    if (table.reclaim)
        made->pool().on_out_of_memory(table.reclaim);
    table.all.push_back(made);
    return made;
}

} // namespace

ArrayContext::ArrayContext(Context context)
    : context_(std::move(context)), pool_(MemoryPool::device()),
      kernels_(std::make_unique<KernelTable>(context_)), libraries_(LibraryHandles::make(context_)),
      processors_(context_.device().attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)) {}

ArrayContext::~ArrayContext() = default;

const std::shared_ptr<ArrayContext> &ArrayContext::current() {
    thread_local std::shared_ptr<ArrayContext> last;
    CUcontext handle = nullptr;
    driver().cuCtxGetCurrent(&handle);
    if (!last || last->context().get() != handle || is_dead(last)) {
        if (handle == nullptr)
            handle = Context::require_current().get(); // the default, or throws what says so
        last = find_or_make(handle);
    }
    return last;
}

void ArrayContext::on_out_of_memory(std::function<void()> reclaim) {
    contexts().reclaim = std::move(reclaim);
}

void ArrayContext::order_after_default(StreamRef stream) const {
    Event now(context_, CU_EVENT_DISABLE_TIMING);
    now.record();
    driver().cuStreamWaitEvent(stream.get(), now.get(), 0);
}

std::shared_ptr<ArrayMemory> ArrayMemory::allocate(const std::shared_ptr<ArrayContext> &context,
                                                   std::size_t bytes, StreamRef stream) {
    auto memory = std::make_shared<ArrayMemory>(context, context->pool().allocate(bytes));
    if (stream.get() != nullptr) [[unlikely]]
        context->order_after_default(stream);
    return memory;
}

std::shared_ptr<ArrayMemory> ArrayMemory::borrow(const std::shared_ptr<ArrayContext> &context,
                                                 CUdeviceptr address, std::size_t bytes,
                                                 std::shared_ptr<void> owner) {
    return std::make_shared<ArrayMemory>(context, address, bytes, std::move(owner));
}

ArrayMemory::ArrayMemory(std::shared_ptr<ArrayContext> context, PooledMemory memory)
    : context_(std::move(context)), block_(std::move(memory)), address_(block_->get()),
      bytes_(block_->size()) {}

ArrayMemory::ArrayMemory(std::shared_ptr<ArrayContext> context, CUdeviceptr address,
                         std::size_t bytes, std::shared_ptr<void> owner)
    : context_(std::move(context)), owner_(std::move(owner)), address_(address), bytes_(bytes) {}

ArrayMemory::~ArrayMemory() { give_back(); }

void ArrayMemory::throw_freed() const {
    throw Error("array_memory::get", CUDA_ERROR_INVALID_HANDLE,
                "the memory of this array, " + std::to_string(bytes_) + " bytes, has been freed");
}

void ArrayMemory::free() {
    if (freed_)
        throw_freed();
    give_back();
    freed_ = true;
    owner_ = nullptr;
}

void ArrayMemory::used_until(const std::shared_ptr<Event> &done) {
    std::lock_guard lock(uses_mutex_);
    std::erase_if(uses_, [](const std::shared_ptr<Event> &use) { return use->query(); });
    uses_.push_back(done);
}

void ArrayMemory::give_back() noexcept {
    if (!block_)
        return;
    const Driver *driver = driver_for_cleanup();
    {
        std::lock_guard lock(uses_mutex_);
        if (driver != nullptr && context_->context().usable())
            for (const std::shared_ptr<Event> &use : uses_)
                // A failure means that the context is broken, and with it the use.
                (void)driver->cuStreamWaitEvent.status(nullptr, use->get(), 0);
        uses_.clear();
    }
    block_.reset(); // may wait for the device
}

} // namespace pycuda
