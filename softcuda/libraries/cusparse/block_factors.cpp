// block_factors.cpp -- incomplete factorisations of matrices of blocks (bsrilu02, bsric02).
//
// All elements of a block belong to the pattern. So the factors are those of the same matrix in
// CSR, element by element.
#include "incomplete.h"

namespace softcusparse {
namespace {

/// A square matrix of blocks.
struct SquareBlocks {
    int direction, rows, count; ///< rows and count: of blocks
    const LegacyDescription *description;
    const int *offsets, *indices;
    int size; ///< of a block's side

    std::int64_t elements() const { return std::int64_t{count} * size * size; }
};

/// The same matrix in CSR, and where each element is in the blocks.
template <class T> struct Expanded {
    std::vector<int> offsets, indices;
    std::vector<std::int64_t> places;
    std::vector<T> values;

    Expanded(const SquareBlocks &from, const T *of_blocks) {
        const Lines blocks{from.offsets, from.indices, from.description->base};
        const std::int64_t size = from.size;
        for (std::int64_t row = 0; row < from.rows * size; ++row) {
            offsets.push_back(static_cast<int>(places.size()));
            const std::int64_t line = row / size, i = row % size;
            for (std::int64_t k = blocks.begin(line); k < blocks.end(line); ++k)
                for (std::int64_t j = 0; j < size; ++j) {
                    indices.push_back(static_cast<int>(blocks.column(k) * size + j));
                    places.push_back(k * size * size +
                                     (from.direction == 0 ? i * size + j : j * size + i));
                    values.push_back(of_blocks[places.back()]);
                }
        }
        offsets.push_back(static_cast<int>(places.size()));
    }
    Lines lines() const { return {offsets.data(), indices.data(), 0}; }
    void store(T *of_blocks) const {
        for (std::size_t k = 0; k < places.size(); ++k)
            of_blocks[places[k]] = values[k];
    }
};

void check(const SquareBlocks &a, Info info) {
    require((a.direction == 0 || a.direction == 1) && a.rows >= 0 && a.count >= 0 && a.size >= 1 &&
                a.description != nullptr && info != nullptr,
            "dirA, mb, nnzb, descrA, blockDim, info");
    require(a.elements() <= 2147483647, "at most 2^31 - 1 elements");
}

template <class T, class Method>
void factor(const Call &call, const SquareBlocks &a, T *values, Info info, Method method) {
    check(a, info);
    call.check(a.offsets, Count(a.rows) + 1, "A");
    call.check(a.indices, a.count, "A");
    call.check(values, a.elements(), "A");
    const int base = a.description->base;
    call.enqueue(100.0 * static_cast<double>(a.elements()), [=, state = info->state] {
        check_lines(a.rows, a.count, {a.offsets, a.indices, base});
        Expanded<T> expanded(a, values);
        method(a.rows * a.size, expanded.values.data(), expanded.lines(), *state);
        expanded.store(values);
        if (state->zero_pivot >= 0)
            state->zero_pivot = state->zero_pivot / a.size + base;
    });
}

} // namespace
} // namespace softcusparse

using namespace softcusparse;

SOFTCUSPARSE_INFO(Bsrilu02, bsrilu02)
SOFTCUSPARSE_INFO(Bsric02, bsric02)

#define FACTOR(letter, T, name, method)                                                            \
    CUSPARSE_DEFINE(cusparse##letter##name##_bufferSize,                                           \
                    (Handle handle, int, int, int, const LegacyDescription *, T *, const int *,    \
                     const int *, int, Info, int *size),                                           \
                    give_size(size))                                                               \
    CUSPARSE_DEFINE(cusparse##letter##name##_bufferSizeExt,                                        \
                    (Handle handle, int, int, int, const LegacyDescription *, T *, const int *,    \
                     const int *, int, Info, std::size_t *size),                                   \
                    give_size(size))                                                               \
    CUSPARSE_DEFINE(cusparse##letter##name##_analysis,                                             \
                    (Handle handle, int direction, int m, int count,                               \
                     const LegacyDescription *description, const T *, const int *offsets,          \
                     const int *indices, int size, Info info, int, void *),                        \
                    check({direction, m, count, description, offsets, indices, size}, info))       \
    CUSPARSE_DEFINE(cusparse##letter##name,                                                        \
                    (Handle handle, int direction, int m, int count,                               \
                     const LegacyDescription *description, T *values, const int *offsets,          \
                     const int *indices, int size, Info info, int, void *),                        \
                    factor(call, {direction, m, count, description, offsets, indices, size},       \
                           values, info, method<T>))
#define FACTORS(letter, T)                                                                         \
    FACTOR(letter, T, bsrilu02, incomplete_lu)                                                     \
    FACTOR(letter, T, bsric02, incomplete_cholesky)                                                \
    CUSPARSE_DEFINE(cusparse##letter##bsrilu02_numericBoost,                                       \
                    (Handle handle, Info info, int enabled, double *tolerance, T *boost),          \
                    set_boost(info, enabled, tolerance, boost))
FACTORS(S, float)
FACTORS(D, double)
FACTORS(C, Complex)
FACTORS(Z, DoubleComplex)
