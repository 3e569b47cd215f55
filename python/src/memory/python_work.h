// python_work.h -- the work of one call from Python that uses device memory of any kind.
//
//     PythonWork work({dest, src}, stream);
//     copy_on_device_async(work.write(dest, "dest"), work.read(src, "src"), size, work.stream());
#pragma once

#include "support/bindings.h"

#include "memory/device_pointer.h"

#include <pycuda/work.h>

#include <initializer_list>

namespace pycuda::python {

/// A Work in the context of its operands, which is current in the scope of this object.
class [[nodiscard]] PythonWork {
  public:
    /// In the context of the first operand that has one. Operands are memory, arrays, or other
    /// objects, which have none.
    explicit PythonWork(std::initializer_list<nb::handle> operands, nb::handle stream = nb::none())
        : context_(operands), work_(stream_ref(stream), context_) {}

    Work &get() noexcept { return work_; }
    StreamRef stream() const noexcept { return work_.stream(); }

    /// The address of an operand; `what` names the parameter in errors.
    CUdeviceptr read(nb::handle object, const char *what) {
        return device_address(object, what, work_, Access::Read);
    }
    CUdeviceptr write(nb::handle object, const char *what) {
        return device_address(object, what, work_, Access::Write);
    }

  private:
    struct OperandContext : WorkContext {
        explicit OperandContext(std::initializer_list<nb::handle> operands) {
            for (nb::handle operand : operands)
                if (empty())
                    add_context(*this, operand);
            enter();
        }
    };

    OperandContext context_;
    Work work_;
};

} // namespace pycuda::python
