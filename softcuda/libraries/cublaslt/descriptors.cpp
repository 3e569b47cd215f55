// descriptors.cpp -- makes, changes and reads cublasLt's descriptors.
#include "descriptors.h"

#include "../common/call.h"

#include <cstring>
#include <memory>
#include <span>

using namespace softcublaslt;
using softlib::require;

namespace softcublaslt {

std::int64_t Layout::extent() const {
    const auto height = static_cast<std::int64_t>(rows), width = static_cast<std::int64_t>(columns);
    return (order == column_order ? softlib::extent(height, width, leading)
                                  : softlib::extent(width, height, leading))
        .get();
}

softlib::Count Layout::bytes() const {
    return softlib::extent_of_batch(extent(), stride, batch) * softlib::size_of(element());
}

void Layout::check() const {
    constexpr auto most = static_cast<std::uint64_t>(softlib::Count::most().get());
    require(rows <= most && columns <= most, "the number of rows and columns");
    require(leading >= static_cast<std::int64_t>(order == column_order ? rows : columns),
            "the leading dimension");
    require(batch >= 1 && (batch == 1 || stride >= 0), "the number of matrices and the stride");
    if (order != column_order && order != row_order)
        throw softlib::Failure(softlib::statuses.not_supported,
                               "this order of a matrix is not supported");
    if (softlib::size_of(element()) == 0)
        throw softlib::Failure(softlib::statuses.not_supported,
                               "the element type " + std::to_string(type) + " is not supported");
}

namespace {

struct Field {
    int attribute;
    std::size_t offset, size;
};
#define FIELD(attribute, type, member) {attribute, offsetof(type, member), sizeof(type::member)}

constexpr Field layout_fields[] = {
    FIELD(0, Layout, type),    FIELD(1, Layout, order),   FIELD(2, Layout, rows),
    FIELD(3, Layout, columns), FIELD(4, Layout, leading), FIELD(5, Layout, batch),
    FIELD(6, Layout, stride),
};
using M = MatmulDescription;
constexpr Field matmul_fields[] = {
    FIELD(0, M, compute),
    FIELD(1, M, scale),
    FIELD(2, M, pointer_mode),
    FIELD(3, M, op_a),
    FIELD(4, M, op_b),
    FIELD(5, M, op_c),
    FIELD(6, M, fill),
    FIELD(7, M, epilogue),
    FIELD(8, M, bias),
    FIELD(10, M, bias_stride),
    FIELD(11, M, auxiliary),
    FIELD(12, M, auxiliary_leading),
    FIELD(13, M, auxiliary_stride),
    FIELD(14, M, alpha_stride),
    FIELD(15, M, processors),
    FIELD(17, M, scale_a),
    FIELD(18, M, scale_b),
    FIELD(19, M, scale_c),
    FIELD(20, M, scale_d),
    FIELD(21, M, largest_d),
    FIELD(22, M, auxiliary_type),
    FIELD(25, M, fast_accumulation),
    FIELD(26, M, bias_type),
    FIELD(31, M, scale_modes[0]),
    FIELD(32, M, scale_modes[1]),
    FIELD(33, M, scale_modes[2]),
    FIELD(34, M, scale_modes[3]),
    FIELD(35, M, scale_modes[4]),
};
using T = TransformDescription;
constexpr Field transform_fields[] = {FIELD(0, T, scale), FIELD(1, T, pointer_mode),
                                      FIELD(2, T, op_a), FIELD(3, T, op_b)};
constexpr Field preference_fields[] = {
    FIELD(0, Preference, search_mode),       FIELD(1, Preference, workspace),
    FIELD(3, Preference, reduction_schemes), FIELD(5, Preference, alignment[0]),
    FIELD(6, Preference, alignment[1]),      FIELD(7, Preference, alignment[2]),
    FIELD(8, Preference, alignment[3]),      FIELD(9, Preference, waves),
    FIELD(12, Preference, implementations),
};
#undef FIELD

const Field &find(std::span<const Field> fields, int attribute) {
    for (const Field &field : fields)
        if (field.attribute == attribute)
            return field;
    throw softlib::Failure(softlib::statuses.not_supported,
                           "attribute " + std::to_string(attribute) + " is not supported");
}

void set(void *object, std::span<const Field> fields, int attribute, const void *value,
         std::size_t size) {
    const Field &field = find(fields, attribute);
    require(object != nullptr && value != nullptr && size == field.size, "the attribute's size");
    std::memcpy(static_cast<char *>(object) + field.offset, value, size);
}

void get(const void *object, std::span<const Field> fields, int attribute, void *value,
         std::size_t size, std::size_t *written) {
    const Field &field = find(fields, attribute);
    require(object != nullptr, "descriptor");
    if (written != nullptr)
        *written = field.size;
    if (size == 0 && written != nullptr)
        return; // a question for the size
    require(value != nullptr && size >= field.size, "the attribute's size");
    std::memcpy(value, static_cast<const char *>(object) + field.offset, field.size);
}

/// Makes the object in the client's memory, which has `size` bytes. NVIDIA's structures are larger
/// than the objects that _Create makes here, so the rest is not written.
template <class Object> void place(Object *memory, std::size_t size, const Object &value) {
    require(memory != nullptr && size >= sizeof(Object), "the descriptor's memory");
    std::memcpy(static_cast<void *>(memory), &value, sizeof value);
}

template <class Object> void give(Object **address, const Object &value) {
    require(address != nullptr, "the descriptor's address");
    *address = std::make_unique<Object>(value).release();
}

Layout layout_of(int type, std::uint64_t rows, std::uint64_t columns, std::int64_t leading) {
    require(softlib::size_of(static_cast<ElementType>(type)) != 0, "type");
    Layout made;
    made.type = type;
    made.rows = rows;
    made.columns = columns;
    made.leading = leading;
    return made;
}

MatmulDescription matmul_of(int compute, int scale) {
    MatmulDescription made;
    made.compute = compute;
    made.scale = scale;
    return made;
}

TransformDescription transform_of(int scale) {
    TransformDescription made;
    made.scale = scale;
    return made;
}

// The opaque types' sizes in CUDA 12.
static_assert(sizeof(Layout) <= 64 && sizeof(MatmulDescription) <= 256);
static_assert(sizeof(TransformDescription) <= 64 && sizeof(Preference) <= 64);
static_assert(sizeof(Algorithm) == 64);

} // namespace
} // namespace softcublaslt

#define DEFINE(name, parameters, ...) SOFTLIB_FUNCTION(cublasLt##name, parameters, __VA_ARGS__)
#define UNWRAPPED(...) __VA_ARGS__
#define DESCRIPTOR(name, Object, fields, parameters, made)                                         \
    DEFINE(name##Init_internal, (Object * object, std::size_t size UNWRAPPED parameters),          \
           place(object, size, made))                                                              \
    DEFINE(name##Create, (Object * *object UNWRAPPED parameters), give(object, made))              \
    DEFINE(name##Destroy, (Object * object), {                                                     \
        require(object != nullptr, "descriptor");                                                  \
        delete object;                                                                             \
    })                                                                                             \
    DEFINE(name##SetAttribute,                                                                     \
           (Object * object, int attribute, const void *value, std::size_t size),                  \
           set(object, fields, attribute, value, size))                                            \
    DEFINE(name##GetAttribute,                                                                     \
           (const Object *object, int attribute, void *value, std::size_t size,                    \
            std::size_t *written),                                                                 \
           get(object, fields, attribute, value, size, written))
DESCRIPTOR(MatrixLayout, Layout, layout_fields,
           (, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t leading),
           layout_of(type, rows, columns, leading))
DESCRIPTOR(MatmulDesc, MatmulDescription, matmul_fields, (, int compute, int scale),
           matmul_of(compute, scale))
DESCRIPTOR(MatrixTransformDesc, TransformDescription, transform_fields, (, int scale),
           transform_of(scale))
DESCRIPTOR(MatmulPreference, Preference, preference_fields, (), Preference{})

DEFINE(MatmulAlgoConfigSetAttribute,
       (Algorithm * algorithm, int attribute, const void *value, std::size_t size), {
           require(algorithm != nullptr && value != nullptr && attribute >= 0 && attribute < 15 &&
                       size > 0 && size <= 4,
                   "algo, attr and size");
           algorithm->configuration[attribute + 1] = 0;
           std::memcpy(&algorithm->configuration[attribute + 1], value, size);
       })
DEFINE(MatmulAlgoConfigGetAttribute,
       (const Algorithm *algorithm, int attribute, void *value, std::size_t size,
        std::size_t *written),
       {
           require(algorithm != nullptr && attribute >= 0 && attribute < 15 && size <= 4,
                   "algo, attr and size");
           if (written != nullptr)
               *written = 4;
           if (value != nullptr)
               std::memcpy(value, &algorithm->configuration[attribute + 1], size);
       })
