// reduction.cpp -- the C++ part of pycuda.reduction.ReductionKernel, which runs in each call.
#include "support/bindings.h"

#include "arrays/array_object.h"
#include "kernels/user_kernel.h"
#include "memory/device_pointer.h"
#include "memory/work_scope.h"
#include "support/bool_like.h"
#include "support/python_object.h"

#include <pycuda/reduction_kernel.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace pycuda::python {
namespace {

struct CallKeywords {
    nb::handle stream = Py_None;
    nb::handle out = Py_None;
    nb::handle allocator = Py_None;
};

CallKeywords read_keywords(const nb::kwargs &keywords) {
    CallKeywords read;
    for (auto [key, value] : keywords) {
        const std::string name = nb::cast<std::string>(key);
        if (name == "stream")
            read.stream = value;
        else if (name == "out")
            read.out = value;
        else if (name == "allocator")
            read.allocator = value;
        else if (name != "kernel_wrapper" || !value.is_none())
            throw_type_error("invalid keyword argument specified: " + name);
    }
    return read;
}

/// The kernel, and for each of its variants the object with which launches pack arguments.
class BoundReduction {
  public:
    BoundReduction(const std::vector<ArgumentTuple> &arguments, nb::object dtype,
                   ReductionText text)
        : kernel_(arguments_from(arguments), std::move(text)), dtype_(std::move(dtype)),
          element_(dtype_of(dtype_)) {}

    nb::object call(const nb::args &args, const nb::kwargs &keywords) {
        const CallKeywords read = read_keywords(keywords);
        WorkScope device;
        device.add(args);
        device.add(read.out);
        device.enter();
        StagedArguments staged(stream_ref(read.stream));
        const StreamRef stream = staged.queue();
        const CallArrays arrays(kernel_.text().name, kernel_.arguments(), args, staged.use());
        const ReductionKernel::Call call = kernel_.prepare(arrays.views(), stream);
        const KernelVariant &variant = call.variant();
        FunctionObject &function = functions_.get(call.function(), variant.log, variant.kept_in);

        nb::object out = nb::borrow(read.out);
        if (out.is_none())
            out = make_array(Layout(), element_, dtype_, nullptr,
                             {allocator_for(read.allocator, args), stream});
        ArgumentBlock block(function.function);
        block.push_pointer(address_for_result(out, staged.use()));
        Packing packing{function, block, staged};
        pack_arguments(packing, kernel_.arguments(), args, arrays,
                       [&](ArgumentBlock &to, std::size_t array) { call.push_array(to, array); });
        call.launch(block);
        return out;
    }

    /// The two kernels for contiguous arrays; compiles them.
    nb::tuple stages() {
        const std::shared_ptr<const KernelVariant> variant = kernel_.compile_flat();
        functions_.get(variant->functions[0], variant->log, variant->kept_in);
        return nb::make_tuple(wrap_function(variant->functions[0]),
                              wrap_function(variant->functions[1]));
    }

    std::string source() const { return kernel_.source(); }

  private:
    /// The given allocator, or that of the first array that has one.
    static nb::handle allocator_for(nb::handle given, nb::handle args) {
        if (!given.is_none())
            return given;
        for (nb::handle argument : nb::borrow<nb::tuple>(args))
            if (is_array(argument) && array_object(argument).allocator != nullptr)
                return array_object(argument).allocator;
        return Py_None;
    }

    /// The address of the result. Checks that the object is large enough.
    CUdeviceptr address_for_result(nb::handle out, Work &use) {
        ArrayReader reader(use);
        const ArrayOperand result = reader.write(out, kernel_.text().name, "out");
        if (result.view.item_size != element_.item_size() ||
            (is_array(out) && !nb::object(result.dtype).equal(dtype_)))
            throw_value_error("out must have the same dtype as dtype_out");
        if (result.view.size() == 0)
            throw_value_error("out must have one element, but is empty");
        return result.view.address;
    }

    ReductionKernel kernel_;
    nb::object dtype_;
    DType element_;
    VariantFunctions functions_;
};

} // namespace

void bind_reduction(nb::module_ &module) {
    nb::class_<BoundReduction>(
        module, "ReductionKernel", nb::is_weak_referenceable(),
        "A kernel that combines the elements of its arrays to one value.\n\n"
        "The base class of pycuda.reduction.ReductionKernel, which describes the parameters.")
        .def(
            "__init__",
            [](BoundReduction *self, const std::vector<ArgumentTuple> &arguments, nb::object dtype,
               std::string out_type, std::string neutral, std::string reduce_expr,
               std::string map_expr, std::string name, std::string preamble,
               std::vector<std::string> options, BoolLike keep, std::string nvcc) {
                const std::size_t out_size = dtype_of(dtype).item_size();
                new (self)
                    BoundReduction(arguments, std::move(dtype),
                                   {std::move(out_type),
                                    out_size,
                                    std::move(neutral),
                                    std::move(reduce_expr),
                                    std::move(map_expr),
                                    std::move(name),
                                    std::move(preamble),
                                    {std::move(options), keep, Builtins::All, std::move(nvcc)}});
            },
            nb::arg("arguments"), nb::arg("dtype_out"), nb::arg("out_type"), nb::arg("neutral"),
            nb::arg("reduce_expr"), nb::arg("map_expr"), nb::arg("name"), nb::arg("preamble"),
            nb::arg("options"), nb::arg("keep"), nb::arg("nvcc") = "nvcc")
        .def("__call__", &BoundReduction::call,
             nb::sig("def __call__(self, *args: object, stream: Stream | None = None, "
                     "out: object = None, allocator: object = None, "
                     "kernel_wrapper: None = None) -> ArrayBase"),
             "Reduce the arrays. Returns ``out``, or a new array without axes.\n\n"
             "out: an array for the result.\n"
             "allocator: the allocator of the result.")
        .def("_stages", &BoundReduction::stages,
             nb::sig("def _stages(self) -> tuple[Function, Function]"),
             "The two kernels for arrays whose elements lie one after the other.")
        .def("source", &BoundReduction::source,
             "Return the kernel's CUDA C++ source for contiguous arrays, as a str.\n\n"
             "Strided arrays use another source, which is generated at their first call.");
}

} // namespace pycuda::python
