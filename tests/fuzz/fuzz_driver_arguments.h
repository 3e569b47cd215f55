// fuzz_driver_arguments.h -- makes arguments for functions of the driver API.
#pragma once

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

namespace fuzz {

/// The bytes that select; zeros after the last byte.
class Choices {
  public:
    explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    [[nodiscard]] bool empty() const { return at_ >= bytes_.size(); }
    std::uint8_t byte() { return empty() ? std::uint8_t{0} : bytes_[at_++]; }
    std::uint16_t word() { return static_cast<std::uint16_t>(byte() | byte() << 8); }
    std::uint64_t number() {
        std::uint64_t value = 0;
        for (int i = 0; i < 8; i++)
            value = value << 8 | byte();
        return value;
    }

  private:
    std::span<const std::uint8_t> bytes_;
    std::size_t at_ = 0;
};

/// All handles and addresses that calls have returned, of all types; freed ones stay.
class Handles {
  public:
    static constexpr std::size_t kBlockBytes = 16 << 10;
    using Block = std::array<std::uint64_t, kBlockBytes / 8>;

    Handles();
    void make_context_current() const;
    void tear_down() const;

    void add_handle(std::uint64_t handle) { add(handles_, handle); }
    void add_address(std::uint64_t address) { add(addresses_, address); }
    [[nodiscard]] std::uint64_t handle(std::uint8_t choice) const { return one(handles_, choice); }
    [[nodiscard]] std::uint64_t address(std::uint8_t choice) const {
        return one(addresses_, choice);
    }
    /// Zeros that exist until the end, for work that runs later.
    Block &new_block();

  private:
    void add(std::vector<std::uint64_t> &list, std::uint64_t value);
    [[nodiscard]] std::uint64_t one(const std::vector<std::uint64_t> &list,
                                    std::uint8_t choice) const;

    mutable std::mutex mutex_;
    std::vector<std::uint64_t> handles_, addresses_;
    std::vector<std::unique_ptr<Block>> blocks_;
    CUcontext context_ = nullptr;
};

/// Makes the arguments of one call.
class Draw {
  public:
    Draw(Choices &choices, Handles &handles) : choices_(choices), handles_(handles) {}

    std::uint8_t byte() { return choices_.byte(); }

    std::uint64_t handle() {
        const std::uint8_t kind = byte();
        if (kind < 16)
            return 0;
        if (kind < 20)
            return choices_.number();
        if (kind < 28)
            return byte() & 3; // handles of default streams
        return handles_.handle(byte());
    }

    std::uint64_t address() {
        const std::uint8_t kind = byte();
        if (kind < 16)
            return 0;
        return handles_.address(byte()) + (kind < 64 ? byte() & 0x3f : 0);
    }

    /// A count of elements or bytes; every block has at least this many.
    std::uint64_t number() {
        const std::uint8_t kind = byte();
        return kind < 192 ? kind & 7 : byte() & 0x3f;
    }

    /// Null, or a block; make() fills it word by word.
    template <class Make> std::uint64_t *block(Make &&make) {
        const std::uint8_t kind = byte();
        if (kind < 16)
            return nullptr;
        Handles::Block &made = handles_.new_block();
        if (kind >= 96)
            for (std::size_t i = 0; i < kind % 16u; i++)
                made[i] = make();
        written_.push_back({&made, made});
        return made.data();
    }

    /// Null, or pointers to blocks.
    void *pointers() {
        if (byte() < 32)
            return nullptr;
        Handles::Block &made = handles_.new_block();
        for (std::size_t i = 0; i < 64; i++)
            made[i] = reinterpret_cast<std::uint64_t>(handles_.new_block().data());
        written_.push_back({&made, made});
        return made.data();
    }

    /// Records an array into which a call may write addresses.
    void note_addresses(const std::uint64_t *block) { addresses_ = block; }

    /// Stores the values that the call wrote, because they may be handles.
    void collect() {
        for (const auto &[block, before] : written_)
            for (std::size_t i = 0; i < 8; i++) {
                const std::uint64_t now = (*block)[i];
                if (now == before[i] || now < 4096)
                    continue;
                if (block->data() == addresses_)
                    handles_.add_address(now);
                else
                    handles_.add_handle(now);
            }
    }

  private:
    struct Written {
        Handles::Block *block;
        Handles::Block before;
    };

    Choices &choices_;
    Handles &handles_;
    std::vector<Written> written_;
    const std::uint64_t *addresses_ = nullptr;
};

void no_host_function(void *);
void no_stream_callback(CUstream, CUresult, void *);

// Structs that point to memory of the caller.
void fill(Draw &draw, CUDA_KERNEL_NODE_PARAMS_v1 &);
void fill(Draw &draw, CUDA_KERNEL_NODE_PARAMS_v2 &);
void fill(Draw &draw, CUDA_HOST_NODE_PARAMS_v1 &);
void fill(Draw &draw, CUDA_MEMCPY2D_v2 &);
void fill(Draw &draw, CUDA_MEMCPY3D_v2 &);
void fill(Draw &draw, CUDA_MEMCPY3D_PEER_v1 &);
void fill(Draw &draw, CUgraphNodeParams &);
void fill(Draw &draw, CUlaunchConfig &);

template <class T>
concept Filled = requires(Draw &draw, T &value) { fill(draw, value); };

/// The other members stay zero.
template <class T>
inline constexpr bool stays_zero =
    std::is_same_v<T, CUDA_MEMCPY3D_BATCH_OP> || std::is_same_v<T, CUDA_LAUNCH_PARAMS> ||
    std::is_same_v<T, CUDA_EXTERNAL_MEMORY_HANDLE_DESC> ||
    std::is_same_v<T, CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC> ||
    std::is_same_v<T, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS> ||
    std::is_same_v<T, CUDA_EXT_SEM_WAIT_NODE_PARAMS> || std::is_same_v<T, CUctxCreateParams> ||
    std::is_same_v<T, CUmemDecompressParams> || std::is_same_v<T, CUcheckpointRestoreArgs> ||
    std::is_same_v<T, CUDA_MEM_ALLOC_NODE_PARAMS_v1> ||
    std::is_same_v<T, CUDA_MEM_ALLOC_NODE_PARAMS_v2> ||
    std::is_same_v<T, CUDA_BATCH_MEM_OP_NODE_PARAMS_v1> ||
    std::is_same_v<T, CUDA_BATCH_MEM_OP_NODE_PARAMS_v2>;

template <class T>
concept Complete = requires { sizeof(T); };

/// A pointer to T: for an opaque type a handle, else null or memory.
template <class T> void *draw_pointer(Draw &draw) {
    if constexpr (std::is_same_v<T, void>) {
        return draw.block([] { return 0; });
    } else if constexpr (!Complete<T>) {
        return reinterpret_cast<void *>(draw.handle());
    } else if constexpr (Filled<T>) {
        std::uint64_t *memory = draw.block([] { return 0; });
        if (memory)
            fill(draw, *reinterpret_cast<T *>(memory));
        return memory;
    } else if constexpr (std::is_class_v<T> || std::is_union_v<T>) {
        return draw.block([&]() -> std::uint64_t {
            return stays_zero<T> ? 0 : draw.byte() < 128 ? draw.number() : draw.handle();
        });
    } else if constexpr (std::is_same_v<T, CUdeviceptr>) {
        std::uint64_t *memory = draw.block([&] { return draw.address(); });
        draw.note_addresses(memory);
        return memory;
    } else if constexpr (std::is_pointer_v<T>) {
        return draw.block([&] { return draw.handle(); });
    } else {
        return draw.block([&] { return draw.number(); });
    }
}

/// An argument of type T.
template <class T> T draw_argument(Draw &draw) {
    using Pointee = std::remove_cv_t<std::remove_pointer_t<T>>;
    if constexpr (std::is_same_v<T, CUhostFn>) {
        return draw.byte() < 16 ? nullptr : &no_host_function;
    } else if constexpr (std::is_same_v<T, CUstreamCallback>) {
        return draw.byte() < 16 ? nullptr : &no_stream_callback;
    } else if constexpr (std::is_pointer_v<T> && std::is_function_v<Pointee>) {
        return nullptr;
    } else if constexpr (std::is_same_v<T, const char *>) {
        static constexpr const char *kTexts[] = {nullptr, "",       "// fake\n", "small_blocks",
                                                 "table", "cuInit", "/dev/null", "0000:01:00.0"};
        return kTexts[draw.byte() % std::size(kTexts)];
    } else if constexpr (std::is_same_v<Pointee, void *> || std::is_same_v<Pointee, const void *> ||
                         std::is_same_v<Pointee, char *> || std::is_same_v<Pointee, const char *>) {
        return static_cast<T>(draw.pointers());
    } else if constexpr (std::is_pointer_v<T>) {
        return reinterpret_cast<T>(draw_pointer<Pointee>(draw));
    } else if constexpr (std::is_enum_v<T> || std::is_floating_point_v<T>) {
        return static_cast<T>(draw.number());
    } else if constexpr (std::is_same_v<T, CUdeviceptr>) {
        // Handles that are numbers have the same type.
        return draw.byte() < 192 ? draw.address() : draw.handle() & 0xffff;
    } else if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(draw.number());
    } else {
        T value{};
        const std::uint64_t word = draw.handle();
        std::memcpy(&value, &word, sizeof value < 8 ? sizeof value : 8);
        return value;
    }
}

} // namespace fuzz
