// reordering.cpp -- colours of a matrix's graph (csrcolor), and sorted rows with a way back
// (csru2csr, csr2csru).
#include "matrix.h"

#include <algorithm>
#include <numeric>

struct softcusparse_color_info {};

/// csru2csrInfo_t: the places that sorted elements had before. Work in a stream holds them.
struct softcusparse_csru2csr_info {
    std::shared_ptr<std::vector<std::int64_t>> places =
        std::make_shared<std::vector<std::int64_t>>();
};

namespace softcusparse {
namespace {

using ColorInfo = softcusparse_color_info *;
using SortInfo = softcusparse_csru2csr_info *;

void check_offsets(const int *offsets, int m, int base, int count) {
    for (int row = 0; row < m; ++row)
        if (offsets[row] < base || offsets[row + 1] < offsets[row] ||
            offsets[row + 1] - base > count)
            throw Failure(statuses.execution_failed, "offsets outside of the matrix");
}

/// The neighbours of each row in the graph of A + A^T.
std::vector<std::vector<int>> neighbours(int m, int count, int base, const int *offsets,
                                         const int *indices) {
    check_offsets(offsets, m, base, count);
    std::vector<std::vector<int>> result(static_cast<std::size_t>(m));
    for (int row = 0; row < m; ++row)
        for (int k = offsets[row] - base; k < offsets[row + 1] - base; ++k) {
            const int other = indices[k] - base;
            if (other < 0 || other >= m)
                throw Failure(statuses.execution_failed, "an index is outside of the matrix");
            if (other == row)
                continue;
            result[static_cast<std::size_t>(row)].push_back(other);
            result[static_cast<std::size_t>(other)].push_back(row);
        }
    return result;
}

/// Gives each row the least colour that no neighbour has. Returns the number of colours.
int color_rows(const std::vector<std::vector<int>> &graph, int *colors) {
    int most = 0;
    std::vector<std::size_t> taken; // by which row, plus 1
    std::fill_n(colors, graph.size(), -1);
    for (std::size_t row = 0; row < graph.size(); ++row) {
        taken.resize(static_cast<std::size_t>(most) + 1, 0);
        for (const int other : graph[row])
            if (colors[other] >= 0)
                taken[static_cast<std::size_t>(colors[other])] = row + 1;
        int color = 0;
        while (taken[static_cast<std::size_t>(color)] == row + 1)
            ++color;
        colors[row] = color;
        most = std::max(most, color + 1);
    }
    return most;
}

template <class F>
void color(const Call &call, int m, int count, const LegacyDescription *description,
           const int *offsets, const int *indices, const F *fraction, int *number, int *colors,
           int *order, ColorInfo info) {
    require(m >= 0 && count >= 0 && description != nullptr && fraction != nullptr &&
                *fraction >= 0 && *fraction <= 1 && info != nullptr,
            "m, nnz, descrA, fractionToColor, info");
    call.check(offsets, Count(m) + 1, "A");
    call.check(indices, count, "A");
    call.check(colors, m, "coloring");
    if (order != nullptr)
        call.check(order, m, "reordering");
    call.give_count(number, [=, base = description->base] {
        const int used = color_rows(neighbours(m, count, base, offsets, indices), colors);
        if (order != nullptr) {
            std::iota(order, order + m, 0);
            std::stable_sort(order, order + m,
                             [=](int one, int other) { return colors[one] < colors[other]; });
        }
        return used;
    });
}

/// The values' new order: to the places of sorted columns, or back.
enum class Way { Sort, Back };

template <class T>
void sort_rows(const Call &call, Way way, int m, int count, const LegacyDescription *description,
               T *values, const int *offsets, int *indices, SortInfo info) {
    require(m >= 0 && count >= 0 && description != nullptr && info != nullptr,
            "m, nnz, descrA, info");
    call.check(values, count, "A");
    call.check(offsets, Count(m) + 1, "A");
    call.check(indices, count, "A");
    call.enqueue(30.0 * count, [=, base = description->base, places = info->places] {
        check_offsets(offsets, m, base, count);
        const std::vector<T> old_values(values, values + count);
        const std::vector<int> old_indices(indices, indices + count);
        if (way == Way::Sort) {
            places->resize(static_cast<std::size_t>(count));
            std::iota(places->begin(), places->end(), 0);
            for (int row = 0; row < m; ++row)
                std::stable_sort(places->begin() + (offsets[row] - base),
                                 places->begin() + (offsets[row + 1] - base),
                                 [&](std::int64_t one, std::int64_t other) {
                                     return old_indices[one] < old_indices[other];
                                 });
        } else if (places->size() != static_cast<std::size_t>(count)) {
            throw Failure(statuses.execution_failed, "the info is not of a csru2csr of this size");
        }
        for (std::int64_t k = 0; k < count; ++k) {
            const std::int64_t from = way == Way::Sort ? (*places)[k] : k;
            const std::int64_t to = way == Way::Sort ? k : (*places)[k];
            values[to] = old_values[from];
            indices[to] = old_indices[from];
        }
    });
}

template <class Object> void make(Object **place) {
    require(place != nullptr, "the info's address");
    *place = std::make_unique<Object>().release();
}
template <class Object> void end(Object *info) {
    require(info != nullptr, "info");
    delete info;
}

} // namespace
} // namespace softcusparse

using namespace softcusparse;

SOFTLIB_FUNCTION(cusparseCreateColorInfo, (ColorInfo * info), make(info))
SOFTLIB_FUNCTION(cusparseDestroyColorInfo, (ColorInfo info), end(info))
SOFTLIB_FUNCTION(cusparseCreateCsru2csrInfo, (SortInfo * info), make(info))
SOFTLIB_FUNCTION(cusparseDestroyCsru2csrInfo, (SortInfo info), end(info))

#define OF_TYPE(letter, T)                                                                         \
    CUSPARSE_DEFINE(cusparse##letter##csrcolor,                                                    \
                    (Handle handle, int m, int count, const LegacyDescription *description,        \
                     const T *, const int *offsets, const int *indices, const Real<T> *fraction,   \
                     int *number, int *colors, int *order, ColorInfo info),                        \
                    color(call, m, count, description, offsets, indices, fraction, number, colors, \
                          order, info))                                                            \
    CUSPARSE_DEFINE(                                                                               \
        cusparse##letter##csru2csr_bufferSizeExt,                                                  \
        (Handle handle, int, int, int, T *, const int *, int *, SortInfo, std::size_t *size),      \
        give_size(size))                                                                           \
    CUSPARSE_DEFINE(                                                                               \
        cusparse##letter##csru2csr,                                                                \
        (Handle handle, int m, int, int count, const LegacyDescription *description, T *values,    \
         const int *offsets, int *indices, SortInfo info, void *),                                 \
        sort_rows(call, Way::Sort, m, count, description, values, offsets, indices, info))         \
    CUSPARSE_DEFINE(                                                                               \
        cusparse##letter##csr2csru,                                                                \
        (Handle handle, int m, int, int count, const LegacyDescription *description, T *values,    \
         const int *offsets, int *indices, SortInfo info, void *),                                 \
        sort_rows(call, Way::Back, m, count, description, values, offsets, indices, info))
OF_TYPE(S, float)
OF_TYPE(D, double)
OF_TYPE(C, Complex)
OF_TYPE(Z, DoubleComplex)
