// kernel_table.h -- the kernels of array operations in one context, found by a number.
//
// A key consists of small numbers: the operation, the types and the layout class of its operands. A
// kernel that was used before is found by one table lookup. A new kernel is generated, compiled (or
// read from disk) and loaded. If an operation needs several kernels, later ones can be compiled in
// the background.
#pragma once

#include <pycuda/caller_lock.h>
#include <pycuda/compiler.h>
#include <pycuda/context.h>
#include <pycuda/function.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pycuda {

/// What the kernels of a table compute. Each family has keys of its own.
enum class KernelFamily : std::uint8_t {
    None, ///< of the key that no kernel has
    Operation,
    Reduction,
    Movement,
    Scan,
    Sort,
    Search,
    Product,
    Nonzero,
    Indexing,
    SmallMatrices,
    Rows,
    CombinedRows,
    Parts,
};

/// A number or enumerator of a kernel's identity.
struct KernelField {
    template <class Value>
    constexpr KernelField(Value number, int width) noexcept
        : value(static_cast<std::uint64_t>(number)), bits(width) {}
    std::uint64_t value;
    int bits;
};

/// A kernel's identity: its family, and all that its source depends on, as fields of a fixed width.
///
///     KernelKey(KernelFamily::Search, {{type, 4}, {side, 1}})
class KernelKey {
  public:
    constexpr KernelKey() noexcept = default;
    /// A value that needs more bits would change other fields, and so find another kernel: the key
    /// then belongs to no family, and KernelTable throws std::logic_error. Inlined, so that the
    /// widths are constants.
    template <std::size_t count>
    [[gnu::always_inline]] constexpr KernelKey(KernelFamily family,
                                               const KernelField (&fields)[count]) noexcept {
        int used = 0;
        std::uint64_t excess = 0;
        const auto add = [&](const KernelField &field) {
            used += field.bits;
            excess |= field.value >> field.bits;
            fields_ = fields_ << field.bits | field.value;
        };
        [&]<std::size_t... i>(std::index_sequence<i...>) {
            (add(fields[i]), ...);
        }(std::make_index_sequence<count>());
        family_ = used > 64 || excess != 0 ? KernelFamily::None : family;
    }

    /// The fields as one number, which identifies the kernel among those of its family.
    std::uint64_t fields() const noexcept { return fields_; }
    bool is_none() const noexcept { return family_ == KernelFamily::None; }
    std::size_t hash() const noexcept {
        return ((fields_ ^ static_cast<std::uint64_t>(family_) << 56) * 0x9e3779b97f4a7c15u) >> 32;
    }
    auto operator<=>(const KernelKey &other) const noexcept {
        return std::pair(family_, fields_) <=> std::pair(other.family_, other.fields_);
    }
    bool operator==(const KernelKey &other) const noexcept {
        return family_ == other.family_ && (fields_ == other.fields_ || is_none());
    }

  private:
    std::uint64_t fields_ = 0;
    KernelFamily family_ = KernelFamily::None;
};

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
    const Function &find(const KernelKey &key, std::string_view operation, Write &&write) {
        {
            std::lock_guard lock(mutex_);
            if (const Function *known = known_kernel(key)) [[likely]]
                return *known;
        }
        return make(key, operation, write);
    }

    /// Announces a later find(key): a missing kernel is compiled in the background.
    template <class Write>
    void expect(const KernelKey &key, std::string_view operation, Write &&write) {
        std::lock_guard lock(mutex_);
        if (known_kernel(key) == nullptr && !making_.contains(key) && !expected_.contains(key))
            start(key, named_source(operation, write()));
    }

  private:
    struct Slot {
        KernelKey key;
        const Function *function = nullptr;
    };
    using WriteSource = std::function<std::string()>;
    const Function *known_kernel(const KernelKey &key) const noexcept {
        for (std::size_t at = key.hash();; ++at) {
            const Slot &slot = slots_[at & (slots_.size() - 1)];
            if (slot.key == key || slot.key.is_none())
                return slot.function; // null in an empty slot
        }
    }
    const Function &make(const KernelKey &key, std::string_view operation,
                         const WriteSource &write);
    Function compile_and_load(std::future<CompileResult> expected, std::string_view operation,
                              const WriteSource &write) const;
    const Function *keep(const KernelKey &key, Function kernel);
    void start(const KernelKey &key, std::string source);
    void insert(const Slot &slot) noexcept;

    Context context_;
    CallerMutex mutex_;
    std::vector<Slot> slots_; ///< a power of two, at most half full
    std::deque<Function> functions_;
    std::map<KernelKey, std::future<CompileResult>> expected_;
    std::map<KernelKey, std::shared_future<const Function *>> making_;
};

} // namespace pycuda
