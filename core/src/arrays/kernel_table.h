// kernel_table.h -- the kernels of array operations in one context, found by a number.
//
// A key consists of small numbers: the operation, the types and the layout class of its operands. A
// kernel that was used before is found by one table lookup. A new kernel is generated, compiled (or
// read from disk) and loaded. If an operation needs several kernels, later ones can be compiled in
// the background.
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
#include <string_view>
#include <vector>

namespace pycuda {

/// A kernel's identity. Zero is not a valid key.
using KernelKey = std::uint64_t;

/// The name of the kernel of an operation: "pycuda_" and `operation`, which is an identifier.
std::string own_kernel_name(std::string_view operation);

/// The source with the macro KERNEL defined as own_kernel_name(operation).
std::string named_source(std::string_view operation, std::string_view source);

/// Any thread may call. Kernels are generated, compiled and loaded without the table's lock and
/// without the caller's lock (caller_lock.h). Other threads continue; threads that need the same
/// kernel wait for it.
class KernelTable {
  public:
    explicit KernelTable(Context context) : context_(std::move(context)), slots_(256) {}
    /// Waits for background compilations.
    ~KernelTable();

    /// The kernel for a key. `operation` names what the kernel computes; profiles and traces show
    /// this name. `write` returns the CUDA C++ source, with one kernel KERNEL.
    template <class Write>
    const Function &find(KernelKey key, std::string_view operation, Write &&write) {
        {
            std::lock_guard lock(mutex_);
            if (const Function *known = known_kernel(key)) [[likely]]
                return *known;
        }
        return make(key, operation, write);
    }

    /// Announces a later find(key): a missing kernel is compiled in the background.
    template <class Write> void expect(KernelKey key, std::string_view operation, Write &&write) {
        std::lock_guard lock(mutex_);
        if (known_kernel(key) == nullptr && !making_.contains(key) && !expected_.contains(key))
            start(key, named_source(operation, write()));
    }

  private:
    struct Slot {
        KernelKey key = 0;
        const Function *function = nullptr;
    };
    using WriteSource = std::function<std::string()>;
    static std::size_t hash(KernelKey key) noexcept { return (key * 0x9e3779b97f4a7c15u) >> 32; }
    const Function *known_kernel(KernelKey key) const noexcept {
        for (std::size_t at = hash(key);; ++at) {
            const Slot &slot = slots_[at & (slots_.size() - 1)];
            if (slot.key == key || slot.key == 0)
                return slot.function; // null in an empty slot
        }
    }
    const Function &make(KernelKey key, std::string_view operation, const WriteSource &write);
    Function compile_and_load(std::future<CompileResult> expected, std::string_view operation,
                              const WriteSource &write) const;
    const Function *keep(KernelKey key, Function kernel);
    void start(KernelKey key, std::string source);
    void insert(const Slot &slot) noexcept;

    Context context_;
    std::mutex mutex_;
    std::vector<Slot> slots_; ///< a power of two, at most half full
    std::deque<Function> functions_;
    std::map<KernelKey, std::future<CompileResult>> expected_;
    std::map<KernelKey, std::shared_future<const Function *>> making_;
};

} // namespace pycuda
