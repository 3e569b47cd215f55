// repeated_use.h -- the memory that work uses each time it is repeated: the calls of a bound
// launch, or the launches of a graph that was built from nodes.
//
//     RepeatedUse use;
//     use.add(argument);          once; the owner of `use` keeps the argument alive
//     use.begin(work);            before each repetition
//     ... the launch ...
#pragma once

#include "support/bindings.h"

#include <pycuda/array_memory.h>
#include <pycuda/work.h>

#include <memory>
#include <vector>

namespace pycuda::python {

class RepeatedUse {
  public:
    /// An argument of a kernel, or other memory of the device. Objects without memory are ignored.
    void add(nb::handle operand);
    bool empty() const noexcept;

    /// Throws Error if memory was freed. Records the use of the arrays, follows the streams of
    /// other libraries' arrays, and keeps textures and objects that hold memory until the work is
    /// done.
    void begin(Work &work) const;

  private:
    std::vector<std::shared_ptr<ArrayMemory>> arrays_;
    std::vector<const DeviceMemory *> memory_;
    std::vector<const PooledMemory *> pooled_;
    std::vector<nb::handle> foreign_; ///< arrays of other libraries
    std::vector<nb::handle> holders_; ///< textures, surfaces, and objects that hold memory
};

} // namespace pycuda::python
