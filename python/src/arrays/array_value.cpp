// array_value.cpp -- converts Python objects to the operands of core.
#include "arrays/array_value.h"

#include "arrays/array_object.h"
#include "arrays/array_scope.h"
#include "launch/argument_types.h"
#include "memory/device_pointer.h"
#include "memory/host_buffer.h"
#include "memory/work_scope.h"
#include "support/numpy_types.h"
#include "support/python_object.h"

#include <pycuda/array_gather.h>
#include <pycuda/array_nonzero.h>
#include <pycuda/array_reduction.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace pycuda::python {
namespace {

Scalar python_integer(PyObject *value) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow == 0)
        return Scalar::weak(std::int64_t{number});
    if (overflow > 0) {
        const unsigned long long large = PyLong_AsUnsignedLongLong(value);
        if (!PyErr_Occurred())
            return Scalar::weak(std::uint64_t{large});
        PyErr_Clear();
    }
    double nearest = PyLong_AsDouble(value);
    if (PyErr_Occurred()) { // no double holds the int either
        PyErr_Clear();
        nearest = overflow * std::numeric_limits<double>::infinity();
    }
    return Scalar::weak_beyond_64_bits(nearest);
}

/// Our type for numpy's scalar type. The size and the kind are known; bool is the only type that is
/// not numeric.
ScalarType type_of_scalar(const ArgumentType &known) {
    const NumpyScalar &scalar = known.scalar;
    switch (scalar.kind) {
    case ValueKind::Signed:
        return scalar.size == 1   ? ScalarType::Int8
               : scalar.size == 2 ? ScalarType::Int16
               : scalar.size == 4 ? ScalarType::Int32
                                  : ScalarType::Int64;
    case ValueKind::Unsigned:
        if (is_numpy_bool(scalar.type))
            return ScalarType::Bool;
        return scalar.size == 1   ? ScalarType::UInt8
               : scalar.size == 2 ? ScalarType::UInt16
               : scalar.size == 4 ? ScalarType::UInt32
                                  : ScalarType::UInt64;
    case ValueKind::Float:
        return scalar.size == 2   ? ScalarType::Float16
               : scalar.size == 4 ? ScalarType::Float32
               : scalar.size == 8 ? ScalarType::Float64
                                  : ScalarType::Opaque; // longdouble
    case ValueKind::Bytes:
        return scalar.size == 8 ? ScalarType::Complex64 : ScalarType::Complex128;
    default:
        return ScalarType::Opaque;
    }
}

std::optional<Operand> numpy_scalar(PyObject *value) {
    const ArgumentType *known = ArgumentTypes::find(Py_TYPE(value));
    if (known == nullptr || known->scalar.type == nullptr) {
        register_numpy_types();
        known = ArgumentTypes::find(Py_TYPE(value));
        if (known == nullptr || known->scalar.type == nullptr)
            return {};
    }
    const ScalarType type = type_of_scalar(*known);
    if (type == ScalarType::Opaque)
        return Operand(Scalar::of(PyFloat_AsDouble(value), ScalarType::Float64));
    return Operand(Scalar::from_bytes(type, known->scalar.value(value)));
}

/// A numpy array without dimensions is a typed number, and so is a scalar of a type that numpy
/// itself lacks, such as ml_dtypes.bfloat16.
std::optional<Operand> array_of_one(nb::handle object) {
    if (!is_numpy_array(object) && !is_numpy_generic(object))
        return {};
    if (nb::cast<int>(object.attr("ndim")) != 0)
        return {};
    const DType type = dtype_of(nb::object(object.attr("dtype")));
    if (type.is_opaque())
        return {};
    alignas(16) std::byte bytes[16] = {};
    nb::object text = object.attr("tobytes")();
    std::memcpy(bytes, nb::borrow<nb::bytes>(text).c_str(), type.item_size());
    return Operand(Scalar::from_bytes(type.scalar(), bytes));
}

} // namespace

std::optional<Operand> find_operand(nb::handle object) {
    PyObject *value = object.ptr();
    if (is_array(object))
        return Operand(array_of(object));
    if (PyFloat_CheckExact(value))
        return Operand(Scalar::weak(PyFloat_AsDouble(value)));
    if (PyBool_Check(
            value)) // a Python bool never changes the type, so a typed bool has the same effect
        return Operand(Scalar::of_bool(value == Py_True));
    if (PyLong_Check(value))
        return Operand(python_integer(value));
    if (std::optional<Operand> scalar = numpy_scalar(value))
        return scalar;
    if (PyFloat_Check(value))
        return Operand(Scalar::weak(PyFloat_AsDouble(value)));
    if (PyComplex_Check(value))
        return Operand(Scalar::weak(PyComplex_RealAsDouble(value), PyComplex_ImagAsDouble(value)));
    return array_of_one(object);
}

Operand require_operand(nb::handle object, const char *what) {
    if (std::optional<Operand> operand = find_operand(object))
        return *operand;
    std::string message =
        std::string(what) + " must be a GPUArray or a number, not " + name_of_type(object);
    if (is_numpy_array(object))
        message += ", which is in host memory; copy it with pycuda.gpuarray.to_gpu() first";
    throw_type_error(message);
}

namespace {

/// Whether results with the layout of an array of this class are created by its _new_like_me(), as
/// in PyCUDA: if a subclass overrides it, or defines a constructor.
bool makes_own_results(PyTypeObject *type) {
    const char *name = "_new_like_me";
    nb::handle own(reinterpret_cast<PyObject *>(type));
    nb::handle common(reinterpret_cast<PyObject *>(array_class));
    return constructs_itself(type) || !own.attr(name).is(common.attr(name));
}

/// The first operand with the result's shape creates the result; if there is no such operand, the
/// result is a GPUArray.
nb::object apply_to_own_result(Operation operation, std::span<const nb::handle> objects,
                               std::span<const Operand> operands, ApplyOptions options) {
    const ResultDescription result = describe_result(operation, operands, options);
    for (nb::handle object : objects) {
        if (!is_array(object) || !array_of(object).layout().same_shape(result.layout))
            continue;
        nb::object made = object.attr("_new_like_me")(numpy_dtype(result.type));
        options.out = &require_array(made, "the result of _new_like_me()");
        apply(operation, operands, options);
        return made;
    }
    return wrap_array(apply(operation, operands, options));
}

} // namespace

nb::object apply_to_objects(Operation operation, std::span<const nb::handle> objects,
                            std::span<const Operand> operands, const OperationRequest &request) {
    WorkScope device;
    for (nb::handle object : objects)
        device.add(object);
    device.add(request.out);
    if (request.where != nullptr)
        device.add(*request.where);
    device.enter();
    const ApplyOptions options{.out = request.out.is_valid() ? &array_of(request.out) : nullptr,
                               .where = request.where,
                               .dtype = request.dtype,
                               .casting = request.casting,
                               .stream = stream_ref(request.stream)};
    if (options.out != nullptr) {
        apply(operation, operands, options);
        return nb::borrow(request.out);
    }
    PyTypeObject *type = array_class;
    for (nb::handle object : objects)
        if (is_array(object)) {
            type = Py_TYPE(object.ptr());
            if (type != array_class && makes_own_results(type))
                return apply_to_own_result(operation, objects, operands, options);
            break;
        }
    const PythonAllocatorScope scope(PythonAllocatorScope::inherited(objects));
    return wrap_array(apply(operation, operands, options), type);
}

namespace {

Casting casting_named(const std::string &name) {
    if (name == "no" || name == "equiv")
        return Casting::No;
    if (name == "safe")
        return Casting::Safe;
    if (name == "same_kind")
        return Casting::SameKind;
    if (name == "unsafe")
        return Casting::Unsafe;
    throw_value_error("casting must be \"no\", \"equiv\", \"safe\", \"same_kind\" or \"unsafe\", "
                      "not \"" +
                      name + "\"");
}

nb::object array_apply(const std::string &name, nb::args inputs, nb::handle out, nb::handle where,
                       nb::handle dtype, const std::string &casting, nb::handle stream) {
    const Operation operation = operation_named(name);
    if (static_cast<int>(inputs.size()) != operand_count(operation))
        throw_type_error(name + "() takes " + std::to_string(operand_count(operation)) +
                         " operands, not " + std::to_string(inputs.size()));
    std::vector<nb::handle> objects(inputs.begin(), inputs.end());
    std::vector<Operand> operands;
    for (nb::handle object : objects)
        operands.push_back(require_operand(object, "an operand"));
    OperationRequest request{
        .dtype = type_or_none(dtype), .casting = casting_named(casting), .stream = stream};
    if (!out.is_none()) {
        (void)require_array(out, "out");
        request.out = out;
    }
    if (!where.is_none())
        request.where = &require_array(where, "where");
    if (request.where && request.where->scalar_type() != ScalarType::Bool)
        throw_type_error("where must be an array of bool, not of " + request.where->dtype().name());
    return apply_to_objects(operation, objects, operands, request);
}

template <std::size_t count>
nb::object apply_numbered(unsigned number, const std::array<nb::handle, count> &objects,
                          const std::array<Operand, count> &operands) {
    const auto operation = static_cast<Operation>(number);
    if (operand_count(operation) != static_cast<int>(count))
        throw_type_error(std::string(operation_name(operation)) + "() takes " +
                         std::to_string(operand_count(operation)) + " operands");
    return apply_to_objects(operation, objects, operands);
}

std::string source_of_operation(const std::string &name, nb::handle dtype,
                                const std::string &struct_name) {
    return operation_source(operation_named(name), number_type_of(dtype), struct_name);
}

nb::object array_reduce(const std::string &name, nb::args inputs, std::uint32_t axes, bool keepdims,
                        nb::handle dtype, nb::handle where, nb::handle stream, nb::handle divisor,
                        bool root, nb::handle finished) {
    const Reduction reduction = reduction_named(name);
    std::vector<const Array *> arrays;
    for (nb::handle input : inputs)
        arrays.push_back(&require_array(input, "the array to reduce"));
    if (static_cast<int>(arrays.size()) != reduction_inputs(reduction))
        throw_type_error(name + "() takes " + std::to_string(reduction_inputs(reduction)) +
                         " arrays, not " + std::to_string(arrays.size()));
    ReduceOptions options{.axes = axes,
                          .keep_axes = keepdims,
                          .dtype = type_or_none(dtype),
                          .stream = stream_ref(stream)};
    if (!where.is_none())
        options.where = &require_array(where, "where");
    if (!divisor.is_none()) {
        options.finish = root ? ReductionFinish::DivideRoot : ReductionFinish::Divide;
        options.divisor = nb::cast<double>(divisor);
        options.finished = type_or_none(finished);
    }
    const std::vector<nb::handle> objects(inputs.begin(), inputs.end());
    const PythonAllocatorScope scope(PythonAllocatorScope::inherited(objects));
    return wrap_array(reduce(reduction, arrays, options), Py_TYPE(objects[0].ptr()));
}

void array_assign(nb::handle to, nb::handle from, nb::handle stream) {
    assign(require_array(to, "the target"), require_operand(from, "the value"), Casting::Unsafe,
           stream_ref(stream));
}

std::vector<IndexedAxis> indexed_axes(nb::list arrays, const std::vector<std::int64_t> &extents,
                                      const std::vector<std::int64_t> &strides) {
    std::vector<IndexedAxis> axes;
    for (std::size_t k = 0; k < arrays.size(); ++k)
        axes.push_back({&require_array(arrays[k], "indices"), extents.at(k), strides.at(k)});
    return axes;
}

/// The offsets, and the number of the first array with an index out of bounds, or -1.
nb::tuple array_offsets(nb::list arrays, const std::vector<std::int64_t> &extents,
                        const std::vector<std::int64_t> &strides) {
    const ElementOffsets found =
        element_offsets(indexed_axes(arrays, extents, strides), current_stream());
    return nb::make_tuple(wrap_array(found.offsets, Py_TYPE(nb::handle(arrays[0]).ptr())),
                          found.outside);
}

int array_gather_indexed(nb::handle out, nb::handle base, nb::list arrays,
                         const std::vector<std::int64_t> &extents,
                         const std::vector<std::int64_t> &strides) {
    return gather_indexed(require_array(out, "out"), require_array(base, "base"),
                          indexed_axes(arrays, extents, strides), current_stream());
}

int array_scatter_indexed(nb::handle base, nb::handle in, nb::list arrays,
                          const std::vector<std::int64_t> &extents,
                          const std::vector<std::int64_t> &strides) {
    return scatter_indexed(require_array(base, "base"), require_array(in, "in"),
                           indexed_axes(arrays, extents, strides), current_stream());
}

} // namespace

Operation operation_named(const std::string &name) {
    if (const std::optional<Operation> operation = find_operation(name))
        return *operation;
    throw_value_error("there is no operation \"" + name + "\"");
}

Reduction reduction_named(const std::string &name) {
    if (const std::optional<Reduction> reduction = find_reduction(name))
        return *reduction;
    throw_value_error("there is no reduction \"" + name + "\"");
}

std::optional<ScalarType> type_or_none(nb::handle dtype) {
    return dtype.is_none() ? std::nullopt : std::optional(number_type_of(dtype));
}

nb::object apply_plainly(unsigned operation, nb::handle x) {
    return apply_numbered(operation, std::array{x}, std::array{require_operand(x, "an operand")});
}

nb::object apply_plainly(unsigned operation, nb::handle x, nb::handle y) {
    return apply_numbered(
        operation, std::array{x, y},
        std::array{require_operand(x, "an operand"), require_operand(y, "an operand")});
}

void bind_array_operations(nb::module_ &module) {
    module.def("_array_apply", array_apply, nb::arg("name"), nb::arg("inputs"),
               nb::arg("out") = nb::none(), nb::arg("where") = nb::none(),
               nb::arg("dtype") = nb::none(), nb::arg("casting") = "same_kind",
               nb::arg("stream") = nb::none());
    module.def("_array_operation_number", [](const std::string &name) {
        return static_cast<unsigned>(operation_named(name));
    });
    module.def("_array_operation_source", source_of_operation);
    module.def("_array_apply_1",
               [](unsigned operation, nb::handle x) { return apply_plainly(operation, x); });
    module.def("_array_apply_2", [](unsigned operation, nb::handle x, nb::handle y) {
        return apply_plainly(operation, x, y);
    });
    module.def("_array_reduce", in_work_scope(array_reduce), nb::arg("name"), nb::arg("inputs"),
               nb::arg("axes") = ~std::uint32_t{0}, nb::arg("keepdims") = false,
               nb::arg("dtype") = nb::none(), nb::arg("where") = nb::none(),
               nb::arg("stream") = nb::none(), nb::arg("divisor") = nb::none(),
               nb::arg("root") = false, nb::arg("finished") = nb::none());
    module.def("_array_offsets", in_work_scope(array_offsets));
    module.def("_array_gather_indexed", in_work_scope(array_gather_indexed));
    module.def("_array_scatter_indexed", in_work_scope(array_scatter_indexed));
    module.def("_array_gather",
               in_work_scope(+[](nb::handle out, nb::handle base, nb::handle offsets) {
                   gather(require_array(out, "out"), require_array(base, "base"),
                          require_array(offsets, "offsets"), current_stream());
               }));
    module.def("_array_scatter",
               in_work_scope(+[](nb::handle base, nb::handle offsets, nb::handle in) {
                   scatter(require_array(base, "base"), require_array(offsets, "offsets"),
                           require_array(in, "in"), current_stream());
               }));
    module.def("_array_nonzero", in_work_scope(+[](nb::handle array) {
                   const PythonAllocatorScope scope(
                       PythonAllocatorScope::inherited(std::array{array}));
                   return wrap_array(nonzero(require_array(array, "the array"), current_stream()),
                                     Py_TYPE(array.ptr()));
               }));
    module.def(
        "_array_compress", in_work_scope(+[](nb::handle values, nb::handle where) {
            const Array &from = require_array(values, "the values");
            const PythonAllocatorScope scope(PythonAllocatorScope::inherited(std::array{values}));
            const nb::object dtype = from.dtype().is_opaque() ? values.attr("dtype") : nb::object();
            return wrap_array(compress(from, require_array(where, "the mask"), current_stream()),
                              Py_TYPE(values.ptr()), dtype);
        }));
    module.def("_array_assign", in_work_scope(array_assign), nb::arg("to"), nb::arg("source"),
               nb::arg("stream") = nb::none());
}

} // namespace pycuda::python
