// tensor_map.cpp -- checks and encodes tensor maps.
//
// A driver answers every mistake with CUDA_ERROR_INVALID_VALUE. So what the manual of
// cuTensorMapEncodeTiled() demands is checked here first, by axes of the array.
#include <pycuda/tensor_map.h>

#include <pycuda/context.h>
#include <pycuda/driver.h>
#include <pycuda/work.h>

#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>

namespace pycuda {
namespace {

constexpr std::int64_t kAlignment = 16; // bytes, of rows and of the box's innermost axis
constexpr std::int64_t kMostExtent = std::int64_t{1} << 32, kMostStride = std::int64_t{1} << 40;
constexpr std::int64_t kMostBox = 256, kMostStep = 8;
constexpr int kMostAxes = 5;

[[noreturn]] void refuse(const std::string &reason) {
    throw std::invalid_argument("a tensor map cannot be made: " + reason);
}

std::string on_axis(int axis) { return " on axis " + std::to_string(axis); }

/// The copies do not compute with the elements.
std::optional<CUtensorMapDataType> type_of(ScalarType type) {
    using enum ScalarType;
    constexpr std::pair<ScalarType, CUtensorMapDataType> types[] = {
        {Bool, CU_TENSOR_MAP_DATA_TYPE_UINT8},        {Int8, CU_TENSOR_MAP_DATA_TYPE_UINT8},
        {UInt8, CU_TENSOR_MAP_DATA_TYPE_UINT8},       {Int16, CU_TENSOR_MAP_DATA_TYPE_UINT16},
        {UInt16, CU_TENSOR_MAP_DATA_TYPE_UINT16},     {Int32, CU_TENSOR_MAP_DATA_TYPE_INT32},
        {UInt32, CU_TENSOR_MAP_DATA_TYPE_UINT32},     {Int64, CU_TENSOR_MAP_DATA_TYPE_INT64},
        {UInt64, CU_TENSOR_MAP_DATA_TYPE_UINT64},     {Float16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16},
        {BFloat16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16}, {Float32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32},
        {Float64, CU_TENSOR_MAP_DATA_TYPE_FLOAT64}};
    for (const auto &[element, found] : types)
        if (element == type)
            return found;
    return std::nullopt;
}

CUtensorMapDataType type_for(const Array &tensor, const TensorBox &box) {
    const ScalarType elements = tensor.dtype().scalar();
    if (box.type) {
        if (elements != ScalarType::Float32)
            refuse("a variant of float32 needs a tensor of float32");
        return *box.type;
    }
    const std::optional<CUtensorMapDataType> type = type_of(elements);
    if (!type)
        refuse("there are none for complex numbers and structs; view the tensor as real numbers");
    return *type;
}

void check_tensor_axis(const Array &tensor, int axis) {
    const std::int64_t extent = tensor.layout().extent(axis), stride = tensor.layout().stride(axis);
    const auto item = static_cast<std::int64_t>(tensor.dtype().item_size());
    if (extent < 1 || extent > kMostExtent)
        refuse("the tensor has " + std::to_string(extent) + " elements" + on_axis(axis) +
               ", expected 1 to 2^32");
    if (axis + 1 == tensor.layout().dimensions()) {
        if (stride != item && extent != 1)
            refuse("the tensor's stride" + on_axis(axis) + ", the last one, is " +
                   std::to_string(stride) + " bytes, expected that of adjacent elements, " +
                   std::to_string(item));
    } else if (stride < 0 || stride >= kMostStride || stride % kAlignment != 0) {
        refuse("the tensor's stride" + on_axis(axis) + " is " + std::to_string(stride) +
               " bytes, expected a multiple of 16 from 0 to 2^40");
    }
}

void check_box_axis(const TensorBox &box, int axis) {
    const std::int64_t extent = box.shape[axis], step = box.steps.empty() ? 1 : box.steps[axis];
    if (extent < 1 || extent > kMostBox)
        refuse("the box has " + std::to_string(extent) + " elements" + on_axis(axis) +
               ", expected 1 to 256");
    if (step < 1 || step > kMostStep)
        refuse("the element stride" + on_axis(axis) + " is " + std::to_string(step) +
               ", expected 1 to 8");
}

void check_row(const Array &tensor, const TensorBox &box) {
    const auto item = static_cast<std::int64_t>(tensor.dtype().item_size());
    const std::int64_t row = box.shape.back() * item;
    if (row % kAlignment != 0)
        refuse("the box's last axis has " + std::to_string(row) +
               " bytes, expected a multiple of 16");
    if (box.swizzle != 0 && row > std::int64_t{box.swizzle})
        refuse("the box's last axis has " + std::to_string(row) +
               " bytes, more than the swizzle of " + std::to_string(box.swizzle));
    if (!box.steps.empty() && box.steps.back() != 1)
        refuse("the element stride on the last axis is " + std::to_string(box.steps.back()) +
               ", expected 1: copies ignore others");
    if (box.fills_with_nan && !is_float(tensor.dtype().scalar()))
        refuse("only a tensor of floats can be filled with NaN");
}

void check_device(const Device &device) {
    const ComputeCapability capability = device.compute_capability();
    if (capability.major < 9)
        throw Error(
            "cuTensorMapEncodeTiled", CUDA_ERROR_NOT_SUPPORTED,
            device.name() + " has compute capability " + std::to_string(capability.major) + "." +
                std::to_string(capability.minor) +
                ", and tensor maps need 9.0; SOFTCUDA_ARCH=90 makes softcuda such a device");
}

void check_all(const Array &tensor, const TensorBox &box) {
    const int axes = tensor.layout().dimensions();
    if (axes < 1 || axes > kMostAxes)
        refuse("the tensor has " + std::to_string(axes) + " axes, expected 1 to 5");
    const auto count = static_cast<std::size_t>(axes);
    if (box.shape.size() != count)
        refuse("the box has " + std::to_string(box.shape.size()) + " axes and the tensor " +
               std::to_string(axes));
    if (!box.steps.empty() && box.steps.size() != count)
        refuse(std::to_string(box.steps.size()) + " element strides were given for " +
               std::to_string(axes) + " axes");
    for (int axis = 0; axis < axes; ++axis) {
        check_tensor_axis(tensor, axis);
        check_box_axis(box, axis);
    }
    check_row(tensor, box);
    if (const CUdeviceptr address = tensor.ptr(); address % kAlignment != 0)
        refuse("the tensor begins " + std::to_string(address % kAlignment) +
               " bytes after a multiple of 16");
}

/// The position of a number of bytes in CUDA's enumeration: 0 is NONE, then powers of two from
/// `first` to `last`.
unsigned position_of(unsigned bytes, unsigned first, unsigned last, const char *what) {
    if (bytes == 0)
        return 0;
    if (bytes < first || bytes > last || !std::has_single_bit(bytes))
        refuse(std::string(what) + " is " + std::to_string(bytes) +
               ", expected 0 or a power of 2 from " + std::to_string(first) + " to " +
               std::to_string(last) + " bytes");
    return static_cast<unsigned>(std::countr_zero(bytes / first)) + 1;
}

} // namespace

std::optional<CUtensorMapDataType> tensor_map_type(std::string_view name) {
    if (name == "float32_ftz")
        return CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ;
    if (name == "tfloat32")
        return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    if (name == "tfloat32_ftz")
        return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
    return std::nullopt;
}

TensorMap TensorMap::tiled(const Array &tensor, const TensorBox &box) {
    check_all(tensor, box);
    const CUtensorMapDataType type = type_for(tensor, box);
    const unsigned swizzle = position_of(box.swizzle, 32, 128, "swizzle");
    const unsigned promotion = position_of(box.promotion, 64, 256, "l2_promotion");
    WorkContext context;
    context.add(tensor);
    check_device(tensor.context()->context().device());

    const int axes = tensor.layout().dimensions();
    std::array<cuuint64_t, kMostAxes> extents{}, strides{};
    std::array<cuuint32_t, kMostAxes> counts{}, steps{};
    for (int axis = 0; axis < axes; ++axis) {
        const int inner = axes - 1 - axis; // the driver's first axis is the innermost
        extents[inner] = static_cast<cuuint64_t>(tensor.layout().extent(axis));
        counts[inner] = static_cast<cuuint32_t>(box.shape[axis]);
        steps[inner] = box.steps.empty() ? 1 : static_cast<cuuint32_t>(box.steps[axis]);
        if (inner > 0)
            strides[inner - 1] = static_cast<cuuint64_t>(tensor.layout().stride(axis));
    }
    CUtensorMap encoded = driver().cuTensorMapEncodeTiled.value(
        type, static_cast<cuuint32_t>(axes), reinterpret_cast<void *>(tensor.ptr()), extents.data(),
        strides.data(), counts.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
        CUtensorMapSwizzle(swizzle), CUtensorMapL2promotion(promotion),
        box.fills_with_nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                           : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE); // aligned as the driver demands
    TensorMap map(tensor);
    std::memcpy(map.bytes_.data(), &encoded, sizeof encoded);
    return map;
}

} // namespace pycuda
