// kernel_choice.h -- which of several kernels for the same result runs: the device decides, or a
// test.
#pragma once

#include <cstdint>
#include <utility>

namespace pycuda {

/// How a kernel processes contiguous elements.
enum class KernelForm : std::uint8_t {
    Chosen, ///< the faster form for the device
    Packed, ///< accesses of 16 bytes, for a GPU
    Rolled, ///< loops over neighbouring elements, for a CPU
};

/// How a sort divides its work.
enum class SortMethod : std::uint8_t {
    Chosen, ///< Serial if the driver loads PTX, so that threads are cores of a CPU; else Blocks
    Blocks, ///< blocks of threads, each of which ranks a tile of keys
    Serial, ///< single threads, each of which sorts a row or a large part of a row
};

/// How a block computes the destinations of its keys. See sort.cuh.
enum class SortRanking : std::uint8_t { Chosen, Late, Early, Marks };

/// Parameters of a pass by blocks. 0 and Chosen: the default of the device.
struct SortTile {
    unsigned items = 0;   ///< keys of a thread, at most 24
    unsigned threads = 0; ///< 256, 384 or 512
    SortRanking ranking = SortRanking::Chosen;
};

/// The choices of a thread, for tests and for tuning. No choice changes a result.
struct KernelChoice {
    KernelForm form = KernelForm::Chosen;
    SortMethod sort = SortMethod::Chosen;
    SortTile tile = {};
    bool own_product = false; ///< products of matrices without cuBLAS
};

inline constinit thread_local KernelChoice kernel_choice;

/// Sets the thread's choices as long as the scope exists. Scopes end in the opposite order.
class [[nodiscard]] KernelChoiceScope {
  public:
    explicit KernelChoiceScope(const KernelChoice &choice)
        : outer_(std::exchange(kernel_choice, choice)) {}
    ~KernelChoiceScope() { kernel_choice = outer_; }
    KernelChoiceScope &operator=(KernelChoiceScope &&) = delete; // no copies either

  private:
    KernelChoice outer_;
};

} // namespace pycuda
