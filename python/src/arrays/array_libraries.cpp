// array_libraries.cpp -- NVIDIA's libraries for arrays, kernels for small matrices, and access of
// the host to arrays' memory, for the package's Python code.
//
// The functions take stacks of matrices in LAPACK's layout (see pycuda/array_libraries.h), which
// python/pycuda/arrays/linalg/lapack.py makes. They check types and extents, because wrong ones
// would access memory out of bounds.
#include "arrays/array_object.h"
#include "memory/work_scope.h"
#include "support/bindings.h"
#include "support/errors.h"
#include "support/interruptible.h"
#include "support/python_object.h"

#include <pycuda/array_libraries.h>
#include <pycuda/array_small_matrices.h>
#include <pycuda/device_traits.h>
#include <pycuda/driver_calls.h>

#include <nanobind/stl/string.h>

#include <algorithm>
#include <initializer_list>
#include <string>

namespace pycuda::python {
namespace {

/// Checks an operand: C-contiguous, with the wanted type and extents (-1: any extent).
const Array &operand(nb::handle object, const char *name, ScalarType type,
                     std::initializer_list<std::int64_t> extents) {
    const Array &array = require_array(object, name);
    bool fits = array.is_c_contiguous() && array.scalar_type() == type &&
                array.dimensions() == static_cast<int>(extents.size()) && array.size() > 0;
    int axis = 0;
    for (std::int64_t extent : extents) {
        fits = fits && (extent < 0 || array.layout().extent(axis) == extent);
        ++axis;
    }
    if (!fits)
        throw_value_error(std::string(name) + ", of shape " + shape_text(array.shape()) +
                          " and type " + array.dtype().name() +
                          ", does not fit the other operands");
    return array;
}

bool is_lapack_number(ScalarType type) {
    return type == ScalarType::Float32 || type == ScalarType::Float64 ||
           type == ScalarType::Complex64 || type == ScalarType::Complex128;
}

/// Checks a stack of matrices of float32, float64, complex64 or complex128.
const Array &matrices(nb::handle object, const char *name) {
    const Array &array = require_array(object, name);
    if (!is_lapack_number(array.scalar_type()))
        throw_type_error(std::string(name) + " has elements of " + array.dtype().name() +
                         ", expected float32, float64, complex64 or complex128");
    return operand(object, name, array.scalar_type(), {-1, -1, -1});
}

struct Stack {
    explicit Stack(const Array &array)
        : type(array.scalar_type()), count(array.layout().extent(0)),
          columns(array.layout().extent(1)), rows(array.layout().extent(2)) {}
    ScalarType type;
    std::int64_t count, columns, rows;
};

/// A stack of matrices to factorise, and the status of each.
struct Problem : Stack {
    Problem(nb::handle a, nb::handle info)
        : Stack(python::matrices(a, "a")), matrices(array_of(a)),
          status(operand(info, "info", ScalarType::Int32, {count})) {}
    const Array &matrices, &status;
};

/// Factorises with a solver whose pivots have the given type.
template <auto solver, ScalarType pivot> void lu(nb::handle a, nb::handle pivots, nb::handle info) {
    const Problem given(a, info);
    const Array &to = operand(pivots, "pivots", pivot, {given.count, given.rows});
    run_unlocked([&](StreamRef queue) { solver(given.matrices, to, given.status, queue); });
}

Triangle triangle_of(bool upper) { return upper ? Triangle::Upper : Triangle::Lower; }

void solve_triangle(nb::handle a, nb::handle b, bool upper, bool ones, bool transposed) {
    const Array &triangles = matrices(a, "a");
    const Stack stack(triangles);
    const Array &sides = operand(b, "b", stack.type, {stack.count, -1, stack.rows});
    run_unlocked([&](StreamRef queue) {
        solver_triangle(triangles, sides, triangle_of(upper), ones, transposed, queue);
    });
}

void lu_solve_stack(nb::handle factors, nb::handle pivots, nb::handle b, bool transposed) {
    const Array &lu = matrices(factors, "factors");
    const Stack stack(lu);
    const Array &order = operand(pivots, "pivots", ScalarType::Int32, {stack.count, stack.rows});
    const Array &sides = operand(b, "b", stack.type, {stack.count, -1, stack.rows});
    run_unlocked(
        [&](StreamRef queue) { solver_lu_solve_stack(lu, order, sides, transposed, queue); });
}

void cholesky(nb::handle a, bool upper, nb::handle info) {
    const Problem given(a, info);
    run_unlocked([&](StreamRef queue) {
        solver_cholesky(given.matrices, triangle_of(upper), given.status, queue);
    });
}

/// `tau`: a factor for each reflection; fewer than all for the first columns of Q.
template <auto solver> void reflections(nb::handle a, nb::handle tau, nb::handle info) {
    const Problem given(a, info);
    const std::int64_t all = std::min(given.rows, given.columns);
    const Array &factors =
        operand(tau, "tau", given.type, {given.count, solver == solver_qr ? all : -1});
    run_unlocked([&](StreamRef queue) { solver(given.matrices, factors, given.status, queue); });
}

void eigh(nb::handle a, nb::handle values, bool vectors, bool upper, nb::handle info) {
    const Problem given(a, info);
    const Array &to = operand(values, "values", real_type(given.type), {given.count, given.rows});
    run_unlocked([&](StreamRef queue) {
        solver_eigh(given.matrices, to, vectors, triangle_of(upper), given.status, queue);
    });
}

SvdMethod svd_method(const std::string &name) {
    if (name == "jacobi")
        return SvdMethod::Jacobi;
    if (name == "polar")
        return SvdMethod::Polar;
    if (name != "qr")
        throw_value_error("singular values are found by \"qr\", \"jacobi\" or \"polar\", not \"" +
                          name + "\"");
    return SvdMethod::QR;
}

void svd(nb::handle a, nb::handle s, nb::handle u, nb::handle v, const std::string &method,
         nb::handle info) {
    const Problem given(a, info);
    const Array &values = operand(s, "s", real_type(given.type), {given.count, given.columns});
    const Array *left = nullptr, *right = nullptr;
    if (!u.is_none()) {
        left = &operand(u, "u", given.type, {given.count, -1, given.rows});
        right = &operand(v, "v", given.type, {given.count, given.columns, given.columns});
    }
    const SvdMethod chosen = svd_method(method);
    run_unlocked([&](StreamRef queue) {
        solver_svd(given.matrices, values, left, right, chosen, given.status, queue);
    });
}

void fourier(nb::handle in, nb::handle out, int first, int rank, bool inverse) {
    const Array &from = require_array(in, "in"), &to = require_array(out, "out");
    const bool to_rows = first == 0 && rank == 1 && in.ptr() != out.ptr() && is_in_rows(to);
    const bool fits = from.dimensions() == to.dimensions() && from.is_c_contiguous() &&
                      (to.is_c_contiguous() || to_rows) && from.size() > 0 && to.size() > 0 &&
                      first >= 0 && rank >= 1 && rank <= 3 && first + rank <= from.dimensions() &&
                      is_lapack_number(from.scalar_type()) && is_lapack_number(to.scalar_type()) &&
                      real_type(from.scalar_type()) == real_type(to.scalar_type());
    if (!fits)
        throw_value_error("arrays of shapes " + shape_text(from.shape()) + " and " +
                          shape_text(to.shape()) + ", of " + from.dtype().name() + " and " +
                          to.dtype().name() + ", cannot be input and output of one transform");
    run_unlocked([&](StreamRef queue) {
        fourier_transform(from, to, first, rank,
                          inverse ? FourierDirection::Inverse : FourierDirection::Forward, queue);
    });
}

/// 0 if threads are lanes of a CPU: code that keeps a matrix in registers takes long to compile
/// there, and the other algorithms are faster.
std::int64_t largest_small(nb::handle dtype) {
    return runs_on_host() ? 0 : largest_small_matrix(number_type_of(dtype));
}

std::int64_t largest_in_block(nb::handle dtype) {
    return runs_on_host() ? 0 : largest_matrix_in_block(number_type_of(dtype));
}

nb::object wrap_like(nb::handle like, Array array) {
    return wrap_array(std::move(array), Py_TYPE(like.ptr()));
}

nb::object small_solve(nb::handle a, nb::handle b, nb::handle failed) {
    return wrap_like(a, solve_small(require_array(a, "a"), require_array(b, "b"),
                                    require_array(failed, "failed"), current_stream()));
}

nb::object small_invert(nb::handle a, nb::handle failed) {
    return wrap_like(
        a, invert_small(require_array(a, "a"), require_array(failed, "failed"), current_stream()));
}

nb::object small_determine(nb::handle a) {
    return wrap_like(a, determine_small(require_array(a, "a"), current_stream()));
}

nb::tuple small_determine_logarithm(nb::handle a) {
    SignAndLogarithm result = determine_small_logarithm(require_array(a, "a"), current_stream());
    return nb::make_tuple(wrap_like(a, std::move(result.sign)),
                          wrap_like(a, std::move(result.logarithm)));
}

nb::object small_cholesky(nb::handle a, bool upper, nb::handle failed) {
    return wrap_like(a, cholesky_small(require_array(a, "a"), upper,
                                       require_array(failed, "failed"), current_stream()));
}

nb::object wrap_like(nb::handle like, std::optional<Array> array) {
    return array ? wrap_like(like, std::move(*array)) : nb::none();
}

SmallVectors small_vectors(bool wanted) {
    return wanted ? SmallVectors::Wanted : SmallVectors::NotWanted;
}

nb::tuple small_svd(nb::handle a, bool vectors, nb::handle failed) {
    SmallSvd result = svd_small(require_array(a, "a"), small_vectors(vectors),
                                require_array(failed, "failed"), current_stream());
    return nb::make_tuple(wrap_like(a, std::move(result.u)), wrap_like(a, std::move(result.s)),
                          wrap_like(a, std::move(result.vh)));
}

nb::tuple small_eigh(nb::handle a, bool upper, bool vectors, nb::handle failed) {
    SmallEigen result = eigh_small(require_array(a, "a"), upper, small_vectors(vectors),
                                   require_array(failed, "failed"), current_stream());
    return nb::make_tuple(wrap_like(a, std::move(result.values)),
                          wrap_like(a, std::move(result.vectors)));
}

/// The libraries that support this type.
bool library_takes(const std::string &library, nb::handle dtype) {
    const ScalarType type = number_type_of(dtype);
    if (library == "solver")
        return solver_takes(type);
    if (library == "fourier")
        return fourier_takes(type);
    throw_value_error("library must be \"solver\" or \"fourier\", not \"" + library + "\"");
}

/// Waits until the host may access the arrays, which the current stream uses. Returns False at once
/// if the host never may: the memory is only accessible to the device, or the stream is being
/// captured.
bool wait_for_host(nb::args) {
    if (!host_has_arrays())
        return false;
    const StreamRef queue = current_stream();
    if (is_capturing(queue.get()))
        return false;
    wait_with_signals([&](const KeepWaiting &keep_waiting) {
        synchronize(queue, keep_waiting);
        if (!queue.is_default()) // on which memory without a stream was used before
            synchronize(StreamRef(), keep_waiting);
    });
    return true;
}

} // namespace

void bind_array_libraries(nb::module_ &module) {
    module.def("_array_library_takes", library_takes);
    module.def("_array_host_has_arrays", host_has_arrays);
    module.def(
        "_array_threads_are_cores", // a CPU's cores: few threads, and blocks of one thread are fast
        runs_on_host);
    module.def("_array_wait_for_host", in_work_scope(wait_for_host));
    module.def("_small_largest", largest_small);
    module.def("_small_largest_in_block", largest_in_block);
    module.def("_small_solve", in_work_scope(small_solve));
    module.def("_small_invert", in_work_scope(small_invert));
    module.def("_small_determine", in_work_scope(small_determine));
    module.def("_small_determine_logarithm", in_work_scope(small_determine_logarithm));
    module.def("_small_cholesky", in_work_scope(small_cholesky));
    module.def("_small_svd", in_work_scope(small_svd));
    module.def("_small_eigh", in_work_scope(small_eigh));
    module.def("_library_lu", in_work_scope(lu<solver_lu, ScalarType::Int64>));
    module.def("_library_lu_stack", in_work_scope(lu<solver_lu_stack, ScalarType::Int32>));
    module.def("_library_lu_solve_stack", in_work_scope(lu_solve_stack));
    module.def("_library_solve_triangle", in_work_scope(solve_triangle), nb::arg("a"), nb::arg("b"),
               nb::arg("upper"), nb::arg("ones"), nb::arg("transposed"));
    module.def("_library_cholesky", in_work_scope(cholesky));
    module.def("_library_qr", in_work_scope(reflections<solver_qr>));
    module.def("_library_q", in_work_scope(reflections<solver_q>));
    module.def("_library_eigh", in_work_scope(eigh));
    module.def("_library_svd", in_work_scope(svd), nb::arg("a"), nb::arg("s"), nb::arg("u").none(),
               nb::arg("v").none(), nb::arg("method"), nb::arg("info"));
    module.def("_library_fourier", in_work_scope(fourier));
}

} // namespace pycuda::python
