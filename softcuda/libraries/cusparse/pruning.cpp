// pruning.cpp -- matrices in CSR of the elements whose absolute value is above a threshold, which
// the client gives, or which is found so that a percentage of the elements is not above it.
#include "matrix.h"

#include <algorithm>
#include <cmath>

/// pruneInfo_t: the threshold is found again by each call, so there is nothing to keep.
struct softcusparse_prune_info {};

namespace softcusparse {
namespace {

using softlib::Half;
using PruneInfo = softcusparse_prune_info *;

/// The type in which elements of type T are compared.
template <class T> using Computed = std::conditional_t<std::is_same_v<T, Half>, float, T>;
template <class T>
constexpr ElementType type_of =
    std::is_same_v<T, Half> ? ElementType::Float16 : element_type<Computed<T>>;

/// Where the elements come from: a dense matrix by columns, or one in CSR.
template <class T> struct Source {
    int m, n;
    const T *values;
    int leading = 0; ///< of the dense matrix
    const int *offsets = nullptr, *indices = nullptr;
    int count = 0, base = 0;

    void check(const Call &call) const {
        require(m >= 0 && n >= 0 && count >= 0, "the sizes");
        if (offsets == nullptr) {
            require(leading >= std::max(1, m), "lda");
            return call.check(values, extent(m, n, leading), "A");
        }
        call.check(values, count, "A");
        call.check(offsets, Count(m) + 1, "A");
        call.check(indices, count, "A");
    }
    /// All elements by rows.
    Rows<Computed<T>> read() const {
        if (offsets != nullptr) {
            Matrix matrix;
            matrix.rows = m;
            matrix.columns = n;
            matrix.count = count;
            matrix.major = {offsets, IndexType::Int32, base};
            matrix.indices = {indices, IndexType::Int32, base};
            matrix.values = const_cast<T *>(values);
            matrix.type = type_of<T>;
            return read_rows<Computed<T>>(matrix, 0);
        }
        Rows<Computed<T>> rows;
        rows.rows = m;
        rows.columns = n;
        rows.offsets.assign(1, 0);
        const Elements<Computed<T>> all(type_of<T>, values, extent(m, n, leading).get());
        for (int row = 0; row < m; ++row) {
            for (int column = 0; column < n; ++column) {
                rows.indices.push_back(column);
                rows.values.push_back(all[row + std::int64_t{column} * leading]);
            }
            rows.offsets.push_back(rows.count());
        }
        return rows;
    }
};

/// A threshold of the client, read when the stream runs if it is on the device.
template <class T> auto given(const Call &call, const T *threshold) {
    const Scalar<Computed<T>> limit =
        call.scalar<Computed<T>>(threshold, static_cast<int>(type_of<T>));
    return [limit](const Rows<Computed<T>> &) { return limit.get(); };
}

/// The threshold that `percentage` of the absolute values do not exceed.
template <class T> auto found(float percentage) {
    require(percentage >= 0 && percentage <= 100, "percentage");
    return [percentage](const Rows<Computed<T>> &rows) {
        std::vector<Computed<T>> sizes;
        for (const Computed<T> value : rows.values)
            sizes.push_back(std::abs(value));
        if (sizes.empty())
            return Computed<T>{};
        const auto count = static_cast<std::int64_t>(sizes.size());
        const auto wanted =
            static_cast<std::int64_t>(std::ceil(static_cast<double>(count) * percentage / 100)) - 1;
        const auto place = sizes.begin() + std::clamp<std::int64_t>(wanted, 0, count - 1);
        std::ranges::nth_element(sizes, place);
        return *place;
    };
}

template <class C> Rows<C> above(const Rows<C> &rows, C limit) {
    Rows<C> kept;
    kept.rows = rows.rows;
    kept.columns = rows.columns;
    kept.offsets.assign(1, 0);
    for (std::int64_t row = 0; row < rows.rows; ++row) {
        for (std::int64_t k = rows.offsets[row]; k < rows.offsets[row + 1]; ++k)
            if (std::abs(rows.values[k]) > limit) {
                kept.indices.push_back(rows.indices[k]);
                kept.values.push_back(rows.values[k]);
            }
        kept.offsets.push_back(kept.count());
    }
    return kept;
}

int base_of(const LegacyDescription *description) {
    require(description != nullptr, "the descriptor");
    return description->base;
}

/// Writes the offsets of C, and gives the number of its elements.
template <class T, class Limit>
void count_kept(const Call &call, const Source<T> &from, Limit limit, const LegacyDescription *of_c,
                int *offsets_c, int *total) {
    const int base = base_of(of_c);
    from.check(call);
    call.check(offsets_c, Count(from.m) + 1, "the offsets of C");
    call.give_count(total, [=] {
        const Rows<Computed<T>> rows = from.read(), kept = above(rows, limit(rows));
        for (int row = 0; row <= from.m; ++row)
            offsets_c[row] = static_cast<int>(kept.offsets[row]) + base;
        return static_cast<int>(kept.count());
    });
}

/// Writes the columns and values of C, whose offsets exist.
template <class T, class Limit>
void prune(const Call &call, const Source<T> &from, Limit limit, const LegacyDescription *of_c,
           T *values_c, const int *offsets_c, int *indices_c) {
    const int base = base_of(of_c);
    from.check(call);
    call.check(offsets_c, Count(from.m) + 1, "the offsets of C");
    call.enqueue(4.0 * from.m * from.n + from.count, [=] {
        const Rows<Computed<T>> rows = from.read(), kept = above(rows, limit(rows));
        for (int row = 0; row <= from.m; ++row)
            if (offsets_c[row] - base != kept.offsets[row])
                throw Failure(statuses.execution_failed,
                              "C's offsets are not those of the pruned matrix");
        const auto count = static_cast<std::size_t>(kept.count());
        if (!softlib::is_readable(values_c, count * sizeof(T)) ||
            !softlib::is_readable(indices_c, count * sizeof(int)))
            throw Failure(statuses.execution_failed,
                          "C has no room for " + std::to_string(count) + " elements");
        Matrix to;
        to.format = Format::Coo; // so that the offsets stay as they are
        std::vector<int> row_of(count);
        to.rows = from.m;
        to.columns = from.n;
        to.count = kept.count();
        to.major = {row_of.data(), IndexType::Int32, 0};
        to.indices = {indices_c, IndexType::Int32, base};
        to.values = values_c;
        to.type = type_of<T>;
        write_rows(kept, to);
    });
}

} // namespace
} // namespace softcusparse

using namespace softcusparse;

SOFTLIB_FUNCTION(cusparseCreatePruneInfo, (PruneInfo * info), {
    require(info != nullptr, "the info's address");
    *info = std::make_unique<softcusparse_prune_info>().release();
})
SOFTLIB_FUNCTION(cusparseDestroyPruneInfo, (PruneInfo info), {
    require(info != nullptr, "info");
    delete info;
})

// The six functions of a source and a threshold. The arguments of a source differ, and those of a
// threshold: `Limit` is its type, and `info` ends the lists of percentages.
#define UNPACK(...) __VA_ARGS__
#define PRUNE(name, nnz, T, from_parameters, from, Limit, make_limit, ...)                         \
    CUSPARSE_DEFINE(name##_bufferSizeExt,                                                          \
                    (Handle handle, UNPACK from_parameters, Limit, const LegacyDescription *,      \
                     const T *, const int *, const int *, __VA_ARGS__ std::size_t *size),          \
                    give_size(size))                                                               \
    CUSPARSE_DEFINE(nnz,                                                                           \
                    (Handle handle, UNPACK from_parameters, Limit limit,                           \
                     const LegacyDescription *of_c, int *offsets_c, int *total,                    \
                     __VA_ARGS__ void *),                                                          \
                    count_kept<T>(call, UNPACK from, make_limit, of_c, offsets_c, total))          \
    CUSPARSE_DEFINE(name,                                                                          \
                    (Handle handle, UNPACK from_parameters, Limit limit,                           \
                     const LegacyDescription *of_c, T *values_c, const int *offsets_c,             \
                     int *indices_c, __VA_ARGS__ void *),                                          \
                    prune<T>(call, UNPACK from, make_limit, of_c, values_c, offsets_c, indices_c))
#define DENSE(T) (int m, int n, const T *a, int lda)
#define FROM_DENSE(T) (Source<T>{m, n, a, lda})
#define CSR(T)                                                                                     \
    (int m, int n, int count, const LegacyDescription *of_a, const T *a, const int *offsets,       \
     const int *indices)
#define FROM_CSR(T) (Source<T>{m, n, a, 0, offsets, indices, count, base_of(of_a)})
#define OF_TYPE(letter, T)                                                                         \
    PRUNE(cusparse##letter##pruneDense2csr, cusparse##letter##pruneDense2csrNnz, T, DENSE(T),      \
          FROM_DENSE(T), const T *, given<T>(call, limit), )                                       \
    PRUNE(cusparse##letter##pruneCsr2csr, cusparse##letter##pruneCsr2csrNnz, T, CSR(T),            \
          FROM_CSR(T), const T *, given<T>(call, limit), )                                         \
    PRUNE(cusparse##letter##pruneDense2csrByPercentage,                                            \
          cusparse##letter##pruneDense2csrNnzByPercentage, T, DENSE(T), FROM_DENSE(T), float,      \
          found<T>(limit), PruneInfo, )                                                            \
    PRUNE(cusparse##letter##pruneCsr2csrByPercentage,                                              \
          cusparse##letter##pruneCsr2csrNnzByPercentage, T, CSR(T), FROM_CSR(T), float,            \
          found<T>(limit), PruneInfo, )
OF_TYPE(S, float)
OF_TYPE(D, double)
OF_TYPE(H, Half)
