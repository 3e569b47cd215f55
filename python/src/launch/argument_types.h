// argument_types.h -- converts Python values to kernel arguments, by type.
//
// A table maps a value's exact type to the function that packs the value. The key is a hash of the
// type's address; no attribute is looked up. Other values (of subclasses, numpy arrays, arrays of
// other libraries) are packed by the slower pack_other().
#pragma once

#include "support/bindings.h"

#include "launch/function.h"
#include "launch/staged_arguments.h"
#include "support/numpy_types.h"

#include <pycuda/argument_block.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace pycuda::python {

namespace dlpack {
struct ExchangeApi;
}

/// The arguments of one call that are packed so far.
struct Packing {
    FunctionObject &function;
    ArgumentBlock &block;
    StagedArguments &staged;
    /// CuPy's current stream. Set by the first CuPy array of the call.
    std::optional<CUstream> cupy_stream = std::nullopt;
};

struct ArgumentType;
using PackArgument = void (*)(const ArgumentType &type, PyObject *value, Packing &packing);

/// A Python type, and how its values are packed.
struct ArgumentType {
    PyTypeObject *type = nullptr;
    PackArgument pack = nullptr;
    NumpyScalar scalar;      ///< for numpy's scalars
    int direction = 0;       ///< for argument handlers: bits of StagedArguments::Direction
    bool is_pointer = false; ///< values are device memory or objects with a device address
    const dlpack::ExchangeApi *exchange = nullptr; ///< for arrays that have one
    bool lives_until_done = false; ///< a kernel needs the object itself, as a texture
};

class ArgumentTypes {
  public:
    /// Adds a type: one of our own classes that is a fast kernel argument. The type is never freed.
    /// The first entry of a type is kept.
    static void add(const ArgumentType &type);
    /// Adds a type of another library. Does nothing if the table is full, as in a program that
    /// creates many classes.
    static void add_foreign(const ArgumentType &type);

    /// Null if the type is not in the table.
    static const ArgumentType *find(PyTypeObject *type) noexcept {
        for (std::size_t slot = slot_of(type);; slot = (slot + 1) % slots) {
            PyTypeObject *found = std::atomic_ref(table[slot].type).load(std::memory_order_acquire);
            if (found == type) [[likely]]
                return &table[slot];
            if (found == nullptr)
                return nullptr;
        }
    }

  private:
    static constexpr std::size_t slots = 256; // a power of two, at most half full
    static std::size_t slot_of(PyTypeObject *type) noexcept {
        auto address = reinterpret_cast<std::uintptr_t>(type);
        return ((address >> 4) * 0x9e3779b97f4a7c15u) >> 56;
    }
    static bool insert(const ArgumentType &type);

    static constexpr int most_foreign = 48;
    static std::array<ArgumentType, slots> table; ///< read without a lock
    static nb::ft_mutex adding;                   ///< for writers
    static int foreign_count;
};

/// Packs a value whose type is not in the table. Throws an error with the reason if this is not
/// possible.
void pack_other(PyObject *value, Packing &packing);

inline void pack(PyObject *value, Packing &packing) {
    if (const ArgumentType *known = ArgumentTypes::find(Py_TYPE(value))) [[likely]]
        known->pack(*known, value, packing);
    else
        pack_other(value, packing);
}

/// Fills the table with the types that do not need numpy.
void register_argument_types();

/// Adds numpy's scalars after numpy has been imported.
void register_numpy_types();

// The functions that pack values of the types in the table. Those for numbers also pack subclasses.
void pack_int(const ArgumentType &type, PyObject *value, Packing &packing);
void pack_float(const ArgumentType &type, PyObject *value, Packing &packing);
void pack_complex(const ArgumentType &type, PyObject *value, Packing &packing);
void pack_handler(const ArgumentType &type, PyObject *value, Packing &packing);

} // namespace pycuda::python
