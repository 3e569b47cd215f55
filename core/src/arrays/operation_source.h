// operation_source.h -- the CUDA C++ of an elementwise kernel.
#pragma once

#include "arrays/kernel_table.h"
#include "arrays/operation_types.h"

#include <array>
#include <cstdint>
#include <string>

namespace pycuda {

/// How a kernel gets an operand.
enum class Access : std::uint8_t {
    Elements, ///< by address, element by element
    Single,   ///< by address, the same element for all
    Value,    ///< the number itself among the arguments
};

/// How a kernel walks over the elements.
enum class Walk : std::uint8_t {
    Vectors,  ///< all lie one after the other: accesses of 16 bytes
    Elements, ///< the same, element by element
    Rows,     ///< strided, with a long last axis: threads along it, blocks over the others
    Flat,     ///< strided, one index that each thread takes apart
};

/// All that an elementwise kernel's source depends on.
struct OperationVariant {
    Operation operation;
    std::array<ScalarType, max_operands> stored; ///< types of operands in memory, or of values
    std::array<Access, max_operands> access;
    LoopTypes loop;
    ScalarType out;
    bool masked = false;
    bool mask_is_single = false;
    Walk walk = Walk::Vectors;
    int axes = 0;            ///< of Rows and Flat
    bool unit_steps = false; ///< of Rows: along the last axis all elements are neighbours
    bool wide_index = false; ///< of Rows and Flat: 64-bit
    bool rolled = false;     ///< a loop where others have a copy of the code for each element
    /// Of Rows: operands that are the same in all rows, by address. Not of rolled kernels.
    std::array<bool, max_operands> kept{};

    int operands() const noexcept { return operand_count(operation); }
    bool strided() const noexcept { return walk == Walk::Rows || walk == Walk::Flat; }
    KernelKey key() const noexcept;
};

/// Whether kernels of this form are `rolled`. Chosen: where threads are a CPU's lanes.
bool is_rolled(KernelForm form);

inline constexpr int elementwise_block = 256;
inline constexpr int elements_per_thread = 4; ///< of the walks that are not Vectors

/// Elements in one access of 16 bytes, of the widest type; of long operations at most 8.
int vector_length(const OperationVariant &variant) noexcept;
/// Elements that a block of a contiguous walk covers.
std::size_t tile_size(const OperationVariant &variant) noexcept;

/// The parameters are: out, mask if any, operands (addresses or values), then
///   contiguous:  unsigned long long n
///   strided:     Geometry: n, extents, and for each of out, mask, operands by address its strides
std::string operation_source(const OperationVariant &variant);

/// Its middle alone: a struct of that name with `static O operate(index, a, b ...)`, which takes
/// stored operands and gives the result as it would be stored. Access and walk are not looked at.
std::string operation_struct(const OperationVariant &variant, const std::string &name);

} // namespace pycuda
