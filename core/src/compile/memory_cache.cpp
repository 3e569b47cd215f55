// memory_cache.cpp -- images compiled earlier in this process.
#include "memory_cache.h"

namespace pycuda::compile_detail {

std::size_t MemoryCache::Entry::size() const {
    return key.size() + result.image.size() + result.log.size() + sizeof(Entry);
}

std::optional<CompileResult> MemoryCache::find(const std::string &key) {
    std::scoped_lock lock(mutex_);
    auto found = by_key_.find(key);
    if (found == by_key_.end())
        return std::nullopt;
    Entries::iterator entry = found->second;
    if (!entry->dependencies.is_current()) {
        erase(entry);
        return std::nullopt;
    }
    entries_.splice(entries_.begin(), entries_, entry);
    return entry->result;
}

void MemoryCache::store(const std::string &key, const CompileResult &result,
                        const DependencyList &dependencies) {
    std::scoped_lock lock(mutex_);
    if (auto found = by_key_.find(key); found != by_key_.end())
        erase(found->second);
    entries_.push_front({key, result, dependencies});
    entries_.front().result.origin = ImageOrigin::MemoryCache;
    by_key_.emplace(entries_.front().key, entries_.begin());
    size_ += entries_.front().size();
    while (size_ > capacity_ && entries_.size() > 1)
        erase(std::prev(entries_.end()));
}

void MemoryCache::clear() {
    std::scoped_lock lock(mutex_);
    by_key_.clear();
    entries_.clear();
    size_ = 0;
}

void MemoryCache::erase(Entries::iterator entry) {
    size_ -= entry->size();
    by_key_.erase(entry->key);
    entries_.erase(entry);
}

} // namespace pycuda::compile_detail
