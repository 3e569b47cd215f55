// cusolver.cpp -- calls of cuSOLVER: one call for each matrix of a stack, or one for the whole
// stack if cuSOLVER has a batched function.
#include <pycuda/array_libraries.h>

#include "arrays/library_handles.h"
#include "context/outside_captures.h"
#include "libraries/cublas.h"
#include "libraries/nvidia_library.h"
#include "libraries/pointer_table.h"

#include <pycuda/driver.h>
#include <pycuda/event.h>
#include <pycuda/work.h>

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace pycuda {
namespace {

using SolverParams = void *;

// The values in cublas_api.h and cusolver_common.h.
constexpr int no_vectors = 0, with_vectors = 1;
constexpr int economy = 1, whole = 0;
constexpr int most_rows_at_once = 32; // limit of gesvdjBatched

constexpr const char *files[] = {"libcusolver.so.12", "libcusolver.so.11"};
constexpr LibraryStatus statuses[] = {
    {1, "CUSOLVER_STATUS_NOT_INITIALIZED"},  {2, "CUSOLVER_STATUS_ALLOC_FAILED"},
    {3, "CUSOLVER_STATUS_INVALID_VALUE"},    {4, "CUSOLVER_STATUS_ARCH_MISMATCH"},
    {5, "CUSOLVER_STATUS_MAPPING_ERROR"},    {6, "CUSOLVER_STATUS_EXECUTION_FAILED"},
    {7, "CUSOLVER_STATUS_INTERNAL_ERROR"},   {8, "CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED"},
    {9, "CUSOLVER_STATUS_NOT_SUPPORTED"},    {10, "CUSOLVER_STATUS_ZERO_PIVOT"},
    {11, "CUSOLVER_STATUS_INVALID_LICENSE"}, {31, "CUSOLVER_STATUS_INVALID_WORKSPACE"}};

struct Cusolver : LibraryTable {
    using LibraryTable::LibraryTable;
    static constexpr LibraryDescription description{"cuSOLVER", files, statuses};
#include "libraries/cusolver.def"
};
const Cusolver *cusolver() { return library_table<Cusolver>(); }

} // namespace

struct SolverState {
    SolverState() {
        cusolver()->create(&handle);
        cusolver()->create_params(&params);
        cusolver()->create_jacobi(&jacobi);
    }
    ~SolverState() {
        (void)cusolver()->destroy_jacobi.status(jacobi);
        (void)cusolver()->destroy_params.status(params);
        (void)cusolver()->destroy.status(handle);
    }
    SolverState &operator=(SolverState &&) = delete; // no copies either

    LibraryHandle handle = nullptr;
    SolverParams params = nullptr;
    SolverParams jacobi = nullptr;  ///< for gesvdj
    CUstream stream = nullptr;      ///< the stream of the last call
    std::optional<Event> last_call; ///< after the last call; empty if it used the default stream
};

namespace {

/// The context's handle. In the scope of this object, its calls use one stream. A handle owns
/// device memory, so a call in one stream waits for the last call in another stream.
class SolverCall {
  public:
    SolverCall(const Array &a, StreamRef stream)
        : use_(stream), stream_(use_.stream()), lock_(a.context()->libraries().solver_mutex) {
        const detail::OutsideCaptures outside; // the library may load kernels and allocate
        LibraryHandles &handles = a.context()->libraries();
        if (handles.solver == nullptr)
            set_up_library([&] { handles.solver = std::make_shared<SolverState>(); });
        state_ = handles.solver.get();
        if (!use_.is_captured())
            follow_last_call(a);
        cusolver()->set_stream(state_->handle, stream_.get());
    }
    ~SolverCall() {
        // Recorded work does not run now, so no other call waits for it.
        if (stream_.get() == nullptr || use_.is_captured())
            return;
        try {
            state_->last_call.emplace(*context_, CU_EVENT_DISABLE_TIMING);
            state_->last_call->record(stream_);
        } catch (const std::exception &) { // the context is broken, and no later call can use it
            state_->last_call.reset();
        }
    }
    SolverCall &operator=(SolverCall &&) = delete; // no copies either

    LibraryHandle handle() const noexcept { return state_->handle; }
    SolverParams params() const noexcept { return state_->params; }
    SolverParams jacobi() const noexcept { return state_->jacobi; }
    StreamRef stream() const noexcept { return stream_; }

    /// Orders the call's accesses to arrays.
    Work &use() noexcept { return use_; }
    /// The address of one matrix of a stack.
    template <class T> T *place(const Array &stack, std::int64_t number) {
        return reinterpret_cast<T *>(use_.read(stack) +
                                     static_cast<CUdeviceptr>(number * stack.layout().stride(0)));
    }
    /// As place(); null if there is no stack.
    void *place_or_null(const Array *stack, std::int64_t number) {
        return stack == nullptr ? nullptr : place<void>(*stack, number);
    }

  private:
    void follow_last_call(const Array &a) {
        if (state_->stream != stream_.get()) {
            // The default stream has no event: blocking streams wait for it implicitly, for the
            // other streams the wait is added here.
            if (state_->last_call)
                driver().cuStreamWaitEvent(stream_.get(), state_->last_call->get(), 0);
            else
                use_.follow(StreamRef());
        }
        state_->stream = stream_.get();
        state_->last_call.reset();
        context_ = a.context()->context();
    }

    Work use_;
    StreamRef stream_;
    std::unique_lock<CallerMutex> lock_;
    SolverState *state_;
    std::optional<Context> context_;
};

/// Calls a pair of cuSOLVER's 64-bit functions for the matrices of a stack: `size` gives the bytes
/// of the workspaces on the device and on the host, which `run` takes. They exist until the calls
/// are queued in the stream. `arguments(i)` are those of matrix i, as a tuple, before the
/// workspaces; `last` is behind the place in `info`.
template <class Size, class Run, class Arguments, class... Last>
void call_in_workspaces(SolverCall &call, const Array &a, const Array &info, const Size &size,
                        const Run &run, const Arguments &arguments, Last... last) {
    std::size_t on_device = 0, on_host = 0;
    std::apply([&](auto... of_first) { size(of_first..., &on_device, &on_host); }, arguments(0));
    const Workspace device(a.context(), on_device, call.stream());
    std::vector<std::byte> host(on_host);
    for (std::int64_t i = 0; i < a.layout().extent(0); ++i)
        std::apply(
            [&](auto... of_matrix) {
                run(of_matrix..., device.get(), on_device, host.data(), host.size(),
                    call.place<int>(info, i), last...);
            },
            arguments(i));
}

struct Extents {
    explicit Extents(const Array &stack)
        : count(stack.layout().extent(0)), columns(stack.layout().extent(1)),
          rows(stack.layout().extent(2)) {}
    std::int64_t count, columns, rows;
};

int data_type(const Array &array) { return *library_type(array.scalar_type()); }

} // namespace

bool solver_takes(ScalarType type) {
    return is_library_float(type) && cublas_takes(type) && cusolver() != nullptr;
}

void solver_lu(const Array &a, const Array &pivots, const Array &info, StreamRef stream) {
    const Extents extents(a);
    const std::int64_t n = extents.rows;
    const int type = data_type(a);
    SolverCall call(a, stream);
    std::size_t on_device = 0, on_host = 0;
    cusolver()->getrf_size(call.handle(), call.params(), n, n, type, call.place<void>(a, 0), n,
                           type, &on_device, &on_host);
    const Workspace device(a.context(), on_device, stream);
    std::vector<std::byte> host(on_host);
    for (std::int64_t i = 0; i < extents.count; ++i)
        cusolver()->getrf(call.handle(), call.params(), n, n, type, call.place<void>(a, i), n,
                          call.place<std::int64_t>(pivots, i), type, device.get(), on_device,
                          host.data(), host.size(), call.place<int>(info, i));
}

void solver_cholesky(const Array &a, Triangle triangle, const Array &info, StreamRef stream) {
    const Extents extents(a);
    const std::int64_t n = extents.rows;
    const int type = data_type(a), uplo = static_cast<int>(triangle);
    SolverCall call(a, stream);
    if (extents.count > 1) {
        const PointerTable matrices(a, call.use());
        cusolver()->potrf_batched[a.scalar_type()](
            call.handle(), uplo, narrow_extent(n, "the extent of a matrix"), matrices.get(),
            static_cast<int>(n), call.place<int>(info, 0),
            narrow_extent(extents.count, "the number of matrices"));
        return;
    }
    call_in_workspaces(call, a, info, cusolver()->potrf_size, cusolver()->potrf,
                       [&](std::int64_t i) {
                           return std::tuple(call.handle(), call.params(), uplo, n, type,
                                             call.place<void>(a, i), n, type);
                       });
}

void solver_qr(const Array &a, const Array &tau, const Array &info, StreamRef stream) {
    const Extents extents(a);
    const std::int64_t m = extents.rows, n = extents.columns;
    const int type = data_type(a);
    SolverCall call(a, stream);
    call_in_workspaces(
        call, a, info, cusolver()->geqrf_size, cusolver()->geqrf, [&](std::int64_t i) {
            return std::tuple(call.handle(), call.params(), m, n, type, call.place<void>(a, i), m,
                              type, call.place<void>(tau, i), type);
        });
}

void solver_q(const Array &a, const Array &tau, const Array &info, StreamRef stream) {
    const Extents extents(a);
    const int m = narrow_extent(extents.rows, "the number of rows"),
              columns = narrow_extent(extents.columns, "the number of columns"),
              reflections = narrow_extent(tau.layout().extent(1), "the number of reflections");
    const auto &size = cusolver()->orgqr_size[a.scalar_type()];
    const auto &run = cusolver()->orgqr[a.scalar_type()];
    SolverCall call(a, stream);
    int elements = 0;
    size(call.handle(), m, columns, reflections, call.place<void>(a, 0), m,
         call.place<void>(tau, 0), &elements);
    const Workspace work(a.context(), static_cast<std::size_t>(elements) * a.item_size(), stream);
    for (std::int64_t i = 0; i < extents.count; ++i)
        run(call.handle(), m, columns, reflections, call.place<void>(a, i), m,
            call.place<void>(tau, i), work.get(), elements, call.place<int>(info, i));
}

void solver_eigh(const Array &a, const Array &values, bool vectors, Triangle triangle,
                 const Array &info, StreamRef stream) {
    const Extents extents(a);
    const std::int64_t n = extents.rows;
    const int type = data_type(a), real = data_type(values), uplo = static_cast<int>(triangle),
              job = vectors ? with_vectors : no_vectors;
    SolverCall call(a, stream);
    const auto arguments = [&](std::int64_t i) {
        return std::tuple(call.handle(), call.params(), job, uplo, n, type, call.place<void>(a, i),
                          n, real, call.place<void>(values, i), type);
    };
    if (extents.count <= 1 || !cusolver()->syev_batched.available() ||
        !cusolver()->syev_batched_size.available())
        return call_in_workspaces(call, a, info, cusolver()->syevd_size, cusolver()->syevd,
                                  arguments);
    std::size_t on_device = 0, on_host = 0;
    std::apply(cusolver()->syev_batched_size,
               std::tuple_cat(arguments(0), std::tuple(&on_device, &on_host, extents.count)));
    const Workspace device(a.context(), on_device, stream);
    std::vector<std::byte> host(on_host);
    std::apply(
        cusolver()->syev_batched,
        std::tuple_cat(arguments(0), std::tuple(device.get(), on_device, host.data(), host.size(),
                                                call.place<int>(info, 0), extents.count)));
}

namespace {

void svd_by_qr(const Array &a, const Array &s, const Array *u, const Array *v, const Array &info,
               StreamRef stream) {
    const Extents extents(a);
    const std::int64_t m = extents.rows, n = extents.columns;
    const int type = data_type(a), real = data_type(s);
    const signed char job = u == nullptr ? 'N' : u->layout().extent(1) == n ? 'S' : 'A';
    SolverCall call(a, stream);
    call_in_workspaces(
        call, a, info, cusolver()->gesvd_size, cusolver()->gesvd, [&](std::int64_t i) {
            return std::tuple(call.handle(), call.params(), job, job, m, n, type,
                              call.place<void>(a, i), m, real, call.place<void>(s, i), type,
                              call.place_or_null(u, i), m, type, call.place_or_null(v, i), n, type);
        });
}

void svd_by_jacobi(const Array &a, const Array &s, const Array &u, const Array &v,
                   const Array &info, StreamRef stream) {
    const Extents extents(a);
    const int m = narrow_extent(extents.rows, "the number of rows"),
              n = narrow_extent(extents.columns, "the number of columns"),
              count = narrow_extent(extents.count, "the number of matrices");
    const ScalarType type = a.scalar_type();
    const bool square = u.layout().extent(1) == m;
    SolverCall call(a, stream);
    int elements = 0;
    if (count > 1 && m <= most_rows_at_once && square) {
        cusolver()->gesvdj_batched_size[type](
            call.handle(), with_vectors, m, n, call.place<void>(a, 0), m, call.place<void>(s, 0),
            call.place<void>(u, 0), m, call.place<void>(v, 0), n, &elements, call.jacobi(), count);
        const Workspace work(a.context(), static_cast<std::size_t>(elements) * a.item_size(),
                             stream);
        cusolver()->gesvdj_batched[type](call.handle(), with_vectors, m, n, call.place<void>(a, 0),
                                         m, call.place<void>(s, 0), call.place<void>(u, 0), m,
                                         call.place<void>(v, 0), n, work.get(), elements,
                                         call.place<int>(info, 0), call.jacobi(), count);
        return;
    }
    const int size = square && m != n ? whole : economy;
    cusolver()->gesvdj_size[type](call.handle(), with_vectors, size, m, n, call.place<void>(a, 0),
                                  m, call.place<void>(s, 0), call.place<void>(u, 0), m,
                                  call.place<void>(v, 0), n, &elements, call.jacobi());
    const Workspace work(a.context(), static_cast<std::size_t>(elements) * a.item_size(), stream);
    for (std::int64_t i = 0; i < count; ++i)
        cusolver()->gesvdj[type](call.handle(), with_vectors, size, m, n, call.place<void>(a, i), m,
                                 call.place<void>(s, i), call.place<void>(u, i), m,
                                 call.place<void>(v, i), n, work.get(), elements,
                                 call.place<int>(info, i), call.jacobi());
}

void svd_by_polar(const Array &a, const Array &s, const Array &u, const Array &v, const Array &info,
                  StreamRef stream) {
    const Extents extents(a);
    const std::int64_t m = extents.rows, n = extents.columns;
    const int type = data_type(a), real = data_type(s);
    SolverCall call(a, stream);
    double perturbation = 0; // the perturbation that makes a matrix non-singular
    call_in_workspaces(
        call, a, info, cusolver()->gesvdp_size, cusolver()->gesvdp,
        [&](std::int64_t i) {
            return std::tuple(call.handle(), call.params(), with_vectors, economy, m, n, type,
                              call.place<void>(a, i), m, real, call.place<void>(s, i), type,
                              call.place<void>(u, i), m, type, call.place<void>(v, i), n, type);
        },
        &perturbation);
}

} // namespace

void solver_svd(const Array &a, const Array &s, const Array *u, const Array *v, SvdMethod method,
                const Array &info, StreamRef stream) {
    if (method == SvdMethod::QR)
        return svd_by_qr(a, s, u, v, info, stream);
    if (u == nullptr || v == nullptr)
        throw std::invalid_argument("singular values by rotations or by the polar decomposition "
                                    "need memory for the vectors");
    if (method == SvdMethod::Jacobi)
        return svd_by_jacobi(a, s, *u, *v, info, stream);
    if (u->layout().extent(1) != a.layout().extent(1))
        throw std::invalid_argument("the polar decomposition gives as many vectors as columns");
    svd_by_polar(a, s, *u, *v, info, stream);
}

} // namespace pycuda
