// array_algorithms.cpp -- scans, sorts and products of arrays, for the package's Python code.
#include "array_object.h"
#include "array_scope.h"
#include "array_value.h"
#include "bindings.h"
#include "device_pointer.h"
#include "errors.h"
#include "python_object.h"
#include "work_scope.h"

#include <pycuda/array_fusion.h>
#include <pycuda/array_product.h>
#include <pycuda/array_scan.h>
#include <pycuda/array_sort.h>
#include <pycuda/fused_program.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

namespace pycuda::python {
namespace {

std::optional<ScalarType> type_of(nb::handle dtype) {
    if (dtype.is_none())
        return {};
    return number_type_of(dtype);
}

nb::object array_scan(const std::string &name, nb::handle self, int axis, nb::handle dtype,
                      nb::handle stream, bool packed, nb::handle out) {
    const std::optional<Scan> kind = find_scan(name);
    if (!kind)
        throw_value_error("there is no scan \"" + name + "\"");
    const Array &in = require_array(self, "the array to scan");
    ScanOptions options;
    options.dtype = type_of(dtype);
    options.stream = stream_ref(stream);
    options.form = packed ? KernelForm::Packed : KernelForm::Chosen;
    if (!out.is_none()) {
        options.out = &require_array(out, "out");
        scan(*kind, in, axis, options);
        return nb::borrow(out);
    }
    const PythonAllocatorScope scope(PythonAllocatorScope::inherited(std::array{self}));
    return wrap_array(scan(*kind, in, axis, options), Py_TYPE(self.ptr()));
}

SortMethod method_named(const std::string &way) {
    if (way == "chosen")
        return SortMethod::Chosen;
    if (way == "blocks" || way == "serial")
        return way == "blocks" ? SortMethod::Blocks : SortMethod::Serial;
    throw_value_error("way must be \"chosen\", \"blocks\" or \"serial\", not \"" + way + "\"");
}

SortTile tile_named(unsigned items, unsigned threads, const std::string &ranking) {
    constexpr std::string_view names[] = {"chosen", "late", "early", "marks"};
    const auto *found = std::ranges::find(names, ranking);
    if (found == std::end(names))
        throw_value_error("ranking must be \"chosen\", \"late\", \"early\" or \"marks\", not \"" +
                          ranking + "\"");
    return {items, threads, static_cast<SortRanking>(found - std::begin(names))};
}

nb::object array_sort(nb::handle self, int axis, bool descending, nb::handle stream,
                      const std::string &way, unsigned items, unsigned threads,
                      const std::string &ranking) {
    const Array &in = require_array(self, "the array to sort");
    const PythonAllocatorScope scope(PythonAllocatorScope::inherited(std::array{self}));
    return wrap_array(sort(in, axis,
                           {.descending = descending,
                            .order = nullptr,
                            .stream = stream_ref(stream),
                            .method = method_named(way),
                            .tile = tile_named(items, threads, ranking)}),
                      Py_TYPE(self.ptr()));
}

nb::object array_argsort(nb::handle self, int axis, bool descending, nb::handle order,
                         nb::handle stream, const std::string &way, unsigned items,
                         unsigned threads, const std::string &ranking) {
    const Array &in = require_array(self, "the array to sort");
    const PythonAllocatorScope scope(PythonAllocatorScope::inherited(std::array{self}));
    const Array *first = order.is_none() ? nullptr : &require_array(order, "the order");
    return wrap_array(argsort(in, axis,
                              {.descending = descending,
                               .order = first,
                               .stream = stream_ref(stream),
                               .method = method_named(way),
                               .tile = tile_named(items, threads, ranking)}),
                      Py_TYPE(self.ptr()));
}

nb::object array_select(nb::handle self, int axis, const std::vector<std::int64_t> &ranks,
                        nb::handle stream, const std::string &way) {
    const PythonAllocatorScope scope(PythonAllocatorScope::inherited(std::array{self}));
    return wrap_array(select(require_array(self, "the array to select from"), axis, ranks,
                             {.stream = stream_ref(stream), .method = method_named(way)}),
                      Py_TYPE(self.ptr()));
}

nb::object array_partition(nb::handle self, int axis, std::int64_t rank, bool places,
                           bool descending, nb::handle stream, const std::string &way) {
    const Array &in = require_array(self, "the array to partition");
    const PythonAllocatorScope scope(PythonAllocatorScope::inherited(std::array{self}));
    const SortOptions options{
        .descending = descending, .stream = stream_ref(stream), .method = method_named(way)};
    return wrap_array(places ? argpartition(in, axis, rank, options)
                             : partition(in, axis, rank, options),
                      Py_TYPE(self.ptr()));
}

nb::object array_search(nb::handle sorted, nb::handle values, bool right, nb::handle stream) {
    const PythonAllocatorScope scope(PythonAllocatorScope::inherited(std::array{values}));
    return wrap_array(search_sorted(require_array(sorted, "the sorted array"),
                                    require_array(values, "the values"),
                                    right ? SearchSide::Right : SearchSide::Left,
                                    stream_ref(stream)),
                      Py_TYPE(values.ptr()));
}

nb::object array_product(nb::handle a, nb::handle b, nb::handle dtype, nb::handle stream,
                         bool own) {
    ProductOptions options;
    options.dtype = type_of(dtype);
    options.stream = stream_ref(stream);
    options.method = own ? ProductMethod::Own : ProductMethod::Chosen;
    const PythonAllocatorScope scope(PythonAllocatorScope::inherited(std::array{a, b}));
    return wrap_array(
        matrix_product(require_array(a, "a factor"), require_array(b, "a factor"), options),
        Py_TYPE(a.ptr()));
}

// Fusion: steps are (operation, operands, dtype of the result or None).

std::vector<Scalar> scalars_of(nb::list constants) {
    std::vector<Scalar> scalars;
    for (nb::handle constant : constants) {
        const Operand operand = require_operand(constant, "a constant");
        if (operand.is_array())
            throw_type_error("a constant of a fusion must be a number, not an array");
        scalars.push_back(operand.scalar());
    }
    return scalars;
}

void fusion_init(Fusion *self, int inputs, nb::list steps, const std::vector<int> &results,
                 nb::list constants) {
    std::vector<FusedStep> program;
    for (nb::handle entry : steps) {
        nb::tuple step = nb::borrow<nb::tuple>(entry);
        const auto name = nb::cast<std::string>(nb::object(step[0]));
        const std::optional<Operation> operation = find_operation(name);
        if (!operation)
            throw_value_error("there is no operation \"" + name + "\"");
        program.push_back({*operation, nb::cast<std::vector<int>>(nb::object(step[1])),
                           type_of(nb::object(step[2]))});
    }
    new (self) Fusion(inputs, std::move(program), results, scalars_of(constants));
}

/// The programs of a fused function, by the types of its array arguments. A call with known types
/// runs no Python code between the function and the kernel.
class FusedCalls {
  public:
    /// Uses `fusion`, which has one result, for calls with arrays of these types.
    void remember(nb::tuple arrays, nb::object fusion) {
        Known known{{}, arrays.size(), fusion, runner_of(fusion)};
        if (arrays.size() > most_arrays)
            return;
        for (std::size_t i = 0; i < arrays.size(); ++i)
            known.types[i] = require_array(arrays[i], "an argument").dtype().scalar();
        std::lock_guard lock(mutex_);
        if (known_.size() < most_known)
            known_.push_back(std::move(known));
    }

    /// The result; null if no program is known for these arguments.
    nb::object run(nb::tuple arguments) const {
        const std::size_t count = arguments.size();
        if (count == 0 || count > most_arrays)
            return {};
        std::array<const Array *, most_arrays> arrays;
        std::array<ScalarType, most_arrays> types;
        for (std::size_t i = 0; i < count; ++i) {
            const nb::handle argument = NB_TUPLE_GET_ITEM(arguments.ptr(), i);
            if (!is_array(argument))
                return {};
            arrays[i] = &array_of(argument);
            types[i] = arrays[i]->dtype().scalar();
        }
        if (const Runner program = find({types.data(), count})) {
            std::array<nb::handle, most_arrays> objects;
            for (std::size_t i = 0; i < count; ++i)
                objects[i] = NB_TUPLE_GET_ITEM(arguments.ptr(), i);
            const std::span<const nb::handle> given(objects.data(), count);
            const WorkScope device(given);
            const PythonAllocatorScope scope(PythonAllocatorScope::inherited(given));
            return wrap_array(std::move(program({arrays.data(), count}).front()),
                              Py_TYPE(NB_TUPLE_GET_ITEM(arguments.ptr(), 0)));
        }
        return {};
    }

    /// `self` is a FusedFunction, a Python class that derives from this class.
    static nb::object call(nb::handle self, nb::args arguments, nb::kwargs keywords) {
        if (keywords.size() == 0)
            if (nb::object result = nb::cast<const FusedCalls &>(self).run(arguments); result)
                return result;
        return self.attr("_call")(*arguments, **keywords);
    }

  private:
    static constexpr std::size_t most_arrays = 8, most_known = 16;

    /// A Fusion or a FusedProgram.
    struct Runner {
        const Fusion *fusion = nullptr;
        const FusedProgram *program = nullptr;

        explicit operator bool() const noexcept { return fusion != nullptr || program != nullptr; }
        std::vector<Array> operator()(std::span<const Array *const> arrays) const {
            return fusion != nullptr ? fusion->run(arrays) : program->run(arrays);
        }
    };
    static Runner runner_of(nb::handle program) {
        Runner runner;
        if (!nb::try_cast(program, runner.fusion))
            runner.program = nb::cast<const FusedProgram *>(program);
        return runner;
    }

    struct Known {
        std::array<ScalarType, most_arrays> types;
        std::size_t count;
        nb::object fusion; ///< keeps the program alive
        Runner run;
    };
    Runner find(std::span<const ScalarType> types) const {
        std::lock_guard lock(mutex_);
        for (const Known &known : known_)
            if (std::ranges::equal(types, std::span(known.types).first(known.count)))
                return known.run;
        return {};
    }

    mutable std::mutex mutex_; ///< for Python without the GIL
    std::vector<Known> known_; ///< only grows, so results of find() stay valid
};

/// Returns an array, or a tuple if there are several results.
template <class Program>
nb::object fusion_run(const Program &self, nb::sequence arrays, nb::handle stream) {
    std::vector<const Array *> inputs;
    std::vector<nb::object> objects;
    PyTypeObject *type = nullptr;
    for (nb::handle array : arrays) {
        objects.push_back(nb::borrow(array));
        inputs.push_back(&require_array(array, "what a fused function is called with"));
        type = type == nullptr ? Py_TYPE(array.ptr()) : type;
    }
    const std::vector<nb::handle> handles(objects.begin(), objects.end());
    const WorkScope device{std::span<const nb::handle>(handles)};
    const PythonAllocatorScope scope(PythonAllocatorScope::inherited(handles));
    std::vector<Array> results = self.run(inputs, stream_ref(stream));
    if (results.size() == 1)
        return wrap_array(std::move(results[0]), type);
    nb::list list;
    for (Array &result : results)
        list.append(wrap_array(std::move(result), type));
    return nb::tuple(list);
}

void fusion_run_into(const Fusion &self, nb::sequence results, nb::sequence arrays) {
    std::vector<Array> to;
    std::vector<const Array *> inputs;
    std::vector<nb::object> objects;
    for (nb::handle result : results) {
        objects.push_back(nb::borrow(result));
        to.push_back(require_array(result, "a result"));
    }
    for (nb::handle array : arrays) {
        objects.push_back(nb::borrow(array));
        inputs.push_back(&require_array(array, "what a fused function is called with"));
    }
    const std::vector<nb::handle> handles(objects.begin(), objects.end());
    const WorkScope device{std::span<const nb::handle>(handles)};
    self.run_into(to, inputs);
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
        const auto name = nb::cast<std::string>(nb::object(given[0]));
        const std::optional<Reduction> found = find_reduction(name);
        if (!found)
            throw_value_error("there is no reduction \"" + name + "\"");
        FusedReduction reduction{.reduction = *found};
        if (const nb::object axes(given[1]); !axes.is_none())
            reduction.axes = nb::cast<std::vector<int>>(axes);
        reduction.keep_axes = nb::cast<bool>(nb::object(given[2]));
        reduction.dtype = type_of(nb::object(given[3]));
        if (const nb::object less(given[4]); !less.is_none())
            reduction.mean_of_less = nb::cast<double>(less);
        made.reduction = std::move(reduction);
        program.push_back(std::move(made));
    }
    new (self) FusedProgram(arrays, std::move(program), results);
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
        .def("run", fusion_run<Fusion>, nb::arg("arrays"), nb::arg("stream").none() = nb::none())
        .def("run_into", fusion_run_into, nb::arg("results"), nb::arg("arrays"))
        .def("result_types", fusion_types, nb::arg("dtypes"));
    nb::class_<FusedProgram>(module, "_FusedProgram",
                             "Elementwise operations and reductions, in stages.")
        .def("__init__", program_init, nb::arg("arrays"), nb::arg("stages"), nb::arg("results"))
        .def("run", fusion_run<FusedProgram>, nb::arg("arrays"),
             nb::arg("stream").none() = nb::none());
    nb::class_<FusedCalls>(module, "_FusedCalls", "What a fused function is called with again.")
        .def(nb::init<>())
        .def("_remember", &FusedCalls::remember, nb::arg("arrays"), nb::arg("fusion"))
        .def("__call__", &FusedCalls::call);
    module.def("_array_scan", in_work_scope(array_scan), nb::arg("name"), nb::arg("array"),
               nb::arg("axis"), nb::arg("dtype") = nb::none(), nb::arg("stream") = nb::none(),
               nb::arg("packed") = false, nb::arg("out") = nb::none());
    module.def("_array_sort", in_work_scope(array_sort), nb::arg("array"), nb::arg("axis"),
               nb::arg("descending") = false, nb::arg("stream") = nb::none(),
               nb::arg("way") = "chosen", nb::arg("items") = 0, nb::arg("threads") = 0,
               nb::arg("ranking") = "chosen");
    module.def("_array_argsort", in_work_scope(array_argsort), nb::arg("array"), nb::arg("axis"),
               nb::arg("descending") = false, nb::arg("order") = nb::none(),
               nb::arg("stream") = nb::none(), nb::arg("way") = "chosen", nb::arg("items") = 0,
               nb::arg("threads") = 0, nb::arg("ranking") = "chosen");
    module.def("_array_select", in_work_scope(array_select), nb::arg("array"), nb::arg("axis"),
               nb::arg("ranks"), nb::arg("stream") = nb::none(), nb::arg("way") = "chosen");
    module.def("_array_partition", in_work_scope(array_partition), nb::arg("array"),
               nb::arg("axis"), nb::arg("rank"), nb::arg("places") = false,
               nb::arg("descending") = false, nb::arg("stream") = nb::none(),
               nb::arg("way") = "chosen");
    module.def("_array_product", in_work_scope(array_product), nb::arg("a"), nb::arg("b"),
               nb::arg("dtype") = nb::none(), nb::arg("stream") = nb::none(),
               nb::arg("own") = false);
    module.def("_array_search", in_work_scope(array_search), nb::arg("sorted"), nb::arg("values"),
               nb::arg("right") = false, nb::arg("stream") = nb::none());
}

} // namespace pycuda::python
