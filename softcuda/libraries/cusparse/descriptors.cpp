// descriptors.cpp -- makes, reads and changes the descriptors of matrices and vectors.
//
// The functions for constant descriptors have the same bodies: the functions that take a descriptor
// decide whether they write.
#include "matrix.h"

#include <cstring>
#include <limits>

using namespace softcusparse;

namespace {

IndexType index_type(int type) {
    require(type >= 1 && type <= 3, "index type");
    return static_cast<IndexType>(type);
}

int index_base(int base) {
    require(base == 0 || base == 1, "index base");
    return base;
}

ElementType value_type(int type) {
    require(softlib::size_of(static_cast<ElementType>(type)) != 0, "value type");
    return static_cast<ElementType>(type);
}

template <class Descriptor> void give(Descriptor **place, Descriptor made) {
    require(place != nullptr, "the descriptor's address");
    *place = std::make_unique<Descriptor>(std::move(made)).release();
}

template <class Descriptor> void destroy(Descriptor *descriptor) {
    checked_descriptor(descriptor).state = 0;
    delete descriptor;
}

template <class T, class Value> void put(T *place, Value value) {
    require(place != nullptr, "the address of a result");
    *place = static_cast<T>(value);
}

cusparseSpMatDescr matrix_of(Format format, std::int64_t rows, std::int64_t columns,
                             std::int64_t count, void *major, void *indices, void *values,
                             int major_type, int minor_type, int base, int type) {
    require(rows >= 0 && columns >= 0 && count >= 0, "rows, columns and nnz");
    cusparseSpMatDescr made;
    made.format = format;
    made.rows = rows;
    made.columns = columns;
    made.count = count;
    made.major = {major, index_type(major_type), index_base(base)};
    made.indices = {indices, index_type(minor_type), base};
    made.values = values;
    made.type = value_type(type);
    return made;
}

void get_matrix(SparseMatrix matrix, Format format, std::int64_t *rows, std::int64_t *columns,
                std::int64_t *count, void **major, void **indices, void **values, int *major_type,
                int *minor_type, int *base, int *type) {
    const Matrix &from = checked_descriptor(matrix);
    require(from.format == format, "a matrix of this format");
    put(rows, from.rows);
    put(columns, from.columns);
    put(count, from.count);
    put(major, const_cast<void *>(from.major.address));
    put(indices, const_cast<void *>(from.indices.address));
    put(values, from.values);
    put(major_type, from.major.type);
    if (minor_type != nullptr)
        put(minor_type, from.indices.type);
    put(base, from.major.base);
    put(type, from.type);
}

void set_pointers(SparseMatrix matrix, Format format, void *major, void *indices, void *values) {
    Matrix &to = checked_descriptor(matrix);
    require(to.format == format, "a matrix of this format");
    to.major.address = major;
    to.indices.address = indices;
    to.values = values;
}

cusparseDnMatDescr dense_of(std::int64_t rows, std::int64_t columns, std::int64_t leading,
                            void *values, int type, int order) {
    require(order == column_order || order == row_order, "order");
    require(rows >= 0 && columns >= 0 && leading >= (order == column_order ? rows : columns),
            "rows, columns and ld");
    cusparseDnMatDescr made;
    made.rows = rows;
    made.columns = columns;
    made.leading = leading;
    made.values = values;
    made.type = value_type(type);
    made.order = order;
    return made;
}

} // namespace

// Each function, and the one for constant descriptors.
#define BOTH(first, second, parameters, ...)                                                       \
    SOFTLIB_FUNCTION(first, parameters, __VA_ARGS__)                                               \
    SOFTLIB_FUNCTION(second, parameters, __VA_ARGS__)

#define COMPRESSED(name)                                                                           \
    BOTH(cusparseCreate##name, cusparseCreateConst##name,                                          \
         (SparseMatrix * matrix, std::int64_t rows, std::int64_t columns, std::int64_t count,      \
          void *offsets, void *indices, void *values, int offsets_type, int indices_type,          \
          int base, int type),                                                                     \
         give(matrix, matrix_of(Format::name, rows, columns, count, offsets, indices, values,      \
                                offsets_type, indices_type, base, type)))                          \
    BOTH(cusparse##name##Get, cusparseConst##name##Get,                                            \
         (SparseMatrix matrix, std::int64_t *rows, std::int64_t *columns, std::int64_t *count,     \
          void **offsets, void **indices, void **values, int *offsets_type, int *indices_type,     \
          int *base, int *type),                                                                   \
         get_matrix(matrix, Format::name, rows, columns, count, offsets, indices, values,          \
                    offsets_type, indices_type, base, type))                                       \
    SOFTLIB_FUNCTION(cusparse##name##SetPointers,                                                  \
                     (SparseMatrix matrix, void *offsets, void *indices, void *values),            \
                     set_pointers(matrix, Format::name, offsets, indices, values))
COMPRESSED(Csr)
COMPRESSED(Csc)
#undef COMPRESSED

BOTH(cusparseCreateCoo, cusparseCreateConstCoo,
     (SparseMatrix * matrix, std::int64_t rows, std::int64_t columns, std::int64_t count,
      void *row_indices, void *column_indices, void *values, int index, int base, int type),
     give(matrix, matrix_of(Format::Coo, rows, columns, count, row_indices, column_indices, values,
                            index, index, base, type)))
BOTH(cusparseCooGet, cusparseConstCooGet,
     (SparseMatrix matrix, std::int64_t *rows, std::int64_t *columns, std::int64_t *count,
      void **row_indices, void **column_indices, void **values, int *index, int *base, int *type),
     get_matrix(matrix, Format::Coo, rows, columns, count, row_indices, column_indices, values,
                index, nullptr, base, type))
SOFTLIB_FUNCTION(cusparseCooSetPointers,
                 (SparseMatrix matrix, void *rows, void *columns, void *values),
                 set_pointers(matrix, Format::Coo, rows, columns, values))

BOTH(cusparseCreateBsr, cusparseCreateConstBsr,
     (SparseMatrix * matrix, std::int64_t rows, std::int64_t columns, std::int64_t count,
      std::int64_t height, std::int64_t width, void *offsets, void *indices, void *values,
      int offsets_type, int indices_type, int base, int type, int order),
     {
         require(height > 0 && width > 0 && (order == column_order || order == row_order),
                 "the size and the order of blocks");
         cusparseSpMatDescr made =
             matrix_of(Format::Bsr, rows * height, columns * width, count, offsets, indices, values,
                       offsets_type, indices_type, base, type);
         made.block_rows = height;
         made.block_columns = width;
         made.block_order = order;
         give(matrix, made);
     })
BOTH(cusparseCreateBlockedEll, cusparseCreateConstBlockedEll,
     (SparseMatrix * matrix, std::int64_t rows, std::int64_t columns, std::int64_t block,
      std::int64_t ell_columns, void *indices, void *values, int index, int base, int type),
     {
         require(block > 0 && ell_columns >= 0 && rows % block == 0 && ell_columns % block == 0,
                 "the size of blocks");
         cusparseSpMatDescr made = matrix_of(Format::BlockedEll, rows, columns, 0, nullptr, indices,
                                             values, index, index, base, type);
         made.block_rows = made.block_columns = block;
         made.ell_columns = ell_columns;
         give(matrix, made);
     })
BOTH(cusparseBlockedEllGet, cusparseConstBlockedEllGet,
     (SparseMatrix matrix, std::int64_t *rows, std::int64_t *columns, std::int64_t *block,
      std::int64_t *ell_columns, void **indices, void **values, int *index, int *base, int *type),
     {
         const Matrix &from = checked_descriptor(matrix);
         require(from.format == Format::BlockedEll, "a matrix of this format");
         put(rows, from.rows);
         put(columns, from.columns);
         put(block, from.block_rows);
         put(ell_columns, from.ell_columns);
         put(indices, const_cast<void *>(from.indices.address));
         put(values, from.values);
         put(index, from.indices.type);
         put(base, from.indices.base);
         put(type, from.type);
     })

BOTH(cusparseCreateSlicedEll, cusparseCreateConstSlicedEll,
     (SparseMatrix * matrix, std::int64_t rows, std::int64_t columns, std::int64_t count,
      std::int64_t stored, std::int64_t slice, void *offsets, void *indices, void *values,
      int offsets_type, int indices_type, int base, int type),
     {
         require(slice > 0 && stored >= count, "the size of slices, and of the values");
         cusparseSpMatDescr made =
             matrix_of(Format::SlicedEll, rows, columns, count, offsets, indices, values,
                       offsets_type, indices_type, base, type);
         made.slice_rows = slice;
         made.stored = stored;
         give(matrix, made);
     })

SOFTLIB_FUNCTION(cusparseDestroySpMat, (SparseMatrix matrix), destroy(matrix))
SOFTLIB_FUNCTION(cusparseSpMatGetFormat, (SparseMatrix matrix, int *format),
                 put(format, checked_descriptor(matrix).format))
SOFTLIB_FUNCTION(cusparseSpMatGetIndexBase, (SparseMatrix matrix, int *base),
                 put(base, checked_descriptor(matrix).indices.base))
BOTH(cusparseSpMatGetValues, cusparseConstSpMatGetValues, (SparseMatrix matrix, void **values),
     put(values, checked_descriptor(matrix).values))
SOFTLIB_FUNCTION(cusparseSpMatSetValues, (SparseMatrix matrix, void *values),
                 checked_descriptor(matrix).values = values)
SOFTLIB_FUNCTION(cusparseSpMatGetSize,
                 (SparseMatrix matrix, std::int64_t *rows, std::int64_t *columns,
                  std::int64_t *count),
                 {
                     const Matrix &from = checked_descriptor(matrix);
                     put(rows, from.rows / from.block_rows);
                     put(columns, from.columns / from.block_columns);
                     put(count, from.count);
                 })
SOFTLIB_FUNCTION(cusparseSpMatGetStridedBatch, (SparseMatrix matrix, int *batch),
                 put(batch, checked_descriptor(matrix).batch))
SOFTLIB_FUNCTION(cusparseCsrSetStridedBatch,
                 (SparseMatrix matrix, int batch, std::int64_t offsets, std::int64_t elements), {
                     Matrix &to = checked_descriptor(matrix);
                     require(batch > 0 && offsets >= 0 && elements >= 0, "batch and strides");
                     to.batch = batch;
                     to.major_stride = offsets;
                     to.stride = elements;
                 })
// The distance of indices is that of blocks, the distance of values must be of as many.
SOFTLIB_FUNCTION(cusparseBsrSetStridedBatch,
                 (SparseMatrix matrix, int batch, std::int64_t offsets, std::int64_t indices,
                  std::int64_t elements),
                 {
                     Matrix &to = checked_descriptor(matrix);
                     require(to.format == Format::Bsr && batch > 0 && offsets >= 0 &&
                                 indices >= 0 &&
                                 elements == indices * to.block_rows * to.block_columns,
                             "batch and strides");
                     to.batch = batch;
                     to.major_stride = offsets;
                     to.stride = indices;
                 })
SOFTLIB_FUNCTION(cusparseCooSetStridedBatch,
                 (SparseMatrix matrix, int batch, std::int64_t elements), {
                     Matrix &to = checked_descriptor(matrix);
                     require(batch > 0 && elements >= 0, "batch and stride");
                     to.batch = batch;
                     to.stride = elements;
                 })
SOFTLIB_FUNCTION(cusparseSpMatGetAttribute,
                 (SparseMatrix matrix, int attribute, void *data, std::size_t size), {
                     const Matrix &from = checked_descriptor(matrix);
                     require(data != nullptr && size == sizeof(int), "data");
                     if (attribute != 0 && attribute != 1)
                         not_supported("this attribute");
                     const int value = attribute == 0 ? from.fill : int{from.unit_diagonal};
                     std::memcpy(data, &value, sizeof value);
                 })
SOFTLIB_FUNCTION(cusparseSpMatSetAttribute,
                 (SparseMatrix matrix, int attribute, const void *data, std::size_t size), {
                     Matrix &to = checked_descriptor(matrix);
                     require(data != nullptr && size == sizeof(int), "data");
                     int value = 0;
                     std::memcpy(&value, data, sizeof value);
                     if (attribute != 0 && attribute != 1)
                         not_supported("this attribute");
                     require(value == 0 || value == 1, "the attribute's value");
                     if (attribute == 0)
                         to.fill = value;
                     else
                         to.unit_diagonal = value == 1;
                 })

// Dense matrices and vectors.

BOTH(cusparseCreateDnMat, cusparseCreateConstDnMat,
     (DenseMatrix * matrix, std::int64_t rows, std::int64_t columns, std::int64_t leading,
      void *values, int type, int order),
     give(matrix, dense_of(rows, columns, leading, values, type, order)))
SOFTLIB_FUNCTION(cusparseDestroyDnMat, (DenseMatrix matrix), destroy(matrix))
BOTH(cusparseDnMatGet, cusparseConstDnMatGet,
     (DenseMatrix matrix, std::int64_t *rows, std::int64_t *columns, std::int64_t *leading,
      void **values, int *type, int *order),
     {
         const Dense &from = checked_descriptor(matrix);
         put(rows, from.rows);
         put(columns, from.columns);
         put(leading, from.leading);
         put(values, from.values);
         put(type, from.type);
         put(order, from.order);
     })
BOTH(cusparseDnMatGetValues, cusparseConstDnMatGetValues, (DenseMatrix matrix, void **values),
     put(values, checked_descriptor(matrix).values))
SOFTLIB_FUNCTION(cusparseDnMatSetValues, (DenseMatrix matrix, void *values),
                 checked_descriptor(matrix).values = values)
SOFTLIB_FUNCTION(cusparseDnMatSetStridedBatch, (DenseMatrix matrix, int batch, std::int64_t stride),
                 {
                     Dense &to = checked_descriptor(matrix);
                     require(batch > 0 && stride >= 0, "batch and stride");
                     to.batch = batch;
                     to.stride = stride;
                 })
SOFTLIB_FUNCTION(cusparseDnMatGetStridedBatch,
                 (DenseMatrix matrix, int *batch, std::int64_t *stride), {
                     put(batch, checked_descriptor(matrix).batch);
                     put(stride, checked_descriptor(matrix).stride);
                 })

BOTH(cusparseCreateDnVec, cusparseCreateConstDnVec,
     (DenseVector * vector, std::int64_t size, void *values, int type), {
         cusparseDnVecDescr made;
         static_cast<Dense &>(made) = dense_of(size, 1, size, values, type, column_order);
         give(vector, made);
     })
SOFTLIB_FUNCTION(cusparseDestroyDnVec, (DenseVector vector), destroy(vector))
BOTH(cusparseDnVecGet, cusparseConstDnVecGet,
     (DenseVector vector, std::int64_t *size, void **values, int *type), {
         put(size, checked_descriptor(vector).rows);
         put(values, vector->values);
         put(type, vector->type);
     })
BOTH(cusparseDnVecGetValues, cusparseConstDnVecGetValues, (DenseVector vector, void **values),
     put(values, checked_descriptor(vector).values))
SOFTLIB_FUNCTION(cusparseDnVecSetValues, (DenseVector vector, void *values),
                 checked_descriptor(vector).values = values)

// Sparse vectors.

BOTH(cusparseCreateSpVec, cusparseCreateConstSpVec,
     (SparseVector * vector, std::int64_t size, std::int64_t count, void *indices, void *values,
      int index, int base, int type),
     {
         require(size >= 0 && count >= 0 && count <= size, "size and nnz");
         cusparseSpVecDescr made;
         made.size = size;
         made.count = count;
         made.indices = {indices, index_type(index), index_base(base)};
         made.values = values;
         made.type = value_type(type);
         give(vector, made);
     })
SOFTLIB_FUNCTION(cusparseDestroySpVec, (SparseVector vector), destroy(vector))
BOTH(cusparseSpVecGet, cusparseConstSpVecGet,
     (SparseVector vector, std::int64_t *size, std::int64_t *count, void **indices, void **values,
      int *index, int *base, int *type),
     {
         const Vector &from = checked_descriptor(vector);
         put(size, from.size);
         put(count, from.count);
         put(indices, const_cast<void *>(from.indices.address));
         put(values, from.values);
         put(index, from.indices.type);
         put(base, from.indices.base);
         put(type, from.type);
     })
SOFTLIB_FUNCTION(cusparseSpVecGetIndexBase, (SparseVector vector, int *base),
                 put(base, checked_descriptor(vector).indices.base))
BOTH(cusparseSpVecGetValues, cusparseConstSpVecGetValues, (SparseVector vector, void **values),
     put(values, checked_descriptor(vector).values))
SOFTLIB_FUNCTION(cusparseSpVecSetValues, (SparseVector vector, void *values),
                 checked_descriptor(vector).values = values)

// Descriptions of the older functions.

SOFTLIB_FUNCTION(cusparseCreateMatDescr, (LegacyDescription * *description), {
    require(description != nullptr, "the descriptor's address");
    *description = std::make_unique<LegacyDescription>().release();
})
SOFTLIB_FUNCTION(cusparseDestroyMatDescr, (LegacyDescription * description), {
    require(description != nullptr, "descriptor");
    delete description;
})
#define LEGACY(field, name, most)                                                                  \
    SOFTLIB_FUNCTION(cusparseSetMat##name, (LegacyDescription * description, int value), {         \
        require(description != nullptr && value >= 0 && value <= (most), "descriptor and value");  \
        description->field = value;                                                                \
    })                                                                                             \
    SOFTLIB_EXPORT int cusparseGetMat##name(const LegacyDescription *description) {                \
        return description != nullptr ? description->field : 0;                                    \
    }
LEGACY(type, Type, 3)
LEGACY(fill, FillMode, 1)
LEGACY(diagonal, DiagType, 1)
LEGACY(base, IndexBase, 1)
