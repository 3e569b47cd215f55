// record_check.cpp -- reads the result of a check in each launch of a graph.
#include <pycuda/array_operation.h>

#include <pycuda/work.h>

#include <array>
#include <span>
#include <stdexcept>
#include <string>

namespace pycuda {

bool record_check(const Array &failed, const FailedCheck &failure, StreamRef stream) {
    Work work(stream);
    if (!work.is_captured())
        return false;
    if (failed.size() != 1)
        throw std::invalid_argument("a check has one element, not " +
                                    std::to_string(failed.size()));
    const CUdeviceptr address = work.add_check(std::span(&failure, 1));
    // A flag that an earlier launch has set stays set until a wait reports it.
    const Array flag(ArrayMemory::borrow(failed.context(), address, sizeof(std::int32_t), nullptr),
                     address, DType(ScalarType::Int32),
                     Layout::contiguous(failed.shape(), sizeof(std::int32_t)));
    const std::array operands = {Operand(flag), Operand(failed)};
    apply(Operation::LogicalOr, operands,
          {.out = &flag, .casting = Casting::Unsafe, .stream = work.stream()});
    return true;
}

} // namespace pycuda
