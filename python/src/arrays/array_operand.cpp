// array_operand.cpp -- reads the address and the layout of an array's elements.
#include "arrays/array_operand.h"

#include "arrays/array_object.h"
#include "arrays/array_scope.h"
#include "memory/foreign_array.h"
#include "support/numpy_types.h"
#include "support/python_object.h"

#include <pycuda/known_address.h>

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdlib>

namespace pycuda::python {
namespace {

/// 4 for "<f4".
std::size_t item_size_of(const std::string &typestr) {
    const char *digits = typestr.c_str() + typestr.find_first_of("0123456789");
    return typestr.size() < 3 ? 0 : std::strtoul(digits, nullptr, 10);
}

[[noreturn]] void refuse(nb::handle object, const std::string &kernel,
                         const std::string &argument) {
    std::string message = "kernel '" + kernel + "': argument '" + argument +
                          "' must be an array of the device, such as a GPUArray, not " +
                          name_of_type(object);
    if (is_numpy_array(object))
        message += ", which is in host memory; copy it with pycuda.gpuarray.to_gpu()";
    throw_type_error(message);
}

} // namespace

std::span<const std::int64_t> ArrayReader::keep(nb::handle tuple) {
    const auto count = static_cast<std::size_t>(nb::len(tuple));
    std::int64_t *place = inline_.data() + used_;
    if (used_ + count <= inline_.size())
        used_ += count;
    else
        place = more_.emplace_back(count).data();
    for (std::size_t i = 0; i < count; ++i)
        place[i] = nb::cast<std::int64_t>(nb::object(tuple[i]));
    return {place, count};
}

ArrayOperand ArrayReader::find(nb::handle object, const std::string &kernel,
                               const std::string &argument, Access access) {
    if (is_array(object)) [[likely]] {
        const Array &array = array_of(object);
        if (!array.is_aligned()) [[unlikely]] // an access would end the context
            throw_value_error("kernel '" + kernel + "': argument '" + argument +
                              "' is not aligned: its elements are not at multiples of their "
                              "size, as those of a packed struct; pass a copy");
        PyObject *dtype = array_object(object).dtype; // null until the first access
        const CUdeviceptr address =
            access == Access::Write ? use_.write(array, argument) : use_.read(array);
        return {{address, array.item_size(), array.shape(), array.layout().strides()},
                dtype ? nb::borrow(dtype) : numpy_dtype(array.scalar_type())};
    }
    nb::object interface = optional_attribute(object, "__cuda_array_interface__");
    if (!interface.is_valid() || !nb::isinstance<nb::dict>(interface))
        refuse(object, kernel, argument);
    ArrayOperand operand;
    operand.dtype = interface["typestr"];
    operand.view.item_size = item_size_of(nb::cast<std::string>(operand.dtype));
    operand.view.address = unsigned_integer(nb::object(nb::object(interface["data"])[0]));
    if (access == Access::Write &&
        nb::cast<bool>(nb::bool_(nb::object(nb::object(interface["data"])[1]))))
        throw_value_error("kernel '" + kernel + "': argument '" + argument + "' is a " +
                          name_of_type(object) + ", which is read-only");
    if (!knows_address(operand.view.address))
        throw_value_error("kernel '" + kernel + "': argument '" + argument + "' is a " +
                          name_of_type(object) + " at " +
                          describe_unknown_address(operand.view.address));
    if (const CUstream producer = stream_of_interface(interface.ptr(), object))
        use_.follow(producer);
    if (use_.is_captured()) [[unlikely]]
        use_.keep_in_graph(keep_alive(nb::borrow(object)));
    operand.view.shape = keep(nb::object(interface["shape"]));
    if (operand.view.address == 0 &&
        std::ranges::find(operand.view.shape, 0) == operand.view.shape.end())
        throw_value_error("kernel '" + kernel + "': argument '" + argument + "' is a " +
                          name_of_type(object) + " that has elements, but no memory");
    nb::object strides = nb::borrow<nb::dict>(interface).get("strides", nb::none());
    if (!strides.is_none())
        operand.view.strides = keep(strides);
    return operand;
}

} // namespace pycuda::python
