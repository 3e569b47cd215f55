// matrix.h -- what descriptors describe: sparse and dense matrices and vectors, and their elements.
//
// Products with vectors and matrices read the arrays of a matrix in place. Other functions first
// read a matrix into rows of the host (Rows), whatever its format and operation.
#pragma once

#include "handle.h"

#include "../common/legacy_matrix.h"

#include <memory>
#include <vector>

namespace softcusparse {

enum class Format { Csr = 1, Csc = 2, Coo = 3, BlockedEll = 5, Bsr = 6, SlicedEll = 7 };
enum class IndexType { Uint16 = 1, Int32 = 2, Int64 = 3 };
constexpr int column_order = 1, row_order = 2;

std::int64_t size_of_index(IndexType type);

/// Array indices of the device, of one of three types; values start at `base`.
struct Indices {
    const void *address = nullptr;
    IndexType type = IndexType::Int32;
    int base = 0;

    std::int64_t operator[](std::int64_t i) const {
        switch (type) {
        case IndexType::Uint16:
            return static_cast<const std::uint16_t *>(address)[i] - base;
        case IndexType::Int32:
            return static_cast<const std::int32_t *>(address)[i] - base;
        case IndexType::Int64:
            break;
        }
        return static_cast<const std::int64_t *>(address)[i] - base;
    }
    void set(std::int64_t i, std::int64_t value) const;
    Indices at(std::int64_t offset) const;
};

/// A sparse matrix, as cusparseSpMatDescr_t describes it.
struct Matrix {
    Format format = Format::Csr;
    std::int64_t rows = 0, columns = 0, count = 0; ///< count: of elements, or of blocks
    Indices major;   ///< offsets of rows or columns; the row indices of COO
    Indices indices; ///< of columns or rows
    void *values = nullptr;
    ElementType type = ElementType::Float32;
    int fill = 0; ///< CUSPARSE_FILL_MODE_LOWER or _UPPER
    bool unit_diagonal = false;
    std::int64_t block_rows = 1, block_columns = 1; ///< of Bsr and BlockedEll
    std::int64_t ell_columns = 0;                   ///< of BlockedEll
    int block_order = row_order;
    std::int64_t slice_rows = 1, stored = 0; ///< of SlicedEll: rows of a slice, elements with gaps
    int batch = 1;
    std::int64_t major_stride = 0, stride = 0; ///< from one matrix of a batch to the next

    std::int64_t size_of_major() const;
    std::int64_t count_of_indices() const;
    std::int64_t count_of_values() const;
    /// Throws Failure unless all arrays are memory of a device.
    void check(const Call &call, const char *what) const;
    Matrix of_batch(int number) const;
    /// While the stream runs: throws Failure if an offset or an index is outside of the matrix.
    void check_indices() const;
};

/// A dense matrix or, with one column, a dense vector.
struct Dense {
    std::int64_t rows = 0, columns = 1, leading = 0;
    void *values = nullptr;
    ElementType type = ElementType::Float32;
    int order = column_order;
    int batch = 1;
    std::int64_t stride = 0;

    std::int64_t extent() const;
    void check(const Call &call, const char *what) const;
    Dense of_batch(int number) const;
};

/// A sparse vector.
struct Vector {
    std::int64_t size = 0, count = 0;
    Indices indices;
    void *values = nullptr;
    ElementType type = ElementType::Float32;

    void check(const Call &call, const char *what) const;
};

template <class T> constexpr ElementType element_type = ElementType::Float32;
template <> inline constexpr ElementType element_type<double> = ElementType::Float64;
template <> inline constexpr ElementType element_type<Complex> = ElementType::Complex64;
template <> inline constexpr ElementType element_type<DoubleComplex> = ElementType::Complex128;

template <class T> constexpr int number_of = static_cast<int>(element_type<T>);

/// Reads `count` elements of any type as T.
template <class T>
std::vector<T> widened(ElementType from, const void *source, std::int64_t count) {
    std::vector<T> result(static_cast<std::size_t>(count));
    if constexpr (!is_complex<T>) {
        softlib::widen(from, source, result.data(), count);
    } else if (softlib::is_complex_type(from)) {
        softlib::widen(from, source, reinterpret_cast<Real<T> *>(result.data()), 2 * count);
    } else {
        const std::vector<Real<T>> real = widened<Real<T>>(from, source, count);
        result.assign(real.begin(), real.end());
    }
    return result;
}

/// Elements as T: in place where they have this type, else a converted copy.
template <class T> class Elements {
  public:
    Elements(ElementType type, const void *source, std::int64_t count) {
        if (type == element_type<T>)
            address_ = static_cast<const T *>(source);
        else
            copy_ = widened<T>(type, source, count), address_ = copy_.data();
    }
    const T &operator[](std::int64_t i) const { return address_[i]; }
    const T *data() const { return address_; }

  private:
    std::vector<T> copy_;
    const T *address_;
};

/// Elements that are changed: written back by store().
template <class T> class MutableElements {
  public:
    MutableElements(ElementType type, void *target, std::int64_t count)
        : type_(type), target_(target), count_(count) {
        if (type != element_type<T>)
            copy_ = widened<T>(type, target, count);
    }
    T *data() { return type_ == element_type<T> ? static_cast<T *>(target_) : copy_.data(); }
    void store() const {
        if (type_ != element_type<T>)
            softlib::narrow_to(type_, reinterpret_cast<const Real<T> *>(copy_.data()), target_,
                               is_complex<T> ? 2 * count_ : count_);
    }

  private:
    ElementType type_;
    void *target_;
    std::int64_t count_;
    std::vector<T> copy_;
};

/// A sparse matrix in the host's memory, by rows. Columns of a row are in the order of the matrix.
template <class T> struct Rows {
    std::int64_t rows = 0, columns = 0;
    std::vector<std::int64_t> offsets;
    std::vector<std::int64_t> indices;
    std::vector<T> values;

    std::int64_t count() const { return static_cast<std::int64_t>(indices.size()); }
    void sort();
};

/// The operation's result (0: the matrix, 1: transposed, 2: also conjugated) by rows.
template <class T> Rows<T> read_rows(const Matrix &matrix, int op);

/// Writes elements as the arrays of a matrix in CSR, CSC or COO, which have room for them.
template <class T> void write_rows(const Rows<T> &rows, const Matrix &to, bool with_values = true);

} // namespace softcusparse

// The descriptors.
#define SOFTCUSPARSE_DESCRIPTOR(name, content)                                                     \
    struct name : content {                                                                        \
        static constexpr std::uint32_t alive = 0x5c5a1de;                                          \
        std::uint32_t state = alive;                                                               \
    };
SOFTCUSPARSE_DESCRIPTOR(cusparseSpMatDescr, softcusparse::Matrix)
SOFTCUSPARSE_DESCRIPTOR(cusparseDnMatDescr, softcusparse::Dense)
SOFTCUSPARSE_DESCRIPTOR(cusparseDnVecDescr, softcusparse::Dense)
SOFTCUSPARSE_DESCRIPTOR(cusparseSpVecDescr, softcusparse::Vector)
#undef SOFTCUSPARSE_DESCRIPTOR

namespace softcusparse {

using SparseMatrix = cusparseSpMatDescr *;
using DenseMatrix = cusparseDnMatDescr *;
using DenseVector = cusparseDnVecDescr *;
using SparseVector = cusparseSpVecDescr *;

template <class Descriptor> Descriptor &checked_descriptor(Descriptor *descriptor) {
    require(descriptor != nullptr && descriptor->state == Descriptor::alive, "descriptor");
    return *descriptor;
}

using LegacyDescription = ::cusparseMatDescr;

} // namespace softcusparse
