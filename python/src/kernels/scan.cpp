// scan.cpp -- the C++ part of pycuda.scan, which runs in each call.
#include "support/bindings.h"

#include "arrays/array_operand.h"
#include "kernels/user_kernel.h"
#include "memory/device_pointer.h"
#include "memory/work_scope.h"
#include "support/bool_like.h"

#include <pycuda/scan_kernel.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace pycuda::python {
namespace {

class BoundScan {
  public:
    explicit BoundScan(ScanText text) : kernel_(std::move(text)) {}

    void run(nb::handle out, nb::handle in, nb::handle stream) {
        const WorkScope device(std::array{out, in});
        Work use(stream_ref(stream));
        ArrayReader reader(use);
        const ArrayOperand to = reader.write(out, kernel_.text().name, "output_ary");
        const ArrayOperand from = reader.read(in, kernel_.text().name, "input_ary");
        const std::shared_ptr<const KernelVariant> variant =
            kernel_.launch(use.stream(), to.view, from.view);
        if (variant == nullptr)
            return;
        functions_.get(variant->functions.front(), variant->log, variant->kept_in);
    }

    std::string source() const { return kernel_.source(); }

  private:
    ScanKernel kernel_;
    VariantFunctions functions_;
};

} // namespace

void bind_scan(nb::module_ &module) {
    nb::class_<BoundScan>(
        module, "ScanKernel", nb::is_weak_referenceable(),
        "A kernel that computes the running results of an operation over an array.\n\n"
        "The base class of the scans of pycuda.scan, which describe the parameters.")
        .def(
            "__init__",
            [](BoundScan *self, std::string type, std::size_t size, std::string scan_expr,
               std::string neutral, BoolLike exclusive, std::string name, std::string preamble,
               std::vector<std::string> options, std::string nvcc) {
                new (self) BoundScan({std::move(type),
                                      size,
                                      std::move(scan_expr),
                                      std::move(neutral),
                                      exclusive ? ScanKind::Exclusive : ScanKind::Inclusive,
                                      std::move(name),
                                      std::move(preamble),
                                      {std::move(options), false, Builtins::All, std::move(nvcc)}});
            },
            nb::arg("type"), nb::arg("size"), nb::arg("scan_expr"), nb::arg("neutral"),
            nb::arg("exclusive"), nb::arg("name"), nb::arg("preamble"), nb::arg("options"),
            nb::arg("nvcc") = "nvcc")
        .def("_run", &BoundScan::run, nb::arg("out"), nb::arg("in_"),
             nb::arg("stream") = nb::none(), "Scans `in_` into `out`, which may be the same.")
        .def("source", &BoundScan::source,
             "Return the kernel's CUDA C++ source for contiguous arrays, as a str.\n\n"
             "Strided arrays use another source, which is generated at their first call.");
}

} // namespace pycuda::python
