// kernel_table.h -- the kernels of array operations in one context, found by a number.
//
// A key is made of small numbers: the operation, the types of its operands, how they lie. Finding
// a kernel that was used before is one look into a table; a new one is written, compiled (or found
// on disk) and loaded. What an operation will need next may be compiled beside what it needs first.
#pragma once

#include <pycuda/compiler.h>
#include <pycuda/context.h>
#include <pycuda/function.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace pycuda {

/// A kernel's identity. Zero is no key.
using KernelKey = std::uint64_t;

class KernelTable {
  public:
    explicit KernelTable(Context context) : context_(std::move(context)), slots_(256) {}

    /// The kernel for a key; `write` gives its CUDA C++, with one kernel that is called "run".
    template <class Write> const Function &find(KernelKey key, Write &&write) {
        std::lock_guard lock(mutex_);
        for (std::size_t at = hash(key);; ++at) {
            const Slot &slot = slots_[at & (slots_.size() - 1)];
            if (slot.key == key) [[likely]]
                return *slot.function;
            if (slot.key == 0)
                return add(key, write());
        }
    }

    /// Says that find(key) will follow soon: what is not there is compiled in the background.
    template <class Write> void expect(KernelKey key, Write &&write) {
        std::lock_guard lock(mutex_);
        if (!has(key) && !expected_.contains(key))
            start(key, write());
    }

  private:
    struct Slot {
        KernelKey key = 0;
        const Function *function = nullptr;
    };
    static std::size_t hash(KernelKey key) noexcept { return (key * 0x9e3779b97f4a7c15u) >> 32; }
    bool has(KernelKey key) const noexcept;
    const Function &add(KernelKey key, const std::string &source);
    void start(KernelKey key, std::string source);
    void insert(const Slot &slot) noexcept;

    Context context_;
    std::mutex mutex_;
    std::vector<Slot> slots_; ///< a power of two, at most half full
    std::deque<Function> functions_;
    std::map<KernelKey, std::future<CompileResult>> expected_;
};

} // namespace pycuda
