// memory_cache.h -- images compiled earlier in this process.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "dependency.h"
#include "pycuda/compiler.h"

#include <pycuda/caller_lock.h>

namespace pycuda::compile_detail {

/// Keeps the most recently used images up to a number of bytes. Any thread may call.
class MemoryCache {
  public:
    explicit MemoryCache(std::size_t capacity_bytes) : capacity_(capacity_bytes) {}

    /// The result stored under `key`, unless one of its headers has changed.
    [[nodiscard]] std::optional<CompileResult> find(const std::string &key);
    void store(const std::string &key, const CompileResult &result,
               const DependencyList &dependencies);
    void clear();

  private:
    struct Entry {
        std::string key;
        CompileResult result;
        DependencyList dependencies;
        [[nodiscard]] std::size_t size() const;
    };
    using Entries = std::list<Entry>; // most recently used first

    void erase(Entries::iterator entry);

    const std::size_t capacity_;
    CallerMutex mutex_;
    Entries entries_;
    std::unordered_map<std::string_view, Entries::iterator> by_key_; // keys lie in the entries
    std::size_t size_ = 0;
};

} // namespace pycuda::compile_detail
