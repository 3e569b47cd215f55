// array_from_interface.cpp -- arrays that see the memory of another library's array.
#include "arrays/array_object.h"

#include "arrays/array_scope.h"
#include "memory/foreign_array.h"
#include "support/numpy_types.h"
#include "support/python_object.h"

#include <pycuda/known_address.h>
#include <pycuda/work.h>

#include <string>

namespace pycuda::python {
namespace {

nb::object entry(const nb::dict &interface, const char *name, nb::handle owner) {
    nb::object found = interface.get(name, nb::object());
    if (!found.is_valid())
        throw_type_error("the __cuda_array_interface__ of a " + name_of_type(owner) + " has no \"" +
                         name + "\"");
    return found;
}

/// The type of the elements: of "descr" if it names fields, else of "typestr".
nb::object element_type(const nb::dict &interface, nb::handle owner) {
    nb::object type = entry(interface, "typestr", owner);
    nb::object fields = interface.get("descr", nb::none());
    if (nb::isinstance<nb::list>(fields) && nb::len(fields) > 0 &&
        nb::len(nb::object(nb::object(fields[0])[0])) > 0)
        type = fields;
    return nb::module_::import_("numpy").attr("dtype")(type);
}

nb::object array_from_interface(nb::handle owner) {
    nb::object found = nb::object(owner.attr("__cuda_array_interface__"));
    if (!nb::isinstance<nb::dict>(found))
        throw_type_error("the __cuda_array_interface__ of a " + name_of_type(owner) +
                         " must be a dict, not " + name_of_type(found));
    const nb::dict interface = nb::borrow<nb::dict>(found);
    nb::object numpy_type = element_type(interface, owner);
    const DType dtype = dtype_of(numpy_type);
    Layout layout = Layout::contiguous(shape_argument(entry(interface, "shape", owner)).shape(),
                                       dtype.item_size());
    if (nb::object strides = interface.get("strides", nb::none()); !strides.is_none())
        layout = strided_layout(layout, strides);
    nb::object data = entry(interface, "data", owner);
    const CUdeviceptr address = unsigned_integer(nb::object(data[0]));
    const bool read_only = nb::cast<bool>(nb::bool_(nb::object(data[1])));

    const std::shared_ptr<ArrayContext> &context = ArrayContext::current();
    const Layout::ByteRange range = layout.byte_range(dtype.item_size());
    if (range.begin != range.end) {
        if (address == 0)
            throw_value_error("a " + name_of_type(owner) + " has elements, but no memory");
        if (!knows_address(address))
            throw_value_error("a " + name_of_type(owner) + " at " +
                              describe_unknown_address(address));
    }
    Work work(current_stream());
    if (const CUstream producer = stream_of_interface(interface.ptr(), owner))
        work.follow(producer);
    auto memory = ArrayMemory::borrow(context, address + static_cast<CUdeviceptr>(range.begin),
                                      static_cast<std::size_t>(range.end - range.begin),
                                      keep_lender(nb::borrow(owner), context->context()));
    nb::object array =
        wrap_array(Array(std::move(memory), address, dtype, layout), nullptr, numpy_type);
    if (!read_only)
        return array;
    array_of(array).set_writable(false);
    return view_of(array, array_of(array).layout(), 0); // so that flags.writeable cannot be set
}

} // namespace

void bind_array_from_interface(nb::module_ &module) {
    module.def("_array_from_interface", array_from_interface);
}

} // namespace pycuda::python
