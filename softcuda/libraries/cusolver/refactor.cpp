// refactor.cpp -- cuSOLVER's refactorisation: cusolverRf...
//
// A matrix in CSC is the transposed one in CSR. Then Q A^T P^T = U^T L^T: the parts of P and Q and
// those of L and U are exchanged, and the systems are those of the transposed matrix.
#include "refactorisation.h"

#include "handle.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// cusolverRfHandle_t points to it.
struct cusolverRfCommon {
    static constexpr std::uint32_t alive = 0x5c5a1f;

    std::uint32_t state = alive;
    softlib::Session session; ///< its stream is the default stream
    int format = 0;           ///< CUSOLVERRF_MATRIX_FORMAT_CSR
    int unit_diagonal = 0;    ///< CUSOLVERRF_UNIT_DIAGONAL_STORED_L
    int fast_mode = 0, factorisation = 0, triangular_solve = 1; ///< no effect on results
    softcusolver::Boost boost;
    std::shared_ptr<const softcusolver::Refactorisation> matrix;
    bool is_batch = false, is_analyzed = false;
    bool is_factored = false; ///< the matrix's values are its factors, not A's
    bool boosted = false;
    std::vector<int> zero_pivots; ///< one for each matrix of a batch
};

namespace softcusolver {
namespace {

using RfHandle = cusolverRfCommon *;
using RfCall = softlib::HandleCall<cusolverRfCommon>;

constexpr int zero_pivot = 10; ///< CUSOLVER_STATUS_ZERO_PIVOT

/// A matrix's arrays, as the client gives them.
struct Arrays {
    int count;
    const int *rows, *columns;

    [[nodiscard]] Pattern pattern(int n) const { return {n, count, rows, columns}; }
    void check_host(int n) const {
        require(count >= 0, "nnz");
        softcusolver::check_host(rows, Count(n) + 1, "csrRowPtr");
        softcusolver::check_host(columns, count, "csrColInd");
    }
    void check_device(const RfCall &call, int n) const {
        call.check(rows, std::int64_t{n} + 1, "csrRowPtr");
        call.check(columns, count, "csrColInd");
    }
};

bool is_csr(const RfCall &call) { return call.handle.format == 0; }

/// The two orders of A's rows and columns, exchanged for CSC.
std::pair<const int *, const int *> orders(const RfCall &call, const int *p, const int *q) {
    return is_csr(call) ? std::pair(p, q) : std::pair(q, p);
}

/// Throws Failure unless the handle, or the handle of a batch, has made a step.
void require_step(bool made, bool is_batch, const char *step) {
    if (!made)
        throw Failure(statuses.not_initialized, std::string("cusolverRf") +
                                                    (is_batch ? "Batch" : "") + step +
                                                    " comes first");
}

/// The matrix of SetupHost, SetupDevice or BatchSetupHost. Throws Failure before it.
const Refactorisation &matrix_of(const RfCall &call, bool is_batch) {
    require_step(call.handle.matrix && call.handle.is_batch == is_batch, is_batch, "SetupHost");
    return *call.handle.matrix;
}

const Refactorisation &analyzed(const RfCall &call, bool is_batch) {
    const Refactorisation &matrix = matrix_of(call, is_batch);
    require_step(call.handle.is_analyzed, is_batch, "Analyze");
    return matrix;
}

/// The matrix after Refactor or BatchRefactor. Throws Failure before it.
const Refactorisation &factored(const RfCall &call, bool is_batch) {
    const Refactorisation &matrix = matrix_of(call, is_batch);
    require_step(call.handle.is_factored, is_batch, "Refactor");
    return matrix;
}

/// Makes the matrix of arrays that the calling thread can read now.
void set_up(const RfCall &call, int n, const Arrays &a, const Arrays &l, const Arrays &u,
            const double *const *values, const int *p, const int *q, int batch) {
    const bool unit_lower = call.handle.unit_diagonal % 2 == 0;
    const auto [rows, columns] = orders(call, p, q);
    auto made = std::make_shared<Refactorisation>(a.pattern(n), (is_csr(call) ? l : u).pattern(n),
                                                  (is_csr(call) ? u : l).pattern(n), rows, columns,
                                                  unit_lower == is_csr(call), batch);
    for (int item = 0; item < batch; ++item)
        made->reset(a.pattern(n), values[item], rows, columns, item);
    call.handle.matrix = std::move(made);
    call.handle.is_analyzed = call.handle.is_factored = false;
    call.handle.boosted = false;
    call.handle.zero_pivots.clear();
}

void set_up_host(const RfCall &call, int batch, int n, const Arrays &a, const double *const *values,
                 const Arrays &l, const Arrays &u, const int *p, const int *q, bool is_batch) {
    require(n >= 1 && batch >= 1, "n, batchSize");
    check_host(values, batch, "csrValA");
    check_host(p, n, "P");
    check_host(q, n, "Q");
    for (const Arrays *arrays : {&a, &l, &u})
        arrays->check_host(n);
    for (int item = 0; item < batch; ++item)
        check_host(values[item], a.count, "csrValA");
    set_up(call, n, a, l, u, values, p, q, batch);
    call.handle.is_batch = is_batch;
}

void set_up_device(const RfCall &call, int n, const Arrays &a, const double *values,
                   const Arrays &l, const Arrays &u, const int *p, const int *q) {
    require(n >= 1 && a.count >= 0 && l.count >= 0 && u.count >= 0, "n, nnz");
    for (const Arrays *arrays : {&a, &l, &u})
        arrays->check_device(call, n);
    call.check(values, a.count, "csrValA");
    call.check(p, n, "P");
    call.check(q, n, "Q");
    call.handle.session.synchronize();
    set_up(call, n, a, l, u, &values, p, q, 1);
    call.handle.is_batch = false;
}

/// New values. `values_of(item)` is read in the stream.
template <class ValuesOf>
void reset(const RfCall &call, bool is_batch, int batch, int n, const Arrays &a, const int *p,
           const int *q, ValuesOf values_of) {
    const Refactorisation &matrix = matrix_of(call, is_batch);
    require(n == matrix.n() && batch == matrix.batch() && a.count >= 0, "n, batchSize, nnz");
    a.check_device(call, n);
    call.check(p, n, "P");
    call.check(q, n, "Q");
    const auto [rows, columns] = orders(call, p, q);
    call.run([&, rows = rows, columns = columns] {
        for (int item = 0; item < batch; ++item)
            matrix.reset(a.pattern(n), values_of(item), rows, columns, item);
    });
    call.handle.is_factored = false;
}

/// The handle's zero pivots and whether one was replaced.
void refactor(const RfCall &call, bool is_batch) {
    const Refactorisation &matrix = analyzed(call, is_batch);
    cusolverRfCommon &handle = call.handle;
    if (handle.is_factored)
        throw Failure(statuses.invalid_value, "the values are factors; ResetValues comes first");
    handle.is_factored = true;
    handle.boosted = false;
    handle.zero_pivots.assign(static_cast<std::size_t>(matrix.batch()), -1);
    call.run([&] {
        for (int item = 0; item < matrix.batch(); ++item)
            handle.zero_pivots[static_cast<std::size_t>(item)] =
                matrix.refactor(item, handle.boost, handle.boosted);
    });
}

/// Throws Failure if a matrix has a zero pivot.
void require_pivots(const cusolverRfCommon &handle) {
    if (std::any_of(handle.zero_pivots.begin(), handle.zero_pivots.end(),
                    [](int place) { return place >= 0; }))
        throw Failure(zero_pivot, "");
}

/// Solves A x = f in place: M (x[Q[i]]) = f[P[i]].
void solve_in_place(const Refactorisation &matrix, int item, bool transposed, const int *p,
                    const int *q, double *x) {
    const auto n = static_cast<std::size_t>(matrix.n());
    std::vector<double> y(n);
    for (std::size_t i = 0; i < n; ++i)
        y[i] = x[p[i]];
    matrix.solve(item, transposed, y.data());
    for (std::size_t i = 0; i < n; ++i)
        x[q[i]] = y[i];
}

/// Throws Failure unless the orders have numbers of rows; they are read when the stream runs.
void check_order(const int *order, int n, const char *what) {
    for (int i = 0; i < n; ++i)
        if (order[i] < 0 || order[i] >= n)
            throw Failure(statuses.execution_failed, std::string(what) + " is no order of rows");
}

template <class VectorOf>
void solve(const RfCall &call, bool is_batch, int count, int leading, const int *p, const int *q,
           VectorOf vector_of) {
    const Refactorisation &matrix = factored(call, is_batch);
    require(count == 1 && leading >= matrix.n(), "nrhs, ldxf");
    call.check(p, matrix.n(), "P");
    call.check(q, matrix.n(), "Q");
    call.enqueue(operations(matrix.count(), matrix.batch(), 10),
                 [kept = call.handle.matrix, transposed = !is_csr(call), p, q, vector_of] {
                     check_order(p, kept->n(), "P");
                     check_order(q, kept->n(), "Q");
                     for (int item = 0; item < kept->batch(); ++item)
                         solve_in_place(*kept, item, transposed, p, q, vector_of(item));
                 });
}

/// An array that the client frees with free().
template <class T> T *copied(const std::vector<T> &values) {
    auto *copy = static_cast<T *>(std::malloc(std::max<std::size_t>(values.size(), 1) * sizeof(T)));
    if (copy == nullptr)
        throw std::bad_alloc();
    std::copy(values.begin(), values.end(), copy);
    return copy;
}

/// A part of the factors, for the client.
struct Part {
    std::vector<int> rows{0}, columns;
    std::vector<double> values;

    void add(int column, double value) {
        columns.push_back(column);
        values.push_back(value);
    }
    void end_row() { rows.push_back(static_cast<int>(columns.size())); }
    void give(int *count, int **rows_out, int **columns_out, double **values_out) const {
        require(count != nullptr && rows_out != nullptr && columns_out != nullptr &&
                    values_out != nullptr,
                "addresses");
        std::unique_ptr<int, void (*)(void *)> own_rows(copied(rows), std::free);
        std::unique_ptr<int, void (*)(void *)> own_columns(copied(columns), std::free);
        *values_out = copied(values);
        *rows_out = own_rows.release();
        *columns_out = own_columns.release();
        *count = static_cast<int>(columns.size());
    }
};

/// The factors' parts below and above the diagonal. A stored diagonal of ones is an element.
std::pair<Part, Part> split(const RfCall &call, const Refactorisation &matrix) {
    const bool stored = call.handle.unit_diagonal < 2;
    Part lower, upper;
    for (int i = 0; i < matrix.n(); ++i) {
        for (int place = matrix.rows()[i]; place < matrix.rows()[i + 1]; ++place) {
            const int column = matrix.columns()[place];
            const double value = matrix.values()[place];
            if (column != i) {
                (column < i ? lower : upper).add(column, value);
                continue;
            }
            if (stored || !matrix.unit_lower())
                lower.add(i, matrix.unit_lower() ? 1 : value);
            if (stored || matrix.unit_lower())
                upper.add(i, matrix.unit_lower() ? value : 1);
        }
        lower.end_row();
        upper.end_row();
    }
    return {std::move(lower), std::move(upper)};
}

} // namespace
} // namespace softcusolver

using softcusolver::Arrays;
using softcusolver::RfCall;
using softcusolver::RfHandle;
using softlib::require;

#define RF_DEFINE(name, parameters, ...)                                                           \
    SOFTLIB_HANDLE_FUNCTION(RfCall, cusolverRf##name, parameters, __VA_ARGS__)

SOFTLIB_HANDLE_LIFE(RfCall, RfHandle, cusolverRf, )
RF_DEFINE(SetMatrixFormat, (RfHandle handle, int format, int unit_diagonal), {
    require(format >= 0 && format <= 1 && unit_diagonal >= 0 && unit_diagonal <= 3, "format, diag");
    call.handle.format = format;
    call.handle.unit_diagonal = unit_diagonal;
    call.handle.matrix.reset(); // it was made for the earlier format
})
RF_DEFINE(GetMatrixFormat, (RfHandle handle, int *format, int *unit_diagonal), {
    require(format != nullptr && unit_diagonal != nullptr, "format, diag");
    *format = call.handle.format;
    *unit_diagonal = call.handle.unit_diagonal;
})
RF_DEFINE(SetNumericProperties, (RfHandle handle, double zero, double boost), {
    require(zero >= 0 && boost == boost, "zero, boost");
    call.handle.boost = {zero, boost};
})
RF_DEFINE(GetNumericProperties, (RfHandle handle, double *zero, double *boost), {
    require(zero != nullptr && boost != nullptr, "zero, boost");
    *zero = call.handle.boost.zero;
    *boost = call.handle.boost.value;
})
RF_DEFINE(GetNumericBoostReport, (RfHandle handle, int *report), {
    require(report != nullptr, "report");
    *report = call.handle.boosted ? 1 : 0;
})
RF_DEFINE(SetAlgs, (RfHandle handle, int factorisation, int triangular_solve), {
    require(factorisation >= 0 && factorisation <= 2 && triangular_solve >= 1 &&
                triangular_solve <= 3,
            "factAlg, solveAlg");
    call.handle.factorisation = factorisation;
    call.handle.triangular_solve = triangular_solve;
})
RF_DEFINE(GetAlgs, (RfHandle handle, int *factorisation, int *triangular_solve), {
    require(factorisation != nullptr && triangular_solve != nullptr, "factAlg, solveAlg");
    *factorisation = call.handle.factorisation;
    *triangular_solve = call.handle.triangular_solve;
})
RF_DEFINE(SetResetValuesFastMode, (RfHandle handle, int mode), {
    require(mode == 0 || mode == 1, "fastMode");
    call.handle.fast_mode = mode;
})
RF_DEFINE(GetResetValuesFastMode, (RfHandle handle, int *mode), {
    require(mode != nullptr, "fastMode");
    *mode = call.handle.fast_mode;
})

// The handle is the last argument of the functions that set up.
RF_DEFINE(SetupHost,
          (int n, int count, int *rows, int *columns, double *values, int lower_count,
           int *lower_rows, int *lower_columns, double *, int upper_count, int *upper_rows,
           int *upper_columns, double *, int *p, int *q, RfHandle handle),
          {
              const double *const own = values;
              softcusolver::set_up_host(call, 1, n, {count, rows, columns}, &own,
                                        {lower_count, lower_rows, lower_columns},
                                        {upper_count, upper_rows, upper_columns}, p, q, false);
          })
RF_DEFINE(SetupDevice,
          (int n, int count, int *rows, int *columns, double *values, int lower_count,
           int *lower_rows, int *lower_columns, double *, int upper_count, int *upper_rows,
           int *upper_columns, double *, int *p, int *q, RfHandle handle),
          softcusolver::set_up_device(call, n, {count, rows, columns}, values,
                                      {lower_count, lower_rows, lower_columns},
                                      {upper_count, upper_rows, upper_columns}, p, q))
RF_DEFINE(BatchSetupHost,
          (int batch, int n, int count, int *rows, int *columns, double **values, int lower_count,
           int *lower_rows, int *lower_columns, double *, int upper_count, int *upper_rows,
           int *upper_columns, double *, int *p, int *q, RfHandle handle),
          softcusolver::set_up_host(call, batch, n, {count, rows, columns}, values,
                                    {lower_count, lower_rows, lower_columns},
                                    {upper_count, upper_rows, upper_columns}, p, q, true))

RF_DEFINE(ResetValues,
          (int n, int count, int *rows, int *columns, double *values, int *p, int *q,
           RfHandle handle),
          {
              call.check(values, count, "csrValA");
              softcusolver::reset(call, false, 1, n, {count, rows, columns}, p, q,
                                  [values](int) { return values; });
          })
RF_DEFINE(BatchResetValues,
          (int batch, int n, int count, int *rows, int *columns, double **values, int *p, int *q,
           RfHandle handle),
          {
              require(batch >= 1 && softlib::is_readable(values, static_cast<std::size_t>(batch) *
                                                                     sizeof *values),
                      "csrValA_array");
              softcusolver::reset(call, true, batch, n, {count, rows, columns}, p, q,
                                  [values, count](int item) {
                                      softlib::check_batched(values[item], count, "csrValA_array");
                                      return values[item];
                                  });
          })

RF_DEFINE(Analyze, (RfHandle handle), {
    static_cast<void>(softcusolver::matrix_of(call, false)); // the setup found the pattern
    call.handle.is_analyzed = true;
})
RF_DEFINE(BatchAnalyze, (RfHandle handle), {
    static_cast<void>(softcusolver::matrix_of(call, true));
    call.handle.is_analyzed = true;
})
RF_DEFINE(Refactor, (RfHandle handle), {
    softcusolver::refactor(call, false);
    softcusolver::require_pivots(call.handle);
})
RF_DEFINE(BatchRefactor, (RfHandle handle), softcusolver::refactor(call, true))
RF_DEFINE(BatchZeroPivot, (RfHandle handle, int *position), {
    static_cast<void>(softcusolver::factored(call, true));
    require(position != nullptr, "position");
    std::copy(call.handle.zero_pivots.begin(), call.handle.zero_pivots.end(), position);
    softcusolver::require_pivots(call.handle);
})

RF_DEFINE(Solve,
          (RfHandle handle, int *p, int *q, int count, double *, int, double *x, int leading), {
              call.check(x, softcusolver::matrix_of(call, false).n(), "XF");
              softcusolver::solve(call, false, count, leading, p, q, [x](int) { return x; });
          })
RF_DEFINE(BatchSolve,
          (RfHandle handle, int *p, int *q, int count, double *, int, double **x, int leading), {
              const auto &matrix = softcusolver::matrix_of(call, true);
              const int n = matrix.n();
              require(softlib::is_readable(x, static_cast<std::size_t>(matrix.batch()) * sizeof *x),
                      "XF_array");
              softcusolver::solve(call, true, count, leading, p, q, [x, n](int item) {
                  softlib::check_batched(x[item], n, "XF_array");
                  return x[item];
              });
          })

RF_DEFINE(AccessBundledFactorsDevice,
          (RfHandle handle, int *count, int **rows, int **columns, double **values), {
              const auto &matrix = softcusolver::factored(call, false);
              require(count != nullptr && rows != nullptr && columns != nullptr &&
                          values != nullptr,
                      "addresses");
              *count = matrix.count();
              *rows = matrix.rows();
              *columns = matrix.columns();
              *values = matrix.values();
          })
RF_DEFINE(ExtractBundledFactorsHost,
          (RfHandle handle, int *count, int **rows, int **columns, double **values), {
              const auto &matrix = softcusolver::factored(call, false);
              softcusolver::Part whole;
              whole.rows.assign(matrix.rows(), matrix.rows() + matrix.n() + 1);
              whole.columns.assign(matrix.columns(), matrix.columns() + matrix.count());
              whole.values.assign(matrix.values(), matrix.values() + matrix.count());
              whole.give(count, rows, columns, values);
          })
RF_DEFINE(ExtractSplitFactorsHost,
          (RfHandle handle, int *lower_count, int **lower_rows, int **lower_columns,
           double **lower_values, int *upper_count, int **upper_rows, int **upper_columns,
           double **upper_values),
          {
              auto [lower, upper] = softcusolver::split(call, softcusolver::factored(call, false));
              if (!softcusolver::is_csr(call))
                  std::swap(lower, upper); // they are of the transposed matrix
              lower.give(lower_count, lower_rows, lower_columns, lower_values);
              upper.give(upper_count, upper_rows, upper_columns, upper_values);
          })
