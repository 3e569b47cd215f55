// reduction_source.h -- the CUDA C++ of a reduction kernel.
#pragma once

#include "arrays/kernel_table.h"

#include <pycuda/array_reduction.h>

#include <array>
#include <cstdint>
#include <string>

namespace pycuda {

/// How the types of a reduction follow from that of its input.
enum class ReductionRule : std::uint8_t {
    Widen,    ///< small integers become int64 or uint64
    Same,     ///< as the input
    Test,     ///< gives bool
    Count,    ///< gives int64
    Index,    ///< gives int64; the state is a value with its place
    SquareOf, ///< gives a float, of complex numbers a real one
    Moments,  ///< the same; the state is three numbers
};

struct ReductionRow {
    std::string_view numpy_name;
    int inputs;
    ReductionRule rule;
    const char *identity;
    const char *map;
    const char *combine;
};
const ReductionRow &reduction_row(Reduction reduction) noexcept;

/// Which of a block's threads work on the same output.
enum class Team : std::uint8_t {
    Block,   ///< all 256
    Warp,    ///< 32 neighbours; the block has 8 outputs
    Columns, ///< the 8 of a column: neighbours work on neighbouring outputs
};

/// All that a reduction kernel's source depends on.
struct ReductionVariant {
    Reduction reduction;
    std::array<ScalarType, 2> stored; ///< of the inputs
    ScalarType type;                  ///< in which elements are computed
    ScalarType out;
    bool masked = false;
    Team team = Team::Block;
    bool vectors = false;    ///< the reduced elements lie one after the other: 16-byte accesses
    bool dense = false;      ///< so do a team's, or of columns the outputs': rolled kernels know it
    bool words = false;      ///< of bytes that lie one after the other: eight at a time
    bool split = false;      ///< blocks share an output; states are written, to be reduced again
    bool partials = false;   ///< the input is such states
    bool wide_index = false; ///< 64-bit
    bool rolled = false;     ///< loops where others have copies of the code for each element
    int kept = 0;            ///< axes that stay, after merging
    int reduced = 1;         ///< axes that go, after merging

    int inputs() const noexcept { return reduction_row(reduction).inputs; }
    int walkers() const noexcept { return inputs() + masked; }
    KernelKey key() const noexcept;
};

inline constexpr int reduction_block = 256;
int team_size(Team team) noexcept;

/// Whether bytes of this variant can be taken in words: they are counted, added up or tested, which
/// gives the same in any order.
bool is_of_bytes(const ReductionVariant &variant) noexcept;

/// Whether the kernel of a split reduction can reduce the states that it left, too: as elements
/// they are what it takes, and what it gives is the result.
bool takes_own_states(const ReductionVariant &variant);

/// Bytes of a state.
std::size_t state_size(const ReductionVariant &variant) noexcept;
int reduction_vector_length(const ReductionVariant &variant) noexcept;
/// Elements that a team reduces with all its accesses of vectors under way.
int reduction_step(const ReductionVariant &variant) noexcept;

/// The parameters are: out (results or states), inputs, mask if any, then Geometry: outputs,
/// length of the reduction, length of a chunk, extents of kept and reduced axes, and for each
/// kept, then each reduced axis the strides of the inputs and the mask in bytes. Blocks: x over
/// outputs, y over chunks.
std::string reduction_source(const ReductionVariant &variant);

} // namespace pycuda
