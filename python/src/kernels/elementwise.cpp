// elementwise.cpp -- the C++ part of pycuda.elementwise.ElementwiseKernel, which runs in each call.
#include "support/bindings.h"

#include "kernels/user_kernel.h"
#include "memory/device_pointer.h"
#include "memory/work_scope.h"
#include "support/bool_like.h"
#include "support/python_object.h"

#include <pycuda/elementwise_kernel.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace pycuda::python {
namespace {

struct CallKeywords {
    nb::handle range = Py_None;
    nb::handle slice = Py_None;
    nb::handle stream = Py_None;
};

CallKeywords read_keywords(const nb::kwargs &keywords) {
    CallKeywords read;
    std::string unknown;
    for (auto [key, value] : keywords) {
        const std::string name = nb::cast<std::string>(key);
        if (name == "range")
            read.range = value;
        else if (name == "slice")
            read.slice = value;
        else if (name == "stream")
            read.stream = value;
        else
            unknown += (unknown.empty() ? "" : ", ") + name;
    }
    if (!unknown.empty())
        throw_type_error("invalid keyword arguments specified: " + unknown);
    if (!read.range.is_none() && !read.slice.is_none())
        throw_type_error("may not specify both range and slice keyword arguments");
    return read;
}

std::int64_t index_or(nb::object value, std::int64_t otherwise) {
    return value.is_none() ? otherwise : nb::cast<std::int64_t>(made(PyNumber_Index(value.ptr())));
}

/// range=: start, stop and step as given. None means 0, the number of elements and 1.
IndexRange range_of(nb::handle slice, std::uint64_t size) {
    if (!PySlice_Check(slice.ptr()))
        throw_type_error("range must be a slice object, not " + name_of_type(slice));
    const IndexRange range = {index_or(slice.attr("start"), 0),
                              index_or(slice.attr("stop"), static_cast<std::int64_t>(size)),
                              index_or(slice.attr("step"), 1)};
    if (range.step == 0)
        throw_value_error("the step of a range must not be 0");
    return range;
}

/// slice=: the range that the slice selects from the elements.
IndexRange slice_of(nb::handle slice, std::uint64_t size) {
    if (!PySlice_Check(slice.ptr()))
        throw_type_error("slice must be a slice object, not " + name_of_type(slice));
    Py_ssize_t start = 0, stop = 0, step = 0;
    if (PySlice_Unpack(slice.ptr(), &start, &stop, &step) != 0)
        throw nb::python_error();
    PySlice_AdjustIndices(static_cast<Py_ssize_t>(size), &start, &stop, step);
    return {start, stop, step};
}

std::optional<IndexRange> range_from(const CallKeywords &keywords, std::uint64_t size) {
    if (!keywords.range.is_none())
        return range_of(keywords.range, size);
    if (!keywords.slice.is_none())
        return slice_of(keywords.slice, size);
    return std::nullopt;
}

/// The kernel, and for each of its variants the object with which launches pack arguments.
class BoundElementwise {
  public:
    BoundElementwise(const std::vector<ArgumentTuple> &arguments, ElementwiseText text)
        : kernel_(arguments_from(arguments), std::move(text)) {}

    void call(const nb::args &args, const nb::kwargs &keywords) {
        const CallKeywords read = read_keywords(keywords);
        WorkScope device;
        device.add(args);
        device.enter();
        StagedArguments staged(stream_ref(read.stream));
        const CallArrays arrays(kernel_.text().name, kernel_.arguments(), args, staged.use());
        const ElementwiseKernel::Call call = kernel_.prepare(
            arrays.views(), staged.queue(), range_from(read, arrays.views().front().size()));
        if (!call.has_work())
            return;
        const KernelVariant &variant = call.variant();
        FunctionObject &function = functions_.get(call.function(), variant.log, variant.kept_in);
        ArgumentBlock block(function.function);
        Packing packing{function, block, staged};
        pack_arguments(packing, kernel_.arguments(), args, arrays,
                       [&](ArgumentBlock &to, std::size_t array) { call.push_array(to, array); });
        call.launch(block);
    }

    std::string source() const { return kernel_.source(); }

  private:
    ElementwiseKernel kernel_;
    VariantFunctions functions_;
};

} // namespace

void bind_elementwise(nb::module_ &module) {
    nb::class_<BoundElementwise>(
        module, "ElementwiseKernel", nb::is_weak_referenceable(),
        "A kernel that evaluates one operation for each element of its arrays.\n\n"
        "The base class of pycuda.elementwise.ElementwiseKernel, which describes the parameters.")
        .def(
            "__init__",
            [](BoundElementwise *self, const std::vector<ArgumentTuple> &arguments,
               std::string operation, std::string name, std::string preamble, std::string loop_prep,
               std::string after_loop, std::vector<std::string> options, BoolLike keep,
               std::string nvcc) {
                new (self) BoundElementwise(
                    arguments, {std::move(operation),
                                std::move(name),
                                std::move(preamble),
                                std::move(loop_prep),
                                std::move(after_loop),
                                {std::move(options), keep, Builtins::All, std::move(nvcc)}});
            },
            nb::arg("arguments"), nb::arg("operation"), nb::arg("name"), nb::arg("preamble"),
            nb::arg("loop_prep"), nb::arg("after_loop"), nb::arg("options"), nb::arg("keep"),
            nb::arg("nvcc") = "nvcc")
        .def("__call__", &BoundElementwise::call,
             nb::sig("def __call__(self, *args: object, range: slice | None = None, "
                     "slice: slice | None = None, stream: Stream | None = None) -> None"),
             "Run the kernel on arrays and numbers.\n\n"
             "args: the arguments of the kernel's declaration, in this order. Arrays have one "
             "shape.\n"
             "range, slice: restrict the elements, as in PyCUDA.")
        .def("source", &BoundElementwise::source,
             "Return the kernel's CUDA C++ source for contiguous arrays, as a str.\n\n"
             "Strided arrays use another source, which is generated at their first call.");
}

} // namespace pycuda::python
