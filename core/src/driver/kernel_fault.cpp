// kernel_fault.cpp -- softcuda's record of a kernel's failure.
#include <pycuda/kernel_fault.h>

#include <abi/extensions.h>
#include <pycuda/driver.h>

#include <memory>

namespace pycuda {

std::optional<KernelFault> last_kernel_fault(CUresult result) {
    const auto ask = driver().extensions().scuLastFault;
    if (!ask)
        return std::nullopt;
    const auto record = std::make_unique<ScuFault>(); // too large for the stack: some kilobytes
    if (ask(record.get()) == 0 || record->result != result)
        return std::nullopt;
    KernelFault fault;
    fault.kernel = record->kernel;
    fault.file = record->file;
    fault.line = record->line;
    fault.block = {record->block[0], record->block[1], record->block[2]};
    if (record->thread[0] >= 0)
        fault.thread = {static_cast<unsigned>(record->thread[0]),
                        static_cast<unsigned>(record->thread[1]),
                        static_cast<unsigned>(record->thread[2])};
    if (record->has_address)
        fault.address = record->address;
    fault.access = static_cast<KernelFault::Access>(record->access);
    if (record->has_allocation)
        fault.allocation = {record->allocation, record->allocation_bytes};
    fault.variable = record->variable;
    if (record->parameter >= 0)
        fault.parameter = static_cast<unsigned>(record->parameter);
    fault.message = record->message;
    return fault;
}

} // namespace pycuda
