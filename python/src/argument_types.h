// argument_types.h -- how the values of each Python type become kernel arguments.
//
// One table from a value's exact type to the function that packs it: a hash of the type's address,
// no attribute look-ups. What is not in the table (subclasses, numpy arrays, arrays of other
// libraries) takes the slower pack_other().
#pragma once

#include "bindings.h"

#include "function.h"
#include "numpy_types.h"
#include "staged_arguments.h"

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

/// The arguments of one call, as far as they are packed.
struct Packing {
    FunctionObject &function;
    ArgumentBlock &block;
    StagedArguments &staged;
    /// The stream that CuPy works in, once the first array has asked for it.
    std::optional<CUstream> cupy_stream = std::nullopt;
};

struct ArgumentType;
using PackArgument = void (*)(const ArgumentType &type, PyObject *value, Packing &packing);

/// A Python type and how its values are packed.
struct ArgumentType {
    PyTypeObject *type = nullptr;
    PackArgument pack = nullptr;
    NumpyScalar scalar;      ///< of numpy's scalars
    int direction = 0;       ///< of argument handlers: bits of StagedArguments::Direction
    bool is_pointer = false; ///< values are device memory or stand for it
    const dlpack::ExchangeApi *exchange = nullptr; ///< of arrays that have one
};

class ArgumentTypes {
  public:
    /// Register a type: a class of our own that is a fast kernel argument. The type lives forever,
    /// and the first word on it stands.
    static void add(const ArgumentType &type);
    /// The same for a type of someone else. Does nothing once there are many, as in a program that
    /// makes classes all the time.
    static void add_foreign(const ArgumentType &type);

    /// Null where the type is not in the table.
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
    static nb::ft_mutex adding;                   ///< for those who write
    static int foreign_count;
};

/// Packs a value whose type is not in the table. Throws what says why it cannot.
void pack_other(PyObject *value, Packing &packing);

inline void pack(PyObject *value, Packing &packing) {
    if (const ArgumentType *known = ArgumentTypes::find(Py_TYPE(value))) [[likely]]
        known->pack(*known, value, packing);
    else
        pack_other(value, packing);
}

/// Fills the table with the types that exist without numpy.
void register_argument_types();

/// Adds numpy's scalars once numpy has been imported.
void register_numpy_types();

// How the types of the table are packed; of numbers, their subclasses too.
void pack_int(const ArgumentType &type, PyObject *value, Packing &packing);
void pack_float(const ArgumentType &type, PyObject *value, Packing &packing);
void pack_complex(const ArgumentType &type, PyObject *value, Packing &packing);
void pack_handler(const ArgumentType &type, PyObject *value, Packing &packing);

} // namespace pycuda::python
