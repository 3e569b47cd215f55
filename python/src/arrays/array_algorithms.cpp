// array_algorithms.cpp -- scans, sorts and products of arrays, for the package's Python code.
#include "arrays/array_object.h"
#include "arrays/array_scope.h"
#include "arrays/array_value.h"
#include "memory/device_pointer.h"
#include "memory/work_scope.h"
#include "support/bindings.h"
#include "support/errors.h"
#include "support/python_object.h"

#include <pycuda/array_fusion.h>
#include <pycuda/array_product.h>
#include <pycuda/array_scan.h>
#include <pycuda/array_sort.h>
#include <pycuda/fused_program.h>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace pycuda::python {
namespace {

nb::object array_scan(const std::string &name, nb::handle self, int axis, nb::handle dtype,
                      nb::handle out) {
    const std::optional<Scan> kind = find_scan(name);
    if (!kind)
        throw_value_error("there is no scan \"" + name + "\"");
    const Array &in = require_array(self, "the array to scan");
    ScanOptions options{.dtype = type_or_none(dtype), .stream = current_stream()};
    if (!out.is_none()) {
        options.out = &require_array(out, "out");
        scan(*kind, in, axis, options);
        return nb::borrow(out);
    }
    const PythonAllocatorScope scope(PythonAllocatorScope::inherited(std::array{self}));
    return wrap_array(scan(*kind, in, axis, options), Py_TYPE(self.ptr()));
}

nb::object array_sort(nb::handle self, int axis, bool descending) {
    const Array &in = require_array(self, "the array to sort");
    const PythonAllocatorScope scope(PythonAllocatorScope::inherited(std::array{self}));
    return wrap_array(sort(in, axis, {.descending = descending, .stream = current_stream()}),
                      Py_TYPE(self.ptr()));
}

nb::object array_argsort(nb::handle self, int axis, bool descending, nb::handle order) {
    const Array &in = require_array(self, "the array to sort");
    const PythonAllocatorScope scope(PythonAllocatorScope::inherited(std::array{self}));
    const Array *first = order.is_none() ? nullptr : &require_array(order, "the order");
    return wrap_array(
        argsort(in, axis, {.descending = descending, .order = first, .stream = current_stream()}),
        Py_TYPE(self.ptr()));
}

nb::object array_select(nb::handle self, int axis, const std::vector<std::int64_t> &ranks) {
    const PythonAllocatorScope scope(PythonAllocatorScope::inherited(std::array{self}));
    return wrap_array(select(require_array(self, "the array to select from"), axis, ranks,
                             {.stream = current_stream()}),
                      Py_TYPE(self.ptr()));
}

nb::object array_partition(nb::handle self, int axis, std::int64_t rank, bool places,
                           bool descending) {
    const Array &in = require_array(self, "the array to partition");
    const PythonAllocatorScope scope(PythonAllocatorScope::inherited(std::array{self}));
    const SortOptions options{.descending = descending, .stream = current_stream()};
    return wrap_array(places ? argpartition(in, axis, rank, options)
                             : partition(in, axis, rank, options),
                      Py_TYPE(self.ptr()));
}

nb::object array_search(nb::handle sorted, nb::handle values, bool right, bool edges) {
    const PythonAllocatorScope scope(PythonAllocatorScope::inherited(std::array{values}));
    const Array &from = require_array(sorted, "the sorted array");
    const Array &wanted = require_array(values, "the values");
    const SearchSide side = right ? SearchSide::Right : SearchSide::Left;
    return wrap_array((edges ? search_edges : search_sorted)(from, wanted, side, current_stream()),
                      Py_TYPE(values.ptr()));
}

nb::object array_product(nb::handle a, nb::handle b, nb::handle dtype) {
    const ProductOptions options{.dtype = type_or_none(dtype), .stream = current_stream()};
    const PythonAllocatorScope scope(PythonAllocatorScope::inherited(std::array{a, b}));
    return wrap_array(
        matrix_product(require_array(a, "a factor"), require_array(b, "a factor"), options),
        Py_TYPE(a.ptr()));
}

// Fusion: steps are (operation, operands, dtype of the result or None).

Scalar number_of(nb::handle constant) {
    const Operand operand = require_operand(constant, "a constant");
    if (operand.is_array())
        throw_type_error("a constant of a fusion must be a number, not an array");
    return operand.scalar();
}

std::vector<Scalar> scalars_of(nb::list constants) {
    std::vector<Scalar> scalars;
    for (nb::handle constant : constants)
        scalars.push_back(number_of(constant));
    return scalars;
}

std::vector<FusedStep> steps_of(nb::list steps) {
    std::vector<FusedStep> program;
    for (nb::handle entry : steps) {
        nb::tuple step = nb::borrow<nb::tuple>(entry);
        program.push_back({operation_named(nb::cast<std::string>(nb::object(step[0]))),
                           nb::cast<std::vector<int>>(nb::object(step[1])),
                           type_or_none(nb::object(step[2]))});
    }
    return program;
}

void fusion_init(Fusion *self, int inputs, nb::list steps, const std::vector<int> &results,
                 nb::list constants) {
    new (self) Fusion(inputs, steps_of(steps), results, scalars_of(constants));
}

/// The bytes of a NumPy scalar; empty for an object without bytes.
class ScalarBytes {
  public:
    explicit ScalarBytes(PyObject *object) {
        if (PyObject_GetBuffer(object, &view_, PyBUF_SIMPLE) != 0) {
            PyErr_Clear();
            view_.obj = nullptr;
        }
    }
    ~ScalarBytes() { PyBuffer_Release(&view_); }
    ScalarBytes(const ScalarBytes &) = delete;
    ScalarBytes &operator=(const ScalarBytes &) = delete;

    bool operator==(const ScalarBytes &other) const {
        return view_.obj != nullptr && other.view_.obj != nullptr && view_.len == other.view_.len &&
               std::memcmp(view_.buf, other.view_.buf, static_cast<std::size_t>(view_.len)) == 0;
    }

  private:
    Py_buffer view_{};
};

/// Whether two constants give the same program. Objects of other types are equal only to
/// themselves; the Python code of a FusedFunction compares these.
bool is_same_constant(PyObject *a, PyObject *b) {
    if (a == b)
        return true;
    if (Py_TYPE(a) != Py_TYPE(b))
        return false;
    if (PyFloat_CheckExact(a)) // 0.0 and -0.0 differ, and NaN is equal to itself
        return std::bit_cast<std::uint64_t>(PyFloat_AsDouble(a)) ==
               std::bit_cast<std::uint64_t>(PyFloat_AsDouble(b));
    if (PyLong_CheckExact(a) || PyUnicode_CheckExact(a))
        return PyObject_RichCompareBool(a, b, Py_EQ) == 1;
    if (!PyTuple_CheckExact(a))
        return ScalarBytes(a) == ScalarBytes(b);
    if (PyTuple_Size(a) != PyTuple_Size(b))
        return false;
    for (Py_ssize_t i = 0; i < PyTuple_Size(a); ++i)
        if (!is_same_constant(PyTuple_GetItem(a, i), PyTuple_GetItem(b, i)))
            return false;
    return true;
}

/// The programs of a fused function, by the types of its arrays and its constants. A call with
/// known arguments runs no Python code between the function and the kernel.
class FusedCalls {
  public:
    /// Uses `program` for calls with arrays of these types and with these constants. `single`: the
    /// result is an array, else a tuple. `open`: the arguments of which the type is known only;
    /// `places`: the constants that are such an argument, as (number of the constant, number of the
    /// argument).
    void remember(nb::tuple arguments, nb::object program, bool single,
                  const std::vector<std::size_t> &open,
                  std::vector<std::pair<std::size_t, std::size_t>> places) {
        if (arguments.size() > most_arguments)
            return;
        Known known{{}, arguments.size(), program, runner_of(program), std::move(places), single};
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            const nb::object argument(arguments[i]);
            if (is_array(argument))
                known.arguments[i].type = array_of(argument).dtype().scalar();
            else
                known.arguments[i].constant = argument;
        }
        for (std::size_t i : open)
            known.arguments.at(i).is_open = true;
        const nb::ft_lock_guard lock(mutex_);
        if (known_.size() < most_known)
            known_.push_back(std::move(known));
    }

    /// The result; null if no program is known for these arguments.
    nb::object run(nb::tuple arguments) const {
        Given given;
        const Known *known = find(arguments, given);
        if (known == nullptr)
            return {};
        const std::span<const nb::handle> objects(given.objects.data(), given.count);
        const WorkScope device(objects);
        const PythonAllocatorScope scope(PythonAllocatorScope::inherited(objects));
        std::vector<Array> results = known->results(given);
        PyTypeObject *const type = Py_TYPE(objects[0].ptr());
        return known->single ? wrap_array(std::move(results.front()), type)
                             : wrap_arrays(std::move(results), type);
    }

    /// `self` is a FusedFunction, a Python class that derives from this class.
    static nb::object call(nb::handle self, nb::args arguments, nb::kwargs keywords) {
        if (keywords.size() == 0)
            if (nb::object result = nb::cast<const FusedCalls &>(self).run(arguments); result)
                return result;
        return self.attr("_call")(*arguments, **keywords);
    }

    /// Writes the results of a function without reductions to arrays.
    static void into(nb::handle self, nb::sequence results, nb::args arguments) {
        Given given;
        const Known *known = nb::cast<const FusedCalls &>(self).find(arguments, given);
        if (known == nullptr || known->run.fusion == nullptr)
            return void(self.attr("_into")(results, *arguments));
        std::vector<Array> to;
        std::vector<nb::object> kept;
        std::vector<nb::handle> all(given.objects.begin(), given.objects.begin() + given.count);
        for (nb::handle result : results) {
            to.push_back(require_array(result, "a result"));
            kept.push_back(nb::borrow(result));
            all.push_back(result);
        }
        const WorkScope device(all);
        known->run.fusion->run_into(to, {given.inputs.data(), given.count}, known->constants(given),
                                    current_stream());
    }

    static nb::object wrap_arrays(std::vector<Array> results, PyTypeObject *type) {
        nb::list list;
        for (Array &result : results)
            list.append(wrap_array(std::move(result), type));
        return nb::tuple(list);
    }

  private:
    static constexpr std::size_t most_arguments = 12, most_known = 64;

    /// A Fusion or a FusedProgram.
    struct Runner {
        const Fusion *fusion = nullptr;
        const FusedProgram *program = nullptr;

        std::vector<Array> operator()(std::span<const Array *const> arrays,
                                      StreamRef stream) const {
            return fusion != nullptr ? fusion->run(arrays, stream) : program->run(arrays, stream);
        }
    };
    static Runner runner_of(nb::handle program) {
        Runner runner;
        if (!nb::try_cast(program, runner.fusion))
            runner.program = nb::cast<const FusedProgram *>(program);
        return runner;
    }

    struct Argument {
        ScalarType type{};     ///< of an array
        nb::object constant{}; ///< null for an array
        bool is_open = false;  ///< a number of the type of `constant`, with any value

        bool fits(nb::handle given, const Array *array) const {
            if (array != nullptr)
                return !constant && array->dtype().scalar() == type;
            if (is_open)
                return Py_TYPE(given.ptr()) == Py_TYPE(constant.ptr());
            return constant && is_same_constant(given.ptr(), constant.ptr());
        }
    };
    struct Given {
        std::array<nb::handle, most_arguments> arguments, objects;
        std::array<const Array *, most_arguments> arrays{}, inputs;
        std::size_t count = 0; ///< of the arrays
    };
    struct Known {
        std::array<Argument, most_arguments> arguments;
        std::size_t count;
        nb::object program; ///< keeps the program alive
        Runner run;
        std::vector<std::pair<std::size_t, std::size_t>> places; ///< as of remember()
        bool single;

        /// The constants of the Fusion in this call.
        std::vector<Scalar> constants(const Given &given) const {
            const std::span<const Scalar> own = run.fusion->constants();
            std::vector<Scalar> constants(own.begin(), own.end());
            for (const auto &[constant, argument] : places)
                constants.at(constant) = number_of(given.arguments.at(argument));
            return constants;
        }
        std::vector<Array> results(const Given &given) const {
            const std::span<const Array *const> inputs(given.inputs.data(), given.count);
            return places.empty() ? run(inputs, current_stream())
                                  : run.fusion->run(inputs, constants(given), current_stream());
        }
    };

    /// Null if no program is known. The objects of `given` live as long as `arguments`.
    const Known *find(nb::tuple arguments, Given &given) const {
        const std::size_t count = arguments.size();
        if (count == 0 || count > most_arguments)
            return nullptr;
        for (std::size_t i = 0; i < count; ++i) {
            const nb::handle argument = NB_TUPLE_GET_ITEM(arguments.ptr(), i);
            given.arguments[i] = argument;
            if (!is_array(argument))
                continue;
            given.arrays[i] = &array_of(argument);
            given.objects[given.count] = argument;
            given.inputs[given.count++] = given.arrays[i];
        }
        return find({given.arguments.data(), count}, given.arrays);
    }

    const Known *find(std::span<const nb::handle> arguments,
                      std::span<const Array *const> arrays) const {
        const nb::ft_lock_guard lock(mutex_);
        for (const Known &known : known_) {
            bool fits = known.count == arguments.size();
            for (std::size_t i = 0; fits && i < arguments.size(); ++i)
                fits = known.arguments[i].fits(arguments[i], arrays[i]);
            if (fits)
                return &known;
        }
        return nullptr;
    }

    mutable nb::ft_mutex mutex_;
    std::deque<Known> known_; ///< only grows, so results of find() stay valid
};

/// The objects of a call, which it keeps alive, and its input arrays.
struct CallObjects {
    std::vector<nb::object> kept;
    std::vector<nb::handle> all;
    std::vector<const Array *> inputs;

    Array &add(nb::handle array, const char *what) {
        Array &added = require_array(array, what);
        kept.push_back(nb::borrow(array));
        all.push_back(array);
        return added;
    }
    void add_inputs(nb::sequence arrays) {
        for (nb::handle array : arrays)
            inputs.push_back(&add(array, "an argument of a fused function"));
    }
};

/// Returns an array, or a tuple if there are several results.
template <class Program, class... Constants>
nb::object fusion_run(const Program &self, nb::sequence arrays, nb::handle stream,
                      const Constants &...constants) {
    CallObjects objects;
    objects.add_inputs(arrays);
    const WorkScope device(objects.all);
    const PythonAllocatorScope scope(PythonAllocatorScope::inherited(objects.all));
    std::vector<Array> results = self.run(objects.inputs, constants..., stream_ref(stream));
    PyTypeObject *const type = objects.all.empty() ? nullptr : Py_TYPE(objects.all[0].ptr());
    if (results.size() == 1)
        return wrap_array(std::move(results[0]), type);
    return FusedCalls::wrap_arrays(std::move(results), type);
}

nb::object fusion_run_with(const Fusion &self, nb::sequence arrays, nb::handle stream,
                           nb::handle constants) {
    return constants.is_none()
               ? fusion_run(self, arrays, stream)
               : fusion_run(self, arrays, stream, scalars_of(nb::cast<nb::list>(constants)));
}

void fusion_run_into(const Fusion &self, nb::sequence results, nb::sequence arrays,
                     nb::handle constants) {
    std::vector<Array> to;
    CallObjects objects;
    for (nb::handle result : results)
        to.push_back(objects.add(result, "a result"));
    objects.add_inputs(arrays);
    const WorkScope device(objects.all);
    if (!constants.is_none())
        self.run_into(to, objects.inputs, scalars_of(nb::cast<nb::list>(constants)),
                      current_stream());
    else
        self.run_into(to, objects.inputs, current_stream());
}

/// Creates arrays whose elements a program computes from their indices and from the numbers of the
/// call. The program's only operand is the array itself, which says the shape.
class Filling {
  public:
    /// `places`: where the constants are numbers of a call, as (number of the constant, number of
    /// the argument).
    Filling(nb::handle dtype, nb::list steps, int result, nb::list constants,
            std::vector<std::pair<std::size_t, std::size_t>> places)
        : dtype_(number_type_of(dtype)), places_(std::move(places)),
          constants_(scalars_of(constants)), program_(1, steps_of(steps), {result}, constants_) {}

    nb::object make(nb::handle shape, nb::handle allocator, nb::args numbers) const {
        const Layout layout =
            Layout::contiguous(shape_argument(shape).shape(), dtype_.item_size(), Order::C);
        const StreamRef stream = current_stream();
        nb::object made = make_array(layout, dtype_, {}, nullptr, {allocator, stream});
        if (layout.size() == 0)
            return made;
        std::vector<Scalar> constants = constants_;
        for (const auto &[constant, number] : places_)
            constants.at(constant) = number_of(nb::object(numbers[number]));
        const Array &array = array_of(made);
        const Array *const inputs[] = {&array};
        program_.run_into(std::span(&array, 1), inputs, constants, stream);
        return made;
    }

  private:
    DType dtype_;
    std::vector<std::pair<std::size_t, std::size_t>> places_;
    std::vector<Scalar> constants_;
    Fusion program_;
};

/// The arrays without their last axis, one for each of its elements.
void add_parts(std::vector<Array> &parts, const Array &array) {
    const Layout &whole = array.layout();
    const int last = whole.dimensions() - 1;
    if (last < 0)
        throw_value_error("an array without axes has no parts");
    Layout layout;
    for (int axis = 0; axis < last; ++axis)
        layout.append(whole.extent(axis), whole.stride(axis));
    for (std::int64_t k = 0; k < whole.extent(last); ++k)
        parts.push_back(array.view(layout, k * whole.stride(last)));
}

/// As run_into(), with the elements of the arrays' last axes.
void fusion_run_into_parts(const Fusion &self, nb::handle result, nb::sequence arrays) {
    std::vector<Array> to, from;
    CallObjects objects;
    add_parts(to, objects.add(result, "a result"));
    objects.add_inputs(arrays);
    for (const Array *array : objects.inputs)
        add_parts(from, *array);
    std::vector<const Array *> inputs;
    for (const Array &part : from)
        inputs.push_back(&part);
    const WorkScope device(objects.all);
    self.run_into(to, inputs, current_stream());
}

/// A stage is (_Fusion, values, None), or (_Fusion, values, (reduction, axes or None, keepdims,
/// dtype or None, mean: the number that is subtracted from the count, or None)).
void program_init(FusedProgram *self, int arrays, nb::list stages,
                  const std::vector<int> &results) {
    std::vector<FusedStage> program;
    for (nb::handle entry : stages) {
        nb::tuple stage = nb::borrow<nb::tuple>(entry);
        FusedStage made{nb::cast<const Fusion &>(nb::object(stage[0])),
                        nb::cast<std::vector<int>>(nb::object(stage[1]))};
        if (nb::object(stage[2]).is_none()) {
            program.push_back(std::move(made));
            continue;
        }
        nb::tuple given = nb::borrow<nb::tuple>(nb::object(stage[2]));
        FusedReduction reduction{.reduction =
                                     reduction_named(nb::cast<std::string>(nb::object(given[0])))};
        if (const nb::object axes(given[1]); !axes.is_none())
            reduction.axes = nb::cast<std::vector<int>>(axes);
        reduction.keep_axes = nb::cast<bool>(nb::object(given[2]));
        reduction.dtype = type_or_none(nb::object(given[3]));
        if (const nb::object less(given[4]); !less.is_none())
            reduction.mean_of_less = nb::cast<double>(less);
        made.reduction = std::move(reduction);
        program.push_back(std::move(made));
    }
    new (self) FusedProgram(arrays, std::move(program), results);
}

std::string program_obstacle(const FusedProgram &self, nb::sequence arrays) {
    CallObjects objects;
    objects.add_inputs(arrays);
    return self.obstacle(objects.inputs);
}

nb::list fusion_types(const Fusion &self, nb::list dtypes) {
    std::vector<ScalarType> types;
    for (nb::handle dtype : dtypes)
        types.push_back(number_type_of(dtype));
    nb::list results;
    for (ScalarType type : self.result_types(types))
        results.append(numpy_dtype(type));
    return results;
}

} // namespace

void bind_array_algorithms(nb::module_ &module) {
    nb::class_<Fusion>(module, "_Fusion", "Several elementwise operations in one kernel.")
        .def("__init__", fusion_init, nb::arg("inputs"), nb::arg("steps"), nb::arg("results"),
             nb::arg("constants"))
        .def("run", fusion_run_with, nb::arg("arrays"), nb::arg("stream").none() = nb::none(),
             nb::arg("constants").none() = nb::none())
        .def("run_into", fusion_run_into, nb::arg("results"), nb::arg("arrays"),
             nb::arg("constants").none() = nb::none())
        .def("run_into_parts", fusion_run_into_parts, nb::arg("result"), nb::arg("arrays"))
        .def("result_types", fusion_types, nb::arg("dtypes"));
    nb::class_<Filling>(module, "_Filling", "Makes arrays from the indices of their elements.")
        .def(nb::init<nb::handle, nb::list, int, nb::list,
                      std::vector<std::pair<std::size_t, std::size_t>>>(),
             nb::arg("dtype"), nb::arg("steps"), nb::arg("result"), nb::arg("constants"),
             nb::arg("places"))
        .def("make", &Filling::make, nb::arg("shape"), nb::arg("allocator").none(),
             nb::arg("numbers"));
    nb::class_<FusedProgram>(module, "_FusedProgram",
                             "Elementwise operations and reductions, in stages.")
        .def("__init__", program_init, nb::arg("arrays"), nb::arg("stages"), nb::arg("results"))
        .def("run", fusion_run<FusedProgram>, nb::arg("arrays"),
             nb::arg("stream").none() = nb::none())
        .def("stage_count", &FusedProgram::stage_count)
        .def("obstacle", program_obstacle, nb::arg("arrays"));
    nb::class_<FusedCalls>(module, "_FusedCalls",
                           "Calls a fused function again with known types and constants.")
        .def(nb::init<>())
        .def("_remember", &FusedCalls::remember, nb::arg("arguments"), nb::arg("program"),
             nb::arg("single"), nb::arg("open"), nb::arg("places"))
        .def("__call__", &FusedCalls::call)
        .def("into", &FusedCalls::into, nb::arg("results"), nb::arg("arguments"),
             "Writes the results to arrays. For functions of arrays without reductions; see "
             "Fusion::run_into() in C++.");
    module.def("_array_scan", in_work_scope(array_scan), nb::arg("name"), nb::arg("array"),
               nb::arg("axis"), nb::arg("dtype") = nb::none(), nb::arg("out") = nb::none());
    module.def("_array_sort", in_work_scope(array_sort), nb::arg("array"), nb::arg("axis"),
               nb::arg("descending") = false);
    module.def("_array_argsort", in_work_scope(array_argsort), nb::arg("array"), nb::arg("axis"),
               nb::arg("descending") = false, nb::arg("order") = nb::none());
    module.def("_array_select", in_work_scope(array_select));
    module.def("_array_partition", in_work_scope(array_partition), nb::arg("array"),
               nb::arg("axis"), nb::arg("rank"), nb::arg("places") = false,
               nb::arg("descending") = false);
    module.def("_array_product", in_work_scope(array_product), nb::arg("a"), nb::arg("b"),
               nb::arg("dtype") = nb::none());
    module.def("_array_search", in_work_scope(array_search), nb::arg("sorted"), nb::arg("values"),
               nb::arg("right") = false, nb::arg("edges") = false);
}

} // namespace pycuda::python
